#pragma once
// Stops a fuzzed net before valid but long work: an operator that would exceed the budget ends the
// run with an error before it starts. Its work is estimated from the shapes of its inputs: by the
// cost function of its schema, and by the number of elements of its inputs and inferred outputs.
// The budget does not limit memory: an operator that needs more than the memory limit runs, because
// the library itself must report the error.

#include <cstdint>

#include "caffe2_core/runtime/net.h"

namespace caffe2rt::test {

struct WorkBudget {
  uint64_t flops = 100'000'000;   // of one operator
  uint64_t elements = 4'000'000;  // read and written by one operator
  uint64_t operators = 2000;      // run since StartBudget
};

// Attaches an observer to every operator of `net`. All watched nets share one budget.
void WatchNet(NetBase* net);
// Sets the budget and resets the counts. Not thread safe; the operators may run on other threads.
void StartBudget(const WorkBudget& budget);
// Whether an operator was stopped since StartBudget.
bool BudgetExceeded();

}  // namespace caffe2rt::test
