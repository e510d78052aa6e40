#pragma once
// Slice: the elements between starts and ends, in one dimension.
//   X, starts, ends (arguments, or int32 or int64 vectors as inputs 1 and 2)  ->  Y
//
// starts and ends apply to the first dimensions; the others are copied whole. A negative value
// counts from one past the end: -1 is the end itself. Values past the end mean the end.

#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"
#include "operators/common/host_input.h"

namespace caffe2rt {

inline constexpr RepeatedArgumentSpec<int64_t> kSliceStarts{
    "starts", "first index in each dimension; negative counts from one past the end"};
inline constexpr RepeatedArgumentSpec<int64_t> kSliceEnds{
    "ends",
    "index after the last one in each dimension; negative counts from one past the end, so -1 is "
    "the end"};

struct SlicePlan {
  std::vector<int64_t> dims;  // shape of the output
  int axis = -1;              // the sliced dimension; -1: the output is the input
  int64_t start = 0;          // index in this dimension
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if the bounds do not match the input, or slice more than one dimension of an input that
// has elements.
void PlanSlice(IntArrayRef input, IntArrayRef starts, IntArrayRef ends, SlicePlan* plan);
#pragma GCC visibility pop

template <class Context>
class SliceOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SliceOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        starts_(this->ReadArgument(kSliceStarts)),
        ends_(this->ReadArgument(kSliceEnds)) {
    if (InputSize() > 1) return;
    CAFFE_ENFORCE(HasArgument(kSliceStarts), "argument starts is missing");
    CAFFE_ENFORCE(HasArgument(kSliceEnds), "argument ends is missing");
  }

  bool RunOnDevice() override {
    if (InputSize() > 1) {
      const Tensor& starts = starts_input_.Read(*this, 1);
      ReadBounds(starts, "input 1 (starts)", &starts_);
      const Tensor& ends = ends_input_.Read(*this, 2);
      CAFFE_ENFORCE(ends.dtype() == starts.dtype(), "input 2 (ends) has elements of type ",
                    ends.dtype().name(), ", want ", starts.dtype().name(), " as input 1 (starts)");
      ReadBounds(ends, "input 2 (ends)", &ends_);
    }
    const Tensor& X = Input(0);
    PlanSlice(X.sizes(), starts_, ends_, &plan_);
    const TypeMeta type = X.dtype();
    Tensor* Y = Output(0);
    Y->Resize(plan_.dims);
    void* y = OutputMemory(Y, type);
    if (Y->numel() == 0) return true;
    const int axis = plan_.axis < 0 ? 0 : plan_.axis;
    const int64_t inner = plan_.axis < 0 ? X.numel() : X.size_from_dim(axis + 1);
    const int64_t outer = X.size_to_dim(axis);
    const int64_t taken = plan_.axis < 0 ? 1 : plan_.dims[static_cast<size_t>(axis)];
    const int64_t all = plan_.axis < 0 ? 1 : X.dim(axis);
    CopyRows(context_, type, outer, taken * inner, ItemAt(X.raw_data(), type, plan_.start * inner),
             all * inner, y, taken * inner);
    return true;
  }

 private:
  void ReadBounds(const Tensor& tensor, const char* subject, std::vector<int64_t>* bounds) {
    CAFFE_ENFORCE_EQ(tensor.dim(), 1, "rank of ", subject, ", want a vector");
    DispatchByType<int32_t, int64_t>(tensor.dtype(), subject, [&](auto element) {
      const auto* values = tensor.template data<decltype(element)>();
      bounds->assign(values, values + tensor.numel());
    });
  }

  std::vector<int64_t> starts_;
  std::vector<int64_t> ends_;
  HostInput starts_input_, ends_input_;
  SlicePlan plan_;
};

}  // namespace caffe2rt
