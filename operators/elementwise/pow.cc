#include "operators/elementwise/pow.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/elementwise/map.h"
#include "operators/elementwise/pow_functions.h"

namespace caffe2rt {

void PowerOf(CPUContext& context, int64_t n, const float* x, float exponent, float* y) {
  WithPower(exponent, [&](const auto& function) { Map(context, n, x, y, function); });
}

void PowersOf(CPUContext& context, int64_t n, const float* a, const float* b, float* y) {
  Zip(context, n, a, b, y, PowerFunction{});
}

void PowersOf(CPUContext& context, const BroadcastLoops& loops, const float* a, const float* b,
              float* y) {
  ZipBroadcast(context, loops, a, b, y, PowerFunction{});
}

namespace {

// Arguments of operators of other families that the gradient consists of.
constexpr ArgumentSpec<float> kPowScale{"scale", 1.0f, "the factor of Scale"};
constexpr ArgumentSpec<float> kPowFill{"value", 0.0f, "the value of ConstantFill"};

using Strings = std::vector<std::string>;

class GetPowGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  bool CopyArguments() const override { return false; }

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const ArgumentHelper args(def_);
    return args.HasArgument(kPowExponent.name) ? OfPower(args.Read(kPowExponent)) : OfPowers();
  }

 private:
  // dX = exponent * X ^ (exponent - 1) * dY. Caffe2 computes X from Y in place, which loses the sign
  // of X.
  std::vector<OperatorDef> OfPower(float exponent) {
    return {CreateOperatorDef("Pow", "", Strings{I(0)}, Strings{GI(0)},
                              {MakeArgument(kPowExponent.name, exponent - 1)}),
            CreateOperatorDef("Mul", "", Strings{GI(0), GO(0)}, Strings{GI(0)}),
            CreateOperatorDef("Scale", "", Strings{GI(0)}, Strings{GI(0)},
                              {MakeArgument(kPowScale.name, exponent)})};
  }

  // dA = B * A ^ (B - 1) * dY; dB = log(A) * Y * dY, summed over the broadcast dimensions.
  std::vector<OperatorDef> OfPowers() {
    const bool broadcast = ArgumentHelper::HasArgument(def_, kBroadcast.name);
    std::vector<Argument> axes, all;
    if (broadcast) {
      axes = {ArgumentOr(kBroadcastAxis), ArgumentOr(kBroadcastAxisStr),
              ArgumentOr(kBroadcastOrder)};
      all = axes;
      all.push_back(GetArgument(def_, kBroadcast.name));
    }
    const std::string logs = GI(1) + "_autogen_pre_red";
    std::vector<OperatorDef> ops{
        CreateOperatorDef("ConstantFill", "", Strings{I(1)}, Strings{GI(1)},
                          {MakeArgument(kPowFill.name, 1.0f)}),
        CreateOperatorDef("Sub", "", Strings{I(1), GI(1)}, Strings{GI(1)}),
        CreateOperatorDef("Pow", "", Strings{I(0), GI(1)}, Strings{GI(0)}, all),
        CreateOperatorDef("Mul", "", Strings{GI(0), GO(0)}, Strings{GI(0)}),
        CreateOperatorDef("Mul", "", Strings{GI(0), I(1)}, Strings{GI(0)}, all),
        CreateOperatorDef("Log", "", Strings{I(0)}, Strings{logs}),
        CreateOperatorDef("Mul", "", Strings{logs, O(0)}, Strings{logs}),
        CreateOperatorDef("Mul", "", Strings{logs, GO(0)}, Strings{broadcast ? logs : GI(1)})};
    if (broadcast) {
      ops.push_back(
          CreateOperatorDef("SumReduceLike", "", Strings{logs, I(1)}, Strings{GI(1)}, axes));
    }
    return ops;
  }

  // The argument of the operator, or its default.
  template <class T>
  Argument ArgumentOr(const ArgumentSpec<T>& spec) const {
    return ArgumentHelper::HasArgument(def_, spec.name)
               ? GetArgument(def_, spec.name)
               : MakeArgument(spec.name, T(spec.default_value));
  }
};

}  // namespace

void RegisterPow() {
  OpSchema& schema = RegisterSchema("Pow", __FILE__);
  schema.NumInputs(1, 2)
      .NumOutputs(1)
      .AllowInplace({{0, 0}, {1, 0}})
      .Arg(kPowExponent)
      .Input(0, "A", "any shape, float")
      .Input(1, "B", "the exponents: the shape of A, or one that broadcasts to it")
      .Output(0, "Y", "the shape of A")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction(PointwiseCostInference<2>)
      .Traits({.family = OperatorFamily::kElementwise})
      .SetDoc("Y = A ^ exponent, or A ^ B for two inputs.");
  DeclareBroadcastArguments(schema);
  RegisterCpuOperator<PowOp<CPUContext>>("Pow", __FILE__);
  RegisterGradient<GetPowGradient>("Pow", __FILE__);
}

}  // namespace caffe2rt
