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

// Outputs that share a blob with an input have no model.
bool WritesInPlace(const OperatorDef& def) {
  return std::any_of(def.output().begin(), def.output().end(), [&](const std::string& name) {
    return std::find(def.input().begin(), def.input().end(), name) != def.input().end();
  });
}

}  // namespace

CaseResult ReplayThroughOnnx(const oracle::OperatorCase& recorded, bool with_weights) {
  try {
    OperatorDef def;
    CAFFE_ENFORCE(def.ParseFromString(recorded.op()), "the case contains no OperatorDef");
    if (recorded.throws() || recorded.stochastic() || recorded.output_before_size() > 0 ||
        !HasOnlyTensors(recorded) || WritesInPlace(def)) {
      return CaseResult::NotImplemented("not a call that a model of ONNX can repeat");
    }
    std::set<std::string> weights;
    if (with_weights && def.input_size() > 1)
      weights.insert(def.input().begin() + 1, def.input().end());
    if (!weights.empty()) weights.erase(def.input(0));
    Workspace ws;
    for (const oracle::Blob& blob : recorded.input()) MakeBlob(blob, &ws);
    const std::optional<std::string> reason = RunThroughOnnx(def, weights, &ws);
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
