#pragma once
// ResizeLike: the elements of input 0 in the shape of input 1, which must have as many elements.

#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"

namespace caffe2rt {

template <class Context>
class ResizeLikeOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ResizeLikeOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& like = Input(1);
    CAFFE_ENFORCE_EQ(X.numel(), like.numel(), "elements of input 0 of shape ", X.sizes(),
                     ", want those of input 1 of shape ", like.sizes());
    CopyReshaped(context_, X, like.sizes(), Output(0));
    return true;
  }
};

}  // namespace caffe2rt
