#pragma once
// Runs cases in a child process, so that a case that crashes, hangs or exhausts the memory is one
// failure and does not affect the others.

#include <cstddef>
#include <string>
#include <vector>

#include "tests/oracle/case_file.h"

namespace caffe2rt::test {

struct IsolationOptions {
  bool fork = true;         // false: run in this process, for a debugger
  bool quiet = true;        // discard what operators print
  unsigned timeout_s = 30;  // per case
  size_t memory_limit_bytes = size_t{2} << 30;
  // Called in the child after each case. Returns why the process can run no further cases, as after
  // an illegal access on a GPU: that case then fails, and a new child continues with the next one.
  // Returns "" if it can. Null: it always can.
  std::string (*why_unusable)() = nullptr;
};

// For IsolationOptions::why_unusable: whether CUDA still runs. After an error such as an illegal
// access, all later work of the process fails.
std::string WhyCudaIsUnusable();

// Returns one result per entry, in order. THROWS if a process cannot be created.
std::vector<CaseResult> RunCases(const std::vector<CaseEntry>& entries,
                                 const IsolationOptions& options);

}  // namespace caffe2rt::test
