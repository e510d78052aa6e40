#include "operators/common/inference.h"
#include "operators/elementwise/unary.h"

namespace caffe2rt {

void RegisterUnarySchema(const UnaryRow& row, const char* file) {
  OpSchema& schema = RegisterSchema(row.type, file);
  schema.NumInputs(1)
      .NumOutputs(1)
      .Input(0, "X", "any shape")
      .Output(0, "Y", "the shape of X")
      .CostInferenceFunction(PointwiseCostInference<2>)
      .SetDoc(row.doc);
  for (const UnaryArgument& arg : row.args) schema.Arg(arg.name, arg.doc, arg.default_value);
  if (row.text_argument != nullptr) {
    schema.Arg(row.text_argument, "accepted for old nets; has no effect", "NCHW");
  }
  if (row.inplace) schema.AllowInplace({{0, 0}});
  if (row.result == TensorProto::UNDEFINED) {
    schema.IdenticalTypeAndShape();
    return;
  }
  const TensorProto_DataType result = row.result;
  schema.TensorInferenceFunction(
      [result](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        return std::vector<TensorShape>{CreateTensorShape(GetDimsVector(in[0]), result)};
      });
}

}  // namespace caffe2rt
