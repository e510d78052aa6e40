// BatchMatMul on CUDA: one strided batched GEMM for each run of matrices at equal distances.

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/matmul/batch_mat_mul.h"

namespace caffe2rt {

void RunBatchMatMul(CUDAContext& context, math::GemmEngine engine, const BatchMatMulPlan& plan,
                    const float* a, const float* b, float* y) {
  math::internal::GemmShape shape{.trans_a = plan.trans_a,
                                  .trans_b = plan.trans_b,
                                  .m = plan.m,
                                  .n = plan.n,
                                  .k = plan.k,
                                  .lda = plan.trans_a ? plan.m : plan.k,
                                  .ldb = plan.trans_b ? plan.k : plan.n,
                                  .ldc = plan.n,
                                  .c_stride = plan.m * plan.n};
  const int64_t batch = CheckedProduct(plan.batch_dims);
  const int64_t a_size = plan.m * plan.k, b_size = plan.k * plan.n;
  const auto a_at = [&](int64_t i) { return LocateMatrix(plan.batch_dims, plan.a_strides, i); };
  const auto b_at = [&](int64_t i) { return LocateMatrix(plan.batch_dims, plan.b_strides, i); };
  for (int64_t i = 0; i < batch; i += shape.batch) {
    const int64_t first_a = a_at(i), first_b = b_at(i);
    const int64_t a_step = i + 1 < batch ? a_at(i + 1) - first_a : 0;
    const int64_t b_step = i + 1 < batch ? b_at(i + 1) - first_b : 0;
    int64_t run = 1;
    // A run ends where the distance of an operand changes, e.g. where a broadcast operand starts
    // over.
    while (a_step >= 0 && b_step >= 0 && i + run < batch &&
           a_at(i + run) == first_a + run * a_step && b_at(i + run) == first_b + run * b_step) {
      ++run;
    }
    shape.batch = run;
    shape.a_stride = a_step * a_size;
    shape.b_stride = b_step * b_size;
    math::internal::CudaGemm<float>(context, engine, shape, 1.f, a + first_a * a_size,
                                    b + first_b * b_size, 0.f, y + i * plan.m * plan.n);
  }
}

void RegisterBatchMatMulCuda() {
  for (const char* engine : {"", "NATIVE"}) {
    RegisterOperator<BatchMatMulOp<CUDAContext>>(CUDA, "BatchMatMul", __FILE__, engine);
  }
}

}  // namespace caffe2rt
