#pragma once
// GPUFallbackOp: runs a CPU operator as the operator of a device, for types that have no
// implementation there.
//
//   REGISTER_CUDA_OPERATOR(MyOp, GPUFallbackOp<MyOp<float, CPUContext>>);
//   REGISTER_CUDA_OPERATOR(Unique2, GPUFallbackOp<Unique2Op, SkipIndices<1>>);
//   REGISTER_CUDA_OPERATOR(Where, GPUFallbackOpEx<>);   // the CPU operator of that type
//
// The CPU operator lives in a workspace of its own, whose parent is the operator's: it finds other
// blobs that it asks for by name there, and creates new ones in its own. A run copies the device's
// tensors to the CPU and waits for them, runs the CPU operator, and starts the copies of its
// outputs back. Inputs that are not on the device (CPU tensors, other objects) are shared, not
// copied. A skipped output is left alone; any other must be a tensor. Work in place is allowed as
// on the CPU.
//
// The device is that of the OperatorDef, so that any device can have such operators; this header
// includes nothing of CUDA. The random seed is the OperatorDef's.

#include <memory>
#include <type_traits>
#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

// Caffe2's set of small numbers.
template <int... kIndices>
struct SkipIndices {
  static constexpr bool Contains(int i) { return ((i == kIndices) || ...); }
};

// The part that does not depend on the operator.
class CPUFallbackOp : public OperatorBase {
 public:
  using Maker = std::unique_ptr<OperatorBase> (*)(const OperatorDef& def, Workspace* ws);

  // `make` creates the CPU operator; `skips` says which outputs are left alone. THROWS what the
  // constructor throws, and when the device is not available.
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
  std::vector<bool> shared_;  // inputs whose local blob refers to an object outside
  std::unique_ptr<OperatorBase> cpu_op_;
};

namespace internal {
// The CPU operator that the registry has for the OperatorDef.
std::unique_ptr<OperatorBase> MakeRegisteredOperator(const OperatorDef& def, Workspace* ws);
}  // namespace internal

// CPUOp: the class of the CPU operator; void: the one that the registry has for the type.
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
