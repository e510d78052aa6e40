#pragma once
// The common part of ExpandDims and Squeeze: the argument `dims`, the positions of dimensions of
// size 1.

#include <algorithm>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"

namespace caffe2rt {

inline constexpr RepeatedArgumentSpec<int> kUnitDims{
    "dims",
    "positions of the dimensions of size 1 to insert in the output (ExpandDims) or to remove from "
    "the input (Squeeze); duplicates are ignored",
    {[](const std::vector<int>& dims) {
       return !dims.empty() && std::all_of(dims.begin(), dims.end(), [](int d) { return d >= 0; });
     },
     "at least one dimension, none negative"},
    true};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Returns the positions, sorted and without duplicates. THROWS if there are none or one is
// negative.
std::vector<int> ReadDimsArgument(const ArgumentHelper& args);
#pragma GCC visibility pop

// Computes the new shape. `places` is the result of ReadDimsArgument. THROWS if the positions do
// not match the shape.
using PlacedDims = void(IntArrayRef input, const std::vector<int>& places,
                        std::vector<int64_t>* dims);

template <class Context, PlacedDims kDims>
class PlacedDimsOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PlacedDimsOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), places_(ReadDimsArgument(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    kDims(X.sizes(), places_, &dims_);
    CopyReshaped(context_, X, dims_, Output(0));
    return true;
  }

 private:
  const std::vector<int> places_;
  std::vector<int64_t> dims_;
};

}  // namespace caffe2rt
