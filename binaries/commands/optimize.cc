// caffe2 optimize: writes a model whose net was optimized by graph passes.

#include <algorithm>
#include <iostream>
#include <set>

#include "binaries/commands/command.h"
#include "binaries/commands/imported_model.h"
#include "binaries/commands/model.h"
#include "binaries/commands/optimizing.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/io/proto_file.h"

namespace caffe2rt {
namespace {

// The operators of the init nets, except those that fill only constants that are not needed, and
// operators that fill the new constants.
NetDef NewInitNet(const std::vector<NetDef>& init_nets, const Preparation& optimized,
                  const Workspace& ws) {
  NetWithWeights result;
  result.net.set_name(init_nets.empty() ? "init" : init_nets[0].name());
  const std::set<std::string> freed(optimized.freed_constants.begin(),
                                    optimized.freed_constants.end());
  std::set<std::string> read;
  for (const NetDef& net : init_nets) {
    const std::vector<std::string> names = BlobsOf(net).read;
    read.insert(names.begin(), names.end());
  }
  for (const NetDef& net : init_nets) {
    for (const OperatorDef& op : net.op()) {
      const bool needless =
          op.output_size() > 0 &&
          std::all_of(op.output().begin(), op.output().end(), [&](const std::string& name) {
            return freed.contains(name) && !read.contains(name);
          });
      if (needless) continue;
      OperatorDef* const added = result.net.add_op();
      *added = op;
      if (!net.has_device_option()) continue;
      *added->mutable_device_option() = MergeDeviceOption(net.device_option(), op.device_option());
    }
  }
  for (const std::string& name : optimized.new_constants) {
    const Tensor& tensor = ws.FindBlob(name)->Get<Tensor>();
    CAFFE_ENFORCE(AddFill(name, tensor, &result), "constant \"", name, "\" has elements of type ",
                  tensor.meta().name(),
                  ", which no init net can fill; --without-pass fold_constants leaves it out");
  }
  RestoreWeights(&result);
  return std::move(result.net);
}

// The init nets with their weights, which a model keeps apart from binary nets. Running the model's
// nets frees both.
std::vector<NetDef> WholeInitNets(const Model& model) {
  std::vector<NetDef> nets;
  for (size_t i = 0; i < model.init_nets.size(); ++i) {
    NetWithWeights whole{model.init_nets[i]};
    if (i < model.init_weights.size()) whole.weights = model.init_weights[i];
    RestoreWeights(&whole);
    nets.push_back(std::move(whole.net));
  }
  return nets;
}

// Writes the optimized net and, if the option names a file for it, its init net. Neither file changes
// unless both can be written.
void WriteNets(const CommandLine& line, const std::vector<NetDef>& init_nets,
               const Preparation& optimized, const Workspace& ws) {
  const std::string path = line.Text("output-predict-net");
  AtomicFile file(path);
  WriteNetFile(optimized.net, path, &file);
  if (line.Has("output-init-net")) {
    const std::string init_path = line.Text("output-init-net");
    AtomicFile init_file(init_path);
    WriteNetFile(NewInitNet(init_nets, optimized, ws), init_path, &init_file);
    init_file.Commit();
  }
  file.Commit();
}

void CheckOptions(const CommandLine& line) {
  if (line.Has("predictor")) {
    throw UsageError(
        "--predictor is given: only models in --init-net and --predict-net files can be "
        "optimized to files; caffe2 convert DB --output FOLDER writes such files");
  }
  if (!line.Has("output-predict-net"))
    throw UsageError("want --output-predict-net FILE, see --help");
  if (line.Has("output-init-net") &&
      line.Text("output-init-net") == line.Text("output-predict-net")) {
    throw UsageError("--output-init-net and --output-predict-net are the same file");
  }
}

int Optimize(const CommandLine& line) {
  CheckNetArgument(line);
  if (line.Has("passes")) {
    ListPasses();
    return 0;
  }
  CheckOptions(line);
  Model model = LoadModel(line);
  if (model.packed != nullptr) {
    throw UsageError(
        "the model is packed: want --init-net and --predict-net files, which caffe2 convert FILE "
        "--output FOLDER writes");
  }
  const std::vector<NetDef> init_nets = WholeInitNets(model);
  const std::unique_ptr<Workspace> ws = MakeWorkspace(line, &model);
  std::set<std::string> fed;
  for (const FedInput& input : FeedInputs(line, model, ws.get())) fed.insert(input.blob);
  const std::vector<std::string> keep = line.All("keep");
  const int before = model.predict_net.op_size();
  const PreparationOptions options =
      PreparationOptionsOf(line, model, fed, {keep.begin(), keep.end()});
  const Preparation optimized = PrepareNet(std::move(model.predict_net), options, ws.get());
  if (!line.Has("output-init-net") && !optimized.new_constants.empty()) {
    throw UsageError("the optimized net has new constants, want --output-init-net FILE for them");
  }
  WriteNets(line, init_nets, optimized, *ws);
  std::cout << CountText(before, "operator") << ", " << optimized.net.op_size()
            << " after optimization\n";
  for (const std::string& pass : optimized.passes) std::cout << "applied " << pass << "\n";
  return 0;
}

}  // namespace

const Command& OptimizeCommand() {
  static const Command command = {
      .name = "optimize",
      .purpose = "writes a net with the graph passes applied, and its init net",
      .usage =
          "optimize --init-net FILE --predict-net FILE --output-init-net FILE "
          "--output-predict-net FILE [options]",
      .examples =
          "  caffe2 optimize --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --output-init-net fast_init_net.pb --output-predict-net fast_predict_net.pb\n"
          "  caffe2 optimize --passes\n",
      .options = JoinOptions(
          {ModelOptions(),
           InputOptions(),
           {{"output-init-net", "FILE", "",
             "init net to write; text if it ends in .pbtxt, .prototxt or .txt, else binary"},
            {"output-predict-net", "FILE", "", "net to write, likewise"},
            {"keep", "BLOB", "", "blob to keep besides the outputs; may be repeated", true}},
           {OptimizeOption("without-pass"),
            OptimizeOption("precision"),
            OptimizeOption("min-snr"),
            {"passes", "", "", "list the passes and exit"}},
           ProcessOptions()}),
      .run = Optimize,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
