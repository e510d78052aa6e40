#include "caffe2_core/runtime/device_uses.h"

#include <map>
#include <utility>

#include "caffe2_core/graph/device_inference.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

DeviceUses::DeviceUses(const std::vector<OperatorBase*>& operators) {
  const auto is_on_device = [](const OperatorBase& op) {
    return op.HasAsyncPart() && op.device_option().device_type() != CPU;
  };
  std::map<DevicePlace, const DeviceOption*> devices;
  for (const OperatorBase* op : operators) {
    if (is_on_device(*op)) devices.emplace(PlaceOf(op->device_option()), &op->device_option());
  }
  if (devices.size() < 2) return;
  std::map<DevicePlace, const BaseContext*> users;
  for (const auto& [place, option] : devices) {
    contexts_.push_back(
        GetStaticContext(static_cast<DeviceType>(place.type))->CreateContext(*option));
    users[place] = contexts_.back().get();
  }
  inputs_.resize(operators.size());
  std::map<const Blob*, DevicePlace> made_on;
  for (size_t i = 0; i < operators.size(); ++i) {
    OperatorBase* const op = operators[i];
    const DevicePlace place = PlaceOf(op->device_option());
    if (is_on_device(*op)) {
      inputs_[i].user = users[place];
      for (const Blob* blob : op->Inputs()) {
        const auto maker = made_on.find(blob);
        if (maker == made_on.end() || maker->second != place) inputs_[i].blobs.push_back(blob);
      }
    }
    for (const Blob* blob : op->Outputs()) made_on[blob] = place;
  }
}

void DeviceUses::BeginRun() {
  for (const auto& context : contexts_) context->SwitchToDevice(0);
}

void DeviceUses::Record(size_t position) const {
  const Inputs& inputs = inputs_[position];
  for (const Blob* blob : inputs.blobs) {
    if (!blob->IsType<Tensor>()) continue;
    const Storage* const storage = static_cast<const Tensor*>(blob->GetRaw())->storage().get();
    if (storage == nullptr || storage->device() == CPU) continue;
    GetStaticContext(storage->device())->RecordUse(storage->deleter(), *inputs.user);
  }
}

}  // namespace caffe2rt
