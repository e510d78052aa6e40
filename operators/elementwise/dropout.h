#pragma once
// Dropout: sets a random fraction `ratio` of the elements to 0 and multiplies the others by
// 1 / (1 - ratio) (Srivastava et al. 2014). With is_test, Y = X.
//   X any shape, float  ->  Y as X, may be in place; mask as X, bool, true where X was kept
// With is_test the mask is not written, and the operator need not have this output.
//
// DropoutGrad: dX = dY where the mask is true, multiplied by 1 / (1 - ratio), and 0 elsewhere. With
// is_test, dX = dY.
//   dY any shape, float; mask as dY, bool, not needed with is_test  ->  dX as dY, may be in place

#include "caffe2_core/runtime/operator.h"
#include "operators/elementwise/dropout_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kDropoutRatio{
    "ratio",
    0.5f,
    "fraction of the elements that become 0",
    {[](float ratio) { return ratio >= 0.0f && ratio < 1.0f; }, "at least 0 and below 1"}};
inline constexpr ArgumentSpec<int> kDropoutIsTest{
    .name = "is_test", .doc = "1: Y = X; 0: drop elements", .required = true};

inline constexpr ArgumentSpec<int> kDropoutGradIsTest{
    kDropoutIsTest.name, 0, "1: dX = dY; 0: the gradient of dropped elements is 0"};

template <class Context>
class DropoutOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  DropoutOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        ratio_(this->ReadArgument(kDropoutRatio)),
        is_test_(this->ReadArgument(kDropoutIsTest) != 0) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    X.data<float>();  // THROWS before the output is modified
    Tensor* Y = Output(0);
    if (is_test_) {
      if (Y != &X) Y->CopyFrom(X, &context_);
      return true;
    }
    CAFFE_ENFORCE_EQ(OutputSize(), 2,
                     "outputs of Dropout in training (is_test 0), want Y and mask");
    if (Y != &X) Y->ResizeLike(X);
    float* y = Y->template mutable_data<float>();
    bool* keep = Output(1, X.sizes(), TypeMeta::Make<bool>())->template mutable_data<bool>();
    DropElements(context_, &draws_, X.numel(), ratio_, X.data<float>(), y, keep);
    return true;
  }

 private:
  const float ratio_;
  const bool is_test_;
  uint64_t draws_ = 0;
};

template <class Context>
class DropoutGradOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  DropoutGradOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        ratio_(this->ReadArgument(kDropoutRatio)),
        is_test_(this->ReadArgument(kDropoutGradIsTest) != 0) {
    CAFFE_ENFORCE(is_test_ || InputSize() == 2,
                  "inputs of DropoutGrad in training (is_test 0), want dY and mask");
  }

  bool RunOnDevice() override {
    const Tensor& dY = Input(0);
    dY.data<float>();  // THROWS before the output is modified
    Tensor* dX = Output(0);
    if (is_test_) {
      if (dX != &dY) dX->CopyFrom(dY, &context_);
      return true;
    }
    const Tensor& mask = Input(1);
    CAFFE_ENFORCE_EQ(mask.numel(), dY.numel(), "elements of input 1 (mask) of shape ", mask.sizes(),
                     ", want as many as input 0 (dY) of shape ", dY.sizes());
    const bool* const keep = mask.data<bool>();
    if (dX != &dY) dX->ResizeLike(dY);
    float* const dx = dX->template mutable_data<float>();
    KeepGradients(context_, dY.numel(), ratio_, dY.data<float>(), keep, dx);
    return true;
  }

 private:
  const float ratio_;
  const bool is_test_;
};

}  // namespace caffe2rt
