// caffe2 pack: writes a net and its weights as one file that is mapped into memory.

#include <algorithm>
#include <iostream>
#include <set>

#include "binaries/commands/command.h"
#include "binaries/commands/images.h"
#include "binaries/commands/model.h"
#include "binaries/commands/number_text.h"
#include "binaries/commands/optimizing.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/model/packed_model.h"

namespace caffe2rt {
namespace {

// Prepares the net and runs it once, so that its operators prepare the weights. The packer has
// marked them read-only.
void Prepare(const CommandLine& line, const Model& model, Workspace* ws, ModelPacker* packer) {
  const std::vector<FedInput> fed = FeedInputs(line, model, ws);
  const InputImages images = FindInputImages(line, model, fed);
  if (!images.files.empty()) FeedImage(line, images, images.files[0], ws);
  CheckInputsAreThere(model, *ws);
  std::set<std::string> inputs = {images.blob};
  for (const FedInput& input : fed) inputs.insert(input.blob);
  const Preparation prepared = packer->Prepare(PreparationOptionsOf(line, model, inputs, {}), ws);
  PreparedNet(prepared.net, {}, nullptr, ws).Run();
}

void CheckNotPrepared(const CommandLine& line) {
  if (line.Has("input") || line.Has("image") || line.Has("image-list"))
    throw UsageError("--input or --image is given without --prepare, which runs the net on it");
  for (const Option& option : OptimizeOptions()) {
    if (line.Has(option.name))
      throw UsageError(
          MakeString("--", option.name, " is given without --prepare, which optimizes the net"));
  }
}

const std::vector<std::string> kStorages = {"f32", "f16", "int8"};

// --weights names a file of weights or, because no such file needs to be named like that, how weights are stored.
bool IsStorage(const std::string& text) {
  return std::find(kStorages.begin(), kStorages.end(), text) != kStorages.end();
}

std::string StorageText(const CommandLine& line) {
  return line.Text(IsStorage(line.Text("weights")) ? "weights" : "store-weights");
}

WeightStorage StorageOf(const CommandLine& line) {
  const std::string text = StorageText(line);
  if (text == "f32") return WeightStorage::kFull;
  if (line.Has("prepare")) {
    throw UsageError("--store-weights " + text +
                     " is given with --prepare, which stores weights in full");
  }
  if (text == "f16") return WeightStorage::kFloat16;
  if (text == "int8") return WeightStorage::kInt8;
  throw UsageError("option --store-weights is \"" + text + "\", want f32, f16 or int8" +
                   DidYouMean(text, kStorages));
}

int Pack(const CommandLine& line) {
  const bool named = line.Has("output");
  const bool has_net = line.Has("predict-net") || line.Has("predictor");
  const size_t files = (named ? 0 : 1) + (has_net ? 0 : 1);
  CheckPositional(line, files, files, has_net ? "one file to write" : "a net and a file to write");
  if (!line.Has("prepare")) CheckNotPrepared(line);
  const WeightStorage storage = StorageOf(line);
  if (const std::string text = line.Text("weights");
      !text.empty() && !IsStorage(text) && !PathExists(text)) {
    throw UsageError("option --weights is \"" + text +
                     "\", want f32, f16, int8 or the file of a "
                     "caffemodel" +
                     DidYouMean(text, kStorages));
  }
  const std::string path = named ? line.Text("output") : line.positional().back();
  Model model = LoadModelForCPU(line, !IsStorage(line.Text("weights")));  // packed models run there
  const std::unique_ptr<Workspace> ws = MakeWorkspace(line, &model);
  ModelPacker packer(model, *ws, storage);
  if (line.Has("prepare")) Prepare(line, model, ws.get(), &packer);
  const ModelPacker::Summary summary = packer.Write(path);
  std::cout << OneLine(path) << ": " << CountText(packer.num_tensors(), "tensor");
  if (line.Has("prepare")) std::cout << ", " << CountText(packer.num_forms(), "prepared form");
  if (summary.reduced > 0) {
    std::cout << ", " << summary.reduced << " of them as " << StorageText(line) << " (the worst, "
              << OneLine(summary.worst) << ": " << ShortNumberText(summary.worst_snr_db) << " dB)";
  }
  std::cout << "\n";
  return 0;
}

}  // namespace

const Command& PackCommand() {
  static const Command command = {
      .name = "pack",
      .purpose = "writes a net and its weights as one file that is mapped instead of read",
      .usage = "pack [--init-net FILE] --predict-net FILE | --predictor DB [options] OUTPUT",
      .examples =
          "  caffe2 pack --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "binaries/demo/stripes/predict_net.pb /tmp/stripes.c2pack\n"
          "  caffe2 pack --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --prepare --input data=1,3,64,64 /tmp/stripes.c2pack\n",
      .options = JoinOptions(
          {ModelOptions(),
           {{"output", "FILE", "", "file to write, instead of OUTPUT"},
            {"prepare", "", "",
             "optimize the net and run it once; also store it, and the weights "
             "as its operators prepare them, for this machine and --threads; needs "
             "--input or --image; the weights are stored in full besides, so --weights int8 alone "
             "is smaller"},
            {"store-weights", "TYPE", "f32",
             "f32, f16 (half the size) or int8 with a scale per output channel (a quarter): "
             "weights of Conv, FC and MatMul; floats again when loaded; --weights f16 is the same",
             false, false, [] { return kStorages; }},
            kTuningOption},
           OptimizeOptions(),
           InputOptions(),
           ProcessOptions()}),
      .run = Pack,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
