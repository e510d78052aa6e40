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
// net as it is written unless it is given options.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/isa.h"
#include "caffe2_core/graph/precision.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class ArenaStock;
class ConvTuning;
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
  // Whether only algorithms with reproducible results may be chosen: no Winograd, and the same bytes for
  // every number of threads. With precision int8 the bytes are also the same on all machines with AVX2 and
  // fused multiply-add: nothing is rounded to bf16, and what stays in float is added in one order, which
  // is slower.
  bool deterministic = false;
  // In which element type convolutions and fully connected layers may compute. What the machine does not have is computed in
  // float, with one line in the log; Preparation::options then states f32.
  Precision precision = Precision::kFloat32;
  // With precision auto: the least ratio of signal to noise of the outputs in dB, by which int8, or else
  // bf16, is used. The net states its ratios (arguments in graph/precision.h); without them it is
  // computed in float. Preparation::options then states the precision that is used.
  double min_snr_db = 30;
  // On IDEEP, Winograd is used only for filters that occupy at most this many bytes when they are
  // prepared for it, which is four times the plain size.
  int64_t winograd_filter_bytes = INT64_MAX;
  // Whether to remove the constants from the workspace that the net read and that the prepared net
  // does not read. Only local blobs of the workspace are removed.
  bool free_constants = false;
  // The number of threads among which the operators divide their work; 0: that of the process
  // (GetNumThreads in base/thread_pool.h). At most that of the process, whose pool does the work: call
  // SetNumThreads with the largest number first.
  int threads = 0;
  // The table of timings by which algorithms and layouts of convolutions are chosen. Null: that of the
  // process. ParseConvTuning in operators/conv/conv_tuning.h makes one from a file's text.
  std::shared_ptr<const ConvTuning> tuning = nullptr;
  // The instruction set, for callers that require one. It cannot differ from that of the process
  // (CpuIsa in base/isa.h), because oneDNN chooses its own when the process first uses it: another
  // one is an error that names the environment variables to set.
  std::optional<Isa> isa = std::nullopt;
  // The packed model of which the net and the blobs in the workspace are. If it was prepared in the
  // same way when it was packed, the net that it stores is used, with its constants. May be null.
  std::shared_ptr<const PackedModel> packed = nullptr;
};

// The precision in which the net is prepared: that of the options, or, if that is auto, the one that is chosen.
Precision ChosenPrecision(const NetDef& net, const PreparationOptions& options);
// Why the net, prepared with these options, computes in float on this machine, though
// `options.precision` is lower; empty if it does not.
std::string WhyFloat32(const NetDef& net, const PreparationOptions& options);
// If the net has the precision, but not its convolutions: a sentence such as "convolutions are computed in bf16,
// because the net states no ranges of inputs". Otherwise empty.
std::string OtherConvPrecision(const NetDef& net, const PreparationOptions& options);
// The same for its convolutions, if fully connected layers are not computed in float.
std::string WhyConvsFloat32(const NetDef& net, const PreparationOptions& options);

// A net that is ready to be created, and what was done to it.
struct Preparation {
  NetDef net;
  std::vector<std::string> passes = {};           // names of the passes that changed the net
  std::vector<std::string> new_constants = {};    // blobs that were added to the workspace, sorted
  std::vector<std::string> freed_constants = {};  // blobs that were removed from it, sorted
  // What was applied: with the shapes in the workspace, and the passes that this machine leaves out.
  PreparationOptions options = {};
};

// Prepares a net whose weights are in `ws`, where it will run, or in whose children. THROWS if an
// option is out of range, if a name in without_passes is unknown, or if a pass fails; the error names
// the pass. The operators are told what they may choose, but `threads` and `tuning` are settings of
// runs: give PreparedNet the same options.
Preparation PrepareNet(NetDef net, const PreparationOptions& options, Workspace* ws);

// A net in a workspace with planned memory for its activations. May be used by one thread at a time.
class PreparedNet {
 public:
  // Creates the net in `ws`, in place of one of the same name. `kept` are the names of blobs that are
  // read after a run, besides the outputs. A null `arenas` plans no memory: each blob keeps its own.
  // `executor` is the net type as which it runs, whatever built-in type it has: operators that run
  // at the same time are seldom faster than operators that are divided among the threads.
  // Of `options`, threads and tuning are used, for the construction and in Run.
  // THROWS if the net cannot be created, or if its type is not known. REQUIRES: `ws` outlives the
  // object, and nobody else deletes the net.
  PreparedNet(std::shared_ptr<const NetDef> def, std::set<std::string> kept,
              std::shared_ptr<ArenaStock> arenas, Workspace* ws,
              const std::string& executor = "simple", const PreparationOptions& options = {});
  PreparedNet(NetDef def, std::set<std::string> kept, std::shared_ptr<ArenaStock> arenas,
              Workspace* ws, const std::string& executor = "simple",
              const PreparationOptions& options = {})
      : PreparedNet(std::make_shared<const NetDef>(std::move(def)), std::move(kept),
                    std::move(arenas), ws, executor, options) {}

  ~PreparedNet();
  PreparedNet(PreparedNet&&) noexcept;
  PreparedNet& operator=(PreparedNet&&) noexcept;

  // Runs the net. THROWS if it fails.
  void Run();

  // Does what the first run does once: operators plan for their shapes, libraries create their
  // primitives, constant weights are prepared, and the pages of the planned memory are mapped. The
  // first run is then about as fast as the next ones. If that costs little, operators that do nothing but
  // compute their outputs (rehearsal.h) run once or a few times, on zeros; blobs that nobody reads after a run may
  // then hold something.
  // No other blob changes.
  // `preparation` is that of the net: it holds its inputs and their shapes. Without the shape of an
  // input, and without planned memory, operators plan in the first run. Returns the positions of the
  // operators whose first run may still prepare weights. Call it before the first run. THROWS only
  // if memory for the plan of the activations cannot be allocated.
  std::vector<size_t> PlanAhead(const Preparation& preparation);
  // Whether PlanAhead has run the whole net a few times, because that takes at most some milliseconds.
  // A caller may then do the same with its own code around the runs.
  bool is_small() const { return small_; }
  NetBase& net() { return *net_; }
  NetMemory& memory() { return *memory_; }

 private:
  NetBase* net_;  // owned by the workspace
  std::unique_ptr<NetMemory> memory_;
  int threads_;                               // as in PreparationOptions
  std::shared_ptr<const ConvTuning> tuning_;  // shared with other nets; may be null
  bool any_machine_;                          // as in WorkSettings
  bool small_ = false;                        // see is_small
};

}  // namespace caffe2rt
#pragma GCC visibility pop
