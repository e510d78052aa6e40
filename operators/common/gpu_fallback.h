#pragma once
// GPUFallbackOp: runs a CPU operator as an operator of another device, for types that have no
// implementation on that device.
//
//   REGISTER_CUDA_OPERATOR(MyOp, GPUFallbackOp<MyOp<float, CPUContext>>);
//   REGISTER_CUDA_OPERATOR(Unique2, GPUFallbackOp<Unique2Op, SkipIndices<1>>);
//   REGISTER_CUDA_OPERATOR(Where, GPUFallbackOpEx<>);   // the CPU operator of that type
//
// The CPU operator has its own workspace, whose parent is the operator's workspace. Blobs that it
// looks up by name are found in the parent; blobs that it creates are in its own workspace. A run
// copies the inputs from the device to the CPU, waits for the copies, runs the CPU operator, and
// starts copying its outputs to the device. Inputs that are not on the device (CPU tensors, other
// objects) are shared instead of copied. A skipped output is not copied; every other output must be
// a tensor. In-place operation is allowed if the CPU operator allows it.
//
// The device and the random seed are those of the OperatorDef. This header does not depend on CUDA,
// so any device can use it.

#include <memory>
#include <type_traits>
#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/workspace.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// A set of output indices, as in Caffe2.
template <int... kIndices>
struct SkipIndices {
  static constexpr bool Contains(int i) { return ((i == kIndices) || ...); }
};

// The part of GPUFallbackOp that does not depend on the CPU operator's class.
class CPUFallbackOp : public OperatorBase {
 public:
  using Maker = std::unique_ptr<OperatorBase> (*)(const OperatorDef& def, Workspace* ws);

  // `make` creates the CPU operator. `skips` returns whether an output is not copied. THROWS the
  // errors of the CPU operator's constructor, and if the device is not available.
  CPUFallbackOp(const OperatorDef& def, Workspace* ws, Maker make, bool (*skips)(int));
  ~CPUFallbackOp() override;

  bool Run(int stream_id = 0) override;
  bool Enqueue(int stream_id) override;
  void FinishDevice() override { context_->FinishDeviceComputation(); }
  bool HasAsyncPart() const override { return true; }
  void WaitEvent(const Event& event, int stream_id = 0) override;

 protected:
  void RecordEvent(const char* error = nullptr) override;

 private:
  void TakeInputs();
  void GiveOutputs();

  bool (*const skips_)(int);
  const std::unique_ptr<BaseContext> context_;
  Workspace local_;
  std::vector<Blob*> local_inputs_;
  std::vector<Blob*> local_outputs_;
  std::vector<bool> shared_;  // inputs whose local blob refers to the operator's own
  std::unique_ptr<OperatorBase> cpu_op_;
};

namespace internal {
// Creates the registered CPU operator for the OperatorDef.
std::unique_ptr<OperatorBase> MakeRegisteredOperator(const OperatorDef& def, Workspace* ws);
}  // namespace internal

// CPUOp: the class of the CPU operator, or void for the registered CPU operator of the same type.
template <class CPUOp = void, class SkipOutputCopy = SkipIndices<>>
class GPUFallbackOp : public CPUFallbackOp {
 public:
  GPUFallbackOp(const OperatorDef& def, Workspace* ws)
      : CPUFallbackOp(def, ws, &Make, [](int i) { return SkipOutputCopy::Contains(i); }) {}

 private:
  static std::unique_ptr<OperatorBase> Make(const OperatorDef& def, Workspace* ws) {
    if constexpr (std::is_void_v<CPUOp>) {
      return internal::MakeRegisteredOperator(def, ws);
    } else {
      return std::make_unique<CPUOp>(def, ws);
    }
  }
};

template <class SkipOutputCopy = SkipIndices<>>
using GPUFallbackOpEx = GPUFallbackOp<void, SkipOutputCopy>;

}  // namespace caffe2rt
#pragma GCC visibility pop
