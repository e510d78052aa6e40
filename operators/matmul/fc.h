#pragma once
// FC: Y = X W^T + b, where X is flattened to [M, K] at `axis` and W to [N, K] at `axis_w`.
// FCTransposed: Y = X W + b, where W is flattened to [K, N].
//   X [outer..., inner...], W, b [N]  ->  Y [outer..., N]
// FCGradient, FCTransposedGradient: the gradients of W, b and X.
//   X, W, dY of M * N elements  ->  dW, db [N], dX (optional)
// Supports float only. Sizes of 0 are allowed: with K = 0 every row of Y is b.

#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/argument_spec.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/primitives/cuda_gemm.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kFcAxis{
    "axis", 1, "first axis of X that belongs to the columns; a negative axis counts from the end"};
inline constexpr ArgumentSpec<int> kFcAxisW{
    "axis_w", 1,
    "first axis of W that belongs to the columns; a negative axis counts from the end"};

struct FCSizes {
  int64_t m = 0, n = 0, k = 0;
};
#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if the shapes of X and W do not match.
FCSizes FlattenFC(IntArrayRef x, IntArrayRef w, int axis, int axis_w, bool transposed);
// THROWS if the shapes do not match.
FCSizes CheckFCShapes(IntArrayRef x, IntArrayRef w, IntArrayRef b, int axis, int axis_w,
                      bool transposed);
#pragma GCC visibility pop

void RunFC(CPUContext& context, math::GemmEngine engine, const FCSizes& sizes, bool transposed,
           const float* x, const float* w, const float* b, float* y);
void RunFC(CUDAContext& context, math::GemmEngine engine, const FCSizes& sizes, bool transposed,
           const float* x, const float* w, const float* b, float* y);

struct FCGradientTask {
  FCSizes sizes;
  bool transposed = false;
  const float* x = nullptr;
  const float* w = nullptr;
  const float* dy = nullptr;
  float* dw = nullptr;
  float* db = nullptr;
  float* dx = nullptr;  // may be null
};
void RunFCGradient(CPUContext& context, math::GemmEngine engine, const FCGradientTask& task);
void RunFCGradient(CUDAContext& context, math::GemmEngine engine, const FCGradientTask& task);

template <class Context, bool kTransposed>
class FullyConnectedOp final : public Operator<Context> {
 public:
  USE_OPERATOR_FUNCTIONS(Context);

  FullyConnectedOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        axis_(this->ReadArgument(kFcAxis)),
        axis_w_(this->ReadArgument(kFcAxisW)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& W = Input(1);
    const Tensor& b = Input(2);
    if (!planned_ || X.dims() != x_dims_ || W.dims() != w_dims_ || b.dims() != b_dims_)
      Plan(X, W, b);
    const float* x = X.template data<float>();
    const float* w = W.template data<float>();
    const float* bias = b.template data<float>();
    Tensor* Y = Output(0);
    Y->Resize(y_dims_);
    RunFC(context_, engine_, sizes_, kTransposed, x, w, bias, Y->template mutable_data<float>());
    return true;
  }

 private:
  void Plan(const Tensor& X, const Tensor& W, const Tensor& b) {
    planned_ = false;
    sizes_ = CheckFCShapes(X.sizes(), W.sizes(), b.sizes(), axis_, axis_w_, kTransposed);
    x_dims_ = X.dims();
    w_dims_ = W.dims();
    b_dims_ = b.dims();
    y_dims_.assign(x_dims_.begin(), x_dims_.begin() + X.canonical_axis_index(axis_));
    y_dims_.push_back(sizes_.n);
    engine_ = math::GemmEngineOf(this->engine());
    planned_ = true;
  }

  const int axis_;
  const int axis_w_;
  bool planned_ = false;
  math::GemmEngine engine_ = math::GemmEngine::kBest;
  std::vector<int64_t> x_dims_, w_dims_, b_dims_, y_dims_;
  FCSizes sizes_;
};

template <class Context, bool kTransposed>
class FullyConnectedGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_FUNCTIONS(Context);

  FullyConnectedGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        axis_(this->ReadArgument(kFcAxis)),
        axis_w_(this->ReadArgument(kFcAxisW)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& W = Input(1);
    const Tensor& dY = Input(2);
    const FCSizes sizes = FlattenFC(X.sizes(), W.sizes(), axis_, axis_w_, kTransposed);
    CAFFE_ENFORCE_EQ(dY.numel(), CheckedMultiply(sizes.m, sizes.n),
                     "elements of input 2 (dY) of shape ", dY.sizes(), ", want ", sizes.m, " * ",
                     sizes.n, " for input 0 (X) of shape ", X.sizes(), " and input 1 (W) of shape ",
                     W.sizes());
    FCGradientTask task{.sizes = sizes,
                        .transposed = kTransposed,
                        .x = X.template data<float>(),
                        .w = W.template data<float>(),
                        .dy = dY.template data<float>()};
    task.dw = this->template OutputData<float>(0, W.sizes());
    task.db = this->template OutputData<float>(1, {sizes.n});
    if (OutputSize() > 2) task.dx = this->template OutputData<float>(2, X.sizes());
    RunFCGradient(context_, math::GemmEngineOf(this->engine()), task);
    return true;
  }

 private:
  const int axis_;
  const int axis_w_;
};

}  // namespace caffe2rt
