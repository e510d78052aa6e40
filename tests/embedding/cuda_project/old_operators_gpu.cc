// The ten operators in the style of 2017 on CUDA: the templates over its context, where they use
// only primitives of the context, and the CPU operators where they do not.
#include "../project/operators/old_operators.h"
#include "caffe2/core/context_gpu.h"
#include "caffe2/operators/operator_fallback_gpu.h"

namespace caffe2 {
namespace {

REGISTER_CUDA_OPERATOR(OldScale, OldScaleOp<float, CUDAContext>);
REGISTER_CUDA_OPERATOR(OldClamp, GPUFallbackOp<OldClampOp<CPUContext>>);
REGISTER_CUDA_OPERATOR(OldWindowSum, GPUFallbackOp<OldWindowSumOp<float, CPUContext>>);
REGISTER_CUDA_OPERATOR(OldRamp, OldRampOp<float, CUDAContext>);
REGISTER_CUDA_OPERATOR(OldCount, OldCountOp<CUDAContext>);
REGISTER_CUDA_OPERATOR(OldShape, OldShapeOp<CUDAContext>);
REGISTER_CUDA_OPERATOR(OldAdd, OldAddOp<float, CUDAContext>);
REGISTER_CUDA_OPERATOR(OldRowSum, OldRowSumOp<float, CUDAContext>);
REGISTER_CUDA_OPERATOR(OldJoin, OldJoinOp<float, CUDAContext>);
REGISTER_CUDA_OPERATOR(OldHistory, OldHistoryOp<CUDAContext>);

}  // namespace
}  // namespace caffe2
