#pragma once
// The models that `caffe2 compare` runs: loads them and feeds both with the same inputs.

#include <map>
#include <memory>
#include <set>
#include <string>

#include "binaries/command_line.h"
#include "binaries/commands/model.h"
#include "caffe2_core/inspect/net_comparison.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

// Whether the file contains a net: a NetDef, a packed model or a predictor's database.
bool ContainsNet(const std::string& path);

// A model that is ready to run, as it is written.
struct ComparedModel {
  Model model;
  std::unique_ptr<Workspace> ws;
  std::set<std::string> fed;
  std::set<NetValue> left_out;
  std::map<NetValue, int> from_last;
  Preparation preparation;  // of the net; its field `net` is empty

  // After PrepareNet.
  NetToCompare ToCompare() const { return {model.predict_net, ws.get(), left_out, from_last}; }
};

// Loads the model, with the options of the first or of the second one, and runs its init nets.
ComparedModel LoadComparedModel(const CommandLine& line, const std::string& path, bool second);
// Feeds the inputs that the options give, and `to` with copies of those of `from`.
void FeedFirst(const CommandLine& line, ComparedModel* to);
void FeedSame(const ComparedModel& from, ComparedModel* to);
// Writes the report of the model's net, which was compared, if --report is given.
void ReportCompared(const CommandLine& line, const ComparedModel& model);
// Applies the graph passes if --optimize asks for them, and prepares the net to be watched.
void PrepareComparison(const CommandLine& line, bool second, ComparedModel* model);

}  // namespace caffe2rt
