#include "caffe2_core/model/workspace_constants.h"

#include <absl/strings/str_cat.h>

#include <exception>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/blob_holders.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "caffe2_core/tensor/memory_range.h"

namespace caffe2rt {
namespace {

// Whether the blob holds a tensor on the CPU that has data.
bool HoldsData(const Blob& blob) {
  if (!blob.IsType<Tensor>()) return false;
  const Tensor& tensor = blob.Get<Tensor>();
  return tensor.IsShaped() && tensor.meta().IsSet() && tensor.GetDeviceType() == CPU &&
         (tensor.numel() == 0 || tensor.storage() != nullptr);
}

struct BlobsByUse {
  std::vector<std::string> only_read, written;
};

BlobsByUse DivideBlobs(const NetDef& net) {
  const NetDependencies blobs(net);
  BlobsByUse result;
  for (uint32_t blob = 0; blob < blobs.size(); ++blob) {
    (blobs.is_changed(blob) ? result.written : result.only_read).push_back(blobs.name(blob));
  }
  return result;
}

// The memory of the blobs that the net writes, and of those that they hold. An init net may have
// given it a second name.
MergedRanges MemoryOf(const std::vector<std::string>& names, const Workspace& ws) {
  MergedRanges result;
  const auto add = [&result](const Blob& blob) {
    if (const Tensor* const tensor = FindTensor(blob)) result.Add(RangeOf(tensor->storage().get()));
  };
  for (const std::string& name : names) {
    const std::shared_ptr<Blob> blob = ws.FindBlob(name);
    if (blob == nullptr) continue;
    add(*blob);
    VisitHeldBlobs(*blob, add);
  }
  result.Merge();
  return result;
}

}  // namespace

std::unordered_set<std::string> NamesUsedBy(const NetDef& net) {
  std::unordered_set<std::string> names;
  for (const OperatorDef& op : net.op()) {
    names.insert(op.input().begin(), op.input().end());
    names.insert(op.output().begin(), op.output().end());
    names.insert(op.control_input().begin(), op.control_input().end());
    if (!HasNestedNets(op)) continue;
    const NestedBlobs nested = NestedBlobsOf(op);
    names.insert(nested.read.begin(), nested.read.end());
    names.insert(nested.written.begin(), nested.written.end());
  }
  return names;
}

WorkspaceConstants::WorkspaceConstants(const NetDef& net, const std::set<std::string>& inputs,
                                       const std::set<std::string>& reserved, Workspace* ws)
    : ws_(ws), used_names_(NamesUsedBy(net)) {
  const std::vector<std::string> local = ws->LocalBlobs();
  const std::unordered_set<std::string> is_local(local.begin(), local.end());
  const BlobsByUse blobs = DivideBlobs(net);
  const MergedRanges written = MemoryOf(blobs.written, *ws);
  for (const std::string& name : blobs.only_read) {
    if (inputs.contains(name) || !is_local.contains(name)) continue;
    std::shared_ptr<Blob> blob = ws->FindBlob(name);
    if (blob == nullptr || !HoldsData(*blob)) continue;
    if (written.Find(RangeOf(blob->Get<Tensor>().storage().get())) != nullptr) continue;
    found_.emplace(name, std::move(blob));
  }
  for (std::string& name : ws->Blobs()) used_names_.insert(std::move(name));
  used_names_.insert(net.external_input().begin(), net.external_input().end());
  used_names_.insert(inputs.begin(), inputs.end());
  used_names_.insert(reserved.begin(), reserved.end());
}

const Tensor* WorkspaceConstants::Find(std::string_view name) const {
  if (const auto found = found_.find(name); found != found_.end()) {
    return &found->second->Get<Tensor>();
  }
  const auto added = added_.find(name);
  return added != added_.end() ? &added->second : nullptr;
}

std::string WorkspaceConstants::Add(const std::string& name, Tensor value) {
  std::string unique = name;
  while (!used_names_.insert(unique).second) unique = absl::StrCat(name, "_", next_number_++);
  added_.emplace(unique, std::move(value));
  return unique;
}

std::vector<Tensor> WorkspaceConstants::Evaluate(const OperatorDef& op) {
  Workspace scratch;
  scratch.SetFileAccess(FileAccess::Off());
  for (const std::string& name : op.input()) {
    const Tensor* const value = Find(name);
    if (value == nullptr) return {};
    scratch.CreateBlob(name)->Reset(new Tensor(*value));  // shares the storage
  }
  try {
    if (!scratch.RunOperatorOnce(op)) return {};
  } catch (const std::exception&) {
    return {};  // the operator reports the error when the net runs
  }
  std::vector<Tensor> outputs;
  for (const std::string& name : op.output()) {
    const std::shared_ptr<Blob> blob = scratch.FindBlob(name);
    if (blob == nullptr || !HoldsData(*blob)) return {};
    outputs.push_back(blob->Get<Tensor>());
  }
  return outputs;
}

ShapeMap WorkspaceConstants::Shapes() const {
  ShapeMap shapes;
  for (const auto& [name, blob] : found_) {
    const Tensor& tensor = blob->Get<Tensor>();
    shapes.emplace(name, CreateTensorShape(tensor.dims(), TypeMetaToDataType(tensor.meta())));
  }
  return shapes;
}

std::vector<std::string> WorkspaceConstants::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, blob] : found_) names.push_back(name);
  return names;
}

void WorkspaceConstants::ReleasePages() const {
  for (const auto& [name, blob] : found_) {
    const std::shared_ptr<Storage>& storage = blob->Get<Tensor>().storage();
    if (storage != nullptr) storage->forms().ReleasePages();
  }
}

std::vector<std::string> WorkspaceConstants::Store(const NetDef& net) {
  const std::unordered_set<std::string> used = NamesUsedBy(net);
  std::vector<std::string> stored;
  for (auto& [name, value] : added_) {
    if (!used.contains(name)) continue;
    ws_->CreateLocalBlob(name)->Reset(new Tensor(std::move(value)));
    stored.push_back(name);
  }
  added_.clear();
  return stored;
}

}  // namespace caffe2rt
