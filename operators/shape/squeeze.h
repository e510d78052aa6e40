#pragma once
// Squeeze: takes dimensions of size 1 out of the shape.

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"
#include "operators/shape/dims_argument.h"

namespace caffe2rt {

// `places` as ReadDimsArgument gives them. THROWS when they do not fit the input.
void SqueezedDims(IntArrayRef input, const std::vector<int>& places, std::vector<int64_t>* dims);

template <class Context>
class SqueezeOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SqueezeOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), places_(ReadDimsArgument(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    SqueezedDims(X.sizes(), places_, &dims_);
    CopyReshaped(context_, X, dims_, Output(0));
    return true;
  }

 private:
  const std::vector<int> places_;
  std::vector<int64_t> dims_;
};

}  // namespace caffe2rt
