#include "operators/elementwise/cast.h"

#include <absl/strings/ascii.h>

#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kCastTo{"to", TensorProto::FLOAT,
                                    "the type of Y: a number or name of TensorProto.DataType"};
constexpr ArgumentSpec<int> kCastFromType{"from_type", 0,
                                          "the type of X, like `to`; only the gradient needs it"};

// The number that argument `spec` gives, even if it is not a valid type, or UNDEFINED for an unknown
// name.
int RequestedType(const ArgumentHelper& args, const ArgumentSpec<int>& spec, std::string* name) {
  if (!args.HasSingleArgumentOfType<std::string>(spec.name)) return args.Read(spec);
  *name = args.Read(ArgumentSpec<std::string>{spec.name, ""});
  const std::string upper = absl::AsciiStrToUpper(*name);
  TensorProto_DataType type = TensorProto::UNDEFINED;
  TensorProto_DataType_Parse(upper, &type);
  return type;
}

// Casts dY back to the type of X.
class GetCastGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  bool CopyArguments() const override { return false; }

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const ArgumentHelper args(def_);
    const int to = KnownType(args, kCastTo);
    CAFFE_ENFORCE(ArgumentHelper::HasArgument(def_, kCastFromType.name),
                  "argument from_type is missing: the gradient of Cast needs the type of X");
    const int from = KnownType(args, kCastFromType);
    return SingleGradientDef("Cast", "", std::vector<std::string>{GO(0)},
                             std::vector<std::string>{GI(0)},
                             std::vector<Argument>{MakeArgument(kCastTo.name, from),
                                                   MakeArgument(kCastFromType.name, to)});
  }

 private:
  static int KnownType(const ArgumentHelper& args, const ArgumentSpec<int>& spec) {
    std::string name;
    const int type = RequestedType(args, spec, &name);
    CAFFE_ENFORCE(name.empty() || type != TensorProto::UNDEFINED, "argument ", spec.name, " is \"",
                  name, "\", which is not a name of TensorProto.DataType");
    return type;
  }
};

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
    case TensorProto::UINT32:
    case TensorProto::UINT64:
    case TensorProto::BFLOAT16:
      return true;
    default:
      return false;
  }
}

PassesOn PassesFloatsOn(const OperatorDef& def) {
  const ArgumentHelper args(def);
  if (args.HasSingleArgumentOfType<std::string>(kCastTo.name)) return PassesOn::kNever;
  return args.Read(kCastTo) == TensorProto::FLOAT ? PassesOn::kFloats : PassesOn::kNever;
}

}  // namespace

TensorProto_DataType CastTarget(const ArgumentHelper& args) {
  std::string name;
  const int type = RequestedType(args, kCastTo, &name);
  CAFFE_ENFORCE(type != TensorProto::FLOAT16,
                "argument to is FLOAT16, but half floats cannot be cast");
  if (!IsCastTarget(type)) {
    CAFFE_THROW("argument to is ", name.empty() ? MakeString(type) : "\"" + name + "\"",
                ", want FLOAT, DOUBLE, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, "
                "BFLOAT16, BOOL or STRING");
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
        const int type = RequestedType(ArgumentHelper(def), kCastTo, &name);
        if (!AreKnown(in, 1) || !IsCastTarget(type)) return UnknownOutputs(def);
        return std::vector<TensorShape>{
            CreateTensorShape(GetDimsVector(in[0]), static_cast<TensorProto_DataType>(type))};
      })
      .CostInferenceFunction(PointwiseCostInference<1>)
      .Traits({.family = OperatorFamily::kElementwise,
               .passes_on = PassesFloatsOn,
               .type_argument = kCastTo.name})
      .SetDoc("Y = X with elements of another type.");
  RegisterCpuOperator<CastOp<CPUContext>>("Cast", __FILE__);
  RegisterGradient<GetCastGradient>("Cast", __FILE__);
}

}  // namespace caffe2rt
