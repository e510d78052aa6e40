#pragma once
// Normalize, NormalizeL1: divides each run of elements along an axis by its norm.
//   Normalize:    Y = X / max(sqrt(sum of X^2), 1e-12)
//   NormalizeL1:  Y = X / sum of |X|; a run of zeros stays as it is
//
// NormalizeGradient: X, dY  ->  dX of Normalize

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/norm/normalize_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kNormalizeAxis{
    "axis", -1, "axis of the norms; a negative axis counts from the end"};

inline AxisRuns AxisRunsOf(const Tensor& X, int axis) {
  const int at = X.canonical_axis_index(axis);
  return {.outer = X.size_to_dim(at), .size = X.dim(at), .inner = X.size_from_dim(at + 1)};
}

template <class Context, Norm kNorm>
class NormalizeOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  NormalizeOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), axis_(this->ReadArgument(kNormalizeAxis)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const AxisRuns runs = AxisRunsOf(X, axis_);
    const float* x = X.template data<float>();
    float* const y = this->template OutputData<float>(0, X.sizes());
    // There may be any number of runs without elements.
    if (X.numel() > 0) NormalizeRuns(context_, runs, kNorm, x, y);
    return true;
  }

 private:
  const int axis_;
};

template <class Context>
class NormalizeGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  NormalizeGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), axis_(this->ReadArgument(kNormalizeAxis)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& dY = Input(1);
    const AxisRuns runs = AxisRunsOf(X, axis_);
    CAFFE_ENFORCE_EQ(dY.numel(), X.numel(), "elements of input 1 (dY) of shape ", dY.sizes(),
                     ", want as many as input 0 (X) of shape ", X.sizes());
    const float* x = X.template data<float>();
    const float* dy = dY.template data<float>();
    float* const dx = this->template OutputData<float>(0, X.sizes());
    if (X.numel() > 0) NormalizeRunsGradient(context_, runs, x, dy, dx);
    return true;
  }

 private:
  const int axis_;
};

}  // namespace caffe2rt
