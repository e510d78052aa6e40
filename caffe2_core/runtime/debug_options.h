#pragma once
// Checks and reports for debugging. All are off by default, and then cost nothing that can be
// measured. The flags --caffe2_print_blob_sizes_at_exit and
// --caffe2_operator_throw_if_fp_exceptions set them.

#pragma GCC visibility push(default)
namespace caffe2rt {

struct DebugOptions {
  // Each workspace calls PrintBlobSizes when it is destroyed.
  bool print_blob_sizes_at_exit = false;
  // An operator that runs on the CPU fails if it raises a floating-point exception: a division by
  // zero, an overflow, or an invalid operation, such as 0 / 0. The work of the process's thread pool
  // is included. Vectorized operators may raise exceptions in lanes whose results they discard.
  bool throw_if_fp_exceptions = false;
};
// Not synchronized: set the options before nets run.
DebugOptions& GlobalDebugOptions();

}  // namespace caffe2rt
#pragma GCC visibility pop
