#include "operators/elementwise/function_schema.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "operators/common/broadcast.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

std::set<std::pair<int, int>> InplacePairs(BinaryInplace inplace) {
  switch (inplace) {
    case BinaryInplace::kNone:
      return {};
    case BinaryInplace::kFirst:
      return {{0, 0}};
    case BinaryInplace::kEither:
      return {{0, 0}, {1, 0}};
  }
  return {};
}

OpSchema::Cost BinaryCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  OpSchema::Cost cost;
  if (!AreKnown(in, 2)) return cost;
  const BroadcastArguments arguments{ArgumentHelper(def)};
  TensorShape output;
  for (const int64_t dim : BroadcastShape(GetDimsVector(in[0]), GetDimsVector(in[1]), arguments)) {
    output.add_dims(dim);
  }
  cost = MoveCost(in, {output});
  cost.flops = NumElements(output);
  return cost;
}

template <GradientInputs kInputs>
class UnaryGradientMaker final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs(ReadsXAndY(kInputs) ? 3 : 2);
    inputs[PlaceOfDy(kInputs)] = GO(0);
    if constexpr (ReadsXAndY(kInputs)) {
      inputs[0] = I(0);
      inputs[1] = O(0);
    } else {
      constexpr bool kReadsX =
          kInputs == GradientInputs::kXAndDy || kInputs == GradientInputs::kDyAndX;
      inputs[PlaceOfValue(kInputs)] = kReadsX ? I(0) : O(0);
    }
    return SingleGradientDef(GradientTypeOf(def_.type().c_str()), "", inputs,
                             std::vector<std::string>{GI(0)});
  }
};

template <bool kReadsA, bool kReadsB, bool kReadsY>
class BinaryGradientMaker final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs{GO(0), kReadsA ? I(0) : ShapeOf(0),
                                    kReadsB ? I(1) : ShapeOf(1)};
    if constexpr (kReadsY) inputs.push_back(O(0));
    return SingleGradientDef(GradientTypeOf(def_.type().c_str()), "", inputs,
                             std::vector<std::string>{GI(0), GI(1)});
  }
};

template <bool... kReads>
void RegisterBinaryGradientMaker(const char* type, const BinaryGradientReads& reads,
                                 const char* file) {
  if constexpr (sizeof...(kReads) == 3) {
    RegisterGradient<BinaryGradientMaker<kReads...>>(type, file);
  } else {
    const bool next[] = {reads.a, reads.b, reads.y};
    if (next[sizeof...(kReads)]) {
      RegisterBinaryGradientMaker<kReads..., true>(type, reads, file);
    } else {
      RegisterBinaryGradientMaker<kReads..., false>(type, reads, file);
    }
  }
}

std::vector<TensorShape> InferBinaryGradient(const OperatorDef& def,
                                             const std::vector<TensorShape>& in, bool reads_y) {
  const size_t inputs = reads_y ? 4 : 3;
  const bool without_a = reads_y && in.size() == 3;
  if (!AreKnown(in, without_a ? 3 : inputs)) return UnknownOutputs(def);
  const TensorProto_DataType type = in[without_a ? 2 : 0].data_type();
  return {CreateTensorShape(GetDimsVector(in[1]), type),
          CreateTensorShape(GetDimsVector(in[without_a ? 0 : 2]), type)};
}

// A list of the names of inputs, in the order of `inputs`.
std::vector<const char*> NamesOf(GradientInputs inputs) {
  switch (inputs) {
    case GradientInputs::kXAndDy:
      return {"X", "dY"};
    case GradientInputs::kYAndDy:
      return {"Y", "dY"};
    case GradientInputs::kDyAndX:
      return {"dY", "X"};
    case GradientInputs::kDyAndY:
      return {"dY", "Y"};
    case GradientInputs::kXAndYAndDy:
      return {"X", "Y", "dY"};
  }
  return {};
}

void RegisterUnaryGradientMaker(const char* type, GradientInputs inputs, const char* file) {
  switch (inputs) {
    case GradientInputs::kXAndDy:
      RegisterGradient<UnaryGradientMaker<GradientInputs::kXAndDy>>(type, file);
      return;
    case GradientInputs::kYAndDy:
      RegisterGradient<UnaryGradientMaker<GradientInputs::kYAndDy>>(type, file);
      return;
    case GradientInputs::kDyAndX:
      RegisterGradient<UnaryGradientMaker<GradientInputs::kDyAndX>>(type, file);
      return;
    case GradientInputs::kDyAndY:
      RegisterGradient<UnaryGradientMaker<GradientInputs::kDyAndY>>(type, file);
      return;
    case GradientInputs::kXAndYAndDy:
      RegisterGradient<UnaryGradientMaker<GradientInputs::kXAndYAndDy>>(type, file);
      return;
  }
}

}  // namespace

