#include "caffe2_core/graph/device_fallback.h"

#include <set>

#include "caffe2_core/device/context.h"
#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/device_inference.h"

namespace caffe2rt {
namespace {

bool IsAvailable(DeviceType type) { return FindStaticContext(type) != nullptr; }

// Changes the device options of nets and remembers the names of the devices that it replaced.
class Move {
 public:
  // `leaves` returns whether the CPU replaces a device.
  explicit Move(bool (*leaves)(DeviceType)) : leaves_(leaves) {}

  void Apply(NetDef* net, int depth = 0) {
    if (depth > kMaxNetDepth) return;
    if (net->has_device_option()) Apply(net->mutable_device_option());
    for (OperatorDef& op : *net->mutable_op()) {
      if (op.has_device_option()) Apply(op.mutable_device_option());
      const DeviceDescriptor* const device = FindDeviceOfCopy(op.type());
      if (device != nullptr && leaves_(device->type)) op.set_type(OperatorTypeOnCPU(op.type()));
      ForEachNetIn(&op, [&](NetDef* nested) { Apply(nested, depth + 1); });
    }
  }

  std::vector<std::string> replaced() const { return {replaced_.begin(), replaced_.end()}; }

 private:
  void Apply(DeviceOption* option) {
    const int type = option->device_type();
    if (!IsValidDeviceType(type)) return;  // creating the operator reports this error
    if (!leaves_(static_cast<DeviceType>(type))) return;
    replaced_.insert(DeviceTypeName(type));
    option->set_device_type(CPU);
    option->clear_device_id();
  }

  bool (*const leaves_)(DeviceType);
  std::set<std::string> replaced_;
};

}  // namespace

const std::string& OperatorTypeOnCPU(const std::string& type) {
  static const std::string* const copy = new std::string(kCopyType);
  return FindDeviceOfCopy(type) != nullptr ? *copy : type;
}

std::vector<std::string> FallBackToCPU(NetDef* net) {
  CAFFE_ENFORCE(net != nullptr, "argument net of FallBackToCPU is null");
  Move move([](DeviceType type) { return !IsAvailable(type); });
  move.Apply(net);
  return move.replaced();
}

void MoveToCPU(NetDef* net) {
  CAFFE_ENFORCE(net != nullptr, "argument net of MoveToCPU is null");
  Move move([](DeviceType type) { return type != CPU && (type != IDEEP || !IsAvailable(type)); });
  move.Apply(net);
}

}  // namespace caffe2rt
