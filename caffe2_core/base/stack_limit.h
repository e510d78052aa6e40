#pragma once
// The stack of the current thread, which recursion over untrusted input must not overflow.
//
//   CAFFE_ENFORCE(StackLevels(kBytesPerNet) > depth, ..., StackRemedy());
//
// All functions are thread safe. The first call in a thread asks the system for the stack's bounds;
// later calls only compare addresses.

#include <cstddef>
#include <string>

#pragma GCC visibility push(default)
namespace caffe2rt {

// The bytes of stack that the calling thread has left. SIZE_MAX if that is unknown, as on the stack
// of a fiber.
size_t StackBytesLeft();

// How many levels of recursion fit into the stack that is left, apart from a reserve for the
// functions that the last level calls. `bytes_per_level` and the reserve hold for optimized code; they
// count StackFactor() times.
size_t StackLevels(size_t bytes_per_level);

// How much more stack code needs in this build than optimized code: above 1 with a sanitizer.
size_t StackFactor();

// The end of an error of StackLevels: the bytes left and what to do, such as ": the thread has 40
// KiB of stack left; use a thread with a larger stack (ulimit -s)".
std::string StackRemedy();

}  // namespace caffe2rt
#pragma GCC visibility pop
