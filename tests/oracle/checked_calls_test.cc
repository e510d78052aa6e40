// Recorded calls that the original computed: the checks of nets have nothing against them, whether the values of
// the inputs are known or only their shapes.
#include <absl/strings/str_join.h>
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

constexpr int kCallsOfAType = 25;

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

TEST(CheckedCallsTest, RecordedCallsHaveNoErrors) {
  SKIP_WITHOUT_SHARED("oracle/operators");
  EnsureBuiltinOperators();
  std::vector<CaseEntry> entries;
  for (const std::string& path : ListCaseFiles(SharedPath("oracle"))) {
    if (path.find("/operators/") == std::string::npos) continue;
    const oracle::OperatorCases cases = ReadOperatorCases(path);
    std::vector<oracle::OperatorCase> computed;
    for (const oracle::OperatorCase& recorded : cases.case_()) {
      if (!recorded.throws()) computed.push_back(recorded);
    }
    const size_t most = std::min<size_t>(computed.size(), kCallsOfAType);
    for (size_t i = 0; i < most; ++i) {
      const oracle::OperatorCase& recorded = computed[i * computed.size() / most];
      entries.push_back(
          {recorded.id(), cases.operator_type(), [recorded] { return CheckCall(recorded); }});
    }
  }
  const std::vector<CaseResult> results = RunCases(entries, {});
  std::vector<std::string> failures;
  size_t passed = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].status == CaseStatus::kFailed)
      failures.push_back(entries[i].type + " " + entries[i].id + ": " + results[i].what);
    passed += results[i].status == CaseStatus::kPassed;
  }
  EXPECT_EQ(absl::StrJoin(failures, "\n"), "");
  EXPECT_GT(passed, 3000u);
}

}  // namespace
}  // namespace caffe2rt::test::checked_calls_test
