// TopK on CUDA. A small k is found by repeated search; for a large k the rows are sorted.

#include <limits>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/primitives/cub.h"
#include "operators/select/top_k.h"

namespace caffe2rt {

namespace {

// The largest k for which the elements are searched one by one.
constexpr int64_t kMostPasses = 64;

}  // namespace

void FindTop(CUDAContext& context, const TopKTask& task, TopKScratch<CUDAContext>* scratch) {
  const int64_t rows = task.span.outer * task.span.inner, size = task.span.size;
  if (task.k <= kMostPasses || size == 0 || size > std::numeric_limits<int32_t>::max()) {
    return FindTopOneByOne(context, task);
  }
  const int64_t n = rows * size;
  if (n == 0) return;
  scratch->keys.Resize(2, n);
  scratch->places.Resize(2, n);
  float* const keys = scratch->keys.mutable_data<float>();
  int32_t* const places = scratch->places.mutable_data<int32_t>();
  MakeTopKeys(context, task, keys, places);
  math::SortRowsByCub(context, rows, size, keys, keys + n, places, places + n, &scratch->temporary);
  TakeSortedTop(context, task, places + n);
}

void RegisterTopKCuda() {
  RegisterOperator<TopKOp<CUDAContext>>(CUDA, "TopK", __FILE__);
  RegisterOperator<TopKGradientOp<CUDAContext>>(CUDA, "TopKGradient", __FILE__);
}

}  // namespace caffe2rt
