#include "caffe2_core/runtime/device_placement.h"

#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/flags.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {
namespace {

// The net's inputs may be on the CPU even if all of its operators run on the device.
void RequestCopies(NetDef* net) {
  if (GetArgumentPtr(*net, "inject_copies") == nullptr) {
    GetMutableArgument("inject_copies", true, net)->set_i(1);
  }
}

void Place(NetDef* net, const DeviceOption& device, std::set<std::string>* on_cpu, int depth) {
  CAFFE_ENFORCE_LT(depth, kMaxNetDepth, "nesting depth of nets");
  const DeviceOption of_net = net->device_option();
  net->clear_device_option();
  const auto type = static_cast<DeviceType>(device.device_type());
  for (OperatorDef& op : *net->mutable_op()) {
    if (!op.has_device_option() && of_net.device_type() != CPU)
      *op.mutable_device_option() = of_net;
    if (op.device_option().device_type() == CPU) {
      DeviceOption* const option = op.mutable_device_option();
      const bool here = HasOperator(type, op.type());
      option->set_device_type(here ? device.device_type() : CPU);
      option->clear_device_id();
      if (here && device.has_device_id()) option->set_device_id(device.device_id());
      if (!here) on_cpu->insert(op.type());
    }
    // Its body exchanges values with it on the CPU.
    if (op.type() == "ONNXWhile" && op.device_option().device_type() == CPU) continue;
    for (Argument& arg : *op.mutable_arg()) {
      ReplaceTextNet(&arg);
      if (arg.has_n()) Place(arg.mutable_n(), device, on_cpu, depth + 1);
      for (NetDef& nested : *arg.mutable_nets()) Place(&nested, device, on_cpu, depth + 1);
    }
  }
  RequestCopies(net);
}

}  // namespace

std::vector<std::string> PlaceNet(NetDef* net, const DeviceOption& device) {
  CAFFE_ENFORCE(net != nullptr, "argument net of PlaceNet is null");
  GetStaticContext(CheckedDeviceType(device.device_type()));
  std::set<std::string> on_cpu;
  Place(net, device, &on_cpu, 0);
  return {on_cpu.begin(), on_cpu.end()};
}

bool ParseDevice(const std::string& text, DeviceOption* device) {
  CAFFE_ENFORCE(device != nullptr, "argument device of ParseDevice is null");
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const DeviceDescriptor* const descriptor = FindDeviceDescriptor(name);
  if (descriptor == nullptr) return false;
  int64_t id = 0;
  if (colon != std::string::npos) {
    const std::string number = text.substr(colon + 1);
    CAFFE_ENFORCE(!number.empty() && number.find_first_not_of("0123456789") == std::string::npos &&
                      number.size() < 6,
                  "device \"", text, "\" does not end in a number, want a device such as ", name,
                  ":0");
    id = ParseFlagInteger(number);
  }
  device->set_device_type(descriptor->type);
  device->set_device_id(static_cast<int>(id));
  return true;
}

}  // namespace caffe2rt
