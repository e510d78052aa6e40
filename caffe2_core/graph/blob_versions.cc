#include "caffe2_core/graph/blob_versions.h"

namespace caffe2rt {

BlobVersions::BlobVersions(const google::protobuf::RepeatedPtrField<OperatorDef>& ops)
    : ops_(ops), inputs_(static_cast<size_t>(ops.size())), outputs_(inputs_.size()) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const OperatorDef& op = ops.Get(static_cast<int>(i));
    for (const std::string& name : op.input()) {
      auto found = current_.find(name);
      if (found == current_.end()) found = current_.emplace(name, Current{Add()}).first;
      found->second.read = true;
      AddUse(found->second.version, i);
      inputs_[i].push_back(found->second.version);
    }
    for (const std::string& name : op.output()) {
      const Version version = Add();
      versions_[version].writer = i;
      const auto [found, first] = current_.emplace(name, Current{version});
      if (!first) {
        versions_[found->second.version].overwriter = i;
        found->second.version = version;
      }
      outputs_[i].push_back(version);
    }
  }
}

bool BlobVersions::IsRead(const std::string& blob) const {
  const auto found = current_.find(blob);
  return found != current_.end() && found->second.read;
}

BlobVersions::Version BlobVersions::AddFinalUse(const std::string& blob) {
  auto found = current_.find(blob);
  if (found == current_.end()) found = current_.emplace(blob, Current{Add()}).first;
  AddUse(found->second.version, inputs_.size());
  return found->second.version;
}

BlobVersions::Names BlobVersions::ByName(const NameList& names,
                                         const std::vector<Version>& versions) {
  Names by_name;
  for (size_t i = 0; i < versions.size(); ++i) {
    by_name[names.Get(static_cast<int>(i))] = versions[i];
  }
  return by_name;
}

BlobVersions::Version BlobVersions::Add() {
  versions_.emplace_back();
  return versions_.size() - 1;
}

void BlobVersions::AddUse(Version version, size_t user) {
  Uses& uses = versions_[version];
  if (uses.uses++ == 0) uses.first_user = user;
}

}  // namespace caffe2rt
