#include "operators/common/inference.h"
#include "operators/elementwise/binary.h"

namespace caffe2rt {

namespace {

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

void RegisterBinarySchema(const BinaryRow& row, const char* file) {
  OpSchema& schema = RegisterSchema(row.type, file);
  const TensorProto_DataType result = row.result;
  schema.NumInputs(2)
      .NumOutputs(1)
      .AllowInplace(row.inplace)
      .Input(0, "A", "any shape")
      .Input(1, "B", "a shape that fits, elements as in A")
      .Output(0, "Y", "the shape of both, broadcast")
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
      .SetDoc(std::string(row.doc) + " Shapes are broadcast.");
  DeclareBroadcastArguments(schema);
}

}  // namespace caffe2rt
