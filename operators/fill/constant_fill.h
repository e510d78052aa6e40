#pragma once
// ConstantFill: sets every element to one value.
//
// Argument dtype is the type of the output. Without dtype, the type follows from argument value: a
// float gives FLOAT, an integer gives INT64. Without both arguments the output is FLOAT and 0. If
// there is a second input, it holds the value: one element of the output's type.

#include <functional>
#include <string>
#include <type_traits>

#include "caffe2_core/tensor/data_type.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/fill/constant_fill_kernels.h"
#include "operators/fill/filler.h"

namespace caffe2rt {

// The default of argument value: 0, or an empty string for strings.
template <class T>
constexpr typename ArgumentSpec<T>::Default DefaultFillValue() {
  if constexpr (std::is_same_v<T, std::string>) {
    return "";
  } else {
    return 0;
  }
}

// The arguments of ConstantFill and DiagonalFill. T: element type.
template <class T>
inline constexpr ArgumentSpec<T> kFillValue{"value", DefaultFillValue<T>(),
                                            "value of the elements (DiagonalFill: of the elements "
                                            "on the diagonal), in the field of its type"};
inline constexpr ArgumentSpec<int> kFillType{
    "dtype",
    TensorProto_DataType_FLOAT,
    "type of the elements, a TensorProto.DataType number; if not given, the type of value",
    {[](int type) {
       return TensorProto_DataType_IsValid(type) && type != TensorProto_DataType_UNDEFINED;
     },
     "a TensorProto.DataType number"}};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The element type of the output of ConstantFill and DiagonalFill. THROWS if the arguments do not
// determine it.
TensorProto_DataType ConstantFillType(const ArgumentHelper& args);
#pragma GCC visibility pop

template <class Context>
class ConstantFillOp final : public Filler<Context> {
 public:
  ConstantFillOp(const OperatorDef& def, Workspace* ws) : Filler<Context>(def, ws) {
    const TensorProto_DataType type = ConstantFillType(this->args());
    CAFFE_ENFORCE(type != TensorProto_DataType_STRING || this->InputSize() < 2,
                  "input 1 cannot give the value of a string; use argument value");
    fill_ = ChooseFill(type);
  }

 private:
  using FillFunction = std::function<void(Tensor*)>;

  void Fill(Tensor* output) override { fill_(output); }

  // Returns a function that fills its output. The value comes from the argument, which is read now,
  // or from input 1, which is read on every run.
  template <class T>
  FillFunction FillWith() {
    if (this->InputSize() < 2) {
      return [this, value = this->ReadArgument(kFillValue<T>)](Tensor* output) {
        FillWithValue(this->context_, output->numel(), value, output->template mutable_data<T>());
      };
    }
    return [this](Tensor* output) {
      const Tensor& values = value_input_.Read(*this, 1);
      CAFFE_ENFORCE_EQ(values.numel(), 1, "elements of input 1 (value), want one");
      const T value = *values.template data<T>();
      FillWithValue(this->context_, output->numel(), value, output->template mutable_data<T>());
    };
  }
  FillFunction ChooseFill(TensorProto_DataType type) {
    switch (type) {
      case TensorProto_DataType_FLOAT:
        return FillWith<float>();
      case TensorProto_DataType_DOUBLE:
        return FillWith<double>();
      case TensorProto_DataType_BOOL:
        return FillWith<bool>();
      case TensorProto_DataType_INT8:
        return FillWith<int8_t>();
      case TensorProto_DataType_INT16:
        return FillWith<int16_t>();
      case TensorProto_DataType_INT32:
        return FillWith<int32_t>();
      case TensorProto_DataType_INT64:
        return FillWith<int64_t>();
      case TensorProto_DataType_UINT8:
        return FillWith<uint8_t>();
      case TensorProto_DataType_UINT16:
        return FillWith<uint16_t>();
      case TensorProto_DataType_STRING:
        if constexpr (Context::GetDeviceType() == CPU) {
          return FillWith<std::string>();
        } else {
          CAFFE_THROW("argument dtype is STRING, but strings are supported on the CPU only");
        }
      default:
        CAFFE_THROW("argument \"dtype\" is ", static_cast<int>(type),
                    ", want the number of a numeric type, BOOL or STRING");
    }
  }

  FillFunction fill_;
  HostInput value_input_;
};

}  // namespace caffe2rt