OpSchema& RegisterUnarySchema(const char* type, const char* doc, bool inplace,
                              TensorProto_DataType result, const char* file) {
  OpSchema& schema = RegisterSchema(type, file);
  schema.NumInputs(1)
      .NumOutputs(1)
      .Input(0, "X", "any shape")
      .Output(0, "Y", "the shape of X")
      .CostInferenceFunction(PointwiseCostInference<2>)
      .SetDoc(doc);
  if (inplace) schema.AllowInplace({{0, 0}});
  if (result == TensorProto::UNDEFINED) return schema.IdenticalTypeAndShape();
  return schema.TensorInferenceFunction(
      [result](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        return std::vector<TensorShape>{CreateTensorShape(GetDimsVector(in[0]), result)};
      });
}

OpSchema& RegisterBinarySchema(const char* type, const char* doc, BinaryInplace inplace,
                               TensorProto_DataType result, const char* file) {
  OpSchema& schema = RegisterSchema(type, file);
  schema.NumInputs(2)
      .NumOutputs(1)
      .AllowInplace(InplacePairs(inplace))
      .Input(0, "A", "any shape")
      .Input(1, "B", "the type of A, and a shape that broadcasts with that of A")
      .Output(0, "Y", "the shape of A and B after broadcasting")
      .CostInferenceFunction(BinaryCost)
      .TensorInferenceFunction(
          [result](const OperatorDef& def, const std::vector<TensorShape>& in) {
            if (!AreKnown(in, 2)) return UnknownOutputs(def);
            const BroadcastArguments arguments{ArgumentHelper(def)};
            const std::vector<int64_t> dims =
                BroadcastShape(GetDimsVector(in[0]), GetDimsVector(in[1]), arguments);
            return std::vector<TensorShape>{CreateTensorShape(
                dims, result == TensorProto::UNDEFINED ? in[0].data_type() : result)};
          })
      .SetDoc(std::string(doc) + " Shapes are broadcast.");
  DeclareBroadcastArguments(schema);
  return schema;
}

OpSchema& RegisterUnaryGradient(const char* type, GradientInputs inputs, bool inplace,
                                const char* file) {
  RegisterUnaryGradientMaker(type, inputs, file);
  const std::vector<const char*> names = NamesOf(inputs);
  OpSchema& schema = RegisterSchema(GradientTypeOf(type), file);
  schema.NumInputs(static_cast<int>(names.size()))
      .NumOutputs(1)
      .Output(0, "dX", "the gradient of X")
      .IdenticalTypeAndShapeOfInput(PlaceOfValue(inputs))
      .CostInferenceFunction(PointwiseCostInference<2>)
      .SetDoc(MakeString("The gradient of ", type, "."));
  for (int i = 0; i < static_cast<int>(names.size()); ++i) {
    schema.Input(i, names[static_cast<size_t>(i)],
                 i == PlaceOfDy(inputs) ? "the gradient of Y, as many elements as Y"
                                        : MakeString("as in ", type));
  }
  if (inplace) schema.AllowInplace({{PlaceOfDy(inputs), 0}});
  return schema;
}

void RegisterBinaryGradient(const char* type, BinaryGradientReads reads, BinaryInplace inplace,
                            const char* file) {
  RegisterBinaryGradientMaker<>(type, reads, file);
  const bool reads_y = reads.y;
  OpSchema& schema = RegisterSchema(GradientTypeOf(type), file);
  schema.NumInputs(3, reads_y ? 4 : 3)
      .NumOutputs(2)
      .Input(0, "dY", "the gradient of Y")
      .Input(1, "A", MakeString("as in ", type))
      .Input(2, "B", MakeString("as in ", type))
      .Output(0, "dA", "the gradient of A")
      .Output(1, "dB", "the gradient of B")
      .TensorInferenceFunction(
          [reads_y](const OperatorDef& def, const std::vector<TensorShape>& in) {
            return InferBinaryGradient(def, in, reads_y);
          })
      .CostInferenceFunction(PointwiseCostInference<4>)
      .SetDoc(MakeString("The gradients of the inputs of ", type,
                         ", summed over the dimensions that were broadcast.",
                         reads_y ? " The inputs may also be B, Y, dY, as in old nets; A has then "
                                   "the shape of Y."
                                 : ""));
  if (reads_y) schema.Input(3, "Y", MakeString("as in ", type));
  if (inplace == BinaryInplace::kFirst) schema.AllowInplace({{0, 0}});
  if (inplace == BinaryInplace::kEither) schema.AllowInplace({{0, 0}, {0, 1}});
  DeclareBroadcastArguments(schema);
}

void RegisterGradientOfKind(GradientKind kind, const char* type, const char* file) {
  switch (kind) {
    case GradientKind::kMissing:
      return;
    case GradientKind::kZero:
      RegisterGradient<NoGradient>(type, file);
      return;
    case GradientKind::kUndefined:
      RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, file);
      return;
    case GradientKind::kNotImplemented:
      RegisterGradient<GradientNotImplementedYet>(type, file);
      return;
  }
}

}  // namespace caffe2rt
