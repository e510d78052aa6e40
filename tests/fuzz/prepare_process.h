#pragma once
// What caffe2_fuzz and the libFuzzer targets do once, before the first input.

#include <cstddef>

namespace caffe2rt::test {

// Registers the operators, limits the memory of tensors and C++ objects, logs errors only, lets
// writes beyond the limit of file sizes fail instead of ending the process, and watches every net
// that is created from now on (work_budget.h).
void PrepareProcess(size_t memory_limit_bytes);

}  // namespace caffe2rt::test
