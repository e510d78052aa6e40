#pragma once
// PredictorConfig: the workspace, net and blob names of a predictor.
#include <memory>
#include <string>
#include <vector>

#include "caffe2/core/tensor.h"
#include "caffe2/core/workspace.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2/proto/metanet.pb.h"
#include "caffe2/proto/predictor_consts.pb.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/model/predictor.h"

namespace caffe2 {

using ::caffe2rt::PredictorConfig;

// Makes a config with a new workspace whose parent is `parent`. Runs the init net in it if
// `run_init` is true.
inline PredictorConfig makePredictorConfig(const NetDef& init_net, const NetDef& run_net,
                                           Workspace* parent = nullptr, bool run_init = true,
                                           int /*optimization*/ = 1) {
  PredictorConfig config;
  config.ws = std::make_shared<Workspace>(parent);
  if (run_init) CAFFE_ENFORCE(config.ws->RunNetOnce(init_net), "the init net failed");
  config.predict_net = std::make_shared<NetDef>(run_net);
  config.input_names = ::caffe2rt::InputsOf(run_net);
  config.output_names = ::caffe2rt::OutputsOf(run_net);
  return config;
}
inline PredictorConfig makePredictorConfig(const MetaNetDef& net, Workspace* parent = nullptr,
                                           bool run_init = true) {
  PredictorConfig config =
      makePredictorConfig(::caffe2rt::GetNet(net, "GLOBAL_INIT_NET_TYPE"),
                          ::caffe2rt::GetNet(net, "PREDICT_NET_TYPE"), parent, run_init);
  config.input_names = ::caffe2rt::GetBlobs(net, "INPUTS_BLOB_TYPE");
  config.output_names = ::caffe2rt::GetBlobs(net, "OUTPUTS_BLOB_TYPE");
  config.parameter_names = ::caffe2rt::GetBlobs(net, "PARAMETERS_BLOB_TYPE");
  return config;
}

}  // namespace caffe2
