// Recurrent layers.

#include "caffe2_core/import/onnx/node_table.h"
#include "caffe2_core/import/onnx/same_operator.h"

namespace caffe2rt {

// output_sequence was an attribute of opset 1 to 6: whether output 0 is wanted.
std::vector<OnnxRow> OnnxRecurrentRows() {
  return {{"GRU", [](OnnxNode* n) { EmitSame(n, "GRU", {"output_sequence"}); }},
          {"LSTM", [](OnnxNode* n) { EmitSame(n, "LSTM", {"output_sequence"}); }},
          {"RNN", [](OnnxNode* n) { EmitSame(n, "RNN", {"output_sequence"}); }}};
}

}  // namespace caffe2rt
