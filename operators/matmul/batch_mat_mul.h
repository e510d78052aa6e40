#pragma once
// BatchMatMul: multiplies the matrices in the last two axes, for each index of the axes before.
//   A [batch..., M, K], B [batch..., K, N]  ->  Y [batch..., M, N]
// trans_a and trans_b swap the last two axes of A and B. A vector A is treated as a row and a
// vector B as a column; Y does not have that axis. The batch axes must be equal (missing ones count
// as 1), unless one operand is a vector or `broadcast` is set: then they are broadcast by numpy's
// rules. Supports float only.

#include <vector>

#include "caffe2_core/graph/argument_spec.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/primitives/cuda_gemm.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kBatchMatMulTransA{"trans_a", false,
                                                       "1: transpose the matrices of A"};
inline constexpr ArgumentSpec<bool> kBatchMatMulTransB{"trans_b", false,
                                                       "1: transpose the matrices of B"};
inline constexpr ArgumentSpec<bool> kBatchMatMulBroadcast{
    "broadcast", false, "1: broadcast the batch axes by numpy's rules; 0: they must be equal"};

inline constexpr ArgumentSpec<bool> kBatchMatMulScalar{
    "scalar", false,
    "1: the product of two vectors has no dimensions, as in ONNX; 0: it has the shape [1]"};

inline constexpr ArgumentSpec<bool> kBatchMatMulBroadcastGradient{
    "broadcast_gradient", false,
    "1: there is a gradient with broadcast, too, which Caffe2 does not have"};

struct BatchMatMulPlan {
  int64_t m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = false;
  std::vector<int64_t> y_dims;
  // The batch axes of Y, and their strides in matrices of A and of B (0: broadcast).
  std::vector<int64_t> batch_dims, a_strides, b_strides;
};
#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if the shapes do not match.
BatchMatMulPlan PlanBatchMatMul(IntArrayRef a, IntArrayRef b, bool trans_a, bool trans_b,
                                bool broadcast, bool scalar = false);

// Returns the index of the matrix of A or B, given its strides, that is used for matrix i of Y.
int64_t LocateMatrix(const std::vector<int64_t>& batch_dims, const std::vector<int64_t>& strides,
                     int64_t i);
#pragma GCC visibility pop

void RunBatchMatMul(CPUContext& context, math::GemmEngine engine, const BatchMatMulPlan& plan,
                    const float* a, const float* b, float* y);
void RunBatchMatMul(CUDAContext& context, math::GemmEngine engine, const BatchMatMulPlan& plan,
                    const float* a, const float* b, float* y);

template <class Context>
class BatchMatMulOp final : public Operator<Context> {
 public:
  USE_OPERATOR_FUNCTIONS(Context);

  BatchMatMulOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        trans_a_(this->ReadArgument(kBatchMatMulTransA)),
        trans_b_(this->ReadArgument(kBatchMatMulTransB)),
        broadcast_(this->ReadArgument(kBatchMatMulBroadcast)),
        scalar_(this->ReadArgument(kBatchMatMulScalar)) {}

  bool RunOnDevice() override {
    const Tensor& A = Input(0);
    const Tensor& B = Input(1);
    const float* a = A.template data<float>();
    const float* b = B.template data<float>();
    if (!planned_ || A.dims() != a_dims_ || B.dims() != b_dims_) {
      planned_ = false;
      plan_ = PlanBatchMatMul(A.sizes(), B.sizes(), trans_a_, trans_b_, broadcast_, scalar_);
      a_dims_ = A.dims();
      b_dims_ = B.dims();
      engine_ = math::GemmEngineOf(this->engine());
      planned_ = true;
    }
    Tensor* Y = Output(0);
    Y->Resize(plan_.y_dims);
    float* y = Y->template mutable_data<float>();
    if (Y->numel() > 0) RunBatchMatMul(context_, engine_, plan_, a, b, y);
    return true;
  }

 private:
  const bool trans_a_, trans_b_, broadcast_, scalar_;
  bool planned_ = false;
  math::GemmEngine engine_ = math::GemmEngine::kBest;
  std::vector<int64_t> a_dims_, b_dims_;
  BatchMatMulPlan plan_;
};

}  // namespace caffe2rt
