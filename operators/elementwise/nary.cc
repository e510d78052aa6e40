#include "operators/elementwise/nary.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

void RegisterNarySchema(const char* type, const char* doc, const OperatorTraits& traits) {
  RegisterSchema(type, __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Input(0, "X0, X1, ...", "one or more tensors of the same shape and type")
      .Output(0, "Y", "the shape of X0")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        OpSchema::Cost cost;
        if (!AreKnown(in, 1)) return cost;
        cost = MoveCost(in, {in[0]});
        cost.flops = NumElements(in[0]) * in.size();
        return cost;
      })
      .Traits(TraitsOfRow(traits, {.family = OperatorFamily::kElementwise}))
      .SetDoc(doc);
}

void RegisterMeanGradientSchema() {
  RegisterSchema("MeanGradient", __FILE__)
      .NumInputs(1)
      .NumOutputs(1, INT_MAX)
      .AllowInplace({{0, 0}})
      .Input(0, "dY", "the gradient of Y")
      .Output(0, "dX0, dX1, ...", "dY divided by the number of outputs")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        return std::vector<TensorShape>(static_cast<size_t>(def.output_size()), in[0]);
      })
      .SetDoc("The gradients of the inputs of Mean.");
}

void RegisterChosenGradientSchema(const std::string& type) {
  RegisterSchema(type + "Gradient", __FILE__)
      .NumInputs(3, INT_MAX)
      .NumOutputs(1, INT_MAX)
      .NumInputsOutputs([](int inputs, int outputs) { return outputs <= inputs - 2; })
      .Input(0, "Y", "the output of " + type)
      .Input(1, "dY", "the gradient of Y")
      .Input(2, "X0, X1, ...", "the inputs of " + type)
      .Output(0, "dX0, dX1, ...", "dY where the input equals Y, 0 elsewhere")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        const size_t outputs = static_cast<size_t>(def.output_size());
        if (!AreKnown(in, outputs + 2)) return UnknownOutputs(def);
        return std::vector<TensorShape>(in.begin() + 2, in.begin() + 2 + def.output_size());
      })
      .SetDoc("The gradients of the inputs of " + type + ".");
}

// The gradient of each input is that of the output.
class GetSumGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    for (int i = 0; i < def_.input_size(); ++i) SetDense(i, GO(0));
    return {};
  }
};

class GetMeanGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> outputs;
    for (int i = 0; i < def_.input_size(); ++i) outputs.push_back(GI(i));
    return SingleGradientDef("MeanGradient", "", std::vector<std::string>{GO(0)}, outputs);
  }
};

// Of Max and Min.
class GetChosenGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs{O(0), GO(0)}, outputs;
    for (int i = 0; i < def_.input_size(); ++i) {
      inputs.push_back(I(i));
      outputs.push_back(GI(i));
    }
    return SingleGradientDef(def_.type() + "Gradient", "", inputs, outputs);
  }
};

}  // namespace

void RegisterNary() {
  kNary.ForEach([]<NaryKind kKind, class... Ts>(const NaryRow<kKind, Ts...>& row) {
    RegisterNarySchema(row.type, row.doc, row.traits);
    if constexpr (kKind == NaryKind::kMean) {
      RegisterMeanGradientSchema();
      RegisterGradient<GetMeanGradient>(row.type, __FILE__);
    } else if constexpr (kKind == NaryKind::kSum) {
      RegisterGradient<GetSumGradient>(row.type, __FILE__);
    } else {
      RegisterChosenGradientSchema(row.type);
      RegisterGradient<GetChosenGradient>(row.type, __FILE__);
    }
    RegisterNaryOperators<CPUContext>(row, __FILE__);
  });
  // Adds up integers that are counted rather than learned: as in Caffe2, no gradient maker.
  RegisterNarySchema("SumInt", "Y = X0 + X1 + ..., without broadcasting and without a gradient.",
                     {.same_shape = true});
  RegisterCpuOperator<NaryOp<CPUContext, NaryKind::kSum, float, double, int32_t, int64_t>>(
      "SumInt", __FILE__);
}

}  // namespace caffe2rt
