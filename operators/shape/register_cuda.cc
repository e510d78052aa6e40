// The operators without kernels of their own in this folder are registered here.

#include "operators/shape/register_cuda.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/concat.h"
#include "operators/shape/ensure_dense.h"
#include "operators/shape/expand_dims.h"
#include "operators/shape/flatten.h"
#include "operators/shape/flatten_to_vec.h"
#include "operators/shape/merge_dim.h"
#include "operators/shape/nchw2nhwc.h"
#include "operators/shape/prepend_dim.h"
#include "operators/shape/reshape.h"
#include "operators/shape/resize_like.h"
#include "operators/shape/shape.h"
#include "operators/shape/size.h"
#include "operators/shape/slice.h"
#include "operators/shape/split.h"
#include "operators/shape/squeeze.h"
#include "operators/shape/transpose.h"

namespace caffe2rt {

namespace {

template <class Op>
void Register(const char* type) {
  RegisterOperator<Op>(CUDA, type, __FILE__);
}

}  // namespace

void RegisterShapeCudaOperators() {
  Register<ConcatOp<CUDAContext>>("Concat");
  Register<ConcatOp<CUDAContext>>("DepthConcat");
  Register<EnsureDenseOp<CUDAContext>>("EnsureDense");
  Register<ExpandDimsOp<CUDAContext>>("ExpandDims");
  Register<FlattenOp<CUDAContext>>("Flatten");
  Register<FlattenToVecOp<CUDAContext>>("FlattenToVec");
  RegisterGatherCuda();
  Register<MergeDimOp<CUDAContext>>("MergeDim");
  Register<OrderSwitchOp<CUDAContext, true>>("NCHW2NHWC");
  Register<OrderSwitchOp<CUDAContext, false>>("NHWC2NCHW");
  Register<PrependDimOp<CUDAContext>>("PrependDim");
  Register<ReshapeOp<CUDAContext>>("Reshape");
  Register<ResizeLikeOp<CUDAContext>>("ResizeLike");
  Register<ShapeOp<CUDAContext>>("Shape");
  Register<SizeOp<CUDAContext>>("Size");
  Register<SliceOp<CUDAContext>>("Slice");
  Register<SplitOp<CUDAContext>>("Split");
  Register<SplitOp<CUDAContext>>("DepthSplit");
  Register<SqueezeOp<CUDAContext>>("Squeeze");
  RegisterTileCuda();
  Register<TransposeOp<CUDAContext>>("Transpose");
}

}  // namespace caffe2rt
