#pragma once
// Writes models that were loaded from files as ONNX models: what `caffe2 convert --to onnx` does.
//
//   Model model = LoadModel(files);
//   Workspace ws;
//   RunInitNets(&model, &ws);
//   RemoveZeroPlaceholders(&model, &ws);
//   WriteOnnx(ExportModel(model, ws, {.opset = 17}), "model.onnx");

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "caffe2_core/export/onnx_export.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Workspace;
struct Model;

struct ModelExportOptions {
  // Shapes of inputs by name. Inputs that are not listed have the shapes that the files state.
  std::map<std::string, std::vector<int64_t>> input_shapes = {};
  int opset = 17;
};

// Exports the predict net with the weights in `ws`, which must outlive the result. THROWS if a shape is
// given for a name that is no input, and what ExportOnnx throws.
OnnxExport ExportModel(const Model& model, const Workspace& ws, const ModelExportOptions& options);

}  // namespace caffe2rt
#pragma GCC visibility pop
