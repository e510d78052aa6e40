#include "caffe2_core/model/caffe_model.h"

#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/model/imported_nets.h"

namespace caffe2rt {

namespace {

void TakeImported(CaffeModel imported, const std::string& stem, Model* model) {
  TakeImportedNets(&imported, stem, model);
  for (const CaffeInput& input : imported.inputs) {
    model->inputs.push_back(input.name);
    if (!input.dims.empty()) model->input_shapes[input.name] = input.dims;
  }
  model->fixed_size_layer = std::move(imported.fixed_size_layer);
  model->layer_blobs = std::move(imported.layer_blobs);
  model->caffe_transform = std::move(imported.transform);
}

}  // namespace

bool IsCaffeNetFile(const std::string& path) {
  const FileKind kind = DetectFileKind(path).kind;
  if (kind == FileKind::kUnknown) {
    // The import says what is wrong with it, or that it is a state of the solver.
    return path.ends_with(".caffemodel") || path.ends_with(".solverstate");
  }
  return kind == FileKind::kCaffeText || kind == FileKind::kCaffeModel;
}

void LoadCaffeModel(const ModelFileOptions& options, Model* model) {
  CAFFE_ENFORCE(options.init_nets.empty(), "init_nets are given with Caffe's net \"",
                options.predict_net, "\"; its weights are in a caffemodel, ",
                "want ModelFileOptions::weights");
  CaffeImportOptions import = options.caffe;
  import.net = options.predict_net;
  import.weights = options.weights;
  CaffeModel imported = ImportCaffe(import);
  model->files.push_back(options.predict_net);
  if (!options.weights.empty()) model->files.push_back(options.weights);
  TakeImported(std::move(imported), FileStem(options.predict_net), model);
}

void LoadCaffeBytes(std::string_view net, std::string_view weights, const ModelFileOptions& options,
                    Model* model) {
  CaffeImportOptions import = options.caffe;
  import.net = "net";
  import.weights = "weights";
  TakeImported(ImportCaffeFromMemory(net, weights, import), "net", model);
}

}  // namespace caffe2rt
