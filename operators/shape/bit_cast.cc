// BitCast: ONNX's operator (opset 26): the bytes of X as elements of another type of the same size.
//   X, argument to (a number of TensorProto.DataType)  ->  Y, the shape of X

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/data_type.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int64_t> kBitCastTo{
    .name = "to",
    .doc = "the new element type, a number of TensorProto.DataType",
    .required = true};

class BitCastOp final : public Operator<CPUContext> {
 public:
  BitCastOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), to_(DataTypeToTypeMeta(ReadArgument(kBitCastTo))) {
    CAFFE_ENFORCE(to_.IsPlainData(), "argument to names elements of type ", to_.name(),
                  ", want numbers or bool");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE(X.dtype().IsPlainData() && X.dtype().itemsize() == to_.itemsize(),
                  "input 0 (X) has elements of type ", X.dtype().name(), ", want ", to_.itemsize(),
                  " bytes as the elements of ", to_.name());
    void* const y = Output(0, X.sizes(), to_)->raw_mutable_data(to_);
    if (X.numel() > 0) context_.CopyBytesSameDevice(X.nbytes(), X.raw_data(), y);
    return true;
  }

 private:
  const TypeMeta to_;
};

}  // namespace

void RegisterBitCast() {
  RegisterSchema("BitCast", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kBitCastTo)
      .Input(0, "X", "numbers or bools")
      .Output(0, "Y", "the bytes of X as elements of the type; the shape of X")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        const TypeMeta to = DataTypeToTypeMeta(ArgumentHelper(def).Read(kBitCastTo));
        return std::vector<TensorShape>{
            CreateTensorShape(GetDimsVector(in[0]), TypeMetaToDataType(to))};
      })
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape, .same_shape = true, .type_argument = "to"})
      .SetDoc("Copies the bytes of a tensor to elements of another type of the same size.");
  RegisterCpuOperator<BitCastOp>("BitCast", __FILE__);
  // Bits are no numbers that could be differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("BitCast", __FILE__);
}

}  // namespace caffe2rt
