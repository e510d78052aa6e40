#pragma once
// Seeds for contexts that are given none.

#include <cstdint>

namespace caffe2rt {

// A seed that differs from call to call: time, process and a counter. Thread safe.
uint32_t RandomNumberSeed();

}  // namespace caffe2rt
