#pragma once
// Recorded or made sequences of allocations, to try pools on.
//
// As text, one entry a line, words between single spaces; empty lines and lines that begin with `#`
// are skipped:
//
//   caffe2rt-trace 1           first line: the format and its version
//   name lenet_training        optional; letters, digits, _ . -
//   fixed_shapes               optional: all steps are alike, so a pool may settle
//   a 7 4096 0                 allocate 4096 bytes for stream 0, known as 7 from here on
//   u 7 1                      work on stream 1 uses 7
//   f 7 0                      free 7 by a thread that works on stream 0 (-1: on none)
//   w 0                        wait: the work that stream 0 was given so far is over
//
// An id is a number below 2^20; it may be used again after its `f`. `a` and `u` stand for work on
// the block, given to that stream right behind. What is not freed at the end stays in use.

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
  size_t bytes = 0;  // of kAllocate

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

// THROWS naming the line for what is no trace: an unknown word, an id that is freed and not in use,
// a stream out of range.
Trace ParseTrace(std::string_view text);
std::string TraceText(const Trace& trace);

}  // namespace caffe2rt
