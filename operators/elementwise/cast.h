#pragma once
// Cast: converts X to the element type `to` (a number or a name of TensorProto.DataType).
//   X any shape, numbers or bools  ->  Y the shape of X
// cast_kernels.h states the rules for numbers, cast_wide.h those for uint32, uint64 and bfloat16. Strings are written as by printf's %d and %f. Half
// floats are rejected, as in Caffe2.

#include <string>
#include <type_traits>

#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/tensor/data_type.h"
#include "operators/elementwise/cast_kernels.h"
#include "operators/elementwise/cast_wide.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The argument `to`, or FLOAT if it is missing. THROWS if Cast does not support the type.
TensorProto_DataType CastTarget(const ArgumentHelper& args);
#pragma GCC visibility pop

template <class Context>
class CastOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  CastOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), to_(CastTarget(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    if (IsWideCastType(to_) || IsWideCastType(TypeMetaToDataType(X.dtype()))) return RunWide(X);
    switch (to_) {
      case TensorProto::FLOAT:
        return RunTo<float>();
      case TensorProto::DOUBLE:
        return RunTo<double>();
      case TensorProto::INT32:
        return RunTo<int32_t>();
      case TensorProto::INT64:
        return RunTo<int64_t>();
      case TensorProto::BOOL:
        return RunTo<bool>();
      case TensorProto::UINT8:
        return RunTo<uint8_t>();
      case TensorProto::INT8:
        return RunTo<int8_t>();
      case TensorProto::UINT16:
        return RunTo<uint16_t>();
      case TensorProto::INT16:
        return RunTo<int16_t>();
      default:
        return RunTo<std::string>();
    }
  }

 private:
  bool RunWide(const Tensor& X) {
    CAFFE_ENFORCE(to_ != TensorProto::STRING, "input 0 (X) is of type ", DataTypeName(X.dtype()),
                  ", which is not cast to strings");
    if constexpr (Context::GetDeviceType() == CPU) {
      Output(0)->ResizeLike(X);
      return CastWide(X, to_, Output(0));
    } else {
      CAFFE_THROW("uint32, uint64 and bfloat16 are cast on the CPU only");
    }
  }

  template <class To>
  bool RunTo() {
    const Tensor& X = Input(0);
    return [&]<class... Ts>(ElementTypes<Ts...>) {
      return DispatchByType<Ts...>(X.dtype(), "input 0 (X)", [&](auto element) {
        using From = decltype(element);
        const From* x = X.data<From>();
        Tensor* Y = Output(0);
        Y->ResizeLike(X);
        To* y = Y->template mutable_data<To>();
        if constexpr (!std::is_same_v<To, std::string>) {
          Map(context_, X.numel(), x, y, CastFunction<To>{});
        } else if constexpr (Context::GetDeviceType() == CPU) {
          WriteNumbers(X.numel(), x, y);
        } else {
          CAFFE_THROW("argument to is STRING, but strings are supported on the CPU only");
        }
        return true;
      });
    }(CastTypes());
  }

  // Writes numbers as printf's %f and %d do.
  template <class From>
  static void WriteNumbers(int64_t n, const From* x, std::string* y) {
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_floating_point_v<From>) {
        y[i] = FixedText(x[i], 6);
      } else {
        y[i] = MakeString(+x[i]);
      }
    }
  }

  const TensorProto_DataType to_;
};

}  // namespace caffe2rt
