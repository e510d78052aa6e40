#pragma once
// Rows for operators of the registry that have ONNX's inputs, outputs and attributes under ONNX's names.

#include <string>
#include <vector>

#include "caffe2_core/import/onnx/onnx_node.h"

namespace caffe2rt {

// The attributes of the node as arguments, but for those in `without`; attributes that number an
// element type are converted.
std::vector<Argument> ArgumentsOfAttributes(const OnnxNode& node,
                                            const std::vector<std::string>& without = {});

// Emits the operator with the node's inputs, outputs and attributes, and `more` arguments. Inputs that
// are left out are listed in the argument omitted_inputs (operators/common/optional_inputs.h).
void EmitSame(OnnxNode* node, const std::string& op, const std::vector<std::string>& without = {},
              const std::vector<Argument>& more = {});
// The same for other inputs, of which "" are left out.
void EmitSameOf(OnnxNode* node, const std::string& op, const std::vector<std::string>& inputs,
                const std::vector<std::string>& without = {},
                const std::vector<Argument>& more = {});

}  // namespace caffe2rt
