#pragma once
// Runs cases in a child process, so that one that crashes, hangs or takes all memory is one failure
// and no more.

#include <cstddef>
#include <vector>

#include "tests/oracle/case_file.h"

namespace caffe2rt::test {

struct IsolationOptions {
  bool fork = true;         // false: in this process, for a debugger
  bool quiet = true;        // what operators print goes nowhere
  unsigned timeout_s = 30;  // for one case
  size_t memory_limit_bytes = size_t{2} << 30;
};

// One result per entry, in order. THROWS when the system gives no process.
std::vector<CaseResult> RunCases(const std::vector<CaseEntry>& entries,
                                 const IsolationOptions& options);

}  // namespace caffe2rt::test
