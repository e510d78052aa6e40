#pragma once
// Functions that read the parts of a saved predictor.
#include <memory>
#include <string>
#include <vector>

#include "caffe2/core/db.h"
#include "caffe2/core/workspace.h"
#include "caffe2/proto/metanet.pb.h"
#include "caffe2/proto/predictor_consts.pb.h"
#include "caffe2_core/model/predictor.h"

namespace caffe2 {
namespace predictor_utils {

inline const NetDef& getNet(const MetaNetDef& net, const std::string& name) {
  return ::caffe2rt::GetNet(net, name);
}
inline std::vector<std::string> getBlobs(const MetaNetDef& net, const std::string& name) {
  return ::caffe2rt::GetBlobs(net, name);
}

// Reads the MetaNetDef with the key `key`. Moves the cursor. THROWS if there is none.
inline std::unique_ptr<MetaNetDef> extractMetaNetDef(db::Cursor* cursor, const std::string& key) {
  CAFFE_ENFORCE(cursor != nullptr, "argument cursor is null, want one to read \"", key, "\"");
  if (cursor->SupportsSeek()) cursor->Seek(key);
  while (cursor->Valid() && cursor->key() != key) cursor->Next();
  CAFFE_ENFORCE(cursor->Valid(), "the database has no key \"", key, "\"");
  Blob blob;
  DeserializeBlob(cursor->value(), &blob);
  auto net = std::make_unique<MetaNetDef>();
  CAFFE_ENFORCE(net->ParseFromString(blob.Get<std::string>()), "\"", key,
                "\" does not contain a MetaNetDef");
  return net;
}

// Runs the global init net of a saved predictor, which loads the weights from the same database.
inline std::unique_ptr<MetaNetDef> runGlobalInitialization(std::unique_ptr<db::DBReader> db,
                                                           Workspace* master) {
  CAFFE_ENFORCE(db != nullptr && master != nullptr,
                "runGlobalInitialization requires a database and a workspace");
  const PredictorConsts consts;
  auto net = extractMetaNetDef(db->cursor(), consts.meta_net_def());
  db->SeekToFirst();
  master->CreateBlob(consts.predictor_dbreader())->Reset(db.release());
  NetDef init = getNet(*net, consts.global_init_net_type());
  if (init.name().empty()) init.set_name("global_init");
  CAFFE_ENFORCE(master->RunNetOnce(init), "the global init net failed");
  return net;
}

}  // namespace predictor_utils
}  // namespace caffe2
