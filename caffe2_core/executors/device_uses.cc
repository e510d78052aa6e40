#include "caffe2_core/executors/device_uses.h"

#include <map>
#include <utility>

#include "caffe2_core/graph/device_inference.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {
namespace {

// A device and a stream id on it.
using Stream = std::pair<DevicePlace, int>;

}  // namespace

// Follows the execution order and remembers for each blob the stream that wrote it last. An input
// is reported if another stream than that of the operator wrote it, or if no operator did.
DeviceUses::DeviceUses(const std::vector<OperatorBase*>& operators,
                       const NetDependencies& dependencies, const ExecutionOrder& order) {
  const auto is_on_device = [](const OperatorBase& op) {
    return op.HasAsyncPart() && op.device_option().device_type() != CPU;
  };
  const auto stream_of = [&](size_t place) {
    const OperatorBase& op = *operators[order.positions[place]];
    return Stream{PlaceOf(op.device_option()), is_on_device(op) ? order.stream(place) : 0};
  };
  std::map<Stream, const DeviceOption*> streams;
  for (size_t place = 0; place < order.size(); ++place) {
    const OperatorBase& op = *operators[order.positions[place]];
    if (is_on_device(op)) streams.emplace(stream_of(place), &op.device_option());
  }
  if (streams.size() < 2) return;
  std::map<Stream, const BaseContext*> users;
  for (const auto& [stream, option] : streams) {
    contexts_.emplace_back(
        GetStaticContext(static_cast<DeviceType>(option->device_type()))->CreateContext(*option),
        stream.second);
    users[stream] = contexts_.back().first.get();
  }
  inputs_.resize(operators.size());
  std::map<uint32_t, Stream> made_on;
  for (size_t place = 0; place < order.size(); ++place) {
    const size_t position = order.positions[place];
    OperatorBase* const op = operators[position];
    const Stream stream = stream_of(place);
    if (is_on_device(*op)) {
      inputs_[position].user = users[stream];
      for (size_t i = 0; i < op->Inputs().size(); ++i) {
        const auto maker = made_on.find(dependencies.inputs(position)[i]);
        if (maker != made_on.end() && maker->second == stream) continue;
        inputs_[position].blobs.push_back(op->Inputs()[i]);
      }
    }
    for (const uint32_t blob : dependencies.outputs(position)) made_on[blob] = stream;
  }
}

void DeviceUses::BeginRun() {
  for (const auto& [context, stream] : contexts_) context->SwitchToDevice(stream);
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
