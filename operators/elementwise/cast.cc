#include "operators/elementwise/cast.h"

#include <absl/strings/ascii.h>

#include <algorithm>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kCastTo{"to", TensorProto::FLOAT,
                                    "the type of Y: a number or name of TensorProto.DataType"};
constexpr ArgumentSpec<std::string> kCastToName{kCastTo.name, ""};
constexpr ArgumentSpec<int> kCastFromType{"from_type", 0, "accepted for old nets; has no effect"};

// The number that argument `to` gives, even if it is not a valid type, or UNDEFINED for an unknown
// name.
int RequestedType(const ArgumentHelper& args, std::string* name) {
  if (!args.HasSingleArgumentOfType<std::string>(kCastTo.name)) return args.Read(kCastTo);
  *name = args.Read(kCastToName);
  const std::string upper = absl::AsciiStrToUpper(*name);
  TensorProto_DataType type = TensorProto::UNDEFINED;
  TensorProto_DataType_Parse(upper, &type);
  return type;
}

bool IsCastTarget(int type) {
  switch (type) {
    case TensorProto::FLOAT:
    case TensorProto::DOUBLE:
    case TensorProto::INT32:
    case TensorProto::INT64:
    case TensorProto::BOOL:
    case TensorProto::UINT8:
    case TensorProto::INT8:
    case TensorProto::UINT16:
    case TensorProto::INT16:
    case TensorProto::STRING:
      return true;
    default:
      return false;
  }
}

}  // namespace

TensorProto_DataType CastTarget(const ArgumentHelper& args) {
  std::string name;
  const int type = RequestedType(args, &name);
  CAFFE_ENFORCE(type != TensorProto::FLOAT16,
                "argument to is FLOAT16, but half floats cannot be cast");
  if (!IsCastTarget(type)) {
    CAFFE_THROW("argument to is ", name.empty() ? MakeString(type) : "\"" + name + "\"",
                ", want FLOAT, DOUBLE, INT8, INT16, INT32, INT64, UINT8, UINT16, BOOL or STRING");
  }
  return static_cast<TensorProto_DataType>(type);
}

void RegisterCast() {
  RegisterSchema("Cast", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      // `to` may be a number or a name, so `caffe2 check` must not read it as a number.
      .Arg(kCastTo.name, kCastTo.doc, kCastTo.default_value)
      .Arg(kCastFromType.name, kCastFromType.doc, kCastFromType.default_value)
      .Input(0, "X", "any shape, numbers or bools")
      .Output(0, "Y", "the shape of X, elements of type `to`")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::string name;
        const int type = RequestedType(ArgumentHelper(def), &name);
        if (!AreKnown(in, 1) || !IsCastTarget(type)) return UnknownOutputs(def);
        return std::vector<TensorShape>{
            CreateTensorShape(GetDimsVector(in[0]), static_cast<TensorProto_DataType>(type))};
      })
      .CostInferenceFunction(PointwiseCostInference<1>)
      .SetDoc("Y = X with elements of another type.");
  RegisterCpuOperator<CastOp<CPUContext>>("Cast", __FILE__);
}

}  // namespace caffe2rt
