#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/slice.h"

namespace caffe2rt {

void RegisterSliceCuda() {
  RegisterOperator<SliceOp<CUDAContext>>(CUDA, "Slice", __FILE__);
  RegisterOperator<SliceGradientOp<CUDAContext>>(CUDA, "SliceGradient", __FILE__);
}

}  // namespace caffe2rt
