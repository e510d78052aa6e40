#pragma once
// The kernel of Gather and BatchGather on CUDA (gather.h).

#include <cstdint>

namespace caffe2rt {

class CUDAContext;

struct GatherSizes {
  int64_t outer = 0;
  int64_t size = 0;   // slices of DATA for each outer index
  int64_t count = 0;  // slices of the output for each outer index
  int64_t block = 0;  // items in a slice
  bool match_outer = false;
  bool wrap = false;
};

// GatherSlices for items of `item_bytes` bytes, instantiated for int32_t and int64_t. A slice whose
// index is out of range is filled with zeros, and the next wait for the stream throws.
template <class Index>
void GatherPlainSlices(CUDAContext& context, int64_t item_bytes, const GatherSizes& sizes,
                       const Index* indices, const void* data, void* y);

}  // namespace caffe2rt
