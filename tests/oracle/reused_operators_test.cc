// An operator that has run on other inputs, or has failed, computes what a new one computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/oracle/case_file.h"
#include "tests/oracle/changed_calls.h"
#include "tests/oracle/isolate.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::reused_operators_test {
namespace {

// The cases of a file that share an OperatorDef, in the recorded order and in the reverse one.
std::vector<oracle::OperatorCases> GroupsOf(const oracle::OperatorCases& cases) {
  std::map<std::string, oracle::OperatorCases> by_definition;
  for (const oracle::OperatorCase& recorded : cases.case_())
    *by_definition[recorded.op()].add_case_() = recorded;
  std::vector<oracle::OperatorCases> groups;
  for (auto& [definition, group] : by_definition) {
    if (group.case__size() < 2) continue;
    groups.push_back(group);
    std::reverse(group.mutable_case_()->begin(), group.mutable_case_()->end());
    groups.push_back(group);
  }
  return groups;
}

TEST(ReusedOperatorsTest, ComputeWhatNewOnesCompute) {
  SKIP_WITHOUT_SHARED("oracle/operators");
  EnsureBuiltinOperators();
  std::vector<CaseEntry> entries;
  for (const std::string& path : ListCaseFiles(SharedPath("oracle"))) {
    if (path.find("/operators/") == std::string::npos) continue;
    for (const oracle::OperatorCases& group : GroupsOf(ReadOperatorCases(path)))
      entries.push_back({group.case_(0).id(), path, [group] { return ReplayReused(group); }});
  }
  EXPECT_GT(entries.size(), 2000u);
  const std::vector<CaseResult> results = RunCases(entries, {});
  std::vector<std::string> failures;
  size_t passed = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    passed += results[i].status == CaseStatus::kPassed;
    if (results[i].status == CaseStatus::kFailed)
      failures.push_back(entries[i].type + ": " + results[i].what);
  }
  EXPECT_THAT(failures, testing::IsEmpty());
  EXPECT_GT(passed, 1500u);
}

// Whether results depend on earlier runs of the operator.
bool KeepsState(const std::string& type) {
  return type == "AccumulateHistogram" || type == "APMeter" || type == "GatherRangesToDense";
}

// The recorded call of which `changed` differs by one type, rank or size.
oracle::OperatorCase OriginalOf(const ChangedCall& changed, const ChangedCalls& calls) {
  for (const oracle::OperatorCase& recorded : calls.recorded().at(changed.type)) {
    if (recorded.id() == changed.call.id() && recorded.op() == changed.call.op()) return recorded;
  }
  CAFFE_THROW("call ", changed.call.id(), " is not recorded");
}

TEST(ReusedOperatorsTest, NoticeThatOneInputHasAnotherTypeRankOrSize) {
  SKIP_WITHOUT_SHARED("oracle/operators");
  EnsureBuiltinOperators();
  const ChangedCalls calls(SharedPath("oracle"));
  std::mt19937 random(9);
  std::vector<CaseEntry> entries;
  while (entries.size() < 4000) {
    const ChangedCall changed = calls.Draw(&random);
    const oracle::OperatorCase original = OriginalOf(changed, calls);
    if (original.stochastic() || KeepsState(changed.type)) continue;
    const std::string subject = MakeString(changed.type, ' ', original.id(), ", ", changed.change);
    entries.push_back({original.id(), subject,
                       [original, call = changed.call] { return ReplayAfter(original, call); }});
  }
  const std::vector<CaseResult> results = RunCases(entries, {});
  std::vector<std::string> failures;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].status == CaseStatus::kFailed)
      failures.push_back(entries[i].type + ": " + results[i].what);
  }
  EXPECT_THAT(failures, testing::IsEmpty());
}

}  // namespace
}  // namespace caffe2rt::test::reused_operators_test
