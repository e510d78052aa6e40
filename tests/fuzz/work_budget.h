#pragma once
// Keeps a fuzzed net from honest but long work: an operator that would do more than the budget ends
// the run with an error before it starts. What it would do is told from the shapes it is given: the
// cost function of its schema, else the elements of its inputs and inferred outputs. Memory is not
// the budget's matter: an operator that asks for more than the memory limit is let go on, for it
// must refuse by itself.

#include <cstdint>

#include "caffe2_core/runtime/net.h"

namespace caffe2rt::test {

struct WorkBudget {
  uint64_t flops = 100'000'000;   // of one operator
  uint64_t elements = 4'000'000;  // read and written by one operator
  uint64_t operators = 2000;      // run by one net or plan
};

// Watches every operator of `net`. The budget counts across calls until StartBudget.
void WatchNet(NetBase* net);
// Begins a new count. One thread of control at a time; the operators may run on others.
void StartBudget(const WorkBudget& budget);
// Whether an operator was stopped since then.
bool BudgetExceeded();

}  // namespace caffe2rt::test
