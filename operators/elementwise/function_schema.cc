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
