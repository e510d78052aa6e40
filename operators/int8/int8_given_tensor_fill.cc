// Int8GivenTensorFill, Int8GivenIntTensorFill: constants of int8 nets: weights (bytes in a string)
// and biases (a list of integers).

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/model/given_values.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/int8/int8_operator.h"

namespace caffe2rt {

namespace {

constexpr RepeatedArgumentSpec<int64_t> kInt8FillShape{"shape",
                                                       "dimensions of the output; none: a scalar"};

struct Int8Bytes {
  using Element = uint8_t;
  static constexpr ArgumentSpec<std::string> kValues{
      "values", "",
      "the stored elements, one byte each; bytes behind the last element are ignored"};
  static constexpr TensorProto_DataType kType = TensorProto_DataType_UINT8;
};
struct Int8Integers {
  using Element = int32_t;
  static constexpr RepeatedArgumentSpec<int32_t> kValues{
      "values", "the elements; values behind the last element are ignored"};
  static constexpr TensorProto_DataType kType = TensorProto_DataType_INT32;
};

template <class Source>
class Int8FillOp final : public Int8Operator {
 public:
  using Element = typename Source::Element;

  Int8FillOp(const OperatorDef& def, Workspace* ws)
      : Int8Operator(def, ws, Int8Range::kAny),
        shape_(ReadArgument(kInt8FillShape)),
        given_(GivenValues::Take(debug_def())) {
    const auto size = static_cast<size_t>(CheckedProduct(shape_));
    const auto values = given_.IsShaped() ? decltype(ReadArgument(Source::kValues))()
                                          : ReadArgument(Source::kValues);
    const size_t have = given_.IsShaped() ? static_cast<size_t>(given_.numel()) : values.size();
    CAFFE_ENFORCE_GE(have, size, "elements of argument values, want those of shape ",
                     IntArrayRef(shape_));
    if (given_.IsShaped()) return;
    values_.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size));
  }

  bool RunOnDevice() override {
    auto* value = OperatorBase::Output<Int8TensorCPU>(0);
    value->scale = output().scale;
    value->zero_point = output().zero_point;
    value->t.Resize(shape_);
    if (given_.IsShaped()) {
      MoveGivenValues(std::move(given_), &value->t);
      return true;
    }
    std::copy(values_.begin(), values_.end(), value->t.template mutable_data<Element>());
    return true;
  }

 private:
  const std::vector<int64_t> shape_;
  Tensor given_;  // the elements, if they were read from the file directly
  std::vector<Element> values_;
};

template <class Source>
void RegisterInt8Fill(const char* type, const char* doc) {
  RegisterInt8Schema(type, __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Args(Source::kValues, kInt8FillShape)
      .Output(0, "Tensor", "a quantized tensor")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>&) {
        const std::vector<int64_t> shape = ArgumentHelper(def).Read(kInt8FillShape);
        (void)CheckedProduct(shape);
        return std::vector<TensorShape>{CreateTensorShape(shape, Source::kType)};
      })
      .SetDoc(doc);
  RegisterCpuOperator<Int8FillOp<Source>>(type, __FILE__);
}

}  // namespace

void RegisterInt8GivenTensorFill() {
  RegisterInt8Fill<Int8Bytes>("Int8GivenTensorFill",
                              "Fills a quantized tensor with the bytes of argument values.");
  RegisterInt8Fill<Int8Integers>(
      "Int8GivenIntTensorFill",
      "Fills a quantized tensor of int32 elements, a bias, with argument values.");
}

}  // namespace caffe2rt
