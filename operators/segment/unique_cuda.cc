#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/primitives/cub.h"
#include "operators/segment/unique.h"
#include "operators/segment/unique_kernels.h"

namespace caffe2rt {

// The scratch memory holds the keys, then the sorted keys; the positions likewise; the marks of
// first keys, then their running sums.
template <class T>
int64_t SortUnique(CUDAContext& context, int64_t n, const T* x,
                   UniqueScratch<CUDAContext>* scratch) {
  scratch->keys.Resize(2, n);
  scratch->places.Resize(2, n);
  scratch->ranks.Resize(2, n);
  int64_t* const keys = scratch->keys.template mutable_data<int64_t>();
  int32_t* const places = scratch->places.template mutable_data<int32_t>();
  int32_t* const ranks = scratch->ranks.template mutable_data<int32_t>();
  MakeUniqueKeys(context, n, x, keys, places);
  math::SortByCub(context, n, keys, keys + n, places, places + n, &scratch->temporary);
  MarkFirstKeys(context, n, keys + n, ranks);
  math::RunningSumsByCub(context, n, ranks, ranks + n, &scratch->temporary);
  scratch->count.Resize(1);
  int32_t* const count = scratch->count.template mutable_data<int32_t>();
  context.CopyItemsToCPU(TypeMeta::Make<int32_t>(), 1, ranks + 2 * n - 1, count);
  context.FinishDeviceComputation();
  return *count;
}

template <class T>
void WriteUnique(CUDAContext& context, int64_t n, const T*, UniqueScratch<CUDAContext>* scratch,
                 T* unique, int32_t* remapping) {
  WriteUniqueKeys(context, n, scratch->keys.template data<int64_t>() + n,
                  scratch->places.template data<int32_t>() + n,
                  scratch->ranks.template data<int32_t>() + n, unique, remapping);
}

void RegisterUniqueCuda() { RegisterOperator<UniqueOp<CUDAContext>>(CUDA, "Unique", __FILE__); }

}  // namespace caffe2rt
