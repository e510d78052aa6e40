#pragma once
// The nets of a predictor that Caffe2's predictor_exporter saved: a MetaNetDef, and the database
// that holds it and the parameters.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"

namespace caffe2rt {

class Workspace;

// Nets of a MetaNetDef by key. THROWS listing the keys that are there.
const NetDef& GetNet(const MetaNetDef& net, const std::string& key);
std::vector<std::string> GetBlobs(const MetaNetDef& net, const std::string& key);

// What a predictor runs.
struct PredictorNets {
  std::vector<NetDef> init_nets;  // in the order to run them: the global ones come first
  NetDef predict_net;
  std::vector<std::string> inputs;   // that callers fill; empty: the MetaNetDef lists none
  std::vector<std::string> outputs;  // the same
};
// Moves the nets out of `meta`, which is left without them. THROWS when it has no predict net.
PredictorNets TakeNets(MetaNetDef&& meta);

// The MetaNetDef of a database of any type, under the key "!!META_NET_DEF", or
// "!!META_NET_DEF_<name>" (the only one there, when `name` is empty and the plain key is missing).
// THROWS when there is none.
MetaNetDef LoadMetaNetDef(const std::string& path, const std::string& db_type,
                          const std::string& name = "");

// Opens the database as the blob "!!PREDICTOR_DBREADER", through which the global init net loads
// the parameters. THROWS as DBReader does.
void OpenParameterReader(const std::string& path, const std::string& db_type, Workspace* ws);

}  // namespace caffe2rt
