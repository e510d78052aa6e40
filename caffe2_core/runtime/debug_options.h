#pragma once
// Checks and reports for debugging. All are off by default, and then cost nothing that can be
// measured. The flags --caffe2_print_blob_sizes_at_exit, --caffe2_operator_throw_if_fp_exceptions and
// --caffe2_dag_net_collect_stats set them.

#pragma GCC visibility push(default)
namespace caffe2rt {

struct DebugOptions {
  // Each workspace calls PrintBlobSizes when it is destroyed.
  bool print_blob_sizes_at_exit = false;
  // An operator that runs on the CPU fails if it raises a floating-point exception: a division by
  // zero, an overflow, or an invalid operation, such as 0 / 0. The work of the process's thread pool
  // is included. Vectorized operators may raise exceptions in lanes whose results they discard.
  bool throw_if_fp_exceptions = false;
  // Nets of type dag that are created from then on log the times of their runs and of their operator
  // types at INFO when they are destroyed, as those of type prof_dag do.
  bool collect_dag_statistics = false;
};
// Not synchronized: set the options before nets run.
DebugOptions& GlobalDebugOptions();

}  // namespace caffe2rt
#pragma GCC visibility pop
