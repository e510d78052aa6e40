#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/conv/conv_transpose.h"
#include "operators/conv/cuda_conv.h"

namespace caffe2rt {

namespace {

template <CudaEngine kEngine>
void RegisterEngine(const char* engine) {
  RegisterOperator<ConvTransposeOp<CUDAContext, CudaConv<ConvTransposeShape, kEngine>>>(
      CUDA, "ConvTranspose", __FILE__, engine);
}

}  // namespace

void RegisterConvTransposeCuda() {
  RegisterEngine<CudaEngine::kAny>("");
  RegisterEngine<CudaEngine::kAny>("CUDNN");
  RegisterEngine<CudaEngine::kNative>("NATIVE");
}

}  // namespace caffe2rt
