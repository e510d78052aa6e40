#pragma once
// Copy, CopyFromCPUInput, CopyOnDeviceLike, EnsureCPUOutput, StopGradient and NegateGradient copy a
// tensor of any type. CopyCPUToGPU and CopyGPUToCPU do too, but exist on CUDA only. Alias shares
// the memory of its input, and so does AliasWithName. ZeroGradient has no output.
//
// On a device, only EnsureCPUOutput and CopyGPUToCPU wait for the stream, and only if their input
// is on the CPU.

#include <string>

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

// Copies an input that is on the CPU or on the operator's device to the operator's device.
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

// Copies an input that is on the operator's device or on the CPU to the CPU.
template <class Context>
class CopyToCpuOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  CopyToCpuOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = InputAnywhere(*this, 0);
    // The host copies immediately, but work in the stream may still be writing X.
    if (X.GetDeviceType() == CPU) context_.FinishDeviceComputation();
    this->OutputTensor(0, CPU)->CopyFrom(X, &context_);
    return true;
  }
};

inline constexpr ArgumentSpec<std::string> kAliasName{
    "name", "", "a name for those who read the net; must be given", {}, true};
inline constexpr ArgumentSpec<bool> kAliasBackward{
    "is_backward", false, "for those who read the net: whether the name is of a backward pass"};

// AliasWithName must have a name.
template <class Context, bool kNamed = false>
class AliasOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AliasOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {
    if constexpr (kNamed) {
      (void)this->ReadArgument(kAliasName);  // THROWS without it
      (void)this->ReadArgument(kAliasBackward);
    }
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE(X.IsShaped(), "input 0 (X) has neither shape nor data");
    Tensor* Y = Output(0);
    if (Y == &X) return true;
    Y->ResizeLike(X);
    Y->ShareData(X);
    return true;
  }
};

// Accepts an input and does nothing.
template <class Context>
class NoOutputOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  NoOutputOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}
  bool RunOnDevice() override { return true; }
};

}  // namespace caffe2rt
