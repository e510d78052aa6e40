#pragma once
// GivenTensorFill and GivenTensor{Bool,Double,Int,Int16,Int64,String}Fill: argument `values` lists
// the elements. FLOAT and DOUBLE are read from its floats, integers and BOOL from its ints, STRING
// from its strings.
//
// Nets store their weights in these operators, so the values are not copied into the operator. Each
// run reads them from the OperatorDef, which the operator holds anyway. If the values were read
// from the file directly (GivenValues), the first run moves them into the output, and there is no
// second.

#include <algorithm>
#include <string>
#include <type_traits>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/model/given_values.h"
#include "operators/fill/filler.h"

namespace caffe2rt {

// The values are in the field of the element type. They are read in place, so the type here is
// nominal.
inline constexpr RepeatedArgumentSpec<float> kGivenValues{
    "values", "the elements in row-major order, as many as the shape has", {}, true};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The element type that argument dtype of GivenTensorFill selects. THROWS if it is not supported.
TensorProto_DataType GivenTensorType(const ArgumentHelper& args);
#pragma GCC visibility pop

template <class Context>
class GivenTensorFillOp : public Filler<Context> {
 public:
  GivenTensorFillOp(const OperatorDef& def, Workspace* ws)
      : GivenTensorFillOp(def, ws, GivenTensorType(ArgumentHelper(def))) {}

 protected:
  GivenTensorFillOp(const OperatorDef& def, Workspace* ws, TensorProto_DataType type)
      : Filler<Context>(def, ws),
        values_(GetArgumentPtr(this->debug_def(), kGivenValues.name)),
        given_(GivenValues::Take(this->debug_def())) {
    CAFFE_ENFORCE(values_ != nullptr, "argument values is missing");
    switch (type) {
      case TensorProto_DataType_FLOAT:
        Choose<float>();
        break;
      case TensorProto_DataType_DOUBLE:
        Choose<double>();
        break;
      case TensorProto_DataType_BOOL:
        Choose<bool>();
        break;
      case TensorProto_DataType_INT16:
        Choose<int16_t>();
        break;
      case TensorProto_DataType_INT32:
        Choose<int32_t>();
        break;
      case TensorProto_DataType_INT64:
        Choose<int64_t>();
        break;
      case TensorProto_DataType_STRING:
        Choose<std::string>();
        break;
      default:
        CAFFE_THROW("argument \"dtype\" is ", static_cast<int>(type), ", which is not supported");
    }
  }

 private:
  using FillFunction = void (GivenTensorFillOp::*)(Tensor*);

  void Fill(Tensor* output) override { (this->*fill_)(output); }

  template <class T>
  void Choose() {
    fill_ = &GivenTensorFillOp::FillAs<T>;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      for (const int64_t value : values_->ints())
        (void)CheckedCast<T>(value, "element of argument values");
    }
  }
  // The list of `values_` that holds elements of type T.
  template <class T>
  const auto& List() const {
    if constexpr (std::is_floating_point_v<T>) {
      return values_->floats();
    } else if constexpr (std::is_integral_v<T>) {
      return values_->ints();
    } else {
      return values_->strings();
    }
  }
  template <class T>
  void FillAs(Tensor* output) {
    const auto& list = List<T>();
    const int64_t have = given_.IsShaped() ? given_.numel() : int64_t{list.size()};
    CAFFE_ENFORCE_EQ(output->numel(), have, "elements of the output of shape ", output->sizes(),
                     ", want as many as argument values has in the field of their type");
    if constexpr (Context::GetDeviceType() == CPU) {
      if (given_.IsShaped()) return MoveGivenValues(std::move(given_), output);
    }
    T* data = output->template mutable_data<T>();
    if constexpr (Context::GetDeviceType() == CPU) {
      Convert(list, data);
    } else if constexpr (std::is_same_v<T, std::string>) {
      CAFFE_THROW("argument values has strings, but strings are supported on the CPU only");
    } else if constexpr (std::is_same_v<T, float>) {
      this->context_.template CopyFromCPU<T>(static_cast<size_t>(list.size()), list.data(), data);
    } else {
      Tensor on_host(output->dims(), CPU);  // pageable: may be freed after the call
      Convert(list, on_host.template mutable_data<T>());
      this->context_.template CopyFromCPU<T>(static_cast<size_t>(list.size()),
                                             on_host.template data<T>(), data);
    }
  }
  template <class T, class List>
  static void Convert(const List& list, T* data) {
    std::transform(list.begin(), list.end(), data,
                   [](const auto& value) { return static_cast<T>(value); });
  }

  const Argument* const values_;  // in debug_def()
  Tensor given_;                  // the elements, if they are not in `values_`
  FillFunction fill_ = nullptr;
};

// An operator whose element type is part of its name. It ignores argument dtype.
template <class Context, TensorProto_DataType kType>
class GivenTypedTensorFillOp final : public GivenTensorFillOp<Context> {
 public:
  GivenTypedTensorFillOp(const OperatorDef& def, Workspace* ws)
      : GivenTensorFillOp<Context>(def, ws, kType) {}
};

}  // namespace caffe2rt
