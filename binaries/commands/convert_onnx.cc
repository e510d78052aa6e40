#include "binaries/commands/convert_onnx.h"

#include <unistd.h>

#include <iostream>
#include <memory>

#include "binaries/commands/command.h"
#include "binaries/commands/file_argument.h"
#include "binaries/commands/imported_model.h"
#include "binaries/commands/model.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/export/onnx_export.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/model/exported_model.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

void ConvertToOnnx(const CommandLine& line, const std::string& path) {
  if (!line.Has("output")) throw UsageError("want --output FILE.onnx");
  const std::string output = line.Text("output");
  if (IsStandardStream(output) && isatty(STDOUT_FILENO) != 0)
    throw UsageError("binary data are not written to a terminal; want --output FILE.onnx");
  const bool is_predictor = IsPredictorDatabase(path, DetectFileKind(path).kind);
  Model model = LoadModel({.init_nets = line.All("init-net"),
                           .predict_net = is_predictor ? "" : path,
                           .weights = line.Text("weights"),
                           .caffe = CaffeImportOptionsOf(line),
                           .onnx = OnnxImportOptionsOf(line),
                           .predictor_db = is_predictor ? path : "",
                           .device = DeviceOption(),
                           .verify_packed = true});
  for (const std::string& warning : model.warnings) Warn(warning);
  PrintNotes(model.notes);
  const std::unique_ptr<Workspace> ws = MakeWorkspace(line, ".", &model);
  const auto opset =
      static_cast<int>(line.Integer("opset", kMinOnnxExportOpset, kMaxOnnxExportOpset));
  const OnnxExport exported = ExportModel(
      model, *ws, {.input_shapes = CaffeImportOptionsOf(line).input_shapes, .opset = opset});
  PrintNotes(exported.notes);
  for (const std::string& file : WriteOnnx(exported, output)) {
    if (!IsStandardStream(file)) std::cout << OneLine(file) << "\n";
  }
}

}  // namespace caffe2rt
