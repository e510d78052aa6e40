#pragma once
// MatMul: Y [M, N] = op(A) op(B), where A and B are flattened to matrices at `axis_a` and `axis_b`,
// and op transposes if `trans_a` or `trans_b` is set. If there is a third input, Y takes its shape,
// which must have M * N elements. Supports float only.

#include <vector>

#include "caffe2_core/graph/argument_spec.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/primitives/cuda_gemm.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kMatMulAxisA{
    "axis_a", 1,
    "first axis of A that belongs to the columns; a negative axis counts from the end"};
inline constexpr ArgumentSpec<int> kMatMulAxisB{
    "axis_b", 1,
    "first axis of B that belongs to the columns; a negative axis counts from the end"};
inline constexpr ArgumentSpec<int> kMatMulTransA{"trans_a", 0, "transpose A if not 0"};
inline constexpr ArgumentSpec<int> kMatMulTransB{"trans_b", 0, "transpose B if not 0"};

struct MatMulSizes {
  int64_t m = 0, n = 0, k = 0;
};
#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if the shapes do not match.
MatMulSizes CheckMatMulShapes(IntArrayRef a, IntArrayRef b, int axis_a, int axis_b, bool trans_a,
                              bool trans_b);
#pragma GCC visibility pop

void RunMatMul(CPUContext& context, math::GemmEngine engine, const MatMulSizes& sizes, bool trans_a,
               bool trans_b, const float* a, const float* b, float* y);
void RunMatMul(CUDAContext& context, math::GemmEngine engine, const MatMulSizes& sizes,
               bool trans_a, bool trans_b, const float* a, const float* b, float* y);

template <class Context>
class MatMulOp final : public Operator<Context> {
 public:
  USE_OPERATOR_FUNCTIONS(Context);

  MatMulOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        axis_a_(this->ReadArgument(kMatMulAxisA)),
        axis_b_(this->ReadArgument(kMatMulAxisB)),
        trans_a_(this->ReadArgument(kMatMulTransA) != 0),
        trans_b_(this->ReadArgument(kMatMulTransB) != 0) {}

  bool RunOnDevice() override {
    const Tensor& A = Input(0);
    const Tensor& B = Input(1);
    if (!planned_ || A.dims() != a_dims_ || B.dims() != b_dims_) Plan(A, B);
    const float* a = A.template data<float>();
    const float* b = B.template data<float>();
    Tensor* Y = Output(0);
    if (InputSize() > 2) {
      const Tensor& like = Input(2);
      CAFFE_ENFORCE_EQ(like.numel(), sizes_.m * sizes_.n, "elements of input 2 of shape ",
                       like.sizes(), ", want those of the product [", sizes_.m, ", ", sizes_.n,
                       "]");
      Y->ResizeLike(like);
    } else {
      Y->Resize(sizes_.m, sizes_.n);
    }
    RunMatMul(context_, engine_, sizes_, trans_a_, trans_b_, a, b,
              Y->template mutable_data<float>());
    return true;
  }

 private:
  void Plan(const Tensor& A, const Tensor& B) {
    planned_ = false;
    sizes_ = CheckMatMulShapes(A.sizes(), B.sizes(), axis_a_, axis_b_, trans_a_, trans_b_);
    a_dims_ = A.dims();
    b_dims_ = B.dims();
    engine_ = math::GemmEngineOf(this->engine());
    planned_ = true;
  }

  const int axis_a_, axis_b_;
  const bool trans_a_, trans_b_;
  bool planned_ = false;
  math::GemmEngine engine_ = math::GemmEngine::kBest;
  std::vector<int64_t> a_dims_, b_dims_;
  MatMulSizes sizes_;
};

}  // namespace caffe2rt
