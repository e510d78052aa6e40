#pragma once
// Operators whose output is their input: Copy, CopyFromCPUInput, CopyOnDeviceLike, EnsureCPUOutput,
// StopGradient and NegateGradient copy a tensor of any type, as do CopyCPUToGPU and CopyGPUToCPU,
// which are for CUDA alone; Alias shares its memory. On a device none of them waits.

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/host_input.h"

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

// From the CPU, or from where the operator is, to where it is.
template <class Context>
class CopyFromAnywhereOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  CopyFromAnywhereOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    Output(0)->CopyFrom(InputAnywhere(*this, 0), &context_);
    return true;
  }
};

// From where the operator is, or from the CPU, to the CPU.
template <class Context>
class CopyToCpuOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  CopyToCpuOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = InputAnywhere(*this, 0);
    // The host copies at once what the stream may still write.
    if (X.GetDeviceType() == CPU) context_.FinishDeviceComputation();
    this->OutputTensor(0, CPU)->CopyFrom(X, &context_);
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
