#pragma once
// BatchMatMulGradient: the gradient of one operand of a BatchMatMul with `broadcast`.
//   A, B, dY  ->  dA if `operand` is 0, dB if it is 1
// The matrices of Y that a broadcast matrix of the operand contributes to add up in its gradient.
// Only the shape of the operand is read. Supports float only.

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "operators/math/unary.h"
#include "operators/matmul/batch_mat_mul.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kBatchMatMulOperand{
    "operand",
    0,
    "0: the gradient of A; 1: the gradient of B",
    {[](int operand) { return operand == 0 || operand == 1; }, "0 or 1"}};

// Each matrix of the gradient is the sum over its repeats of op(L) op(R), where one of L and R is a
// matrix of dY and the other one of the other operand.
struct BatchMatMulGradientPlan {
  bool dy_is_left = false, trans_left = false, trans_right = false;
  int64_t rows = 0, columns = 0, inner = 0;
  int64_t left_step = 0, right_step = 0;  // between rows as stored
  // Elements of a matrix.
  int64_t dy_size = 0, other_size = 0;
  // The matrices of the operand, and how often each is repeated in Y.
  int64_t matrices = 1, repeats = 1;
  // Consecutive matrices of L and R are one product with a longer inner dimension, or consecutive
  // matrices of dY are one product with more rows.
  bool joins_inner = false, joins_rows = false;
  // The axes of Y that the operand has and those in which it is repeated, with strides in matrices
  // of Y.
  std::vector<int64_t> kept_dims, kept_strides, repeated_dims, repeated_strides;
  // The batch axes of Y, and their strides in matrices of the other operand.
  std::vector<int64_t> batch_dims, other_strides;

  // The index of the matrix of dY for a matrix of the operand and one of its repeats.
  int64_t DyMatrix(int64_t matrix, int64_t repeat) const {
    return LocateMatrix(kept_dims, kept_strides, matrix) +
           LocateMatrix(repeated_dims, repeated_strides, repeat);
  }
  int64_t OtherMatrix(int64_t dy_matrix) const {
    return LocateMatrix(batch_dims, other_strides, dy_matrix);
  }
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// REQUIRES: no axis of Y is 0.
BatchMatMulGradientPlan PlanBatchMatMulGradient(const BatchMatMulPlan& forward, bool of_b);
#pragma GCC visibility pop

void RunBatchMatMulGradient(CPUContext& context, math::GemmEngine engine,
                            const BatchMatMulGradientPlan& plan, const float* other,
                            const float* dy, float* gradient);
void RunBatchMatMulGradient(CUDAContext& context, math::GemmEngine engine,
                            const BatchMatMulGradientPlan& plan, const float* other,
                            const float* dy, float* gradient);

template <class Context>
class BatchMatMulGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_FUNCTIONS(Context);

  BatchMatMulGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        trans_a_(this->ReadArgument(kBatchMatMulTransA)),
        trans_b_(this->ReadArgument(kBatchMatMulTransB)),
        broadcast_(this->ReadArgument(kBatchMatMulBroadcast)),
        operand_(this->ReadArgument(kBatchMatMulOperand)) {}

  bool RunOnDevice() override {
    const Tensor &A = Input(0), &B = Input(1), &dY = Input(2);
    if (!planned_ || A.dims() != a_dims_ || B.dims() != b_dims_) Plan(A, B);
    CAFFE_ENFORCE_EQ(dY.numel(), y_size_, "elements of input 2 (dY) of shape ", dY.sizes(),
                     ", want those of the product of input 0 (A) of shape ", A.sizes(),
                     " and input 1 (B) of shape ", B.sizes());
    const float* other = (operand_ == 0 ? B : A).template data<float>();
    const float* dy = dY.template data<float>();
    Tensor* gradient = Output(0);
    gradient->ResizeLike(operand_ == 0 ? A : B);
    float* result = gradient->template mutable_data<float>();
    if (gradient->numel() == 0) return true;
    if (y_size_ == 0) {
      math::Set<float, Context>(static_cast<size_t>(gradient->numel()), 0.f, result, &context_);
    } else {
      RunBatchMatMulGradient(context_, engine_, plan_, other, dy, result);
    }
    return true;
  }

 private:
  void Plan(const Tensor& A, const Tensor& B) {
    planned_ = false;
    const BatchMatMulPlan forward =
        PlanBatchMatMul(A.sizes(), B.sizes(), trans_a_, trans_b_, broadcast_);
    y_size_ = size_from_dim_(0, forward.y_dims);
    if (y_size_ > 0) plan_ = PlanBatchMatMulGradient(forward, operand_ == 1);
    a_dims_ = A.dims();
    b_dims_ = B.dims();
    engine_ = math::GemmEngineOf(this->engine());
    planned_ = true;
  }

  const bool trans_a_, trans_b_, broadcast_;
  const int operand_;
  bool planned_ = false;
  math::GemmEngine engine_ = math::GemmEngine::kBest;
  std::vector<int64_t> a_dims_, b_dims_;
  int64_t y_size_ = 0;
  BatchMatMulGradientPlan plan_;
};

}  // namespace caffe2rt
