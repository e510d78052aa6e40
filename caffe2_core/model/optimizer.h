#pragma once
// Applies the graph passes (caffe2_core/graph/passes/) to a net whose weights are in a workspace.
//
//   Workspace ws;
//   ws.RunNetOnce(init_net);                           // fills the weights
//   OptimizerOptions options{.inputs = {"data"}};
//   OptimizedNet optimized = OptimizeNet(predict_net, options, &ws);
//   ws.CreateNet(optimized.net);                       // computes the same outputs
//
// Predictor and the `run` and `bench` commands optimize their nets. Workspace::CreateNet does not.

#include <set>
#include <string>
#include <vector>

#include "caffe2_core/graph/shape_inference.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Workspace;

struct OptimizerOptions {
  // If false, the net stays as it is.
  bool enabled = true;
  // The names of passes that are not applied (NetPasses() in graph/passes/net_pass.h).
  std::set<std::string> without_passes = {};
  // Blobs that something outside the net writes before or between runs: its data inputs. All other
  // tensors in the workspace that the net only reads are constants.
  std::set<std::string> inputs = {};
  // Blobs that are read after a run, besides the outputs of the net (OutputsOf in
  // graph/net_check.h).
  std::set<std::string> kept = {};
  // Shapes and types of inputs as far as they are known. They guide choices; the inputs may have
  // other shapes when the net runs.
  ShapeMap input_shapes = {};
  // The number of threads that an operator may use; 0 means that of the process's pool.
  int threads = 0;
  // Whether only algorithms with reproducible results may be chosen.
  bool deterministic = false;
  // Whether to remove the constants from the workspace that the net read and that the optimized net
  // does not read. Only local blobs of the workspace are removed.
  bool free_constants = false;
};

struct OptimizedNet {
  NetDef net;
  std::vector<std::string> new_constants;    // blobs that were added to the workspace, sorted
  std::vector<std::string> freed_constants;  // blobs that were removed from it, sorted
  std::vector<std::string> passes;           // names of the passes that changed the net
};

// Applies the passes to `net` and adds the constants that the new net needs to `ws`. Constants are
// local blobs of `ws` only: those of a parent may change. THROWS if a name in without_passes is
// unknown.
OptimizedNet OptimizeNet(NetDef net, const OptimizerOptions& options, Workspace* ws);

}  // namespace caffe2rt
#pragma GCC visibility pop
