#include "operators/control/inner_net.h"

#include <absl/strings/str_join.h>

#include <algorithm>

#include "caffe2_core/base/suggest.h"
#include "caffe2_core/base/utf8.h"

namespace caffe2rt {
namespace {

// Whether each operator sets its device, and sets the CPU.
bool RunsOnCpu(const NetDef& net) {
  return std::all_of(net.op().begin(), net.op().end(), [](const OperatorDef& op) {
    return op.has_device_option() && op.device_option().device_type() == CPU;
  });
}

// The net as it is created: the operator's device is the default for operators that set none. A net
// that runs on the CPU stays as it is, so that no blob of it is taken for one of the device.
std::shared_ptr<const NetDef> Placed(const NetDef& net, const DeviceOption& device) {
  // The operator keeps the def as long as the net exists.
  if (device.device_type() == CPU || RunsOnCpu(net)) {
    return std::shared_ptr<const NetDef>(std::shared_ptr<void>(), &net);
  }
  DeviceOption base;
  base.set_device_type(device.device_type());
  if (device.has_device_id()) base.set_device_id(device.device_id());
  const auto placed = std::make_shared<NetDef>(net);
  *placed->mutable_device_option() = MergeDeviceOption(base, net.device_option());
  return placed;
}

}  // namespace

const NetDef* FindNet(const OperatorDef& def, const NetArgument& argument) {
  const Argument* const found = GetArgumentPtr(def, argument.name);
  if (found == nullptr) {
    CAFFE_ENFORCE(!argument.required, "argument \"", argument.name, "\" is missing, want a net");
    return nullptr;
  }
  CAFFE_ENFORCE(found->has_n(), "argument \"", argument.name, "\" holds no net, want a net");
  const int depth = NestingDepthOf(found->n(), kMaxNetDepth);
  CAFFE_ENFORCE_LE(depth, kMaxNetDepth - 1, "nesting depth of the nets in argument \"",
                   argument.name, "\"");
  CheckStackForNets(depth + 1);
  return &found->n();
}

const NetDef& RequireNet(const OperatorDef& def, const NetArgument& argument) {
  const NetDef* const net = FindNet(def, argument);
  CAFFE_ENFORCE(net != nullptr, "argument \"", argument.name, "\" is missing, want a net");
  return *net;
}

std::unique_ptr<NetBase> CreateInnerNet(const OperatorBase& op, const NetArgument& argument,
                                        Workspace* ws) {
  const NetDef* const def = FindNet(op.debug_def(), argument);
  if (def == nullptr) return nullptr;
  std::unique_ptr<NetBase> net = CreateNet(Placed(*def, op.device_option()), ws);
  if (net == nullptr) {
    const std::string close =
        absl::StrJoin(NearestNames(def->type(), GetNetRegistry()->Keys()), ", ");
    CAFFE_THROW("the net in argument \"", argument.name, "\" has type \"", Shortened(def->type()),
                "\", which is not known", close.empty() ? "" : "; close: ", close);
  }
  net->SetRandomParent(&op.random_place());
  return net;
}

}  // namespace caffe2rt
