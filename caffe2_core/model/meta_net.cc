#include "caffe2_core/model/meta_net.h"

#include <absl/strings/str_join.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2rt/predictor_consts.pb.h"

namespace caffe2rt {
namespace {

constexpr char kPredictNet[] = "PREDICT_NET_TYPE";

// Removes the name of a named predictor from its keys: "PREDICT_NET_TYPE_tiny" becomes
// "PREDICT_NET_TYPE", and replaces what had that key.
template <class Entries>
void StripName(const std::string& name, Entries* entries) {
  const std::string suffix = "_" + name;
  std::set<std::string> stripped;
  for (const auto& entry : *entries) {
    if (entry.key().ends_with(suffix))
      stripped.insert(std::string(absl::StripSuffix(entry.key(), suffix)));
  }
  entries->erase(std::remove_if(entries->begin(), entries->end(),
                                [&](const auto& entry) { return stripped.contains(entry.key()); }),
                 entries->end());
  for (auto& entry : *entries) {
    entry.set_key(std::string(absl::StripSuffix(entry.key(), suffix)));
  }
}

// The name of the predictor to use, according to the keys: `wanted` if it exists, or the only one
// if `wanted` is empty. "" if the plain keys are to be used, or if there is no such predictor.
std::string NameInKeys(const MetaNetDef& net, const std::string& wanted) {
  const std::string plain = kPredictNet;
  std::vector<std::string> names;
  for (const NetsMap& entry : net.nets()) {
    if (entry.key() == plain && wanted.empty()) return "";
    if (entry.key().starts_with(plain + "_")) names.push_back(entry.key().substr(plain.size() + 1));
  }
  for (const std::string& name : names) {
    if (name == wanted) return name;
  }
  return wanted.empty() && names.size() == 1 ? names[0] : "";
}

// The nets may contain weights. Therefore at most two of the record, the blob and the parsed nets
// are in memory at the same time.
MetaNetDef ParseMetaNet(const std::string& key, std::string value, const std::string& wanted) {
  std::string content;
  {
    const std::string record = std::move(value);
    BlobProto blob;
    CAFFE_ENFORCE(blob.ParseFromString(record) && blob.has_content(), "record \"", key,
                  "\" is not a blob that holds a string");
    content = std::move(*blob.mutable_content());
  }
  MetaNetDef net;
  CAFFE_ENFORCE(net.ParseFromString(content), "record \"", key, "\" holds no MetaNetDef");
  const std::string name = NameInKeys(net, wanted);
  if (!name.empty()) {
    StripName(name, net.mutable_nets());
    StripName(name, net.mutable_blobs());
  }
  return net;
}

}  // namespace

const NetDef& GetNet(const MetaNetDef& net, const std::string& key) {
  std::vector<std::string> keys;
  for (const NetsMap& entry : net.nets()) {
    if (entry.key() == key) return entry.value();
    keys.push_back(entry.key());
  }
  CAFFE_THROW("the MetaNetDef has no net \"", key, "\"; it has: ", absl::StrJoin(keys, ", "));
}

std::vector<std::string> GetBlobs(const MetaNetDef& net, const std::string& key) {
  for (const BlobsMap& entry : net.blobs()) {
    if (entry.key() == key) return {entry.value().begin(), entry.value().end()};
  }
  return {};
}

PredictorNets TakeNets(MetaNetDef&& meta) {
  PredictorNets nets;
  (void)GetNet(meta, kPredictNet);  // THROWS if there is none
  const auto take = [&meta](const char* key) {
    std::vector<NetDef> taken;
    for (NetsMap& entry : *meta.mutable_nets()) {
      if (entry.key() == key) taken.push_back(std::move(*entry.mutable_value()));
    }
    return taken;
  };
  nets.predict_net = std::move(take(kPredictNet).front());
  for (const char* key : {"GLOBAL_INIT_NET_TYPE", "PREDICT_INIT_NET_TYPE"}) {
    for (NetDef& net : take(key)) nets.init_nets.push_back(std::move(net));
  }
  nets.inputs = GetBlobs(meta, "INPUTS_BLOB_TYPE");
  nets.outputs = GetBlobs(meta, "OUTPUTS_BLOB_TYPE");
  nets.image = ImagePreparationOf(meta);
  return nets;
}

void OpenParameterReader(const std::string& path, const std::string& db_type, Workspace* ws) try {
  CAFFE_ENFORCE(ws != nullptr, "argument ws of OpenParameterReader is null");
  ws->CreateBlob(PredictorConsts::default_instance().predictor_dbreader())
      ->Reset(new db::DBReader(db_type, path));
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

MetaNetDef LoadMetaNetDef(const std::string& path, const std::string& db_type,
                          const std::string& name) try {
  const std::string plain = PredictorConsts::default_instance().meta_net_def();
  const std::string wanted = name.empty() ? plain : plain + "_" + name;
  const std::unique_ptr<db::DB> source = db::CreateDB(db_type, path, db::READ);
  CAFFE_ENFORCE(source != nullptr, "database type \"", db_type, "\" is not known");
  const std::unique_ptr<db::Cursor> cursor = source->NewCursor();
  std::vector<std::string> named_keys;
  std::string named_value, plain_value;
  for (; cursor->Valid(); cursor->Next()) {
    const std::string key = cursor->key();
    if (key == wanted) return ParseMetaNet(key, cursor->value(), name);
    if (key == plain) plain_value = cursor->value();
    if (key.starts_with(plain + "_")) {
      named_keys.push_back(key);
      named_value = cursor->value();
    }
  }
  if (name.empty() && named_keys.size() == 1)
    return ParseMetaNet(named_keys[0], std::move(named_value), "");
  // Some exporters wrote a named predictor under the plain key. Then only the keys inside the
  // MetaNetDef contain its name.
  if (!plain_value.empty()) {
    MetaNetDef net = ParseMetaNet(plain, std::move(plain_value), name);
    for (const NetsMap& entry : net.nets()) {
      if (entry.key() == kPredictNet) return net;
    }
  }
  CAFFE_THROW("database \"", path, "\" holds no predictor \"", wanted, "\"",
              named_keys.empty() ? "" : "; it has: ", absl::StrJoin(named_keys, ", "));
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
