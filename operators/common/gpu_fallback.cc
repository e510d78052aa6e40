#include "operators/common/gpu_fallback.h"

#include <utility>

#include "caffe2_core/device/context.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {
namespace {

OperatorDef OnCPU(const OperatorDef& def) {
  OperatorDef local = def;
  DeviceOption* const option = local.mutable_device_option();
  option->set_device_type(CPU);
  option->clear_device_id();
  local.clear_engine();  // the engines are those of the device
  return local;
}

}  // namespace

CPUFallbackOp::CPUFallbackOp(const OperatorDef& def, Workspace* ws, Maker make, bool (*skips)(int))
    : OperatorBase(def, ws),
      skips_(skips),
      context_(GetStaticContext(static_cast<DeviceType>(def.device_option().device_type()))
                   ->CreateContext(def.device_option())),
      local_(ws->RootFolder(), ws),
      shared_(static_cast<size_t>(def.input_size()), false) {
  context_->SwitchToDevice();
  for (const std::string& name : def.input()) local_inputs_.push_back(local_.CreateLocalBlob(name));
  for (const std::string& name : def.output()) {
    local_outputs_.push_back(local_.CreateLocalBlob(name));
  }
  cpu_op_ = make(OnCPU(def), &local_);
  cpu_op_->random_place().Follow(&random_place());
}

CPUFallbackOp::~CPUFallbackOp() = default;

bool CPUFallbackOp::Run(int stream_id) {
  const bool observed = NumObservers() > 0;
  if (observed) StartAllObservers();
  const bool success = Enqueue(stream_id);
  context_->FinishDeviceComputation();
  if (observed) StopAllObservers();
  return success;
}

bool CPUFallbackOp::Enqueue(int stream_id) {
  context_->SwitchToDevice(stream_id);
  TakeInputs();
  // Waits even if all inputs are shared: an earlier operator may still be writing them, and the
  // output copies of the previous run may still be reading the local tensors.
  context_->FinishDeviceComputation();
  if (!cpu_op_->Run()) return false;
  GiveOutputs();
  return true;
}

void CPUFallbackOp::TakeInputs() {
  for (int i = 0; i < InputSize(); ++i) {
    const auto at = static_cast<size_t>(i);
    const Blob& outside = InputBlob(i);
    Blob* const local = local_inputs_[at];
    if (shared_[at]) local->Reset();  // the object it refers to may no longer exist
    shared_[at] = !outside.IsTensor(context_->device_type());
    if (shared_[at]) {
      local->ShareExternal(const_cast<void*>(outside.GetRaw()), outside.meta());
    } else {
      local->GetMutableTensor(CPU)->CopyFrom(outside.Get<Tensor>(), context_.get());
    }
  }
}

void CPUFallbackOp::GiveOutputs() {
  const DeviceType device = context_->device_type();
  for (int i = 0; i < OutputSize(); ++i) {
    if (skips_(i)) continue;
    const Blob& local = *local_outputs_[static_cast<size_t>(i)];
    CAFFE_ENFORCE(local.IsTensor(CPU), "output ", i, " \"", debug_def().output(i), "\" of ", type(),
                  " on the CPU is a ", local.TypeName(), ", want a tensor to copy to ",
                  DeviceTypeName(device), ": name it in SkipIndices");
    if (OutputBlob(i)->GetRaw() == local.GetRaw()) {
      // In place on a shared CPU tensor: creating the device tensor would free it, so keep it
      // alive.
      const Tensor kept = local.Get<Tensor>();
      OutputTensor(i, device)->CopyFrom(kept, context_.get());
    } else {
      OutputTensor(i, device)->CopyFrom(local.Get<Tensor>(), context_.get());
    }
  }
}

void CPUFallbackOp::WaitEvent(const Event& event, int stream_id) {
  context_->SwitchToDevice(stream_id);
  context_->WaitEvent(event);
}

void CPUFallbackOp::RecordEvent(const char* error) {
  if (!IsEventDisabled()) context_->Record(&event(), error);
}

namespace internal {

std::unique_ptr<OperatorBase> MakeRegisteredOperator(const OperatorDef& def, Workspace* ws) {
  return CreateOperator(def, ws);
}

}  // namespace internal
}  // namespace caffe2rt
