// Recorded calls with inputs that are repeated along an axis compute what was recorded, repeated: the recorded tensors are
// small, these fill vectors, blocks and threads.
#include <absl/strings/numbers.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/oracle/case_file.h"
#include "tests/oracle/isolate.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::repeated_axes_test {
namespace {

constexpr int kCallsOfARow = 6;

struct AxisRow {
  int axis = 0;
  std::vector<int> inputs;
};

int NumberOf(const std::string& text) {
  int number = -1;
  CAFFE_ENFORCE(absl::SimpleAtoi(text, &number) && number >= 0, "\"", text, "\" is no number");
  return number;
}

// By operator type.
std::map<std::string, std::vector<AxisRow>> ReadRows() {
  std::map<std::string, std::vector<AxisRow>> rows;
  const std::string text = ReadWholeFile(SourcePath("tests/oracle/repeated_axes.tsv"));
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(text, '\n', absl::SkipEmpty()))) {
    if (line[0] == '#') continue;
    const std::vector<std::string> cells = absl::StrSplit(line, '\t');
    CAFFE_ENFORCE_EQ(cells.size(), size_t{3}, "cells of the row ", line);
    AxisRow row{.axis = NumberOf(cells[1]), .inputs = {}};
    for (const std::string& input : std::vector<std::string>(absl::StrSplit(cells[2], ' ')))
      row.inputs.push_back(NumberOf(input));
    rows[cells[0]].push_back(row);
  }
  return rows;
}

TEST(RepeatedAxesTest, RecordedCallsComputeTheSameAgainAndAgain) {
  SKIP_WITHOUT_SHARED("oracle/operators");
  EnsureBuiltinOperators();
  const std::map<std::string, std::vector<AxisRow>> rows = ReadRows();
  std::vector<CaseEntry> entries;
  for (const std::string& path : ListCaseFiles(SharedPath("oracle"))) {
    if (path.find("/operators/") == std::string::npos) continue;
    const oracle::OperatorCases cases = ReadOperatorCases(path);
    const auto of_type = rows.find(cases.operator_type());
    if (of_type == rows.end()) continue;
    const int count = std::min(kCallsOfARow, cases.case__size());
    for (const AxisRow& row : of_type->second) {
      const std::string name = MakeString(of_type->first, ", axis ", row.axis, " of inputs ",
                                          absl::StrJoin(row.inputs, " "));
      for (int i = 0; i < count; ++i) {
        const auto at = static_cast<int>(int64_t{i} * cases.case__size() / count);
        const oracle::OperatorCase& call = cases.case_(at);
        entries.push_back(
            {call.id(), name, [call, row] { return ReplayRepeated(call, row.axis, row.inputs); }});
      }
    }
  }
  const std::vector<CaseResult> results = RunCases(entries, {});
  std::vector<std::string> failures;
  std::set<std::string> passed;  // types
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].status == CaseStatus::kFailed)
      failures.push_back(MakeString(entries[i].type, ", ", entries[i].id, ": ", results[i].what));
    if (results[i].status == CaseStatus::kPassed)
      passed.insert(entries[i].type.substr(0, entries[i].type.find(',')));
  }
  EXPECT_EQ(absl::StrJoin(failures, "\n"), "");
  EXPECT_GT(passed.size(), 350u);  // the other rows fit calls that are not among these
}

}  // namespace
}  // namespace caffe2rt::test::repeated_axes_test
