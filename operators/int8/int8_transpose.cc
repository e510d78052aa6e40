// Int8Transpose: the same elements with permuted dimensions.

#include <algorithm>
#include <numeric>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/int8/int8_operator.h"
#include "operators/primitives/transpose.h"

namespace caffe2rt {

namespace {

constexpr RepeatedArgumentSpec<int> kInt8TransposeAxes{
    "axes", "dimension of the input for each of the output; none: reversed"};

// THROWS unless `axes` is empty or a permutation.
void OrderOfAxes(const std::vector<int>& axes, size_t rank, std::vector<int>* order) {
  order->resize(rank);
  if (axes.empty()) {
    std::iota(order->rbegin(), order->rend(), 0);
    return;
  }
  CAFFE_ENFORCE_EQ(axes.size(), rank, "elements of argument axes, want the rank of input 0");
  *order = axes;
  std::sort(order->begin(), order->end());
  for (size_t i = 0; i < rank; ++i) {
    CAFFE_ENFORCE_EQ((*order)[i], static_cast<int>(i),
                     "argument axes, sorted, want a permutation of 0 to rank - 1: element ", i);
  }
  *order = axes;
}

class Int8TransposeOp final : public Int8Operator {
 public:
  Int8TransposeOp(const OperatorDef& def, Workspace* ws)
      : Int8Operator(def, ws, Int8Range::kAny), axes_(ReadArgument(kInt8TransposeAxes)) {}

  bool RunOnDevice() override {
    const QuantizedInput x = InputInt8(0, "X");
    CheckKeepsQuantization(x);
    if (!has_plan_ || x.tensor->dims() != dims_) Plan(*x.tensor);
    uint8_t* y = OutputInt8(0, out_dims_);
    if (x.tensor->numel() > 0) math::Transpose(plan_, sizeof(uint8_t), x.data(), y);
    return true;
  }

 private:
  void Plan(const Tensor& x) {
    has_plan_ = false;
    OrderOfAxes(axes_, static_cast<size_t>(x.dim()), &order_);
    dims_ = x.dims();
    out_dims_.clear();
    for (const int axis : order_) out_dims_.push_back(dims_[static_cast<size_t>(axis)]);
    if (x.numel() > 0) math::PlanTranspose(dims_, order_, &plan_);
    has_plan_ = true;
  }

  const std::vector<int> axes_;
  bool has_plan_ = false;
  std::vector<int> order_;
  std::vector<int64_t> dims_, out_dims_;
  math::TransposePlan plan_;
};

std::vector<TensorShape> InferInt8Transpose(const OperatorDef& def,
                                            const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return {UnknownShape()};
  const std::vector<int64_t> dims = GetDimsVector(in[0]);
  std::vector<int> order;
  OrderOfAxes(ArgumentHelper(def).Read(kInt8TransposeAxes), dims.size(), &order);
  std::vector<int64_t> result;
  for (const int axis : order) result.push_back(dims[static_cast<size_t>(axis)]);
  return {CreateTensorShape(result, in[0].data_type())};
}

}  // namespace

void RegisterInt8Transpose() {
  RegisterInt8Schema("Int8Transpose", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kInt8TransposeAxes, kInt8UnusedOrder)
      .Input(0, "X", "a quantized tensor")
      .Output(0, "Y", "a quantized tensor with the scale and zero point of X")
      .TensorInferenceFunction(InferInt8Transpose)
      .SetDoc("Permutes the dimensions of a quantized tensor.");
  RegisterCpuOperator<Int8TransposeOp>("Int8Transpose", __FILE__);
}

}  // namespace caffe2rt
