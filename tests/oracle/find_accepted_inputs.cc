// find_accepted_inputs ORACLE: prints operators/accepted_inputs.tsv, from recorded calls; minutes.

#include <iostream>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/oracle/accepted_calls.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: find_accepted_inputs FOLDER, such as ../shared/oracle\n";
    return 2;
  }
  caffe2rt::EnsureBuiltinOperators();
  constexpr size_t kMostCalls = 16;
  const caffe2rt::test::ChangedCalls calls(argv[1]);
  for (const std::string& row : caffe2rt::test::FindAcceptedInputs(calls, kMostCalls))
    std::cout << row << "\n";
  return 0;
}
