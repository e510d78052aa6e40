#include "binaries/commands/convert_predictor.h"

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "binaries/commands/command.h"
#include "binaries/commands/convert_tensors.h"
#include "binaries/commands/file_argument.h"
#include "binaries/commands/imported_model.h"
#include "binaries/commands/model.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

// Operators that fill the blobs that the predict net reads and the workspace has.
NetDef InitNetOf(const Model& model, const Workspace& ws) {
  NetWithWeights init;
  init.net.set_name(model.predict_net.name() + "_init");
  std::set<std::string> filled;
  for (const std::string& blob : UnfilledInputs(model.predict_net, Workspace())) {
    const std::shared_ptr<const Blob> found = ws.FindBlob(blob);
    if (found == nullptr || !found->IsType<Tensor>() || !filled.insert(blob).second) continue;
    const auto& tensor = found->Get<Tensor>();
    CAFFE_ENFORCE(AddFill(blob, tensor, &init), "parameter \"", blob, "\" has elements of type ",
                  tensor.meta().name(), ", which no init net can fill");
  }
  RestoreWeights(&init);
  return std::move(init.net);
}

}  // namespace

bool ConvertsStoredModel(const CommandLine& line, const std::string& path, FileKind kind) {
  const std::string to = line.Text("to");
  const bool states_nets = to.empty() || to == "text" || to == "binary";
  if (!states_nets || NamesTensorFormat(line.Text("output"))) return false;
  return kind == FileKind::kPackedModel || IsPredictorDatabase(path, kind);
}

void ConvertStoredModel(const CommandLine& line, const std::string& path, FileKind kind) {
  ModelFileOptions options = {.device = DeviceOption(), .verify_packed = true};
  (kind == FileKind::kPackedModel ? options.predict_net : options.predictor_db) = path;
  Model model = LoadModel(options);
  for (const std::string& warning : model.warnings) Warn(warning);
  const std::unique_ptr<Workspace> ws = MakeWorkspace(line, ".", &model);
  WriteFolderOfNets(line, InitNetOf(model, *ws), model.predict_net);
}

}  // namespace caffe2rt
