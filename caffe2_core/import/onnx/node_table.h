#pragma once
// The table of ONNX's operators: for each type the function that writes its operators.

#include <string_view>
#include <vector>

#include "caffe2_core/import/onnx/onnx_node.h"

namespace caffe2rt {

struct OnnxRow {
  std::string_view type;
  // Writes every output of the node. If it is null, an operator of type `op` computes the node as it
  // is: the same inputs and outputs, no arguments.
  void (*translate)(OnnxNode* node) = nullptr;
  std::string_view op = {};
  // Every output holds elements of the inputs, so that half precision needs no rounding.
  bool exact = false;
  std::string_view domain = {};  // "" is ai.onnx
};

// Null for a type that is not known. The domain "" is ai.onnx.
const OnnxRow* FindOnnxRow(std::string_view domain, std::string_view type);
// The types that are supported, with their domains in front of those that are not ai.onnx.
std::vector<std::string> OnnxTypes();
// The newest opset of ai.onnx whose operators are known.
inline constexpr int64_t kNewestOnnxOpset = 28;

// The rows, by subject.
std::vector<OnnxRow> OnnxControlRows();      // Identity, Constant, If, Loop, ...
std::vector<OnnxRow> OnnxElementwiseRows();  // functions of one element, arithmetic, comparisons
std::vector<OnnxRow> OnnxLayerRows();        // MatMul, Gemm, normalizations, ...
std::vector<OnnxRow> OnnxWindowRows();       // Conv, pools, ...
std::vector<OnnxRow> OnnxShapeRows();        // Reshape, Concat, Slice, Gather, ...
std::vector<OnnxRow> OnnxReduceRows();       // Reduce*, ArgMax, CumSum, TopK, ...
std::vector<OnnxRow> OnnxImageRows();        // Resize, Upsample, GridSample, RoiAlign, ...
std::vector<OnnxRow> OnnxQuantizedRows();    // QuantizeLinear, QLinearConv, ...
std::vector<OnnxRow> OnnxRecurrentRows();    // LSTM, GRU, RNN
std::vector<OnnxRow> OnnxNumericRows();      // CumSum, Einsum, DFT, ...
std::vector<OnnxRow> OnnxFunctionRows();     // those that ONNX defines by others
std::vector<OnnxRow> OnnxAttentionRows();
std::vector<OnnxRow> OnnxSequenceRows();     // SequenceAt, SplitToSequence, ...
std::vector<OnnxRow> OnnxTransformerRows();  // com.microsoft
std::vector<OnnxRow> OnnxRandomRows();
std::vector<OnnxRow> OnnxContribRows();  // com.microsoft, and ONNX's first opsets

}  // namespace caffe2rt
