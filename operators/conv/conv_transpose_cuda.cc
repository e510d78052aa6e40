#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/conv/conv_transpose.h"
#include "operators/conv/cuda_conv.h"

namespace caffe2rt {

namespace {

template <CudaEngine kEngine>
void RegisterConvTransposeEngine(const char* engine) {
  RegisterOperator<ConvTransposeOp<CUDAContext, CudaConv<ConvTransposeShape, kEngine>>>(
      CUDA, "ConvTranspose", __FILE__, engine);
}

}  // namespace

void RegisterConvTransposeCuda() {
  RegisterConvTransposeEngine<CudaEngine::kAny>("");
  RegisterConvTransposeEngine<CudaEngine::kAny>("CUDNN");
  RegisterConvTransposeEngine<CudaEngine::kNative>("NATIVE");
}

}  // namespace caffe2rt
