// Running sums, einsum, determinants, signals: operators with ONNX's inputs and attributes.

#include "caffe2_core/import/onnx/node_table.h"
#include "caffe2_core/import/onnx/same_operator.h"

namespace caffe2rt {
namespace {

// Up to opset 19 the axis is an attribute.
void TranslateDft(OnnxNode* n) {
  std::vector<std::string> inputs = n->Ins();
  if (n->version() < 20) {
    inputs.resize(3);
    inputs[2] =
        n->Const("axis", {}, onnx::TensorProto::INT64, {static_cast<double>(n->Int("axis", 1))});
  }
  EmitSameOf(n, "DFT", inputs, {"axis"});
}

}  // namespace

std::vector<OnnxRow> OnnxNumericRows() {
  return {{"BlackmanWindow", [](OnnxNode* n) { EmitSame(n, "BlackmanWindow"); }},
          {"CumProd", [](OnnxNode* n) { EmitSame(n, "CumProd"); }},
          {"CumSum", [](OnnxNode* n) { EmitSame(n, "CumSum"); }},
          {"DFT", &TranslateDft},
          {"Det", [](OnnxNode* n) { EmitSame(n, "Det"); }},
          {"Einsum", [](OnnxNode* n) { EmitSame(n, "Einsum"); }},
          {"HammingWindow", [](OnnxNode* n) { EmitSame(n, "HammingWindow"); }},
          {"HannWindow", [](OnnxNode* n) { EmitSame(n, "HannWindow"); }},
          {"Hardmax", [](OnnxNode* n) { EmitSame(n, "Hardmax"); }},
          {"MelWeightMatrix", [](OnnxNode* n) { EmitSame(n, "MelWeightMatrix"); }},
          {"STFT", [](OnnxNode* n) { EmitSame(n, "STFT"); }}};
}

}  // namespace caffe2rt
