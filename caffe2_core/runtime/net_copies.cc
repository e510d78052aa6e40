#include "caffe2_core/runtime/net_copies.h"

#include <algorithm>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/device_copies.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/random_streams.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {
namespace {

std::set<int> DeviceTypesOf(const NetDef& net) {
  const int type = net.device_option().device_type();
  std::set<int> types;
  for (const OperatorDef& op : net.op()) {
    const DeviceOption& own = op.device_option();
    types.insert(own.has_device_type() ? own.device_type() : type);
  }
  return types;
}

// Nets with unavailable devices get no copies: creating their operators reports a better error.
bool AreHere(const std::set<int>& types) {
  return std::all_of(types.begin(), types.end(), [](int type) {
    return IsValidDeviceType(type) && FindStaticContext(static_cast<DeviceType>(type)) != nullptr;
  });
}

bool WantsCopies(const NetDef& net) {
  if (const Argument* wish = GetArgumentPtr(net, "inject_copies")) {
    CAFFE_ENFORCE(wish->has_i() && (wish->i() == 0 || wish->i() == 1), "net \"", net.name(),
                  "\": argument inject_copies is ", wish->ShortDebugString(), ", want i: 0 or 1");
    return wish->i() == 1 && AreHere(DeviceTypesOf(net));
  }
  const std::set<int> types = DeviceTypesOf(net);
  return types != std::set<int>{CPU} && AreHere(types) && HasSeveralDevices(net);
}

DeviceOption DeviceOf(const Tensor& tensor) {
  DeviceOption option;
  option.set_device_type(tensor.GetDeviceType());
  if (tensor.GetDeviceType() != CPU && tensor.storage() != nullptr) {
    tensor.GetStaticContext()->ExtractDeviceOption(&option, tensor.storage()->data());
  }
  return option;
}

}  // namespace

std::shared_ptr<const NetDef> WithDeviceCopies(const std::shared_ptr<const NetDef>& def,
                                               const Workspace& ws) {
  if (!WantsCopies(*def)) return def;
  BlobDevices blobs;
  for (const std::string& name : InputsOf(*def)) {
    const std::shared_ptr<Blob> blob = ws.FindBlob(name);
    if (blob == nullptr || blob->IsEmpty()) continue;
    if (blob->IsType<Tensor>()) {
      blobs.Place(name, DeviceOf(blob->Get<Tensor>()));
    } else {
      blobs.PlaceAnywhere(name);
    }
  }
  NetDef named = *def;
  NameRandomStreams(&named);  // copies rename blobs
  NetDef injected = InjectCrossDeviceCopies(named, &blobs, {.may_move_blobs = true});
  if (injected.op_size() == def->op_size()) return def;
  injected.set_name(def->name());
  return std::make_shared<const NetDef>(std::move(injected));
}

}  // namespace caffe2rt
