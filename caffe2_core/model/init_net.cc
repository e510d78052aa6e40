#include "caffe2_core/model/init_net.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/random_streams.h"
#include "caffe2_core/model/given_values.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/net_operators.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/shared_operator_def.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/storage.h"

namespace caffe2rt {
namespace {

// Whether the net needs no executor, so that its operators can simply run in the listed order.
bool IsPlainCpuNet(const NetDef& net) {
  if (!net.type().empty() && net.type() != "simple") return false;
  if (net.arg_size() > 0 || HasGlobalNetObservers()) return false;
  return std::all_of(net.op().begin(), net.op().end(), [&](const OperatorDef& op) {
    const DeviceOption& device =
        op.device_option().has_device_type() ? op.device_option() : net.device_option();
    return device.device_type() == CPU && op.control_input_size() == 0;
  });
}

// Creates all operators, moving their defs out of the net, then runs each and destroys it. The
// operators own the defs, so each def is freed with its operator.
class ReleasingRun {
 public:
  ReleasingRun(NetWithWeights&& init, Workspace* ws) : name_(init.net.name()), ws_(ws) {
    random_runs_.SetSeed(ws->random_seed());
    NetDef& net = init.net;
    const std::vector<NetProblem> problems = CheckNetDataflow(net);
    CAFFE_ENFORCE(problems.empty(), problems.front().text);
    operators_.reserve(static_cast<size_t>(net.op_size()));
    size_t next = 0;  // the weights are in the order of the operators
    for (int i = 0; i < net.op_size(); ++i) {
      const bool has_weights = next < init.weights.size() && init.weights[next].op == i;
      Add(net, net.mutable_op(i), i, has_weights ? &init.weights[next++] : nullptr);
    }
  }

  void Run() {
    const TransientWrites scope;
    for (std::unique_ptr<OperatorBase>& op : operators_) {
      try {
        StartOperator(op.get(), 0);
        if (op->HasAsyncPart()) op->FinishDevice();
      } catch (...) {
        FinishQuietly(op.get());
        ws_->last_failed_op_net_position = op->net_position();
        RethrowWithFrame(MakeString("net \"", name_, "\", operator ", op->net_position(), " (",
                                    op->Describe(), ")"));
      }
      op.reset();  // the last owner of its def
    }
  }

 private:
  // Waits for the operator's work, which must not outlive the operator. Ignores failures, because
  // only the first failure is reported.
  static void FinishQuietly(OperatorBase* op) noexcept {
    try {
      if (op->HasAsyncPart()) op->FinishDevice();
    } catch (...) {
    }
  }

  // Creates an operator whose values are in `weights`. An operator that does not take them, which a
  // user registered, or whose constructor fails before it takes them, gets a def that holds them.
  std::unique_ptr<OperatorBase> Create(const OperatorDef& def, int position,
                                       OperatorWeights* weights) const {
    GivenValues given(def, std::move(weights->values));
    try {
      std::unique_ptr<OperatorBase> op = CreateOperator(def, ws_, position);
      if (given.taken()) return op;
    } catch (...) {
      if (given.taken()) throw;
    }
    OperatorDef whole = def;
    RestoreValues({.arg = weights->arg, .values = GivenValues::Take(def)}, &whole);
    const auto owned = std::make_shared<const OperatorDef>(std::move(whole));
    const SharedOperatorDef scope(owned);
    return CreateOperator(*owned, ws_, position);
  }

  void Add(const NetDef& net, OperatorDef* def, int position, OperatorWeights* weights) {
    if (net.has_device_option()) {
      // The net's option is the base; fields set on the operator override it.
      *def->mutable_device_option() = MergeDeviceOption(net.device_option(), def->device_option());
    }
    const auto owned = std::make_shared<const OperatorDef>(std::move(*def));
    try {
      const SharedOperatorDef scope(owned);
      operators_.push_back(weights != nullptr ? Create(*owned, position, weights)
                                              : CreateOperator(*owned, ws_, position));
      operators_.back()->random_place().Set(&random_runs_, RandomKeyOf(stream_names_.Next(*owned)));
    } catch (...) {
      const bool has_output = owned->output_size() > 0;
      RethrowWithFrame(MakeString("net \"", name_, "\", operator ", position, " (", owned->type(),
                                  has_output ? ", output \"" + owned->output(0) + "\"" : "", ")"));
    }
  }

  const std::string name_;
  Workspace* const ws_;
  RandomRuns random_runs_;
  RandomStreamNames stream_names_;
  std::vector<std::unique_ptr<OperatorBase>> operators_;  // null for those that have run
};

}  // namespace

void RunInitNet(NetDef&& net, Workspace* ws) {
  RunInitNet(NetWithWeights{.net = std::move(net)}, ws);
}

void RunInitNet(NetWithWeights&& net, Workspace* ws) try {
  CAFFE_ENFORCE(ws != nullptr,
                "argument ws of RunInitNet is null, want the workspace of its blobs");
  if (IsPlainCpuNet(net.net)) {
    EnsureBuiltinOperators();
    ReleasingRun(std::move(net), ws).Run();
  } else {
    RestoreWeights(&net);
    const NetDef owned = std::move(net.net);
    CAFFE_ENFORCE(ws->RunNetOnce(owned), "net \"", owned.name(), "\" failed");
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
