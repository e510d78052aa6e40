#pragma once
// Walks over the fields of a message of protobuf's wire format in a file, by their numbers. Unlike
// WireCursor's functions for tags, it accepts every field number and every encoding of a varint.

#include <cstdint>
#include <string>

#include "caffe2_core/io/random_access_input.h"

namespace caffe2rt {

struct WireItem {
  uint32_t number = 0;
  int wire_type = 0;           // 0 varint, 1 fixed64, 2 bytes, 5 fixed32
  uint64_t value = 0;          // of a number
  int64_t begin = 0, end = 0;  // the bytes of the value
};

class WireWalk {
 public:
  // The message in [begin, end) of the input. Errors name the file `subject`, which should have been
  // `want`: "a Caffe model".
  WireWalk(WireCursor* cursor, int64_t begin, int64_t end, const std::string* subject,
           const char* want)
      : cursor_(cursor), at_(begin), end_(end), subject_(subject), want_(want) {}

  // Returns false at the end. The cursor may be used between two calls. Groups are skipped. THROWS
  // if the bytes are not a message.
  bool Next(WireItem* item);

 private:
  uint64_t ReadVarint();
  uint64_t ReadFixed(size_t bytes);
  void SkipGroup(uint32_t number, int depth);
  void ReadValue(int depth, WireItem* item);
  [[noreturn]] void Fail(const char* what) const;

  WireCursor* cursor_;
  int64_t at_, end_;
  const std::string* subject_;
  const char* want_;
};

}  // namespace caffe2rt
