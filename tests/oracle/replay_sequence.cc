// Replays several operators over one workspace.
#include <algorithm>
#include <exception>
#include <set>

#include "caffe2_core/model/device_placement.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/replay.h"
#include "tests/oracle/run_operator.h"

namespace caffe2rt::test {
namespace {

constexpr int kMaxNesting = 32;
// For sequences that state none. Most compute matrix products, whose last bits differ.
constexpr double kDefaultTolerance = 1e-4;

// Returns what the target lacks to run the net and the nets in its arguments, or "".
std::string MissingFor(const ReplayTarget& target, const NetDef& net, int depth = 0) {
  for (const OperatorDef& op : net.op()) {
    const std::string missing = MissingFor(target, op.type());
    if (!missing.empty()) return missing;
    for (const auto& arg : op.arg()) {
      if (depth >= kMaxNesting) return "";
      if (arg.has_n()) {
        const std::string missing_in = MissingFor(target, arg.n(), depth + 1);
        if (!missing_in.empty()) return missing_in;
      }
      for (const NetDef& nested : arg.nets()) {
        const std::string missing_in = MissingFor(target, nested, depth + 1);
        if (!missing_in.empty()) return missing_in;
      }
    }
  }
  return "";
}

// Outputs whose elements the original writes in hash order.
std::set<std::string> UnorderedOutputs(const NetDef& net) {
  std::set<std::string> names;
  for (const OperatorDef& op : net.op()) {
    if (op.type() == "MapToKeyValue") names.insert(op.output().begin(), op.output().end());
  }
  return names;
}

// Whether operators share more than the blobs that they name: RecurrentNetwork and its gradient.
bool NeedsOneWorkspace(const NetDef& net) {
  return std::any_of(net.op().begin(), net.op().end(),
                     [](const OperatorDef& op) { return op.type() == "RecurrentNetworkGradient"; });
}

// Runs the net on the device, with copies in between, and copies its tensors to the CPU.
void RunNetOnDevice(const ReplayTarget& target, NetDef net, Workspace* ws) {
  for (OperatorDef& op : *net.mutable_op()) {
    if (!target.engine.empty()) op.set_engine(target.engine);
    if (target.native) op.set_engine("NATIVE");
  }
  DeviceOption device;
  device.set_device_type(target.device);
  PlaceNet(&net, device);
  CAFFE_ENFORCE(ws->RunNetOnce(net), "the run returned false");
  for (const std::string& name : ws->LocalBlobs()) {
    Blob* const blob = ws->GetBlob(name);
    if (!blob->IsTensor(target.device)) continue;
    Tensor copy(CPU);
    copy.CopyFrom(blob->Get<Tensor>());
    *blob->GetMutableTensor(CPU) = copy;
  }
}

CaseResult Run(const oracle::SequenceCase& recorded, const NetDef& net,
               const ReplayTarget& target) {
  Workspace ws;
  for (const oracle::Blob& blob : recorded.input()) MakeBlob(blob, &ws);
  int failed = -1;
  std::string error;
  const bool as_net = target.device != CPU && !recorded.throws() && NeedsOneWorkspace(net);
  if (as_net) RunNetOnDevice(target, net, &ws);
  for (int i = 0; i < net.op_size() && failed < 0 && !as_net; ++i) {
    OperatorDef op = net.op(i);
    if (net.has_device_option() && !op.has_device_option()) {
      *op.mutable_device_option() = net.device_option();
    }
    const RunOutcome outcome = RunOnTarget(target, op, &ws);
    if (outcome.excuse != CaseStatus::kPassed) return {outcome.excuse, outcome.error};
    error = outcome.error;
    if (!error.empty()) failed = i;
  }
  if (recorded.throws()) {
    if (failed < 0) return CaseResult::Failed("ran, want an error: " + recorded.error());
    if (recorded.has_failed_op() && failed != recorded.failed_op()) {
      return CaseResult::Failed(MakeString("operator ", failed, " failed, want operator ",
                                           recorded.failed_op(), " to fail: ", error));
    }
  } else if (failed >= 0) {
    return CaseResult::Failed(MakeString("operator ", failed, ": got an error: ", error));
  }
  const std::set<std::string> unordered = UnorderedOutputs(net);
  // On a device, the outputs of an operator are only copied back if it succeeds.
  std::set<std::string> lost;
  if (failed >= 0 && target.device != CPU) {
    lost.insert(net.op(failed).output().begin(), net.op(failed).output().end());
  }
  for (const oracle::Blob& blob : recorded.output()) {
    if (lost.contains(blob.name())) continue;
    CompareRules rules;
    rules.rtol = recorded.has_rtol() ? recorded.rtol() : kDefaultTolerance;
    rules.values = !recorded.stochastic();
    rules.any_order = unordered.contains(blob.name());
    const std::string difference = CompareBlob(blob, ws, rules);
    if (!difference.empty()) return CaseResult::Failed(difference);
  }
  return {};
}

}  // namespace

CaseResult ReplaySequence(const oracle::SequenceCase& recorded, const ReplayTarget& target) {
  try {
    NetDef net;
    CAFFE_ENFORCE(net.ParseFromString(recorded.net()), "the case contains no NetDef");
    const std::string missing = MissingFor(target, net);
    if (!missing.empty()) return CaseResult::NotImplemented(missing);
    return Run(recorded, net, target);
  } catch (const UnsupportedBlob& blob) {
    return CaseResult::NotImplemented(blob.what());
  } catch (const std::exception&) {
    return CaseResult::Failed(CurrentExceptionMessage());
  }
}

}  // namespace caffe2rt::test
