#include "python/engine/model_files.h"

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/model/exported_model.h"
#include "caffe2_core/model/model_inputs.h"
#include "caffe2_core/runtime/workspace.h"
#include "python/engine/values.h"

namespace caffe2rt {
namespace {

bool IsPredictorDb(FileKind kind) {
  return kind == FileKind::kMiniDB || kind == FileKind::kLevelDB || kind == FileKind::kLMDB;
}

}  // namespace

ModelFileOptions FilesOf(const std::vector<std::string>& files, const LoadOptions& options) {
  CAFFE_ENFORCE(!files.empty(),
                "no file is given, want the init nets and the predict net, or a model in one file");
  ModelFileOptions model;
  const FileKind last = DetectFileKind(files.back()).kind;
  if (files.size() == 1 && (IsPredictorDb(last) || options.db_type.has_value())) {
    model.predictor_db = files[0];
  } else {
    model.init_nets.assign(files.begin(), files.end() - 1);
    model.predict_net = files.back();
  }
  model.weights = options.weights.value_or("");
  model.db_type = options.db_type.value_or("");
  model.db_type_remedy = "db_type names it";
  model.root = options.root;
  model.seed = options.seed;
  if (options.device.has_value()) model.device = DeviceOf(*options.device);
  model.device_fallback = !options.device.has_value();
  model.caffe.input_shapes = options.input_shapes;
  model.onnx.input_shapes = options.input_shapes;
  model.onnx.dims = options.dims;
  model.onnx.tolerant = options.opset_tolerant;
  return model;
}

std::vector<std::string> WriteModelAsOnnx(const std::string& output, const ModelFileOptions& files,
                                          int opset) {
  Model model = LoadModel(files);
  Workspace ws(files.root);
  ws.SetFileAccess(FileAccess::Off("caffe2 convert can read them"));
  RunInitNets(&model, &ws);
  RemoveZeroPlaceholders(&model, &ws);
  return WriteOnnx(
      ExportModel(model, ws, {.input_shapes = files.caffe.input_shapes, .opset = opset}), output);
}

}  // namespace caffe2rt
