#pragma once
// Slice: the elements between starts and ends, in one dimension.
//   X, starts, ends (arguments, or int32 or int64 vectors as inputs 1 and 2)  ->  Y
// SliceGradient: a tensor of zeros in which dY takes the place of the slice.
//   X, [starts, ends,] dY  ->  dX, the shape of X and the type of dY
//
// starts and ends apply to the first dimensions; the others are copied whole. A negative value
// counts from one past the end: -1 is the end itself. Values past the end mean the end.

#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"
#include "operators/common/host_input.h"
#include "operators/common/slice_plan.h"

namespace caffe2rt {

inline constexpr RepeatedArgumentSpec<int64_t> kSliceStarts{
    "starts", "first index in each dimension; negative counts from one past the end"};
inline constexpr RepeatedArgumentSpec<int64_t> kSliceEnds{
    "ends",
    "index after the last one in each dimension; negative counts from one past the end, so -1 is "
    "the end"};

// The bounds of a slice, from the arguments or from inputs 1 and 2.
class [[gnu::visibility("default")]] SliceBounds {
 public:
  // THROWS if the bounds are neither inputs nor arguments.
  SliceBounds(const ArgumentHelper& args, bool are_inputs);
  // Computes the plan for `input`. THROWS like PlanSlice.
  template <class Context>
  const SlicePlan& Plan(Operator<Context>& op, IntArrayRef input) {
    if (are_inputs_) {
      CheckInputs(input, InputAnywhere(op, 1), InputAnywhere(op, 2));
      ReadBounds(starts_input_.Read(op, 1), &starts_);
      ReadBounds(ends_input_.Read(op, 2), &ends_);
    }
    PlanSlice(input, starts_, ends_, &plan_);
    return plan_;
  }

 private:
  static void CheckInputs(IntArrayRef input, const Tensor& starts, const Tensor& ends);
  static void ReadBounds(const Tensor& tensor, std::vector<int64_t>* bounds);

  const bool are_inputs_;
  std::vector<int64_t> starts_;
  std::vector<int64_t> ends_;
  HostInput starts_input_, ends_input_;
  SlicePlan plan_;
};

template <class Context>
class SliceOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SliceOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), bounds_(this->args(), InputSize() > 1) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const SlicePlan& plan = bounds_.Plan(*this, X.sizes());
    const TypeMeta type = X.dtype();
    Tensor* Y = Output(0);
    Y->Resize(plan.dims);
    void* y = OutputMemory(Y, type);
    if (Y->numel() == 0) return true;
    const SliceRows rows = RowsOfSlice(X.sizes(), plan);
    CopyRows(context_, type, rows.outer, rows.taken, ItemAt(X.raw_data(), type, rows.start),
             rows.all, y, rows.taken);
    return true;
  }

 private:
  SliceBounds bounds_;
};

template <class Context>
class SliceGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SliceGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), bounds_(this->args(), InputSize() > 2) {}

  bool RunOnDevice() override {
    const Tensor& X = InputAnywhere(*this, 0);
    const int last = InputSize() - 1;
    const Tensor& dY = Input(last);
    const TypeMeta type = dY.dtype();
    CAFFE_ENFORCE(type.IsPlainData(), "input ", last, " (dY) has elements of type ", type.name(),
                  ", want numbers");
    Tensor* dX = Output(0);
    const SlicePlan& plan = bounds_.Plan(*this, X.sizes());
    dX->Resize(X.sizes());
    void* dx = OutputMemory(dX, type);
    if (dX->numel() == 0) return true;
    CAFFE_ENFORCE_EQ(dY.numel(), CheckedProduct(plan.dims), "elements of input ", last,
                     " (dY) of shape ", dY.sizes(), ", want those of the slice, ",
                     IntArrayRef(plan.dims));
    const SliceRows rows = RowsOfSlice(X.sizes(), plan);
    if (rows.taken < rows.all) FillZeros(context_, dX->nbytes(), dx);
    if (dY.numel() == 0) return true;
    CopyRows(context_, type, rows.outer, rows.taken, dY.raw_data(), rows.taken,
             ItemAt(dx, type, rows.start), rows.all);
    return true;
  }

 private:
  SliceBounds bounds_;
};

}  // namespace caffe2rt
