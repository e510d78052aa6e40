#pragma once
// The way from a net whose weights are in a workspace to one that runs: graph passes, choices that
// the operators are told, creation, and memory for the activations.
//
//   Workspace ws;
//   ws.RunNetOnce(init_net);                           // fills the weights
//   Preparation prepared = PrepareNet(predict_net, {.inputs = {"data"}}, &ws);
//   prepared.passes;                                   // names of those that changed the net
//   PreparedNet net(prepared.net, {}, std::make_shared<ArenaStock>(), &ws);
//   net.Run();                                         // computes the same outputs
//
// Predictor and the commands of `caffe2` prepare their nets in this way. Workspace::CreateNet runs a
// net as it is written unless it is given options. The number of threads (SetNumThreads), the
// instruction set (base/isa.h) and the table of convolutions' timings (operators/conv/conv_tuning.h)
// are those of the process.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/shape_inference.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class ArenaStock;
class NetBase;
class NetMemory;
class PackedModel;
class Workspace;

struct PreparationOptions {
  // Whether graph passes are applied.
  bool optimize = true;
  // The names of passes that are not applied (NetPasses() in graph/passes/net_pass.h).
  std::set<std::string> without_passes = {};
  // Blobs that something outside the net writes before or between runs: its data inputs. All other
  // tensors in the workspace that the net only reads are constants.
  std::set<std::string> inputs = {};
  // Blobs that are read after a run, besides the outputs of the net (OutputsOf in
  // graph/net_check.h).
  std::set<std::string> kept = {};
  // Shapes and types of inputs as far as they are known, besides those of `inputs` that are in the
  // workspace. They guide choices; the inputs may have other shapes when the net runs.
  ShapeMap input_shapes = {};
  // Whether only algorithms with reproducible results may be chosen: no Winograd.
  bool deterministic = false;
  // On IDEEP, Winograd is used only for filters that occupy at most this many bytes when they are
  // prepared for it, which is four times the plain size.
  int64_t winograd_filter_bytes = INT64_MAX;
  // Whether to remove the constants from the workspace that the net read and that the prepared net
  // does not read. Only local blobs of the workspace are removed.
  bool free_constants = false;
  // The packed model of which the net and the blobs in the workspace are. If it was prepared in the
  // same way when it was packed, the net that it stores is used, with its constants. May be null.
  std::shared_ptr<const PackedModel> packed = nullptr;
};

// A net that is ready to be created, and what was done to it.
struct Preparation {
  NetDef net;
  std::vector<std::string> passes = {};           // names of the passes that changed the net
  std::vector<std::string> new_constants = {};    // blobs that were added to the workspace, sorted
  std::vector<std::string> freed_constants = {};  // blobs that were removed from it, sorted
  // What was applied: with the shapes in the workspace, and the passes that this machine leaves out.
  PreparationOptions options = {};
};

// Prepares a net whose weights are in `ws`, where it will run, or in whose children. THROWS if a name
// in without_passes is unknown, or if a pass fails; the error names the pass.
Preparation PrepareNet(NetDef net, const PreparationOptions& options, Workspace* ws);

// A net in a workspace with planned memory for its activations. May be used by one thread at a time.
class PreparedNet {
 public:
  // Creates the net in `ws`, in place of one of the same name. `kept` are the names of blobs that are
  // read after a run, besides the outputs. A null `arenas` plans no memory: each blob keeps its own.
  // `executor` is the net type as which it runs, whatever built-in type it has: operators that run
  // at the same time are seldom faster than operators that are divided among the threads.
  // THROWS if the net cannot be created, or if its type is not known. REQUIRES: `ws` outlives the
  // object, and nobody else deletes the net.
  PreparedNet(std::shared_ptr<const NetDef> def, std::set<std::string> kept,
              std::shared_ptr<ArenaStock> arenas, Workspace* ws,
              const std::string& executor = "simple");
  PreparedNet(NetDef def, std::set<std::string> kept, std::shared_ptr<ArenaStock> arenas,
              Workspace* ws, const std::string& executor = "simple")
      : PreparedNet(std::make_shared<const NetDef>(std::move(def)), std::move(kept),
                    std::move(arenas), ws, executor) {}

  ~PreparedNet();
  PreparedNet(PreparedNet&&) noexcept;
  PreparedNet& operator=(PreparedNet&&) noexcept;

  // Runs the net. THROWS if it fails.
  void Run();
  NetBase& net() { return *net_; }
  NetMemory& memory() { return *memory_; }

 private:
  NetBase* net_;  // owned by the workspace
  std::unique_ptr<NetMemory> memory_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
