// Recorded calls of the operators that have an ONNX form: the call, exported and imported again, computes what
// the original Caffe2 computed.
#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/export/onnx_export.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2rt/caffe2.pb.h"
#include "tests/oracle/case_file.h"
#include "tests/oracle/isolate.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::onnx_round_trip_test {
namespace {

constexpr int kCallsOfAType = 40;

// At most `most` calls, evenly from all.
std::vector<oracle::OperatorCase> Some(const oracle::OperatorCases& cases, int most) {
  std::vector<oracle::OperatorCase> some;
  const int count = cases.case__size();
  for (int i = 0; i < std::min(most, count); ++i)
    some.push_back(cases.case_(static_cast<int>(int64_t{i} * count / std::min(most, count))));
  return some;
}

// ONNX's Max and Min keep NaN, Caffe2's only that of the first input.
bool DiffersInNan(const std::string& type, const oracle::OperatorCase& recorded) {
  if (type != "Max" && type != "Min") return false;
  return std::any_of(recorded.input().begin(), recorded.input().end(),
                     [](const oracle::Blob& blob) {
                       TensorProto tensor;
                       if (!tensor.ParseFromString(blob.tensor())) return false;
                       return std::any_of(tensor.float_data().begin(), tensor.float_data().end(),
                                          [](float value) { return std::isnan(value); });
                     });
}

TEST(OnnxRoundTripTest, RecordedCallsComputeTheSame) {
  SKIP_WITHOUT_SHARED("oracle/operators");
  EnsureBuiltinOperators();
  const std::vector<std::string_view> exported = OnnxExportTypes();
  const std::set<std::string_view> types(exported.begin(), exported.end());
  std::vector<CaseEntry> entries;
  for (const std::string& path : ListCaseFiles(SharedPath("oracle"))) {
    if (path.find("/operators/") == std::string::npos) continue;
    const oracle::OperatorCases cases = ReadOperatorCases(path);
    if (!types.contains(cases.operator_type())) continue;
    for (const oracle::OperatorCase& recorded : Some(cases, kCallsOfAType)) {
      if (DiffersInNan(cases.operator_type(), recorded)) continue;
      for (const auto& [weights, opset] : {std::pair(false, 17), {true, 13}, {false, 24}}) {
        const bool with = weights;
        const int of = opset;
        entries.push_back({MakeString(recorded.id(), with ? " with weights" : "", ", opset ", of),
                           cases.operator_type(),
                           [recorded, with, of] { return ReplayThroughOnnx(recorded, with, of); }});
      }
    }
  }
  const std::vector<CaseResult> results = RunCases(entries, {});
  std::vector<std::string> failures;
  std::set<std::string> passed;
  size_t calls = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].status == CaseStatus::kFailed)
      failures.push_back(entries[i].type + " " + entries[i].id + ": " + results[i].what);
    if (results[i].status != CaseStatus::kPassed) continue;
    passed.insert(entries[i].type);
    ++calls;
  }
  EXPECT_EQ(absl::StrJoin(failures, "\n"), "");
  EXPECT_GT(passed.size(), 100u);
  EXPECT_GT(calls, 2000u);
}

}  // namespace
}  // namespace caffe2rt::test::onnx_round_trip_test
