#pragma once
// Runs an operator as a model of ONNX: exports it, imports the model, and runs the imported net. What is lost
// or changed on the way shows in the outputs.

#include <optional>
#include <set>
#include <string>

#include "caffe2_core/runtime/workspace.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt::test {

// Runs the operator's model on the inputs in `ws`, and leaves the outputs there. `weights`: the inputs that
// the model holds. Returns why the operator cannot be exported, or nothing. THROWS if its model cannot be
// imported or run, and if the import states other dims of an output than it has.
std::optional<std::string> RunThroughOnnx(const OperatorDef& def,
                                          const std::set<std::string>& weights, Workspace* ws,
                                          int opset = 17);

}  // namespace caffe2rt::test
