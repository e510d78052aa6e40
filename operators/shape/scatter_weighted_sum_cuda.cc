#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/scatter_weighted_sum.h"

namespace caffe2rt {

template <class Index>
void ScatterWeightedSlices(CUDAContext& context, const GatherSizes& sizes, const Index* indices,
                           const float* factor, const std::vector<WeightedSlices>& slices,
                           float* data, AddSlicesScratch<CUDAContext>* scratch) {
  const SortedSlices sorted = SortSlices(context, sizes, indices, scratch);
  for (const WeightedSlices& add : slices) {
    AddWeightedSortedSlices(context, sizes.count, sizes.block, sorted.keys, sorted.places, factor,
                            add, data);
    factor = nullptr;
  }
}

void RegisterScatterWeightedSumCuda() {
  RegisterOperator<ScatterWeightedSumOp<CUDAContext>>(CUDA, "ScatterWeightedSum", __FILE__);
}

}  // namespace caffe2rt
