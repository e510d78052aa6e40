// MatMul on CUDA.

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/matmul/mat_mul.h"

namespace caffe2rt {

void RunMatMul(CUDAContext& context, math::GemmEngine engine, const MatMulSizes& sizes,
               bool trans_a, bool trans_b, const float* a, const float* b, float* y) {
  const math::internal::GemmShape shape{.trans_a = trans_a,
                                        .trans_b = trans_b,
                                        .m = sizes.m,
                                        .n = sizes.n,
                                        .k = sizes.k,
                                        .lda = trans_a ? sizes.m : sizes.k,
                                        .ldb = trans_b ? sizes.k : sizes.n,
                                        .ldc = sizes.n};
  math::internal::CudaGemm<float>(context, engine, shape, 1.f, a, b, 0.f, y);
}

void RegisterMatMulCuda() {
  for (const char* engine : {"", "NATIVE"}) {
    RegisterOperator<MatMulOp<CUDAContext>>(CUDA, "MatMul", __FILE__, engine);
  }
}

}  // namespace caffe2rt
