#pragma once
// Machine: what the estimated time of some work depends on, besides the work.

#include "caffe2_core/base/isa.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct Machine {
  Isa isa = CpuIsa();
  int threads = 1;  // that share the work

  // For choices that must be the same for every number of threads.
  Machine WithOneThread() const { return {.isa = isa, .threads = 1}; }
  // That by which choices are made that must be the same on all machines.
  static constexpr Machine Any() { return {.isa = Isa::kAvx2, .threads = 1}; }
};

}  // namespace caffe2rt
#pragma GCC visibility pop
