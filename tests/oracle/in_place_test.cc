// Recorded calls with an output in place of an input, wherever the schema allows it, compute what was recorded.
#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/oracle/case_file.h"
#include "tests/oracle/isolate.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::in_place_test {
namespace {

constexpr int kCallsOfAType = 25, kMostOperands = 8;

// Whether recorded outputs say nothing of calls in place: the nets of If name its blobs, and the parameter of
// MomentumSGDUpdate was recorded empty where it was another blob than the input.
bool IsLeftOut(const std::string& type) { return type == "If" || type == "MomentumSGDUpdate"; }

TEST(InPlaceTest, RecordedCallsComputeTheSame) {
  SKIP_WITHOUT_SHARED("oracle/operators");
  EnsureBuiltinOperators();
  std::vector<CaseEntry> entries;
  for (const std::string& path : ListCaseFiles(SharedPath("oracle"))) {
    if (path.find("/operators/") == std::string::npos) continue;
    const oracle::OperatorCases cases = ReadOperatorCases(path);
    const OpSchema* const schema = OpSchemaRegistry::Schema(cases.operator_type());
    if (schema == nullptr || IsLeftOut(cases.operator_type())) continue;
    const int count = std::min(kCallsOfAType, cases.case__size());
    for (int input = 0; input < kMostOperands; ++input) {
      for (int output = 0; output < kMostOperands; ++output) {
        if (!schema->inplace_allowed(input, output)) continue;
        for (int i = 0; i < count; ++i) {
          const auto at = static_cast<int>(int64_t{i} * cases.case__size() / count);
          const oracle::OperatorCase& call = cases.case_(at);
          entries.push_back(
              {MakeString(call.id(), ", output ", output, " in place of input ", input),
               cases.operator_type(),
               [call, input, output] { return ReplayInPlace(call, input, output); }});
        }
      }
    }
  }
  const std::vector<CaseResult> results = RunCases(entries, {});
  std::vector<std::string> failures;
  std::set<std::string> passed;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].status == CaseStatus::kFailed)
      failures.push_back(MakeString(entries[i].type, " ", entries[i].id, ": ", results[i].what));
    if (results[i].status == CaseStatus::kPassed) passed.insert(entries[i].type);
  }
  EXPECT_EQ(absl::StrJoin(failures, "\n"), "");
  EXPECT_GT(passed.size(), 60u);
}

}  // namespace
}  // namespace caffe2rt::test::in_place_test
