#include "operators/int8/int8_operator.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

bool IsScale(float scale) { return scale > 0 && std::isfinite(scale); }
bool IsZeroPoint(int32_t zero_point) { return zero_point >= 0 && zero_point <= kInt8Highest; }

}  // namespace

Int8Operator::Int8Operator(const OperatorDef& def, Workspace* ws, Int8Range range)
    : Operator<CPUContext>(def, ws),
      range_(range),
      output_{ReadArgument(kInt8OutputScale), ReadArgument(kInt8OutputZeroPoint)} {
  if (range_ == Int8Range::kAny) return;
  CAFFE_ENFORCE(IsScale(output_.scale), "argument \"", kInt8OutputScale.name, "\" is ",
                output_.scale, ", want above 0 and finite");
  CAFFE_ENFORCE(IsZeroPoint(output_.zero_point), "argument \"", kInt8OutputZeroPoint.name, "\" is ",
                output_.zero_point, ", want 0 to ", kInt8Highest);
}

QuantizedInput Int8Operator::InputInt8(int i, const char* name) const {
  const auto& value = OperatorBase::Input<Int8TensorCPU>(i);
  CAFFE_ENFORCE(value.t.IsShaped(), "input ", i, " (", name, ") has no shape: nothing wrote it");
  CAFFE_ENFORCE(value.t.IsType<uint8_t>(), "input ", i, " (", name, ") has elements of type ",
                value.t.dtype().name(), ", want uint8");
  if (range_ == Int8Range::kArithmetic) {
    CAFFE_ENFORCE(IsScale(value.scale), "input ", i, " (", name, ") has scale ", value.scale,
                  ", want a finite scale above 0");
    CAFFE_ENFORCE(IsZeroPoint(value.zero_point), "input ", i, " (", name, ") has zero point ",
                  value.zero_point, ", want 0 to ", kInt8Highest);
  }
  return {&value.t, {value.scale, value.zero_point}};
}

const int32_t* Int8Operator::InputInt8Bias(int i, int64_t size) const {
  const auto& value = OperatorBase::Input<Int8TensorCPU>(i);
  CAFFE_ENFORCE(value.t.IsType<int32_t>(), "input ", i, " (bias) has elements of type ",
                value.t.dtype().name(), ", want int32");
  CAFFE_ENFORCE_EQ(value.t.numel(), size, "elements of input ", i,
                   " (bias), want one for each output channel");
  return value.t.data<int32_t>();
}

uint8_t* Int8Operator::OutputInt8(int i, IntArrayRef dims) {
  auto* value = OperatorBase::Output<Int8TensorCPU>(i);
  value->scale = output_.scale;
  value->zero_point = output_.zero_point;
  value->t.Resize(dims);
  return value->t.mutable_data<uint8_t>();
}

void Int8Operator::CheckKeepsQuantization(const QuantizedInput& x) const {
  CAFFE_ENFORCE(output_.scale == x.quantization.scale, "argument Y_scale is ", output_.scale,
                ", want ", x.quantization.scale, ", the scale of input 0");
  CAFFE_ENFORCE(output_.zero_point == x.quantization.zero_point, "argument Y_zero_point is ",
                output_.zero_point, ", want ", x.quantization.zero_point,
                ", the zero point of input 0");
}

OpSchema& RegisterInt8Schema(const std::string& type, const char* file) {
  // A quantized result is a step function of its inputs; nets are trained before quantization.
  RegisterGradient<GradientNotImplementedYet>(type, file);
  return RegisterSchema(type, file)
      .Memory({.quantized_outputs = true})
      .Args(kInt8OutputScale, kInt8OutputZeroPoint);
}

MemoryTraits MemoryOfInt8Weights() {
  return {.quantized_outputs = true,
          .extra = [](const OperatorDef&, const std::vector<TensorShape>&,
                      const std::vector<TensorShape>&) {
            return MemoryTraits::Extra{.prepared_unknown = true};
          }};
}

}  // namespace caffe2rt
