// Int8Slice: the elements between starts and ends, in one dimension.

#include <cstring>
#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/slice_plan.h"
#include "operators/int8/int8_operator.h"

namespace caffe2rt {

namespace {

constexpr RepeatedArgumentSpec<int64_t> kInt8SliceStarts{
    "starts", "first index in each dimension; negative counts from one past the end"};
constexpr RepeatedArgumentSpec<int64_t> kInt8SliceEnds{
    "ends",
    "index after the last one in each dimension; negative counts from one past the end, so -1 is "
    "the end"};
constexpr ArgumentSpec<int> kInt8SliceDim{
    "dim",
    0,
    "with start_idx and end_idx: the dimension to slice",
    {[](int dim) { return dim >= 0 && dim < Tensor::kMaxRank; }, "0 to 63"}};
constexpr ArgumentSpec<int64_t> kInt8SliceStart{
    "start_idx", 0, "first index in dimension dim; has an effect only with dim and end_idx"};
constexpr ArgumentSpec<int64_t> kInt8SliceEnd{
    "end_idx", -1, "index after the last one; has an effect only with dim and start_idx"};

struct Int8SliceBounds {
  std::vector<int64_t> starts, ends;
};

// THROWS if the arguments give no bounds.
Int8SliceBounds BoundsOfArguments(const ArgumentHelper& args) {
  if (args.HasArgument(kInt8SliceDim) && args.HasArgument(kInt8SliceStart) &&
      args.HasArgument(kInt8SliceEnd)) {
    const auto dim = static_cast<size_t>(args.Read(kInt8SliceDim));
    Int8SliceBounds bounds{std::vector<int64_t>(dim + 1, 0), std::vector<int64_t>(dim + 1, -1)};
    bounds.starts[dim] = args.Read(kInt8SliceStart);
    bounds.ends[dim] = args.Read(kInt8SliceEnd);
    return bounds;
  }
  CAFFE_ENFORCE(args.HasArgument(kInt8SliceStarts), "argument starts is missing");
  CAFFE_ENFORCE(args.HasArgument(kInt8SliceEnds), "argument ends is missing");
  return {args.Read(kInt8SliceStarts), args.Read(kInt8SliceEnds)};
}

void ReadInt8Bounds(const Tensor& tensor, const char* subject, std::vector<int64_t>* bounds) {
  CAFFE_ENFORCE_EQ(tensor.dim(), 1, "rank of ", subject, ", want a vector");
  DispatchByType<int32_t, int64_t>(tensor.dtype(), subject, [&](auto element) {
    const auto* values = tensor.data<decltype(element)>();
    bounds->assign(values, values + tensor.numel());
  });
}

class Int8SliceOp final : public Int8Operator {
 public:
  Int8SliceOp(const OperatorDef& def, Workspace* ws) : Int8Operator(def, ws, Int8Range::kAny) {
    if (InputSize() == 1) bounds_ = BoundsOfArguments(args());
  }

  bool RunOnDevice() override {
    const QuantizedInput x = InputInt8(0, "data");
    CheckKeepsQuantization(x);
    if (InputSize() > 1) {
      ReadInt8Bounds(Input(1), "input 1 (starts)", &bounds_.starts);
      ReadInt8Bounds(Input(2), "input 2 (ends)", &bounds_.ends);
    }
    PlanSlice(x.tensor->sizes(), bounds_.starts, bounds_.ends, &plan_);
    uint8_t* y = OutputInt8(0, plan_.dims);
    const SliceRows rows = RowsOfSlice(x.tensor->sizes(), plan_);
    if (x.tensor->numel() == 0 || rows.taken == 0) return true;
    const uint8_t* row = x.data() + rows.start;
    for (int64_t i = 0; i < rows.outer; ++i, row += rows.all, y += rows.taken) {
      std::memcpy(y, row, static_cast<size_t>(rows.taken));
    }
    return true;
  }

 private:
  Int8SliceBounds bounds_;
  SlicePlan plan_;
};

std::vector<TensorShape> InferInt8Slice(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || def.input_size() > 1) return UnknownOutputs(def);
  const Int8SliceBounds bounds = BoundsOfArguments(ArgumentHelper(def));
  SlicePlan plan;
  PlanSlice(GetDimsVector(in[0]), bounds.starts, bounds.ends, &plan);
  return {CreateTensorShape(plan.dims, in[0].data_type())};
}

}  // namespace

void RegisterInt8Slice() {
  RegisterInt8Schema("Int8Slice", __FILE__)
      .NumInputs(std::set<int>{1, 3})
      .NumOutputs(1)
      .Args(kInt8SliceStarts, kInt8SliceEnds, kInt8SliceDim, kInt8SliceStart, kInt8SliceEnd,
            kInt8UnusedOrder)
      .Input(0, "data", "a quantized tensor")
      .Input(1, "starts", "(optional) int32 or int64, instead of the argument")
      .Input(2, "ends", "(optional) int32 or int64, instead of the argument")
      .Output(0, "output", "the selected part of data, with its scale and zero point")
      .TensorInferenceFunction(InferInt8Slice)
      .SetDoc("Copies a range of indices of one dimension of a quantized tensor.");
  RegisterCpuOperator<Int8SliceOp>("Int8Slice", __FILE__);
}

}  // namespace caffe2rt
