// DequantizeLinear: Y = (X - zero point) * scale.
//   X uint8, int8, uint16, int16 or int32, scale float, zero point of the type of X  ->  Y float

#include <cstdint>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/optional_inputs.h"
#include "operators/quantize/quantization_rows.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kDequantizeOutputType{
    "output_dtype",
    TensorProto_DataType_UNDEFINED,
    "the element type of Y, a TensorProto.DataType: FLOAT",
    {[](int type) {
       return type == TensorProto_DataType_UNDEFINED || type == TensorProto_DataType_FLOAT;
     },
     "FLOAT"}};

struct DequantizeRow {
  template <class X>
  CAFFE2RT_SIMD_INLINE static float One(X x, X zero, float scale) {
    if constexpr (sizeof(X) < 4) {
      return static_cast<float>(static_cast<int32_t>(x) - static_cast<int32_t>(zero)) * scale;
    } else {
      return static_cast<float>(static_cast<int64_t>(x) - static_cast<int64_t>(zero)) * scale;
    }
  }
  template <class X>
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const X* x, const float* scale, const X* zeros,
                                       int64_t stride, float* y) const {
    if (stride == 0) {
      const float factor = *scale;
      const X zero = zeros == nullptr ? X(0) : *zeros;
      CAFFE2RT_SIMD_LOOP
      for (int64_t i = 0; i < n; ++i) y[i] = One<X>(x[i], zero, factor);
    } else if (zeros == nullptr) {
      CAFFE2RT_SIMD_LOOP
      for (int64_t i = 0; i < n; ++i) y[i] = One<X>(x[i], X(0), scale[i]);
    } else {
      CAFFE2RT_SIMD_LOOP
      for (int64_t i = 0; i < n; ++i) y[i] = One<X>(x[i], zeros[i], scale[i]);
    }
  }
};

class DequantizeLinearOp final : public Operator<CPUContext> {
 public:
  DequantizeLinearOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        axis_(ReadArgument(kQuantizationAxis)),
        block_size_(ReadArgument(kQuantizationBlockSize)) {
    (void)ReadArgument(kDequantizeOutputType);
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& scale = Input(1);
    RequireElements<float>(scale);
    rows_.Make(X.sizes(), scale.sizes(), axis_, block_size_);
    return DispatchByType<uint8_t, int8_t, uint16_t, int16_t, int32_t>(
        X.dtype(), "input 0 (X)", [&](auto element) { return Run<decltype(element)>(X, scale); });
  }

 private:
  template <class T>
  bool Run(const Tensor& X, const Tensor& scale) {
    if (InputSize() > 2) {
      CheckZeroPointShape(scale, Input(2));
      RequireElements<T>(Input(2));
    }
    float* y = OutputData<float>(0, X.sizes());
    if (X.numel() == 0) return true;
    const T* x = X.data<T>();
    const T* zeros = InputSize() > 2 ? Input(2).template data<T>() : nullptr;
    const float* scales = scale.data<float>();
    rows_.ForEach([&](int64_t first, int64_t n, int64_t parameter, int64_t stride) {
      RunSimd(DequantizeRow{}, n, x + first, scales + parameter,
              zeros == nullptr ? zeros : zeros + parameter, stride, y + first);
    });
    return true;
  }

  const int axis_;
  const int64_t block_size_;
  QuantizationRows rows_;
};

}  // namespace

void RegisterDequantizeLinear() {
  RegisterSchema("DequantizeLinear", __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(1)
      .Args(kQuantizationAxis, kQuantizationBlockSize, kDequantizeOutputType)
      .Arg(kOmittedInputs)
      .Input(0, "X", "uint8, int8, uint16, int16 or int32, any shape")
      .Input(
          1, "scale",
          "float: one element, one for each index of the axis, or with block_size the shape of X "
          "with blocks along the axis")
      .Input(2, "zero_point", "the shape of the scales, the type of X; default: 0")
      .Output(0, "Y", "float, the shape of X")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        return std::vector<TensorShape>{
            CreateTensorShape(GetDimsVector(in[0]), TensorProto_DataType_FLOAT)};
      })
      .CostInferenceFunction(PointwiseCostInference<2>)
      .Traits({.family = OperatorFamily::kElementwise,
               .same_shape = true,
               .writes_float = true,
               .type_argument = kDequantizeOutputType.name})
      .SetDoc("Computes numbers from quantized ones as ONNX does: Y = (X - zero_point) * scale.");
  RegisterCpuOperator<DequantizeLinearOp>("DequantizeLinear", __FILE__);
  // The input is an integer.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("DequantizeLinear", __FILE__);
}

}  // namespace caffe2rt
