#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/scatter_weighted_sum.h"

namespace caffe2rt {

template <class Index>
void ScatterWeightedSlices(CUDAContext& context, AdditionOrder order, const GatherSizes& sizes,
                           const Index* indices, const float* factor,
                           const std::vector<WeightedSlices>& slices, float* data,
                           AddSlicesScratch<CUDAContext>* scratch) {
  if (order == AdditionOrder::kAny) {
    MultiplySlicesInAnyOrder(context, sizes, indices, factor, data);
    for (const WeightedSlices& add : slices) {
      AddWeightedSlicesInAnyOrder(context, sizes, indices, add, data);
    }
    return;
  }
  const SortedSlices sorted = SortSlices(context, sizes, indices, scratch);
  for (const WeightedSlices& add : slices) {
    AddWeightedSortedSlices(context, sizes.count, sizes.block, sorted.keys, sorted.places, factor,
                            add, data);
    factor = nullptr;
  }
}

void RegisterScatterWeightedSumCuda() {
  for (const char* engine : {"", "ATOMIC"}) {
    RegisterOperator<ScatterWeightedSumOp<CUDAContext>>(CUDA, "ScatterWeightedSum", __FILE__,
                                                        engine);
  }
}

}  // namespace caffe2rt
