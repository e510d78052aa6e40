#pragma once
// Operators whose output is their input: Copy, CopyFromCPUInput, CopyOnDeviceLike, EnsureCPUOutput,
// StopGradient and NegateGradient copy a tensor of any type; Alias shares its memory.

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

template <class Context>
class CopyOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  CopyOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    Tensor* Y = Output(0);
    if (Y != &X) Y->CopyFrom(X, &context_);
    return true;
  }
};

template <class Context>
class AliasOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AliasOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE(X.IsShaped(), "input 0 (X) has neither shape nor data");
    Tensor* Y = Output(0);
    Y->ResizeLike(X);
    Y->ShareData(X);
    return true;
  }
};

// Takes its input and does nothing: the end of a path of gradients.
template <class Context>
class NoOutputOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  NoOutputOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}
  bool RunOnDevice() override { return true; }
};

}  // namespace caffe2rt
