#pragma once
// Allocation traces: recorded or generated sequences of allocations, for testing pools.
//
// The text format has one entry per line, with words separated by single spaces. Empty lines and
// lines that begin with `#` are skipped.
//
//   caffe2rt-trace 1           first line: the format and its version
//   name lenet_training        optional; letters, digits, _ . -
//   fixed_shapes               optional: all steps are alike, so a pool can reach a steady state
//   a 7 4096 0                 allocate 4096 bytes for stream 0; the block has id 7 from here on
//   u 7 1                      work on stream 1 uses block 7
//   f 7 0                      free block 7 by a thread that works on stream 0 (-1: on no stream)
//   w 0                        wait until the work of stream 0 so far has finished
//
// An id is a number below 2^20; it may be reused after its `f`. After each `a` and `u`, work on the
// block is enqueued on that stream. A block that is not freed by the end stays in use.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "contexts/pool/upstream.h"

namespace caffe2rt {

struct TraceEntry {
  enum class Kind : uint8_t { kAllocate, kUse, kFree, kWait };
  Kind kind = Kind::kWait;
  StreamIndex stream = 0;
  uint32_t id = 0;
  size_t bytes = 0;  // kAllocate only

  bool operator==(const TraceEntry&) const = default;
};

struct Trace {
  std::string name;
  bool fixed_shapes = false;
  std::vector<TraceEntry> entries;

  // One more than the largest id and stream.
  size_t IdCount() const;
  size_t StreamCount() const;
};

// THROWS on invalid text, such as an unknown word, an id that is freed but not in use, or a stream
// out of range. The error names the line.
Trace ParseTrace(std::string_view text);
std::string TraceText(const Trace& trace);

}  // namespace caffe2rt
