// FC on CUDA: one GEMM. The built-in kernel also adds the bias. The gradient is two GEMMs and a sum.

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/matmul/fc.h"
#include "operators/matmul/fc_kernels.h"

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

namespace {

// C [m, n] = op(A) op(B), for matrices without gaps between their rows.
void MultiplyMatrices(CUDAContext& context, math::GemmEngine engine, bool trans_a, bool trans_b,
                      int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
  if (m == 0 || n == 0) return;
  const math::internal::GemmShape shape{.trans_a = trans_a,
                                        .trans_b = trans_b,
                                        .m = m,
                                        .n = n,
                                        .k = k,
                                        .lda = trans_a ? m : k,
                                        .ldb = trans_b ? k : n,
                                        .ldc = n};
  math::internal::CudaGemm<float>(context, engine, shape, 1.f, a, b, 0.f, c);
}

}  // namespace

void RunFCGradient(CUDAContext& context, math::GemmEngine engine, const FCGradientTask& task) {
  const auto [m, n, k] = task.sizes;
  if (task.transposed) {
    MultiplyMatrices(context, engine, true, false, k, n, m, task.x, task.dy, task.dw);
  } else {
    MultiplyMatrices(context, engine, true, false, n, k, m, task.dy, task.x, task.dw);
  }
  SumRows(context, m, n, task.dy, task.db);
  if (task.dx == nullptr) return;
  MultiplyMatrices(context, engine, false, task.transposed, m, k, n, task.dy, task.w, task.dx);
}

void RegisterFcCuda() {
  for (const char* engine : {"", "NATIVE"}) {
    RegisterOperator<FullyConnectedOp<CUDAContext, false>>(CUDA, "FC", __FILE__, engine);
    RegisterOperator<FullyConnectedOp<CUDAContext, true>>(CUDA, "FCTransposed", __FILE__, engine);
    RegisterOperator<FullyConnectedGradientOp<CUDAContext, false>>(CUDA, "FCGradient", __FILE__,
                                                                   engine);
    RegisterOperator<FullyConnectedGradientOp<CUDAContext, true>>(CUDA, "FCTransposedGradient",
                                                                  __FILE__, engine);
  }
}

}  // namespace caffe2rt
