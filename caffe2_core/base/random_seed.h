#pragma once
// Random seeds for contexts whose device option sets none.

#include <cstdint>

#pragma GCC visibility push(default)
namespace caffe2rt {

// Returns a different seed on every call, derived from the time, the process and a counter. Thread
// safe.
uint32_t RandomNumberSeed();

}  // namespace caffe2rt
#pragma GCC visibility pop
