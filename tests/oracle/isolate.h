#pragma once
// Runs cases in a child process, so that a case that crashes, hangs or exhausts the memory is one
// failure and does not affect the others.

#include <cstddef>
#include <vector>

#include "tests/oracle/case_file.h"

namespace caffe2rt::test {

struct IsolationOptions {
  bool fork = true;         // false: run in this process, for a debugger
  bool quiet = true;        // discard what operators print
  unsigned timeout_s = 30;  // per case
  size_t memory_limit_bytes = size_t{2} << 30;
};

// Returns one result per entry, in order. THROWS if a process cannot be created.
std::vector<CaseResult> RunCases(const std::vector<CaseEntry>& entries,
                                 const IsolationOptions& options);

}  // namespace caffe2rt::test
