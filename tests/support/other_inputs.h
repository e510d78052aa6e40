#pragma once
// Runs an operator on other inputs between runs on its own, so that a test sees what an earlier run leaves behind: a
// plan, a copy, a prepared weight, or a part of an output.

#include <functional>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt::test {

// Changes one input at a time - twice as many rows or none, one column less or more, one channel more, one dimension
// more, dimensions in reverse, other values, another element type - and all inputs of one shape, number of rows or type
// together, and runs `net`, which may reject the inputs, but then twice. Then calls `expect` after a run on the inputs that `ws` holds,
// which stay. A run on other dimensions, values or types of as many elements must also give what that of another operator
// of the same definition gives. Only tensors on the CPU are changed.
// REQUIRES: `net` is a net of `ws` with the one operator `op`.
void ExpectSameAfterOtherInputs(Workspace* ws, NetBase* net, const OperatorDef& op,
                                const std::function<void()>& expect);

// The same for operators whose first run is on other inputs, so that a test sees what only the first run makes: changes
// all inputs, runs the net that `create` makes, and calls `expect` after its run on the inputs that `ws` holds.
void ExpectSameAfterOthersFirst(Workspace* ws, const OperatorDef& op,
                                const std::function<NetBase*()>& create,
                                const std::function<void()>& expect);

}  // namespace caffe2rt::test
