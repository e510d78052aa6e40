#include "caffe2_core/model/optimizer.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/graph/random_streams.h"
#include "caffe2_core/model/packed_preparation.h"
#include "caffe2_core/model/workspace_constants.h"
#include "caffe2_core/runtime/operator_engines.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/storage.h"

namespace caffe2rt {
namespace {

void CheckNames(const std::set<std::string>& names) {
  std::vector<std::string> known;
  for (const NetPassInfo& pass : NetPasses()) known.emplace_back(pass.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string close = absl::StrJoin(NearestNames(name, known), ", ");
    CAFFE_THROW("no graph pass is named \"", name, "\", want one of ", absl::StrJoin(known, ", "),
                close.empty() ? "" : "; close: ", close);
  }
}

bool AccessesUnlistedBlobs(const OperatorDef& op, int depth) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
  try {
    if (schema != nullptr && schema->accesses_unlisted_blobs(op)) return true;
  } catch (const EnforceNotMet&) {  // invalid arguments, which the constructor will reject as well
    return true;
  }
  if (depth > kMaxNetDepth) return true;
  const auto any = [&](const NetDef& net) {
    return std::any_of(net.op().begin(), net.op().end(), [&](const OperatorDef& inner) {
      return AccessesUnlistedBlobs(inner, depth + 1);
    });
  };
  return std::any_of(op.arg().begin(), op.arg().end(), [&](const Argument& arg) {
    return (arg.has_n() && any(arg.n())) || std::any_of(arg.nets().begin(), arg.nets().end(), any);
  });
}

// Whether two names denote the same blob, because the workspace forwards one of them.
bool HasTwoNamesOfOneBlob(const NetDef& net, const Workspace& ws) {
  std::unordered_map<const Blob*, std::string> names;
  for (const std::string& name : NamesUsedBy(net)) {
    const std::shared_ptr<Blob> blob = ws.FindBlob(name);
    if (blob != nullptr && !names.try_emplace(blob.get(), name).second) return true;
  }
  return false;
}

// Passes see the blobs that operators list. A net is left alone if that is not everything.
bool ListsAllBlobs(const NetDef& net, const Workspace& ws) {
  return std::none_of(net.op().begin(), net.op().end(),
                      [](const OperatorDef& op) { return AccessesUnlistedBlobs(op, 1); }) &&
         !HasTwoNamesOfOneBlob(net, ws);
}

// A digest of the operators that tells whether a pass changed the net, without their arguments.
std::string Digest(const NetDef& net) {
  std::string digest;
  for (const OperatorDef& op : net.op()) {
    absl::StrAppend(&digest, op.type(), " ", absl::StrJoin(op.input(), " "), " -> ",
                    absl::StrJoin(op.output(), " "), " ", op.arg_size(), " ",
                    op.device_option().device_type(), "\n");
  }
  return digest;
}

// Keeps the list of inputs complete, which net creation checks unless it is empty.
void UpdateInputs(const std::vector<std::string>& new_constants,
                  const std::set<std::string>& unused, NetDef* net) {
  if (net->external_input_size() == 0) return;
  auto* const inputs = net->mutable_external_input();
  inputs->erase(std::remove_if(inputs->begin(), inputs->end(),
                               [&](const std::string& name) { return unused.contains(name); }),
                inputs->end());
  for (const std::string& name : new_constants) net->add_external_input(name);
}

class Optimizer {
 public:
  Optimizer(NetDef net, const PreparationOptions& options, Workspace* ws)
      : options_(options), ws_(*ws), constants_(net, options.inputs, options.kept, ws) {
    result_.net = std::move(net);
  }

  Preparation Run() {
    PassContext context = MakeContext();
    MarkUserOperators(&result_.net);
    NameRandomStreams(&result_.net);
    std::string before = Digest(result_.net);
    for (const NetPassInfo& pass : NetPasses()) {
      if (options_.without_passes.contains(pass.name)) continue;
      RunPass(pass, &context);
      std::string after = Digest(result_.net);
      if (after == before) continue;
      result_.passes.emplace_back(pass.name);
      before = std::move(after);
    }
    RemoveNeedlessMarks(&result_.net);
    RemoveNeedlessStreamNames(&result_.net);
    result_.new_constants = constants_.Store(result_.net);
    for (size_t i = 0; i < result_.new_constants.size(); ++i) PreparedForms::CountMade();
    constants_.ReleasePages();
    RemoveUnusedConstants();
    return std::move(result_);
  }

 private:
  PassContext MakeContext() {
    PassContext context{.constants = constants_};
    context.kept = options_.kept;
    for (std::string& name : OutputsOf(result_.net)) context.kept.insert(std::move(name));
    context.input_shapes = constants_.Shapes();
    for (const auto& [name, shape] : options_.input_shapes) context.input_shapes[name] = shape;
    context.has_operator = [known = std::map<std::pair<std::string, DeviceType>, bool>()](
                               const std::string& type, DeviceType device) mutable {
      const auto [entry, is_new] = known.try_emplace({type, device}, false);
      if (is_new) entry->second = HasOperator(device, type);
      return entry->second;
    };
    context.uses_engine = [](const OperatorDef& op) { return UsesEngine(op); };
    context.deterministic = options_.deterministic;
    context.precision = options_.precision;
    context.bf16_convs = WhyNoBf16Convs().empty();
    context.machine = {.isa = CpuIsa(), .threads = GetNumThreads()};
    return context;
  }

  // Passes keep no pointer into the constants that they make.
  void RunPass(const NetPassInfo& pass, PassContext* context) try {
    const TransientWrites scope;
    result_.net = pass.run(std::move(result_.net), *context);
  } catch (...) {
    RethrowWithFrame(MakeString("graph pass ", pass.name));
  }

  void RemoveUnusedConstants() {
    const std::unordered_set<std::string> used = NamesUsedBy(result_.net);
    std::set<std::string> unused;
    for (const std::string& name : constants_.Names()) {
      if (!used.contains(name) && !options_.kept.contains(name)) unused.insert(name);
    }
    for (const std::string& name : result_.net.external_output()) unused.erase(name);
    UpdateInputs(result_.new_constants, unused, &result_.net);
    if (!options_.free_constants) return;
    for (const std::string& name : unused) {
      if (ws_.RemoveBlob(name)) result_.freed_constants.push_back(name);
    }
  }

  const PreparationOptions& options_;
  Workspace& ws_;
  WorkspaceConstants constants_;
  Preparation result_;
};

}  // namespace

Preparation OptimizeNet(NetDef net, const PreparationOptions& options, Workspace* ws) {
  CAFFE_ENFORCE(ws != nullptr,
                "argument ws of OptimizeNet is null, want the workspace with the "
                "weights");
  CheckNames(options.without_passes);
  if (!options.optimize || !ListsAllBlobs(net, *ws)) return {.net = std::move(net)};
  if (options.packed != nullptr) {
    std::optional<Preparation> stored = UseStoredPreparation(*options.packed, net, options, ws);
    if (stored.has_value()) return *std::move(stored);
  }
  return Optimizer(std::move(net), options, ws).Run();
}

}  // namespace caffe2rt
