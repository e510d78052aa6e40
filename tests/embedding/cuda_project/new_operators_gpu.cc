// The ten operators in the style of 2019 on CUDA: the templates over its context, where they use
// only primitives of the context, and the CPU operators where they do not.
#include "../project/operators/new_operators.h"
#include "caffe2/core/context_gpu.h"
#include "caffe2/operators/operator_fallback_gpu.h"

namespace caffe2 {
namespace {

REGISTER_CUDA_OPERATOR(NewScale, NewScaleOp<float, CUDAContext>);
REGISTER_CUDA_OPERATOR(NewClamp, GPUFallbackOp);
REGISTER_CUDA_OPERATOR(NewWindowMax, GPUFallbackOp);
REGISTER_CUDA_OPERATOR(NewRamp, NewRampOp<float, CUDAContext>);
REGISTER_CUDA_OPERATOR(NewCount, NewCountOp<CUDAContext>);
REGISTER_CUDA_OPERATOR(NewShape, NewShapeOp<CUDAContext>);
REGISTER_CUDA_OPERATOR(NewAdd, NewAddOp<float, CUDAContext>);
REGISTER_CUDA_OPERATOR(NewRowSum, GPUFallbackOp);
REGISTER_CUDA_OPERATOR(NewJoin, NewJoinOp<CUDAContext>);
REGISTER_CUDA_OPERATOR(NewHistory, NewHistoryOp<CUDAContext>);

}  // namespace
}  // namespace caffe2
