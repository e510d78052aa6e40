// Recorded calls: the checks of nets have nothing against those that the original computed, whether
// the values of the inputs are known or only their shapes, and find the errors of those that it
// rejected.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/inspect/model_check.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2rt/caffe2.pb.h"
#include "tests/oracle/case_file.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/isolate.h"
#include "tests/oracle/original_faults.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::checked_calls_test {
namespace {

constexpr size_t kCallsOfAType = 20;

// The first error among the findings, or "".
std::string ErrorIn(const std::vector<NetFinding>& findings) {
  for (const NetFinding& finding : findings) {
    if (finding.kind == NetFindingKind::kError) return finding.text;
  }
  return "";
}

CaseResult CheckCall(const oracle::OperatorCase& recorded) try {
  NetDef net;
  net.set_name("case");
  CAFFE_ENFORCE(net.add_op()->ParseFromString(recorded.op()), "the case contains no OperatorDef");
  if (!HasOperator(CPU, net.op(0).type())) return CaseResult::NotImplemented(net.op(0).type());
  if (!FaultOfRecord(recorded, net.op(0)).empty()) return {CaseStatus::kKnownWrong, ""};
  Workspace ws;
  for (const oracle::Blob& blob : recorded.input()) MakeBlob(blob, &ws);
  std::string error = ErrorIn(ValidateNet(net));
  if (!error.empty()) return CaseResult::Failed("the net: " + error);
  ModelToCheck model;
  for (const oracle::Blob& blob : recorded.input()) model.given[blob.name()] = ShapeOfRecord(blob);
  error = ErrorIn(ValidateShapes(net, model));
  if (!error.empty()) return CaseResult::Failed("shapes: " + error);
  for (const oracle::Blob& blob : recorded.input()) {
    const Blob& value = *ws.GetBlob(blob.name());
    if (value.IsType<Tensor>()) model.values[blob.name()] = &value.Get<Tensor>();
  }
  error = ErrorIn(ValidateShapes(net, model));
  return error.empty() ? CaseResult() : CaseResult::Failed("values: " + error);
} catch (const UnsupportedBlob& blob) {
  return CaseResult::NotImplemented(blob.what());
}

// The errors of Assert are those of a run, operators without inputs are not tried, and those of
// quantized numbers may depend on scales, which are not known.
bool MayBeUnknown(const oracle::OperatorCase& recorded, const OperatorDef& op) {
  return op.type() == "Assert" || op.type().starts_with("Int8") || recorded.input_size() == 0;
}

CaseResult CheckWrongCall(const oracle::OperatorCase& recorded) try {
  NetDef net;
  net.set_name("case");
  CAFFE_ENFORCE(net.add_op()->ParseFromString(recorded.op()), "the case contains no OperatorDef");
  const OperatorDef& op = net.op(0);
  if (!HasOperator(CPU, op.type()) || MayBeUnknown(recorded, op))
    return CaseResult::NotImplemented(op.type());
  Workspace known, run;
  ModelToCheck model;
  for (const oracle::Blob& blob : recorded.input()) {
    MakeBlob(blob, &known);
    MakeBlob(blob, &run);
    model.given[blob.name()] = ShapeOfRecord(blob);
    const Blob& value = *known.GetBlob(blob.name());
    if (value.IsType<Tensor>()) model.values[blob.name()] = &value.Get<Tensor>();
  }
  try {
    run.RunOperatorOnce(op);
    return {CaseStatus::kBeyondOriginal, ""};
  } catch (const EnforceNotMet& error) {
    const bool found =
        !ErrorIn(ValidateNet(net)).empty() || !ErrorIn(ValidateShapes(net, model)).empty();
    return found ? CaseResult() : CaseResult::Failed("not found: " + error.message());
  }
} catch (const UnsupportedBlob& blob) {
  return CaseResult::NotImplemented(blob.what());
}

// Checks calls of each type that threw or did not. Returns the number of those that passed.
size_t CheckCalls(bool threw, CaseResult (*check)(const oracle::OperatorCase&)) {
  EnsureBuiltinOperators();
  std::vector<CaseEntry> entries;
  for (const std::string& path : ListCaseFiles(SharedPath("oracle"))) {
    if (path.find("/operators/") == std::string::npos) continue;
    const oracle::OperatorCases cases = ReadOperatorCases(path);
    std::vector<oracle::OperatorCase> some;
    for (const oracle::OperatorCase& recorded : cases.case_()) {
      if (recorded.throws() == threw) some.push_back(recorded);
    }
    const size_t most = std::min(some.size(), kCallsOfAType);
    for (size_t i = 0; i < most; ++i) {
      const oracle::OperatorCase& recorded = some[i * some.size() / most];
      entries.push_back(
          {recorded.id(), cases.operator_type(), [recorded, check] { return check(recorded); }});
    }
  }
  const std::vector<CaseResult> results = RunCases(entries, {});
  size_t passed = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_NE(results[i].status, CaseStatus::kFailed)
        << entries[i].type << " " << entries[i].id << ": " << results[i].what;
    passed += results[i].status == CaseStatus::kPassed;
  }
  return passed;
}

TEST(CheckedCallsTest, RecordedCallsHaveNoErrors) {
  SKIP_WITHOUT_SHARED("oracle/operators");
  EXPECT_GT(CheckCalls(false, CheckCall), 3000u);
}

TEST(CheckedCallsTest, RecordedErrorsAreFound) {
  SKIP_WITHOUT_SHARED("oracle/operators");
  EXPECT_GT(CheckCalls(true, CheckWrongCall), 700u);
}

}  // namespace
}  // namespace caffe2rt::test::checked_calls_test
