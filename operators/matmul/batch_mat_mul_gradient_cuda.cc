// BatchMatMulGradient on CUDA: one strided batched GEMM for each run of matrices at equal distances,
// or, for a gradient of few matrices with many repeats, one GEMM for each run of repeats.

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/matmul/batch_mat_mul_gradient.h"

namespace caffe2rt {

namespace {

class GradientGemm {
 public:
  GradientGemm(CUDAContext& context, math::GemmEngine engine, const BatchMatMulGradientPlan& plan,
               const float* other, const float* dy, float* gradient)
      : context_(context),
        engine_(engine),
        plan_(plan),
        other_(other),
        dy_(dy),
        gradient_(gradient) {
    shape_ = {.trans_a = plan.trans_left,
              .trans_b = plan.trans_right,
              .m = plan.rows,
              .n = plan.columns,
              .k = plan.inner,
              .lda = plan.left_step,
              .ldb = plan.right_step,
              .ldc = plan.columns,
              .c_stride = plan.rows * plan.columns};
  }

  // Adds `run` repeats of a matrix, from `repeat` on, whose operands follow each other.
  void Join(int64_t matrix, int64_t repeat, int64_t run) {
    math::internal::GemmShape shape = shape_;
    shape.k *= run;
    Multiply(shape, matrix, repeat);
  }

  // Adds one repeat of `run` matrices, whose operands are `dy_step` and `other_step` matrices apart.
  void Batch(int64_t matrix, int64_t repeat, int64_t run, int64_t dy_step, int64_t other_step) {
    math::internal::GemmShape shape = shape_;
    shape.batch = run;
    const int64_t dy = dy_step * plan_.dy_size, other = other_step * plan_.other_size;
    shape.a_stride = plan_.dy_is_left ? dy : other;
    shape.b_stride = plan_.dy_is_left ? other : dy;
    Multiply(shape, matrix, repeat);
  }

 private:
  void Multiply(const math::internal::GemmShape& shape, int64_t matrix, int64_t repeat) {
    const int64_t i = plan_.DyMatrix(matrix, repeat);
    const float* dy = dy_ + i * plan_.dy_size;
    const float* other = other_ + plan_.OtherMatrix(i) * plan_.other_size;
    math::internal::CudaGemm<float>(context_, engine_, shape, 1.f, plan_.dy_is_left ? dy : other,
                                    plan_.dy_is_left ? other : dy, repeat == 0 ? 0.f : 1.f,
                                    gradient_ + matrix * plan_.rows * plan_.columns);
  }

  CUDAContext& context_;
  const math::GemmEngine engine_;
  const BatchMatMulGradientPlan& plan_;
  const float *const other_, *const dy_;
  float* const gradient_;
  math::internal::GemmShape shape_;
};

}  // namespace

void RunBatchMatMulGradient(CUDAContext& context, math::GemmEngine engine,
                            const BatchMatMulGradientPlan& plan, const float* other,
                            const float* dy, float* gradient) {
  GradientGemm gemm(context, engine, plan, other, dy, gradient);
  if (plan.joins_inner && plan.matrices < plan.repeats) {
    for (int64_t matrix = 0; matrix < plan.matrices; ++matrix) {
      int64_t run = 1;
      for (int64_t repeat = 0; repeat < plan.repeats; repeat += run) {
        const int64_t i = plan.DyMatrix(matrix, repeat), o = plan.OtherMatrix(i);
        run = 1;
        while (repeat + run < plan.repeats && plan.DyMatrix(matrix, repeat + run) == i + run &&
               plan.OtherMatrix(i + run) == o + run) {
          ++run;
        }
        gemm.Join(matrix, repeat, run);
      }
    }
    return;
  }
  for (int64_t repeat = 0; repeat < plan.repeats; ++repeat) {
    int64_t run = 1;
    for (int64_t matrix = 0; matrix < plan.matrices; matrix += run) {
      const auto dy_at = [&](int64_t j) { return plan.DyMatrix(matrix + j, repeat); };
      const auto other_at = [&](int64_t j) { return plan.OtherMatrix(dy_at(j)); };
      const bool more = matrix + 1 < plan.matrices;
      const int64_t dy_step = more ? dy_at(1) - dy_at(0) : 0;
      const int64_t other_step = more ? other_at(1) - other_at(0) : 0;
      run = 1;
      while (other_step >= 0 && matrix + run < plan.matrices &&
             dy_at(run) == dy_at(0) + run * dy_step &&
             other_at(run) == other_at(0) + run * other_step) {
        ++run;
      }
      gemm.Batch(matrix, repeat, run, dy_step, other_step);
    }
  }
}

void RegisterBatchMatMulGradientCuda() {
  for (const char* engine : {"", "NATIVE"}) {
    RegisterOperator<BatchMatMulGradientOp<CUDAContext>>(CUDA, "BatchMatMulGradient", __FILE__,
                                                         engine);
  }
}

}  // namespace caffe2rt
