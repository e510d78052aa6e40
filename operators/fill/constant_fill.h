#pragma once
// ConstantFill: every element is one value.
//
// dtype says the type; without it value says it: a float FLOAT, an integer INT64, none FLOAT with
// 0. A second input holds the value, one element of the output's type.

#include <algorithm>
#include <string>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/tensor/data_type.h"
#include "operators/fill/filler.h"

namespace caffe2rt {

// The type of the elements that ConstantFill and DiagonalFill make. THROWS when the arguments name
// none.
TensorProto_DataType ConstantFillType(const ArgumentHelper& args);

template <class Context>
class ConstantFillOp final : public Filler<Context> {
 public:
  ConstantFillOp(const OperatorDef& def, Workspace* ws) : Filler<Context>(def, ws) {
    const TensorProto_DataType type = ConstantFillType(this->args());
    CAFFE_ENFORCE(type != TensorProto_DataType_STRING || this->InputSize() < 2,
                  "input 1 gives the value: of a string it cannot; use argument value");
    fill_ = ChooseFill(type);
    CAFFE_ENFORCE(fill_ != nullptr, "Unexpected 'dtype' argument value: ", static_cast<int>(type),
                  ", want the number of a numeric type, BOOL or STRING");
  }

 private:
  using FillFunction = void (ConstantFillOp::*)(Tensor*);

  void Fill(Tensor* output) override { (this->*fill_)(output); }

  template <class T>
  void FillWith(Tensor* output) {
    const T value = Value<T>();
    T* data = output->template mutable_data<T>();
    std::fill(data, data + output->numel(), value);
  }
  template <class T>
  T Value() {
    if (this->InputSize() < 2) return this->template GetSingleArgument<T>("value", T());
    const Tensor& values = this->Input(1);
    CAFFE_ENFORCE_EQ(values.numel(), 1, "elements of input 1 (value), want one");
    return *values.template data<T>();
  }
  static FillFunction ChooseFill(TensorProto_DataType type);

  FillFunction fill_ = nullptr;
};

template <class Context>
auto ConstantFillOp<Context>::ChooseFill(TensorProto_DataType type) -> FillFunction {
  switch (type) {
    case TensorProto_DataType_FLOAT:
      return &ConstantFillOp::FillWith<float>;
    case TensorProto_DataType_DOUBLE:
      return &ConstantFillOp::FillWith<double>;
    case TensorProto_DataType_BOOL:
      return &ConstantFillOp::FillWith<bool>;
    case TensorProto_DataType_INT8:
      return &ConstantFillOp::FillWith<int8_t>;
    case TensorProto_DataType_INT16:
      return &ConstantFillOp::FillWith<int16_t>;
    case TensorProto_DataType_INT32:
      return &ConstantFillOp::FillWith<int32_t>;
    case TensorProto_DataType_INT64:
      return &ConstantFillOp::FillWith<int64_t>;
    case TensorProto_DataType_UINT8:
      return &ConstantFillOp::FillWith<uint8_t>;
    case TensorProto_DataType_UINT16:
      return &ConstantFillOp::FillWith<uint16_t>;
    case TensorProto_DataType_STRING:
      return &ConstantFillOp::FillWith<std::string>;
    default:
      return nullptr;
  }
}

}  // namespace caffe2rt
