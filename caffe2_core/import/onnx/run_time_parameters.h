#pragma once
// Parameters that models give as constants or compute when they run: axes, pads, shapes, counts.

#include <string>
#include <vector>

#include "caffe2_core/import/onnx/onnx_node.h"

namespace caffe2rt {

struct OnnxParameter {
  size_t input;           // of the node
  const char* argument;   // of the operator, if the elements are known; "": it stays an input
  std::string blob = {};  // for one that stays an input; "": it is not given
  bool is_real = false;   // floats instead of integers
};

// Emits an operator of one output, whose first inputs are the first `data` inputs of the node and whose
// next ones are the parameters, in their order. Those that are known become arguments if all of them
// are. Absent ones become empty tensors where others follow. Output 0 has the type of input 0; its
// shape is inferred also from contents that symbols decide.
void EmitWithParameters(OnnxNode* n, const std::string& type, size_t data,
                        const std::vector<OnnxParameter>& parameters,
                        std::vector<Argument> args = {}, size_t outputs = 1);

}  // namespace caffe2rt
