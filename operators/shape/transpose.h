#pragma once
// Transpose: permutes the dimensions; dim i of Y is dim axes[i] of X. By default the dimensions are
// reversed.

#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/shape/transpose_items.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Whether `axes` contains each of 0 ... size - 1 exactly once.
bool IsPermutation(const std::vector<int>& axes);
#pragma GCC visibility pop

inline constexpr RepeatedArgumentSpec<int> kTransposeAxes{
    "axes",
    "permutation of the dimensions; default: reversed",
    {IsPermutation, "a permutation of the dimensions"}};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Computes the shape of the output. Empty `axes` are set to the reversed order. THROWS if the ranks
// differ.
void TransposedDims(IntArrayRef input, std::vector<int>* axes, std::vector<int64_t>* dims);
#pragma GCC visibility pop

template <class Context>
class TransposeOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  TransposeOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), wanted_(this->ReadArgument(kTransposeAxes)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    DispatchByType<float, double, int32_t, int64_t>(X.dtype(), "input 0 (X)", [](auto) {});
    if (!planned_ || X.sizes() != IntArrayRef(input_)) Plan(X.sizes());
    Tensor* Y = Output(0, dims_, X.dtype());
    if (Y->numel() == 0) return true;
    TransposeItems(context_, plan_, X.dtype().itemsize(), X.raw_data(), Y->raw_mutable_data());
    return true;
  }

 private:
  void Plan(IntArrayRef input) {
    planned_ = false;
    axes_ = wanted_;
    TransposedDims(input, &axes_, &dims_);
    if (CheckedProduct(input) > 0) math::PlanTranspose(input, axes_, &plan_);
    input_ = input.vec();
    planned_ = true;
  }

  const std::vector<int> wanted_;
  std::vector<int> axes_;
  std::vector<int64_t> input_;  // the shape for which plan_ was made
  std::vector<int64_t> dims_;
  math::TransposePlan plan_;
  bool planned_ = false;
};

}  // namespace caffe2rt
