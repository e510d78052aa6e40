// Int8Concat: joins quantized tensors along one dimension.

#include <cstring>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/order_argument.h"
#include "operators/int8/int8_operator.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kInt8ConcatAxis{
    "axis",
    0,
    "the dimension to join, at least 0; without it, argument order gives the channels, or 0",
    {[](int axis) { return axis >= 0; }, "at least 0"}};
constexpr ArgumentSpec<int> kInt8ConcatAddAxis{"add_axis", 0, "has no effect"};

int AxisOfInt8Concat(const ArgumentHelper& args) {
  (void)args.Read(kInt8ConcatAddAxis);
  if (args.HasArgument(kInt8ConcatAxis)) return args.Read(kInt8ConcatAxis);
  if (!args.HasArgument(kStorageOrder)) return kInt8ConcatAxis.default_value;
  constexpr int kLastOfImages = 3;
  return ReadStorageOrder(args) == StorageOrder::NHWC ? kLastOfImages : 1;
}

// Adds the size of `dims` along the axis to `sum`, which begins with the shape of input 0.
void JoinInt8Dims(int i, IntArrayRef dims, int axis, std::vector<int64_t>* sum) {
  CAFFE_ENFORCE_EQ(dims.size(), sum->size(), "rank of input ", i, ", want that of input 0");
  for (size_t d = 0; d < dims.size(); ++d) {
    if (static_cast<int>(d) == axis) {
      (*sum)[d] = CheckedAdd((*sum)[d], dims[d]);
    } else {
      CAFFE_ENFORCE_EQ(dims[d], (*sum)[d], "dim ", d, " of input ", i, " of shape ", dims,
                       ", want that of input 0: only dim ", axis, " may differ");
    }
  }
}

class Int8ConcatOp final : public Int8Operator {
 public:
  Int8ConcatOp(const OperatorDef& def, Workspace* ws)
      : Int8Operator(def, ws), axis_(AxisOfInt8Concat(args())) {}

  bool RunOnDevice() override {
    const QuantizedInput first = InputInt8(0, "X0");
    CheckKeepsQuantization(first);
    CAFFE_ENFORCE_LT(axis_, first.tensor->dim(), "argument axis for input 0 of shape ",
                     first.tensor->sizes(), ", want below its rank");
    dims_ = first.tensor->dims();
    for (int i = 1; i < InputSize(); ++i) {
      JoinInt8Dims(i, InputInt8(i, "X").tensor->sizes(), axis_, &dims_);
    }
    uint8_t* y = OutputInt8(0, dims_);
    const int64_t rows = size_to_dim_(axis_, dims_);
    const int64_t row_size = size_from_dim_(axis_, dims_);
    for (int i = 0; i < InputSize(); ++i) {
      const QuantizedInput x = InputInt8(i, "X");
      if (x.tensor->numel() == 0) continue;
      const int64_t size = x.tensor->size_from_dim(axis_);
      const uint8_t* elements = x.data();
      for (int64_t row = 0; row < rows; ++row) {
        std::memcpy(y + row * row_size, elements + row * size, static_cast<size_t>(size));
      }
      y += size;
    }
    return true;
  }

 private:
  const int axis_;
  std::vector<int64_t> dims_;
};

std::vector<TensorShape> InferInt8Concat(const OperatorDef& def,
                                         const std::vector<TensorShape>& in) {
  std::vector<TensorShape> result = UnknownOutputs(def);
  if (in.empty() || !AreKnown(in, static_cast<size_t>(def.input_size()))) return result;
  const int axis = AxisOfInt8Concat(ArgumentHelper(def));
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  CAFFE_ENFORCE_LT(static_cast<size_t>(axis), dims.size(), "argument axis for input 0 of shape ",
                   IntArrayRef(dims), ", want below its rank");
  for (size_t i = 1; i < in.size(); ++i) {
    JoinInt8Dims(static_cast<int>(i), GetDimsVector(in[i]), axis, &dims);
  }
  result[0] = CreateTensorShape(dims, in[0].data_type());
  return result;
}

}  // namespace

void RegisterInt8Concat() {
  RegisterInt8Schema("Int8Concat", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1, 2)
      .Args(kInt8ConcatAxis, kInt8ConcatAddAxis, kStorageOrder)
      .Input(0, "X0, X1, ...", "quantized tensors; the scale and zero point of X0 apply to all")
      .Output(0, "concat_result", "a quantized tensor")
      .Output(1, "split_info", "(optional) not written")
      .TensorInferenceFunction(InferInt8Concat)
      .SetDoc(
          "Joins quantized tensors along one dimension. As in Caffe2, the scales and zero points "
          "of inputs other than the first are not checked.");
  RegisterCpuOperator<Int8ConcatOp>("Int8Concat", __FILE__);
}

}  // namespace caffe2rt
