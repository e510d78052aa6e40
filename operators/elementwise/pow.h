#pragma once
// Pow: Y = A ^ exponent, or Y = A ^ B if there are two inputs.
//   A any shape, float  ->  Y as A
// B has A's shape. With the argument broadcast it may have any shape that Caffe2's older rules
// broadcast to A's shape (operators/common/broadcast.h).

#include "caffe2_core/runtime/operator.h"
#include "operators/common/broadcast.h"
#include "operators/elementwise/pow_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kPowExponent{"exponent", 0.0f,
                                                  "the exponent if there is one input"};

template <class Context>
class PowOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PowOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        arguments_(this->args()),
        exponent_(this->ReadArgument(kPowExponent)) {
    CAFFE_ENFORCE(InputSize() == 2 || HasArgument(kPowExponent),
                  "no exponent is given: set the argument exponent, or add input 1");
    CAFFE_ENFORCE(arguments_.legacy || arguments_.axis == -1, "argument axis is ", arguments_.axis,
                  " without the argument broadcast, want both");
    CAFFE_ENFORCE(arguments_.legacy || this->ReadArgument(kBroadcastAxisStr).empty(),
                  "argument axis_str is set without the argument broadcast, want both");
  }

  bool RunOnDevice() override {
    const Tensor& A = Input(0);
    RequireFloat(A, "input 0 (A)");
    Tensor* Y = Output(0);
    return InputSize() == 1 ? RunWithExponent(A, Y) : RunWithExponents(A, Input(1), Y);
  }

 private:
  static void RequireFloat(const Tensor& tensor, const char* subject) {
    CAFFE_ENFORCE(tensor.IsType<float>(), "Unsupported type of tensor: ", subject,
                  " has elements of type ", tensor.dtype().name(), ", want float");
    tensor.data<float>();
  }

  bool RunWithExponent(const Tensor& A, Tensor* Y) {
    if (Y != &A) Y->ResizeLike(A);
    float* y = Y->template mutable_data<float>();
    PowerOf(context_, A.numel(), A.data<float>(), exponent_, y);
    return true;
  }

  bool RunWithExponents(const Tensor& A, const Tensor& B, Tensor* Y) {
    RequireFloat(B, "input 1 (B)");
    CAFFE_ENFORCE(
        !arguments_.legacy || Y != &B,
        "output 0 (Y) is input 1 (B): with the argument broadcast only input 0 (A) may be "
        "overwritten in place");
    const bool same = A.dims() == B.dims() && arguments_.FitsEqualShapes();
    CAFFE_ENFORCE(same || arguments_.legacy, "input 1 (B) has shape ", B.sizes(), ", want ",
                  A.sizes(), " as input 0 (A), or the argument broadcast");
    if (!same) plan_.Make(A.sizes(), B.sizes(), arguments_);
    if (Y != &A && Y != &B) Y->ResizeLike(A);
    float* y = Y->template mutable_data<float>();
    if (same) {
      PowersOf(context_, A.numel(), A.data<float>(), B.data<float>(), y);
    } else if (plan_.output_size() > 0) {
      PowersOf(context_, plan_.loops(), A.data<float>(), B.data<float>(), y);
    }
    return true;
  }

  const BroadcastArguments arguments_;
  const float exponent_;
  BroadcastPlan plan_;
};

}  // namespace caffe2rt
