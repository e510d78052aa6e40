#pragma once
// An operator in the style of 2018, in three files: that for the GPU is in the .cu file.
#include "caffe2/core/context.h"
#include "caffe2/core/operator.h"

namespace caffe2 {

// Doubles the elements at even positions of a vector.
template <typename T, class Context>
class DoubleEvenOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;

  DoubleEvenOp(const OperatorDef& operator_def, Workspace* ws)
      : Operator<Context>(operator_def, ws) {}

  bool RunOnDevice() override;
};

}  // namespace caffe2
