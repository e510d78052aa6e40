#include "operators/elementwise/cast.h"

#include <algorithm>

#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/elementwise/cast_function.h"
#include "operators/elementwise/map.h"

namespace caffe2rt {

namespace {

// The number that `to` gives, of whatever value; UNDEFINED for a name that is none.
int RequestedType(const ArgumentHelper& args, std::string* name) {
  if (!args.HasSingleArgumentOfType<std::string>("to")) {
    return args.GetSingleArgument<int>("to", TensorProto::FLOAT);
  }
  *name = args.GetSingleArgument<std::string>("to", "");
  const std::string upper = AsciiUpper(*name);
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
  CAFFE_ENFORCE(
      type != TensorProto::FLOAT16,
      "argument to is FLOAT16: half floats cannot be cast on the CPU; FloatToHalf makes them");
  if (!IsCastTarget(type)) {
    CAFFE_THROW("argument to is ", name.empty() ? MakeString(type) : "\"" + name + "\"",
                ", want FLOAT, DOUBLE, INT8, INT16, INT32, INT64, UINT8, UINT16, BOOL or STRING");
  }
  return static_cast<TensorProto_DataType>(type);
}

template <class To, class From>
void CastElements(CPUContext& context, int64_t n, const From* x, To* y) {
  if constexpr (std::is_same_v<To, std::string>) {
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_floating_point_v<From>) {
        y[i] = FixedText(x[i], 6);
      } else {
        y[i] = IntegerText(x[i]);
      }
    }
  } else {
    Map(context, n, x, y, CastFunction<To>{});
  }
}

void RegisterCast() {
  RegisterSchema("Cast", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg("to", "the type of Y: a number or name of TensorProto.DataType", 1)
      .Arg("from_type", "accepted for old nets; has no effect", 0)
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
