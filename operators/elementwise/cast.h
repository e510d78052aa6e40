#pragma once
// Cast: Y = X as another element type, `to` (a number of TensorProto.DataType or its name).
//   X any shape of numbers or bools; Y the same shape.
// Floats are cut towards 0. What does not fit goes through int32 and wraps around (300.5 to uint8
// is 44); what does not fit into int32 or int64 either, NaN included, gives the smallest number
// there. To bool everything but 0 is true; to strings numbers are written as printf's %d and %f do.
// half floats are refused, as in the original.

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

// The argument `to`; FLOAT when it is missing. THROWS when it names no element type that Cast can
// make.
TensorProto_DataType CastTarget(const ArgumentHelper& args);

// y[i] = x[i] as To.
template <class To, class From>
void CastElements(CPUContext& context, int64_t n, const From* x, To* y);

template <class Context>
class CastOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  CastOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), to_(CastTarget(this->args())) {}

  bool RunOnDevice() override {
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
  template <class To>
  bool RunTo() {
    const Tensor& X = Input(0);
    return DispatchByType<float, int32_t, int64_t, double, bool, uint8_t, int8_t, uint16_t,
                          int16_t>(X.dtype(), "input 0 (X)", [&](auto element) {
      using From = decltype(element);
      const From* x = X.data<From>();
      Tensor* Y = Output(0);
      Y->ResizeLike(X);
      CastElements<To, From>(context_, X.numel(), x, Y->template mutable_data<To>());
      return true;
    });
  }

  const TensorProto_DataType to_;
};

}  // namespace caffe2rt
