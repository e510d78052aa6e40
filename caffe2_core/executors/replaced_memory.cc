#include "caffe2_core/executors/replaced_memory.h"

#include <algorithm>
#include <set>

#include "caffe2_core/graph/device_inference.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {
namespace {

std::pair<std::vector<DeviceOption>, std::vector<DeviceOption>> InferredDevices(
    const OperatorBase& op) {
  OperatorDef def = op.debug_def();
  *def.mutable_device_option() = op.device_option();
  return InferOpInputOutputDevice(def);
}

bool LeavesWorkOnDevice(const OperatorBase& op) {
  return op.HasAsyncPart() && op.device_option().device_type() != CPU;
}

}  // namespace

ReplacedMemory::ReplacedMemory(const std::vector<OperatorBase*>& operators) {
  std::set<const Blob*> used_on_cpu;  // by devices
  for (OperatorBase* op : operators) {
    if (!LeavesWorkOnDevice(*op)) continue;
    const auto [inputs, outputs] = InferredDevices(*op);
    for (size_t i = 0; i < std::min(inputs.size(), op->Inputs().size()); ++i) {
      if (inputs[i].device_type() == CPU) used_on_cpu.insert(op->Inputs()[i]);
    }
    for (size_t i = 0; i < std::min(outputs.size(), op->Outputs().size()); ++i) {
      if (outputs[i].device_type() == CPU) used_on_cpu.insert(op->Outputs()[i]);
    }
  }
  if (used_on_cpu.empty()) return;
  for (size_t position = 0; position < operators.size(); ++position) {
    OperatorBase& op = *operators[position];
    if (!LeavesWorkOnDevice(op)) continue;
    const std::vector<DeviceOption> devices = InferredDevices(op).second;
    for (size_t i = 0; i < std::min(devices.size(), op.Outputs().size()); ++i) {
      const Blob* const blob = op.Outputs()[i];
      if (devices[i].device_type() == CPU || !used_on_cpu.contains(blob)) continue;
      outputs_.emplace_back(position, blob);
    }
  }
}

void ReplacedMemory::Keep(size_t position) {
  auto output = std::lower_bound(outputs_.begin(), outputs_.end(), position,
                                 [](const auto& of, size_t wanted) { return of.first < wanted; });
  for (; output != outputs_.end() && output->first == position; ++output) {
    if (output->second->IsTensor(CPU)) kept_.push_back(output->second->Get<Tensor>());
  }
}

}  // namespace caffe2rt
