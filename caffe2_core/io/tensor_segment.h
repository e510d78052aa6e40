#pragma once
// The part of a tensor that one record of a database holds (TensorProto.segment).

#include <cstdint>

namespace caffe2rt {

// The elements [begin, end).
struct TensorSegment {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

}  // namespace caffe2rt
