#include "operators/fill/given_tensor_fill.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

bool CanMake(int type) {
  switch (type) {
    case TensorProto_DataType_FLOAT:
    case TensorProto_DataType_DOUBLE:
    case TensorProto_DataType_BOOL:
    case TensorProto_DataType_INT16:
    case TensorProto_DataType_INT32:
    case TensorProto_DataType_INT64:
    case TensorProto_DataType_STRING:
      return true;
    default:
      return false;
  }
}

constexpr ArgumentSpec<int> kGivenTensorType{
    "dtype",
    TensorProto_DataType_FLOAT,
    "type of the elements, a TensorProto.DataType number",
    {CanMake, "FLOAT (1), INT32 (2), STRING (4), BOOL (5), INT16 (9), INT64 (10) or DOUBLE (13)"}};
constexpr ArgumentSpec<int> kIgnoredGivenTensorType{
    "dtype", 0, "ignored: the operator's name gives the element type"};

// The shape of the output. THROWS if the argument has values, but not one for each element. Values
// that were read from the file directly (GivenValues) are not in the argument.
TensorShape InferGivenTensor(const OperatorDef& def, const std::vector<TensorShape>& in,
                             TensorProto_DataType type) {
  const TensorShape shape = InferFill(def, in, type);
  const Argument* const values = GetArgumentPtr(def, kGivenValues.name);
  if (values == nullptr || !IsKnown(shape)) return shape;
  const std::vector<int64_t> dims = GetDimsVector(shape);
  for (const int64_t dim : dims) CAFFE_ENFORCE_GE(dim, 0, "dimension of a shape, want at least 0");
  const int64_t have = values->floats_size() + values->ints_size() + values->strings_size();
  if (have == 0) return shape;
  CAFFE_ENFORCE_EQ(static_cast<int64_t>(NumElements(shape)), have,
                   "elements of the output of shape ", IntArrayRef(dims),
                   ", want as many as argument values has");
  return shape;
}

OpSchema& DeclareGivenTensor(const std::string& type, FillForm form) {
  OpSchema& schema = RegisterSchema(type, __FILE__);
  DeclareFillShape(schema);
  return DeclareUntyped(schema, kGivenValues)
      .Traits({.fill = form})
      .SetDoc("Creates a tensor from the elements that an argument lists.");
}

template <TensorProto_DataType kType>
void RegisterTyped(const std::string& type) {
  DeclareGivenTensor(type, FillForm::kGiven)
      .Arg(kIgnoredGivenTensorType)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferGivenTensor(def, in, kType)};
      });
  RegisterCpuOperator<GivenTypedTensorFillOp<CPUContext, kType>>(type, __FILE__);
}

}  // namespace

TensorProto_DataType GivenTensorType(const ArgumentHelper& args) {
  return static_cast<TensorProto_DataType>(args.Read(kGivenTensorType));
}

void RegisterGivenTensorFill() {
  DeclareGivenTensor("GivenTensorFill", FillForm::kGivenFloats)
      .Arg(kGivenTensorType)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{
            InferGivenTensor(def, in, GivenTensorType(ArgumentHelper(def)))};
      });
  RegisterCpuOperator<GivenTensorFillOp<CPUContext>>("GivenTensorFill", __FILE__);

  RegisterTyped<TensorProto_DataType_BOOL>("GivenTensorBoolFill");
  RegisterTyped<TensorProto_DataType_DOUBLE>("GivenTensorDoubleFill");
  RegisterTyped<TensorProto_DataType_INT16>("GivenTensorInt16Fill");
  RegisterTyped<TensorProto_DataType_INT64>("GivenTensorInt64Fill");
  RegisterTyped<TensorProto_DataType_INT32>("GivenTensorIntFill");
  RegisterTyped<TensorProto_DataType_STRING>("GivenTensorStringFill");
  // The outputs do not depend on the input's values.
  for (const char* type :
       {"GivenTensorFill", "GivenTensorBoolFill", "GivenTensorDoubleFill", "GivenTensorInt16Fill",
        "GivenTensorInt64Fill", "GivenTensorIntFill", "GivenTensorStringFill"}) {
    RegisterGradient<NoGradient>(type, __FILE__);
  }
}

}  // namespace caffe2rt
