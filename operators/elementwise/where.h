#pragma once
// Where: Y = X where C is true, else Z.
//   C bool; X and Z of the same shape and type  ->  Y as X
// C has the shape of X, or with broadcast_on_rows one element per row (dim 0) of X.

#include <string>
#include <type_traits>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/elementwise/where_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kWhereBroadcastOnRows{"broadcast_on_rows", false,
                                                          "1: C has one element for each row of X"};

template <class Context>
class WhereOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  WhereOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), on_rows_(this->ReadArgument(kWhereBroadcastOnRows)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(1);
    return DispatchByType<float, double, int32_t, int64_t, bool, std::string>(
        X.dtype(), "input 1 (X)", [&](auto element) { return RunWithType<decltype(element)>(X); });
  }

 private:
  template <class T>
  bool RunWithType(const Tensor& X) {
    const Tensor& C = Input(0);
    const Tensor& Z = Input(2);
    CAFFE_ENFORCE(C.IsType<bool>(), "input 0 (C) has elements of type ", C.dtype().name(),
                  ", want bool");
    CAFFE_ENFORCE(Z.IsType<T>(), "input 2 (Z) has elements of type ", Z.dtype().name(), ", want ",
                  X.dtype().name(), " as input 1 (X)");
    CAFFE_ENFORCE(X.dims() == Z.dims(), "input 2 (Z) has shape ", Z.sizes(), ", want ", X.sizes(),
                  " as input 1 (X)");
    if (on_rows_) {
      CAFFE_ENFORCE(C.dim() == 1 && X.dim() >= 1 && C.dim(0) == X.dim(0), "input 0 (C) has shape ",
                    C.sizes(), ", want one element for each row of input 1 (X) of shape ",
                    X.sizes());
    } else {
      CAFFE_ENFORCE(C.dims() == X.dims(), "input 0 (C) has shape ", C.sizes(), ", want ", X.sizes(),
                    " as input 1 (X), or the argument broadcast_on_rows");
    }
    const bool* c = C.data<bool>();
    const T* x = X.data<T>();
    const T* z = Z.data<T>();
    Tensor* Y = Output(0);
    Y->ResizeLike(X);
    T* y = Y->template mutable_data<T>();
    if constexpr (Context::GetDeviceType() == CPU || std::is_trivially_copyable_v<T>) {
      SelectRows(context_, C.numel(), on_rows_ ? X.size_from_dim(1) : 1, c, x, z, y);
    } else {
      CAFFE_THROW("input 1 (X) has elements of type ", TypeMeta::Name<T>(),
                  ", which are supported on the CPU only");
    }
    return true;
  }

  const bool on_rows_;
};

}  // namespace caffe2rt
