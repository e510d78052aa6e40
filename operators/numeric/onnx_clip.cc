// ONNXClip: Y = min(max(X, low), high), for numbers of any type; the limits are inputs.

#include <limits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/optional_inputs.h"
#include "operators/numeric/numbers.h"

namespace caffe2rt {

namespace {

class OnnxClipOp final : public Operator<CPUContext> {
 public:
  OnnxClipOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), places_(args(), InputSize()) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    return DispatchNumber(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      for (const int i : {1, 2}) {
        if (!places_.Has(i)) continue;
        const Tensor& limit = Input(places_[i]);
        RequireElements<T>(limit);
        CAFFE_ENFORCE_EQ(limit.numel(), 1, "elements of input ", places_[i],
                         i == 1 ? " (min)" : " (max)", " of shape ", limit.sizes());
      }
      T* y = OutputData<T>(0, X.sizes());
      if (X.numel() == 0) return true;
      const bool has_low = places_.Has(1), has_high = places_.Has(2);
      const T low = has_low ? *Input(places_[1]).template data<T>() : T(0);
      const T high = has_high ? *Input(places_[2]).template data<T>() : T(0);
      const T* x = X.data<T>();
      ParallelElements(X.numel(), [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {  // NaN stays
          T value = x[i];
          value = has_low && value < low ? low : value;
          y[i] = has_high && value > high ? high : value;
        }
      });
      return true;
    });
  }

 private:
  const InputPlaces places_;
};

}  // namespace

void RegisterOnnxClip() {
  RegisterSchema("ONNXClip", __FILE__)
      .NumInputs(1, 3)
      .NumOutputs(1)
      .Arg(kOmittedInputs)
      .Input(0, "X", "numbers of any type")
      .Input(1, "min", "one element of the type of X; default: no limit")
      .Input(2, "max",
             "one element of the type of X; default: no limit; it wins if it is below min")
      .Output(0, "Y", "the shape and type of X")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction(PointwiseCostInference<2>)
      .Traits({.family = OperatorFamily::kElementwise, .same_shape = true})
      .SetDoc("Limits numbers to a range whose bounds are inputs, as ONNX's Clip.");
  RegisterCpuOperator<OnnxClipOp>("ONNXClip", __FILE__);
  // Clip has a gradient.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ONNXClip", __FILE__);
}

}  // namespace caffe2rt
