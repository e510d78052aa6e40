#pragma once
// The kernels of LRN.

#include <cstdint>
#include <vector>

#include "operators/common/channels.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

struct LRNWindow {
  int64_t before = 0, after = 0;  // channels on either side; after is -1 for an empty window
  float alpha = 0;                // the argument alpha divided by the size
  float beta = 0;
  float bias = 1;
};

// scale may be null. The memory of `scratch` is reused in later runs.
void NormalizeLocally(CPUContext& context, const Channels& shape, const LRNWindow& window,
                      const float* x, std::vector<float>* scratch, float* y, float* scale);
// Does not use `scratch`.
void NormalizeLocally(CUDAContext& context, const Channels& shape, const LRNWindow& window,
                      const float* x, std::vector<float>* scratch, float* y, float* scale);

}  // namespace caffe2rt
