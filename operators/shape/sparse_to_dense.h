#pragma once
// SparseToDense: a tensor of zeros to which slices are added at the given indices.
//   indices [n] int32 or int64, values [n, inner..] float, int32 or int64,
//   optional data_to_infer_dim [size, ..]  ->  [size, inner..]
//
// Without data_to_infer_dim, the size is the argument output_first_dim, or by default the largest
// index plus 1; on a device the host then waits for the indices. Slices with equal indices are
// added up. An index out of range is an error: the CPU throws; on CUDA the slice is not added, and
// the next wait for the stream throws.

#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/host_input.h"
#include "operators/shape/add_slices.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kOutputFirstDim{
    "output_first_dim", 0,
    "size of dimension 0 of the output, if above 0; not allowed together with input 2"};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if the shapes do not match.
void CheckSparse(IntArrayRef indices, IntArrayRef values);
#pragma GCC visibility pop

template <class Context>
class SparseToDenseOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SparseToDenseOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), first_dim_(this->ReadArgument(kOutputFirstDim)) {
    CAFFE_ENFORCE(
        first_dim_ <= 0 || InputSize() == 2,
        "argument output_first_dim and input 2 (data_to_infer_dim) are both given: remove "
        "one");
  }

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(Input(0).dtype(), "input 0 (indices)", [&](auto index) {
      return DispatchByType<float, int32_t, int64_t>(
          Input(1).dtype(), "input 1 (values)",
          [&](auto value) { return RunWith<decltype(index), decltype(value)>(); });
    });
  }

 private:
  template <class Index, class T>
  bool RunWith() {
    const Tensor& indices = Input(0);
    const Tensor& values = Input(1);
    CheckSparse(indices.sizes(), values.sizes());
    dims_.assign(values.dims().begin(), values.dims().end());
    dims_[0] = Size<Index>();
    T* y = this->template OutputData<T>(0, dims_);
    if (dims_[0] == 0) return true;  // as in Caffe2, without a look at the indices
    const GatherSizes sizes = {
        .outer = 1, .size = dims_[0], .count = indices.numel(), .block = values.size_from_dim(1)};
    AddSlices(context_, AdditionOrderOf(this->engine()), sizes, indices.template data<Index>(),
              values.template data<T>(), y, &scratch_);
    return true;
  }

  template <class Index>
  int64_t Size() {
    if (first_dim_ > 0) return first_dim_;
    if (InputSize() > 2) {
      const Tensor& like = InputAnywhere(*this, 2);
      CAFFE_ENFORCE_GE(like.dim(), 1, "rank of input 2 (data_to_infer_dim)");
      return like.dim(0);
    }
    const Tensor& indices = indices_input_.Read(*this, 0);
    const Index* values = indices.template data<Index>();
    int64_t size = 0;
    for (int64_t i = 0; i < indices.numel(); ++i) {
      size = std::max(size, CheckedAdd(int64_t{values[i]}, int64_t{1}));
    }
    return size;
  }

  const int first_dim_;
  std::vector<int64_t> dims_;
  HostInput indices_input_;
  AddSlicesScratch<Context> scratch_;
};

}  // namespace caffe2rt
