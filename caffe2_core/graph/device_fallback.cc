#include "caffe2_core/graph/device_fallback.h"

#include <set>

#include "caffe2_core/device/context.h"
#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/graph/arguments.h"

namespace caffe2rt {
namespace {

void FallBack(DeviceOption* option, std::set<std::string>* missing) {
  const int type = option->device_type();
  if (!IsValidDeviceType(type)) return;  // creating the operator reports this error
  if (FindStaticContext(static_cast<DeviceType>(type)) != nullptr) return;
  missing->insert(DeviceTypeName(type));
  option->set_device_type(CPU);
  option->clear_device_id();
}

void FallBack(NetDef* net, std::set<std::string>* missing, int depth) {
  if (depth > kMaxNetDepth) return;
  if (net->has_device_option()) FallBack(net->mutable_device_option(), missing);
  for (OperatorDef& op : *net->mutable_op()) {
    if (op.has_device_option()) FallBack(op.mutable_device_option(), missing);
    const DeviceDescriptor* const device = FindDeviceOfCopy(op.type());
    if (device != nullptr && FindStaticContext(device->type) == nullptr) {
      op.set_type(OperatorTypeOnCPU(op.type()));
    }
    for (Argument& arg : *op.mutable_arg()) {
      ReplaceTextNet(&arg);
      if (arg.has_n()) FallBack(arg.mutable_n(), missing, depth + 1);
      for (NetDef& nested : *arg.mutable_nets()) FallBack(&nested, missing, depth + 1);
    }
  }
}

}  // namespace

const std::string& OperatorTypeOnCPU(const std::string& type) {
  static const std::string* const copy = new std::string("Copy");
  return FindDeviceOfCopy(type) != nullptr ? *copy : type;
}

std::vector<std::string> FallBackToCPU(NetDef* net) {
  CAFFE_ENFORCE(net != nullptr, "argument net of FallBackToCPU is null");
  std::set<std::string> missing;
  FallBack(net, &missing, 0);
  return {missing.begin(), missing.end()};
}

}  // namespace caffe2rt
