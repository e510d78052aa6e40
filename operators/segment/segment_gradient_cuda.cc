#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/segment/segment_gradient.h"

namespace caffe2rt {

// The types for which Caffe2 has CUDA implementations.
void RegisterSegmentGradientCuda() {
  for (const char* type :
       {"SortedSegmentRangeMeanGradient", "SortedSegmentRangeLogMeanExpGradient",
        "LengthsIndicesInGradientSumGradient", "LengthsIndicesInGradientMeanGradient",
        "LengthsMaxWithMainInputAndForwardOutputGradient",
        "SparseLengthsIndicesInGradientSumGradient", "SparseLengthsIndicesInGradientMeanGradient",
        "SparseLengthsIndicesInGradientWeightedSumGradient",
        "SparseLengthsIndicesInGradientWeightedSumWithMainInputGradient"}) {
    RegisterOperator<SegmentGradientOp<CUDAContext>>(CUDA, type, __FILE__);
  }
}

}  // namespace caffe2rt
