// Replays one operator as a model of ONNX.
#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <string>

#include "caffe2_core/runtime/workspace.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/replay.h"
#include "tests/support/onnx_round_trip.h"

namespace caffe2rt::test {
namespace {

// ONNX has other operators for the same function, which round differently.
constexpr double kLeastTolerance = 1e-4;

bool HasOnlyTensors(const oracle::OperatorCase& recorded) {
  const auto is_tensor = [](const oracle::Blob& blob) { return blob.has_tensor(); };
  return std::all_of(recorded.input().begin(), recorded.input().end(), is_tensor) &&
         std::all_of(recorded.output().begin(), recorded.output().end(), is_tensor);
}

// ONNX leaves open, or states otherwise, what the maximum of no elements is, and an import takes a dim of 0 for one
// that it does not know.
bool HasElements(const Workspace& ws, const OperatorDef& def) {
  return std::all_of(def.input().begin(), def.input().end(), [&](const std::string& name) {
    return ws.FindBlob(name)->Get<Tensor>().numel() > 0;
  });
}

// All inputs but the first, if they are numbers.
std::set<std::string> WeightsOf(const OperatorDef& def, const Workspace& ws) {
  std::set<std::string> weights;
  for (int i = 1; i < def.input_size(); ++i) {
    const std::string& name = def.input(i);
    if (name != def.input(0) && !ws.FindBlob(name)->Get<Tensor>().IsType<std::string>())
      weights.insert(name);
  }
  return weights;
}

// Sizes are int64 in ONNX.
bool HasNarrowSizes(const oracle::OperatorCase& recorded, const OperatorDef& def) {
  return def.type() == "Reshape" && recorded.output_size() > 1 &&
         ShapeOfRecord(recorded.output(1)).data_type() == TensorProto::INT32;
}

// Outputs that share a blob with an input have no model.
bool WritesInPlace(const OperatorDef& def) {
  return std::any_of(def.output().begin(), def.output().end(), [&](const std::string& name) {
    return std::find(def.input().begin(), def.input().end(), name) != def.input().end();
  });
}

}  // namespace

CaseResult ReplayThroughOnnx(const oracle::OperatorCase& recorded, bool with_weights, int opset) {
  try {
    OperatorDef def;
    CAFFE_ENFORCE(def.ParseFromString(recorded.op()), "the case contains no OperatorDef");
    if (recorded.throws() || recorded.stochastic() || recorded.output_before_size() > 0 ||
        !HasOnlyTensors(recorded) || WritesInPlace(def) || HasNarrowSizes(recorded, def)) {
      return CaseResult::NotImplemented("not a call that a model of ONNX can repeat");
    }
    Workspace ws;
    for (const oracle::Blob& blob : recorded.input()) MakeBlob(blob, &ws);
    if (!HasElements(ws, def)) return CaseResult::NotImplemented("an input is empty");
    const std::set<std::string> weights =
        with_weights ? WeightsOf(def, ws) : std::set<std::string>();
    const std::optional<std::string> reason = RunThroughOnnx(def, weights, &ws, opset);
    if (reason.has_value()) return CaseResult::NotImplemented(*reason);
    CompareRules rules;
    rules.rtol = std::max(recorded.rtol(), kLeastTolerance);
    for (const oracle::Blob& blob : recorded.output()) {
      const std::string difference = CompareBlob(blob, ws, rules);
      if (!difference.empty()) return CaseResult::Failed(difference);
    }
    return {};
  } catch (const UnsupportedBlob& blob) {
    return CaseResult::NotImplemented(blob.what());
  } catch (const std::exception&) {
    return CaseResult::Failed(CurrentExceptionMessage());
  }
}

}  // namespace caffe2rt::test
