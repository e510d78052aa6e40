#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/scatter_assign.h"
#include "operators/shape/scatter_kernels.h"

namespace caffe2rt {

template <class Index>
void AssignSlices(CUDAContext& context, TypeMeta type, const GatherSizes& sizes,
                  const Index* indices, const void* slices, void* data,
                  AddSlicesScratch<CUDAContext>* scratch) {
  const SortedSlices sorted = SortSlices(context, sizes, indices, scratch);
  AssignSortedSlices(context, PlainItemBytes(type), sizes.count, sizes.block, sorted.keys,
                     sorted.places, slices, data);
}

void RegisterScatterAssignCuda() {
  RegisterOperator<ScatterAssignOp<CUDAContext>>(CUDA, "ScatterAssign", __FILE__);
}

}  // namespace caffe2rt
