#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/conv/conv.h"
#include "operators/conv/cuda_conv.h"

namespace caffe2rt {

namespace {

template <CudaEngine kEngine>
void RegisterConvEngine(const char* engine) {
  for (const char* type : {"Conv", "Conv1D", "Conv2D", "Conv3D"}) {
    RegisterOperator<ConvOp<CUDAContext, CudaConv<ConvShape, kEngine>>>(CUDA, type, __FILE__,
                                                                        engine);
  }
}

}  // namespace

void RegisterConvCuda() {
  RegisterConvEngine<CudaEngine::kAny>("");
  RegisterConvEngine<CudaEngine::kAny>("CUDNN");
  RegisterConvEngine<CudaEngine::kNative>("NATIVE");
}

}  // namespace caffe2rt
