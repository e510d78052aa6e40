#pragma once
// Kernels of SpaceToBatch and BatchToSpace, on the CPU (space_to_batch.cc) and on CUDA
// (space_to_batch.cu).

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

struct SpaceBatchArguments {
  int64_t block = 0;
  int64_t top = 0, left = 0, bottom = 0, right = 0;
};

// The shape of the wide images (few and large) and of the narrow images (many and small).
struct SpaceBatchShape {
  int64_t wide[4] = {};
  int64_t narrow[4] = {};
};

void SpaceToBatch(CPUContext& context, const SpaceBatchArguments& args,
                  const SpaceBatchShape& shape, const float* wide, float* narrow);
void SpaceToBatch(CUDAContext& context, const SpaceBatchArguments& args,
                  const SpaceBatchShape& shape, const float* wide, float* narrow);
void BatchToSpace(CPUContext& context, const SpaceBatchArguments& args,
                  const SpaceBatchShape& shape, const float* narrow, float* wide);
void BatchToSpace(CUDAContext& context, const SpaceBatchArguments& args,
                  const SpaceBatchShape& shape, const float* narrow, float* wide);

}  // namespace caffe2rt
