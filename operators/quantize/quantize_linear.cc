// QuantizeLinear: Y = saturate(round(X / scale) + zero point), rounded to nearest, ties to even.
//   X float or int32, scale float, zero point of the type of Y  ->  Y uint8, int8, uint16 or int16

#include <cmath>
#include <cstdint>
#include <limits>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/data_type.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/optional_inputs.h"
#include "operators/quantize/quantization_rows.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kQuantizeOutputType{
    "output_dtype",
    TensorProto_DataType_UNDEFINED,
    "the element type of Y without a zero point, a TensorProto.DataType (default: uint8)",
    {[](int type) {
       return type == TensorProto_DataType_UNDEFINED || type == TensorProto_DataType_UINT8 ||
              type == TensorProto_DataType_INT8 || type == TensorProto_DataType_UINT16 ||
              type == TensorProto_DataType_INT16;
     },
     "UINT8, INT8, UINT16 or INT16"}};
constexpr ArgumentSpec<bool> kQuantizeSaturate{
    "saturate", true, "has no effect: the types that it concerns are not supported"};

struct QuantizeRow {
  template <class X, class Y>
  CAFFE2RT_SIMD_INLINE static Y One(X x, float scale, float zero) {
    const float low = static_cast<float>(std::numeric_limits<Y>::min()) - zero;
    const float high = static_cast<float>(std::numeric_limits<Y>::max()) - zero;
    float rounded = std::nearbyint(static_cast<float>(x) / scale);
    rounded = rounded >= low ? rounded : low;  // NaN becomes the smallest number
    rounded = rounded <= high ? rounded : high;
    return static_cast<Y>(static_cast<int32_t>(rounded + zero));
  }
  template <class X, class Y>
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const X* x, const float* scale, const Y* zeros,
                                       int64_t stride, Y* y) const {
    if (stride == 0) {
      const float divisor = *scale, zero = zeros == nullptr ? 0.f : static_cast<float>(*zeros);
      CAFFE2RT_SIMD_LOOP
      for (int64_t i = 0; i < n; ++i) y[i] = One<X, Y>(x[i], divisor, zero);
    } else if (zeros == nullptr) {
      CAFFE2RT_SIMD_LOOP
      for (int64_t i = 0; i < n; ++i) y[i] = One<X, Y>(x[i], scale[i], 0.f);
    } else {
      CAFFE2RT_SIMD_LOOP
      for (int64_t i = 0; i < n; ++i) {
        y[i] = One<X, Y>(x[i], scale[i], static_cast<float>(zeros[i]));
      }
    }
  }
};

class QuantizeLinearOp final : public Operator<CPUContext> {
 public:
  QuantizeLinearOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        axis_(ReadArgument(kQuantizationAxis)),
        block_size_(ReadArgument(kQuantizationBlockSize)) {
    const int type = ReadArgument(kQuantizeOutputType);
    if (type != TensorProto_DataType_UNDEFINED) {
      output_type_ = DataTypeToTypeMeta(static_cast<TensorProto_DataType>(type));
    }
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& scale = Input(1);
    RequireElementsOf<float, int32_t>(X, "input 0 (X)");
    RequireElements<float>(scale);
    rows_.Make(X.sizes(), scale.sizes(), axis_, block_size_);
    TypeMeta type = output_type_;
    if (InputSize() > 2) {
      CheckZeroPointShape(scale, Input(2));
      type = Input(2).dtype();
      CAFFE_ENFORCE(output_type_ == TypeMeta() || type == output_type_,
                    "input 2 (zero_point) has elements of type ", type.name(), ", want ",
                    output_type_.name(), " as the argument output_dtype says");
    } else if (type == TypeMeta()) {
      type = TypeMeta::Make<uint8_t>();
    }
    return DispatchByType<uint8_t, int8_t, uint16_t, int16_t>(
        type, "input 2 (zero_point)", [&](auto element) {
          using Y = decltype(element);
          return X.IsType<float>() ? Run<float, Y>() : Run<int32_t, Y>();
        });
  }

 private:
  template <class X, class Y>
  bool Run() {
    const Tensor& input = Input(0);
    Y* y = OutputData<Y>(0, input.sizes());
    if (input.numel() == 0) return true;
    const float* scale = Input(1).template data<float>();
    for (int64_t i = 0; i < Input(1).numel(); ++i) {
      CAFFE_ENFORCE(scale[i] != 0 && std::isfinite(scale[i]), "input 1 (scale) is ", scale[i],
                    " at element ", i, ", want a finite number other than 0");
    }
    const X* x = input.data<X>();
    const Y* zeros = InputSize() > 2 ? Input(2).template data<Y>() : nullptr;
    rows_.ForEach([&](int64_t first, int64_t n, int64_t parameter, int64_t stride) {
      RunSimd(QuantizeRow{}, n, x + first, scale + parameter,
              zeros == nullptr ? zeros : zeros + parameter, stride, y + first);
    });
    return true;
  }

  const int axis_;
  const int64_t block_size_;
  TypeMeta output_type_;
  QuantizationRows rows_;
};

std::vector<TensorShape> InferQuantizeLinear(const OperatorDef& def,
                                             const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  const int argument = ArgumentHelper(def).Read(kQuantizeOutputType);
  TensorProto_DataType type = argument == TensorProto_DataType_UNDEFINED
                                  ? TensorProto_DataType_UINT8
                                  : static_cast<TensorProto_DataType>(argument);
  if (in.size() > 2) {
    if (!in[2].has_data_type() || in[2].data_type() == TensorProto_DataType_UNDEFINED) {
      return UnknownOutputs(def);
    }
    type = in[2].data_type();
  }
  return {CreateTensorShape(GetDimsVector(in[0]), type)};
}

}  // namespace

void RegisterQuantizeLinear() {
  RegisterSchema("QuantizeLinear", __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(1)
      .Args(kQuantizationAxis, kQuantizationBlockSize, kQuantizeOutputType, kQuantizeSaturate)
      .Arg(kOmittedInputs)
      .Input(0, "X", "float or int32, any shape")
      .Input(
          1, "scale",
          "float: one element, one for each index of the axis, or with block_size the shape of X "
          "with blocks along the axis; not 0")
      .Input(2, "zero_point", "the shape of the scales: uint8 (default), int8, uint16 or int16")
      .Output(0, "Y", "the shape of X, the type of the zero points")
      .TensorInferenceFunction(InferQuantizeLinear)
      .CostInferenceFunction(PointwiseCostInference<3>)
      .Traits({.family = OperatorFamily::kElementwise,
               .same_shape = true,
               .type_argument = kQuantizeOutputType.name})
      .SetDoc(
          "Quantizes as ONNX does: Y = round(X / scale) + zero_point, rounded to nearest, ties to "
          "even, and limited to the range of the type of Y.");
  RegisterCpuOperator<QuantizeLinearOp>("QuantizeLinear", __FILE__);
  // The output is piecewise constant.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("QuantizeLinear", __FILE__);
}

}  // namespace caffe2rt
