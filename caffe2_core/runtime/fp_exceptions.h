#pragma once
// Finds the operators that raise floating-point exceptions (DebugOptions::throw_if_fp_exceptions).

#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

// Clears the exceptions of the calling thread and runs the operator, which waits for its device.
// THROWS if it raised one, with the names of the exceptions, or wrote a NaN on the CPU although no
// input has one. Returns what the operator returns.
bool RunCheckingFpExceptions(OperatorBase* op, int stream_id);

}  // namespace caffe2rt
