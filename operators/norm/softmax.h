#pragma once
// Softmax: exp(x - max) / sum of exp(x - max) over each row. A row is the elements from `axis` on.
//
// SoftmaxGradient: Y, dY  ->  dX = (dY - sum of Y * dY over the row) * Y

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/softmax_rows.h"

namespace caffe2rt {

// Engine policy: constructed once for each operator, invoked on every run. This one runs the
// library's own kernels.
struct NativeSoftmax {
  explicit NativeSoftmax(const OperatorBase&) {}
  template <class Context>
  void operator()(Context& context, int64_t rows, int64_t n, const float* x, float* y) {
    SoftmaxRows(context, rows, n, x, y);
  }
  template <class Context>
  void operator()(Context& context, int64_t rows, int64_t n, const float* y, const float* dy,
                  float* dx) {
    SoftmaxRowsGradient(context, rows, n, y, dy, dx);
  }
};

inline constexpr ArgumentSpec<int> kSoftmaxAxis{
    "axis", 1, "first axis of a row; a negative axis counts from the end"};

template <class Context, class Kernel = NativeSoftmax>
class SoftmaxOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SoftmaxOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), axis_(this->ReadArgument(kSoftmaxAxis)), kernel_(*this) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const int axis = X.canonical_axis_index(axis_);
    const float* x = X.template data<float>();
    float* y = this->template OutputData<float>(0, X.sizes());
    kernel_(context_, X.size_to_dim(axis), X.size_from_dim(axis), x, y);
    return true;
  }

 private:
  const int axis_;
  Kernel kernel_;
};

template <class Context, class Kernel = NativeSoftmax>
class SoftmaxGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SoftmaxGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), axis_(this->ReadArgument(kSoftmaxAxis)), kernel_(*this) {}

  bool RunOnDevice() override {
    const Tensor& Y = Input(0);
    const Tensor& dY = Input(1);
    const int axis = Y.canonical_axis_index(axis_);
    CAFFE_ENFORCE_EQ(dY.numel(), Y.numel(), "elements of input 1 (dY) of shape ", dY.sizes(),
                     ", want as many as input 0 (Y) of shape ", Y.sizes());
    const float* y = Y.template data<float>();
    const float* dy = dY.template data<float>();
    float* dx = this->template OutputData<float>(0, Y.sizes());
    kernel_(context_, Y.size_to_dim(axis), Y.size_from_dim(axis), y, dy, dx);
    return true;
  }

 private:
  const int axis_;
  Kernel kernel_;
};

}  // namespace caffe2rt
