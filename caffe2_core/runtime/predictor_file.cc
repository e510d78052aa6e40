// Predictors in databases: the MetaNetDef and the Load of its parameters.

#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/predictor.h"
#include "caffe2rt/predictor_consts.pb.h"

namespace caffe2rt {
namespace {

// A named predictor's keys all end in its name ("PREDICT_NET_TYPE_tiny"): back to the plain ones.
template <class Entries>
void StripName(const std::string& name, Entries* entries) {
  const std::string suffix = "_" + name;
  for (auto& entry : *entries) {
    if (!entry.key().ends_with(suffix)) continue;
    entry.mutable_key()->resize(entry.key().size() - suffix.size());
  }
}

// Which named predictor the keys are those of: `wanted` when it is there, else the only one; empty
// for plain keys.
std::string NameInKeys(const MetaNetDef& net, const std::string& wanted) {
  const std::string plain = "PREDICT_NET_TYPE";
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

MetaNetDef ParseMetaNet(const std::string& key, const std::string& value,
                        const std::string& wanted) {
  BlobProto blob;
  MetaNetDef net;
  CAFFE_ENFORCE(blob.ParseFromString(value) && blob.has_content(), "record \"", key,
                "\" is no blob with a string");
  CAFFE_ENFORCE(net.ParseFromString(blob.content()), "record \"", key, "\" holds no MetaNetDef");
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
  CAFFE_THROW("the MetaNetDef has no net \"", key, "\"; it has: ", Join(", ", keys));
}

std::vector<std::string> GetBlobs(const MetaNetDef& net, const std::string& key) {
  for (const BlobsMap& entry : net.blobs()) {
    if (entry.key() == key) return {entry.value().begin(), entry.value().end()};
  }
  return {};
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
    if (key.rfind(plain + "_", 0) == 0) {
      named_keys.push_back(key);
      named_value = cursor->value();
    }
  }
  if (name.empty() && named_keys.size() == 1) return ParseMetaNet(named_keys[0], named_value, "");
  // Exporters wrote the plain key for a named predictor too; then the name is in the keys within.
  if (!plain_value.empty()) {
    MetaNetDef net = ParseMetaNet(plain, plain_value, name);
    for (const NetsMap& entry : net.nets()) {
      if (entry.key() == "PREDICT_NET_TYPE") return net;
    }
  }
  CAFFE_THROW("database \"", path, "\" holds no predictor \"", wanted, "\"",
              named_keys.empty() ? "" : "; it has: ", Join(", ", named_keys));
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Predictor LoadPredictor(const std::string& path, const std::string& db_type,
                        const std::string& name, const PredictorOptions& options) try {
  const MetaNetDef net = LoadMetaNetDef(path, db_type, name);
  // The global init net loads the parameters through this reader; they are in the predictor's own
  // workspace afterwards.
  auto source = std::make_shared<Workspace>();
  source->CreateBlob(PredictorConsts::default_instance().predictor_dbreader())
      ->Reset(new db::DBReader(db_type, path));
  // That workspace is no parent of the caller's, whose policy a predictor would follow.
  PredictorOptions own = options;
  if (!own.file_access.has_value()) {
    own.file_access = FileAccess::Off("PredictorOptions::file_access allows it");
  }
  return Predictor(net, source, own);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
