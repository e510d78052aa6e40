// FC on CUDA: one GEMM. The built-in kernel also adds the bias.

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/matmul/fc.h"

namespace caffe2rt {

void RunFC(CUDAContext& context, math::GemmEngine engine, const FCSizes& sizes, bool transposed,
           const float* x, const float* w, const float* b, float* y) {
  const math::internal::GemmShape shape{.trans_b = !transposed,
                                        .m = sizes.m,
                                        .n = sizes.n,
                                        .k = sizes.k,
                                        .lda = sizes.k,
                                        .ldb = transposed ? sizes.n : sizes.k,
                                        .ldc = sizes.n};
  math::internal::CudaGemm<float>(context, engine, shape, 1.f, x, w, 0.f, y, b);
}

void RegisterFcCuda() {
  for (const char* engine : {"", "NATIVE"}) {
    RegisterOperator<FullyConnectedOp<CUDAContext, false>>(CUDA, "FC", __FILE__, engine);
    RegisterOperator<FullyConnectedOp<CUDAContext, true>>(CUDA, "FCTransposed", __FILE__, engine);
  }
}

}  // namespace caffe2rt
