// ONNXDropout: with training_mode, sets each element to 0 with probability `ratio`, and divides the
// others by 1 - ratio; else passes X on. The ratio and the mode are inputs.
//   X any number type float or double  ->  Y as X, mask bool

#include <cstdint>
#include <random>

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

constexpr ArgumentSpec<int64_t> kOnnxDropoutSeed{"seed", 0,
                                                 "has no effect: the net's random seed counts"};

class OnnxDropoutOp final : public Operator<CPUContext> {
 public:
  OnnxDropoutOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), places_(args(), InputSize()) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    for (const int i : {1, 2}) {
      if (!places_.Has(i)) continue;
      CAFFE_ENFORCE_EQ(Input(places_[i]).numel(), 1, "elements of input ", places_[i],
                       i == 1 ? " (ratio)" : " (training_mode)");
    }
    if (places_.Has(1)) RequireElementsOf<float, double>(Input(places_[1]), "input 1 (ratio)");
    if (places_.Has(2)) RequireElements<bool>(Input(places_[2]));
    return DispatchByType<float, double>(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      T* y = OutputData<T>(0, X.sizes());
      bool* mask = OutputSize() > 1 ? OutputData<bool>(1, X.sizes()) : nullptr;
      const bool training = places_.Has(2) && *Input(places_[2]).template data<bool>();
      Run(X.numel(), training ? Ratio() : 0.0, X.data<T>(), y, mask);
      return true;
    });
  }

 private:
  double Ratio() const {
    double ratio = 0.5;
    if (places_.Has(1)) {
      const Tensor& input = Input(places_[1]);
      ratio =
          input.IsType<float>() ? static_cast<double>(*input.data<float>()) : *input.data<double>();
    }
    CAFFE_ENFORCE(ratio >= 0 && ratio < 1, "input 1 (ratio) is ", ratio,
                  ", want at least 0 and below 1");
    return ratio;
  }

  template <class T>
  void Run(int64_t n, double ratio, const T* x, T* y, bool* mask) {
    const T scale = static_cast<T>(1 / (1 - ratio));
    std::bernoulli_distribution keeps(1 - ratio);
    for (int64_t i = 0; i < n; ++i) {
      const bool kept = ratio == 0 || keeps(context_.RandGenerator());
      y[i] = kept ? x[i] * scale : T(0);
      if (mask != nullptr) mask[i] = kept;
    }
  }

  const InputPlaces places_;
};

}  // namespace

void RegisterOnnxDropout() {
  RegisterSchema("ONNXDropout", __FILE__)
      .NumInputs(1, 3)
      .NumOutputs(1, 2)
      .Args(kOmittedInputs, kOnnxDropoutSeed)
      .Input(0, "X", "float or double")
      .Input(1, "ratio", "float or double, one element; default: 0.5")
      .Input(2, "training_mode", "bool, one element; default: false")
      .Output(0, "Y", "the shape and type of X")
      .Output(1, "mask", "bool, the shape of X: whether the element is kept")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        std::vector<TensorShape> out{in[0]};
        if (def.output_size() > 1) {
          out.push_back(CreateTensorShape(GetDimsVector(in[0]), TensorProto_DataType_BOOL));
        }
        return out;
      })
      .HasEffect(Effect::kRandom)
      .Traits({.family = OperatorFamily::kElementwise, .same_shape = true})
      .SetDoc("Dropout whose ratio and mode are inputs, as ONNX's.");
  RegisterCpuOperator<OnnxDropoutOp>("ONNXDropout", __FILE__);
  // Dropout has a gradient.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ONNXDropout", __FILE__);
}

}  // namespace caffe2rt
