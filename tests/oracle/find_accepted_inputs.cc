// find_accepted_inputs ORACLE: prints operators/accepted_inputs.tsv, from recorded calls; minutes.
// Rows of inputs that no recorded call has, which were written by hand, are those of the table that this program was built
// with.

#include <absl/strings/str_split.h>

#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/builtin_operators.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/oracle/accepted_calls.h"

namespace {

// A row's type and input.
std::pair<std::string, std::string> KeyOf(const std::string& row) {
  const std::vector<std::string> cells = absl::StrSplit(row, '\t');
  return {cells[0], cells.size() > 1 ? cells[1] : ""};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: find_accepted_inputs FOLDER, such as ../shared/oracle\n";
    return 2;
  }
  caffe2rt::EnsureBuiltinOperators();
  constexpr size_t kMostCalls = 16;
  const caffe2rt::test::ChangedCalls calls(argv[1]);
  std::map<std::pair<std::string, std::string>, std::string> rows;
  for (const std::string& row : caffe2rt::test::FindAcceptedInputs(calls, kMostCalls)) {
    rows[KeyOf(row)] = row;
  }
  const std::string table = caffe2rt::BuiltinAcceptedInputs();
  for (const std::string& row :
       std::vector<std::string>(absl::StrSplit(table, '\n', absl::SkipEmpty()))) {
    rows.try_emplace(KeyOf(row), row);
  }
  for (const auto& [key, row] : rows) std::cout << row << "\n";
  return 0;
}
