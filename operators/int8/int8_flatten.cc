// Int8Flatten: the same elements in a matrix; the dimensions before `axis` are its rows.

#include <array>
#include <cstring>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/int8/int8_operator.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kInt8FlattenAxis{"axis",
                                             1,
                                             "number of dimensions that become rows, 0 to the rank",
                                             {[](int axis) { return axis >= 0; }, "at least 0"}};

std::array<int64_t, 2> FlattenedInt8Dims(int axis, IntArrayRef input) {
  CAFFE_ENFORCE_LE(static_cast<size_t>(axis), input.size(), "argument axis for input 0 of shape ",
                   input, ", want at most its rank");
  return {size_to_dim_(axis, input), size_from_dim_(axis, input)};
}

class Int8FlattenOp final : public Int8Operator {
 public:
  Int8FlattenOp(const OperatorDef& def, Workspace* ws)
      : Int8Operator(def, ws, Int8Range::kAny), axis_(ReadArgument(kInt8FlattenAxis)) {}

  bool RunOnDevice() override {
    const QuantizedInput x = InputInt8(0, "input");
    CheckKeepsQuantization(x);
    const std::array<int64_t, 2> dims = FlattenedInt8Dims(axis_, x.tensor->sizes());
    uint8_t* y = OutputInt8(0, IntArrayRef(dims.data(), dims.size()));
    if (x.tensor->numel() > 0) std::memcpy(y, x.data(), x.tensor->nbytes());
    return true;
  }

 private:
  const int axis_;
};

std::vector<TensorShape> InferInt8Flatten(const OperatorDef& def,
                                          const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return {UnknownShape()};
  const int axis = ArgumentHelper(def).Read(kInt8FlattenAxis);
  const std::array<int64_t, 2> dims = FlattenedInt8Dims(axis, GetDimsVector(in[0]));
  return {CreateTensorShape(std::vector<int64_t>(dims.begin(), dims.end()), in[0].data_type())};
}

}  // namespace

void RegisterInt8Flatten() {
  RegisterInt8Schema("Int8Flatten", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kInt8FlattenAxis, kInt8UnusedOrder)
      .Input(0, "input", "a quantized tensor")
      .Output(0, "output", "a quantized matrix with the scale and zero point of the input")
      .TensorInferenceFunction(InferInt8Flatten)
      .SetDoc(
          "Flattens a quantized tensor to a matrix. The dimensions before axis become the rows.");
  RegisterCpuOperator<Int8FlattenOp>("Int8Flatten", __FILE__);
}

}  // namespace caffe2rt
