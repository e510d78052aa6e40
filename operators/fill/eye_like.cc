// EyeLike: ONNX's operator (opset 22): 1 on a diagonal and 0 elsewhere, in the shape of a matrix.
//   X [M, N]  ->  Y [M, N], of the type of X or of argument dtype

#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/data_type.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int64_t> kEyeLikeType{
    "dtype", 0, "element type, a number of TensorProto.DataType; default: that of X"};
constexpr ArgumentSpec<int64_t> kEyeLikeDiagonal{
    "k", 0, "the diagonal; positive ones lie above the main diagonal"};

class EyeLikeOp final : public Operator<CPUContext> {
 public:
  EyeLikeOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), diagonal_(ReadArgument(kEyeLikeDiagonal)) {
    if (HasArgument(kEyeLikeType)) type_ = DataTypeToTypeMeta(ReadArgument(kEyeLikeType));
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 2, "rank of input 0 (X), want a matrix");
    const int64_t rows = X.dim(0), columns = X.dim(1);
    return DispatchByType<float, double, float16, int32_t, int64_t, uint8_t, int8_t, uint16_t,
                          int16_t, bool>(
        HasArgument(kEyeLikeType) ? type_ : X.dtype(), "output 0 (Y)", [&](auto element) {
          using T = decltype(element);
          T* const y = OutputData<T>(0, {rows, columns});
          std::fill_n(y, rows * columns, T{});
          const int64_t k = std::clamp(diagonal_, -rows, columns);
          for (int64_t i = std::max<int64_t>(-k, 0); i < rows && i + k < columns; ++i)
            y[i * columns + i + k] = One<T>();
          return true;
        });
  }

 private:
  template <class T>
  static T One() {
    return T(static_cast<std::conditional_t<std::is_same_v<T, float16>, float, T>>(1));
  }

  TypeMeta type_;
  const int64_t diagonal_;
};

}  // namespace

void RegisterEyeLike() {
  RegisterSchema("EyeLike", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kEyeLikeType, kEyeLikeDiagonal)
      .Input(0, "X", "[M, N], for its shape and type")
      .Output(0, "Y", "[M, N]: 1 on the diagonal, 0 elsewhere")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        const ArgumentHelper args(def);
        const TensorProto_DataType type =
            args.HasArgument(kEyeLikeType)
                ? TypeMetaToDataType(DataTypeToTypeMeta(args.Read(kEyeLikeType)))
                : in[0].data_type();
        return std::vector<TensorShape>{CreateTensorShape(GetDimsVector(in[0]), type)};
      })
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kData, .same_shape = true, .type_argument = "dtype"})
      .SetDoc("Writes ones on a diagonal of a matrix of zeros, as ONNX's EyeLike does.");
  RegisterCpuOperator<EyeLikeOp>("EyeLike", __FILE__);
  // The output does not depend on values of the input.
  RegisterGradient<NoGradient>("EyeLike", __FILE__);
}

}  // namespace caffe2rt
