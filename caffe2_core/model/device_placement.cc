#include "caffe2_core/model/device_placement.h"

#include <algorithm>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/flags.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

// Calls `visit` for each net in the arguments of the operator. THROWS if that is nested too deeply.
template <class Visit>
void ForNetsIn(OperatorDef* op, int depth, const Visit& visit) {
  CAFFE_ENFORCE_LT(depth, kMaxNetDepth, "nesting depth of nets");
  ForEachNetIn(op, visit);
}

// Sets the argument of one net. Its inputs may be elsewhere even if all of its operators run on one
// device.
void RequestCopiesInto(NetDef* net) {
  if (GetArgumentPtr(*net, "inject_copies") == nullptr) {
    GetMutableArgument("inject_copies", true, net)->set_i(1);
  }
}

void RequestCopies(NetDef* net, int depth) {
  RequestCopiesInto(net);
  for (OperatorDef& op : *net->mutable_op()) {
    ForNetsIn(&op, depth, [&](NetDef* nested) { RequestCopies(nested, depth + 1); });
  }
}

void UseCPU(DeviceOption* option) {
  option->set_device_type(CPU);
  option->clear_device_id();
}

// Whether the device is available and has no implementation of the operator, but the CPU has one.
bool IsUnsupported(const std::string& op_type, int device_type) {
  if (device_type == CPU || !IsValidDeviceType(device_type)) return false;
  const auto type = static_cast<DeviceType>(device_type);
  return FindStaticContext(type) != nullptr && !HasOperator(type, op_type) &&
         HasOperator(CPU, op_type);
}

void MoveUnsupported(NetDef* net, std::set<std::string>* on_cpu, int depth) {
  const int of_net = net->device_option().device_type();
  for (OperatorDef& op : *net->mutable_op()) {
    const DeviceOption& own = op.device_option();
    if (IsUnsupported(op.type(), own.has_device_type() ? own.device_type() : of_net)) {
      UseCPU(op.mutable_device_option());
      on_cpu->insert(op.type());
    }
    ForNetsIn(&op, depth, [&](NetDef* nested) { MoveUnsupported(nested, on_cpu, depth + 1); });
  }
}

void Place(NetDef* net, const DeviceOption& device, std::set<std::string>* on_cpu, int depth) {
  const DeviceOption of_net = net->device_option();
  if (net->has_device_option()) UseCPU(net->mutable_device_option());
  const auto type = static_cast<DeviceType>(device.device_type());
  for (OperatorDef& op : *net->mutable_op()) {
    if (!op.device_option().has_device_type() && of_net.device_type() != CPU)
      *op.mutable_device_option() = MergeDeviceOption(of_net, op.device_option());
    if (op.device_option().device_type() == CPU) {
      DeviceOption* const option = op.mutable_device_option();
      const bool here = HasOperator(type, op.type());
      option->set_device_type(here ? device.device_type() : CPU);
      option->clear_device_id();
      if (here && device.has_device_id()) option->set_device_id(device.device_id());
      if (!here) on_cpu->insert(op.type());
    } else if (IsUnsupported(op.type(), op.device_option().device_type())) {
      UseCPU(op.mutable_device_option());
      on_cpu->insert(op.type());
    }
    if (TraitsOf(op.type()).keeps_nets_on_cpu && op.device_option().device_type() == CPU) continue;
    ForNetsIn(&op, depth, [&](NetDef* nested) { Place(nested, device, on_cpu, depth + 1); });
  }
  RequestCopiesInto(net);
}

bool NamesADevice(const NetDef& net, int depth);

bool NamesADevice(const Argument& arg, int depth) {
  if (NetDef text; ParseTextNet(arg, &text)) return NamesADevice(text, depth);
  return (arg.has_n() && NamesADevice(arg.n(), depth)) ||
         std::any_of(arg.nets().begin(), arg.nets().end(),
                     [depth](const NetDef& net) { return NamesADevice(net, depth); });
}

bool NamesADevice(const NetDef& net, int depth) {
  if (depth > kMaxNetDepth) return false;  // creating the net reports this error
  if (net.device_option().device_type() != CPU) return true;
  return std::any_of(net.op().begin(), net.op().end(), [depth](const OperatorDef& op) {
    return op.device_option().device_type() != CPU ||
           std::any_of(op.arg().begin(), op.arg().end(),
                       [depth](const Argument& arg) { return NamesADevice(arg, depth + 1); });
  });
}

}  // namespace

std::vector<std::string> PlaceNet(NetDef* net, const DeviceOption& device) {
  CAFFE_ENFORCE(net != nullptr, "argument net of PlaceNet is null");
  GetStaticContext(CheckedDeviceType(device.device_type()));
  std::set<std::string> on_cpu;
  Place(net, device, &on_cpu, 0);
  return {on_cpu.begin(), on_cpu.end()};
}

bool NamesADevice(const NetDef& net) { return NamesADevice(net, 0); }

void RequestDeviceCopies(NetDef* net) {
  CAFFE_ENFORCE(net != nullptr, "argument net of RequestDeviceCopies is null");
  RequestCopies(net, 0);
}

std::vector<std::string> MoveUnsupportedToCPU(NetDef* net) {
  CAFFE_ENFORCE(net != nullptr, "argument net of MoveUnsupportedToCPU is null");
  std::set<std::string> on_cpu;
  MoveUnsupported(net, &on_cpu, 0);
  return {on_cpu.begin(), on_cpu.end()};
}

std::optional<DeviceOption> DeviceOfFirstReader(const NetDef& net, const std::string& blob) {
  for (const OperatorDef& op : net.op()) {
    const auto at = std::find(op.input().begin(), op.input().end(), blob);
    if (at == op.input().end()) continue;
    OperatorDef placed = op;
    *placed.mutable_device_option() = MergeDeviceOption(net.device_option(), op.device_option());
    const std::vector<DeviceOption> inputs = InferOpInputOutputDevice(placed).first;
    return inputs[static_cast<size_t>(at - op.input().begin())];
  }
  return std::nullopt;
}

void MoveBlobToDevice(const std::string& blob, const DeviceOption& device, Workspace* ws) {
  CAFFE_ENFORCE(ws != nullptr, "argument ws of MoveBlobToDevice is null");
  const std::shared_ptr<Blob> from = ws->FindBlob(blob);
  if (device.device_type() == CPU || from == nullptr || !from->IsTensor(CPU)) return;
  const DeviceDescriptor* const descriptor =
      FindDeviceDescriptor(CheckedDeviceType(device.device_type()));
  const bool has_own = descriptor != nullptr && !descriptor->copy_from_cpu.empty();
  Workspace there(ws);
  OperatorDef copy;
  copy.set_type(has_own ? descriptor->copy_from_cpu : kCopyFromCPUType);
  copy.add_input(blob);
  copy.add_output(blob + "_moved");
  *copy.mutable_device_option() = device;
  CAFFE_ENFORCE(there.RunOperatorOnce(copy), "blob \"", blob, "\" cannot be copied");
  from->swap(*there.GetBlob(copy.output(0)));
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
