// Several operators over one workspace.
#include <exception>
#include <set>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/replay.h"

namespace caffe2rt::test {
namespace {

constexpr int kMaxNesting = 32;

// A type of the net, or of a net in its arguments, that is not here; "" when all are.
std::string MissingType(const NetDef& net, int depth = 0) {
  for (const OperatorDef& op : net.op()) {
    if (!HasOperator(CPU, op.type())) return op.type();
    for (const auto& arg : op.arg()) {
      if (depth >= kMaxNesting) return "";
      if (arg.has_n()) {
        const std::string type = MissingType(arg.n(), depth + 1);
        if (!type.empty()) return type;
      }
      for (const NetDef& nested : arg.nets()) {
        const std::string type = MissingType(nested, depth + 1);
        if (!type.empty()) return type;
      }
    }
  }
  return "";
}

// Outputs whose elements the original gives in the order of hashes.
std::set<std::string> UnorderedOutputs(const NetDef& net) {
  std::set<std::string> names;
  for (const OperatorDef& op : net.op()) {
    if (op.type() == "MapToKeyValue") names.insert(op.output().begin(), op.output().end());
  }
  return names;
}

CaseResult Run(const oracle::SequenceCase& recorded, const NetDef& net) {
  Workspace ws;
  for (const oracle::Blob& blob : recorded.input()) MakeBlob(blob, &ws);
  int failed = -1;
  std::string error;
  for (int i = 0; i < net.op_size() && failed < 0; ++i) {
    try {
      OperatorDef op = net.op(i);
      if (net.has_device_option() && !op.has_device_option()) {
        *op.mutable_device_option() = net.device_option();
      }
      if (!ws.RunOperatorOnce(op)) {
        failed = i;
        error = "the run returned false";
      }
    } catch (const EnforceNotMet& thrown) {
      failed = i;
      error = thrown.message();
    }
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
  for (const oracle::Blob& blob : recorded.output()) {
    CompareRules rules;
    rules.rtol = recorded.rtol();
    rules.values = !recorded.stochastic();
    rules.any_order = unordered.contains(blob.name());
    const std::string difference = CompareBlob(blob, ws, rules);
    if (!difference.empty()) return CaseResult::Failed(difference);
  }
  return {};
}

}  // namespace

CaseResult ReplaySequence(const oracle::SequenceCase& recorded) {
  try {
    NetDef net;
    CAFFE_ENFORCE(net.ParseFromString(recorded.net()), "the case holds no NetDef");
    const std::string missing = MissingType(net);
    if (!missing.empty()) return CaseResult::NotImplemented("operator " + missing);
    return Run(recorded, net);
  } catch (const UnsupportedBlob& blob) {
    return CaseResult::NotImplemented(blob.what());
  } catch (const std::exception&) {
    return CaseResult::Failed(CurrentExceptionMessage());
  }
}

}  // namespace caffe2rt::test
