#include "caffe2_core/model/onnx_model.h"

#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/model/imported_nets.h"

namespace caffe2rt {
namespace {

void TakeImported(OnnxModel imported, const std::string& stem, Model* model) {
  TakeImportedNets(&imported, stem, model);
  for (const OnnxInput& input : imported.inputs) {
    model->inputs.push_back(input.name);
    model->input_types[input.name] = input.type;
    if (input.has_rank) model->input_dims[input.name] = input.dims;
    if (HasFixedDims(input)) model->input_shapes[input.name] = input.dims;
  }
  model->output_dims = std::move(imported.output_dims);
  model->is_onnx = true;
  model->fixed_size_layer = std::move(imported.fixed_size_node);
  model->layer_blobs = std::move(imported.node_blobs);
}

}  // namespace

bool IsOnnxFile(const std::string& path) {
  const FileKind kind = DetectFileKind(path).kind;
  return kind == FileKind::kOnnxModel || (kind == FileKind::kUnknown && path.ends_with(".onnx"));
}

bool IsOnnxContent(std::string_view bytes) {
  return DetectContentKind(bytes, static_cast<int64_t>(bytes.size())).kind == FileKind::kOnnxModel;
}

void LoadOnnxModel(const ModelFileOptions& options, Model* model) {
  CAFFE_ENFORCE(options.init_nets.empty() && options.weights.empty(),
                "init_nets or weights are given with the ONNX model \"", options.predict_net,
                "\", which has its weights");
  OnnxImportOptions import = options.onnx;
  import.net = options.predict_net;
  OnnxModel imported = ImportOnnx(import);
  model->files.push_back(options.predict_net);
  TakeImported(std::move(imported), FileStem(options.predict_net), model);
}

void LoadOnnxBytes(std::string_view bytes, const ModelFileOptions& options, Model* model) {
  OnnxImportOptions import = options.onnx;
  import.net = "model";
  TakeImported(ImportOnnxFromMemory(bytes, import), "model", model);
}

}  // namespace caffe2rt
