#pragma once
// Reads predictors that Caffe2's predictor_exporter saved: a database that holds a MetaNetDef with
// the nets, and the parameters.

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/model/image_preparation.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class PackedModel;
class Workspace;

// The net under `key`. THROWS if there is none; the message lists the keys of the MetaNetDef.
const NetDef& GetNet(const MetaNetDef& net, const std::string& key);
// The list of blob names under `key`, empty if there is none.
std::vector<std::string> GetBlobs(const MetaNetDef& net, const std::string& key);

// The nets that a predictor runs.
struct PredictorNets {
  std::vector<NetDef> init_nets;  // in execution order; global init nets come first
  NetDef predict_net;
  std::vector<std::string> inputs;   // filled by callers; empty if the MetaNetDef lists none
  std::vector<std::string> outputs;  // empty if the MetaNetDef lists none
  // As in Model (model_file.h).
  std::vector<std::vector<OperatorWeights>> init_weights = {};
  std::shared_ptr<const PackedModel> packed = nullptr;
  ImagePreparation image = {};
};
// Moves the nets out of `meta`. THROWS if it has no predict net.
PredictorNets TakeNets(MetaNetDef&& meta);

// Reads the MetaNetDef from a database of any type. The key is "!!META_NET_DEF_<name>", or
// "!!META_NET_DEF" if `name` is empty. A database with a single named predictor may also be read
// with an empty name. THROWS if the database holds no such predictor.
MetaNetDef LoadMetaNetDef(const std::string& path, const std::string& db_type,
                          const std::string& name = "");

// Opens the database and stores its reader in the blob "!!PREDICTOR_DBREADER", from which the
// global init net loads the parameters. THROWS if the database cannot be opened.
void OpenParameterReader(const std::string& path, const std::string& db_type, Workspace* ws);

}  // namespace caffe2rt
#pragma GCC visibility pop
