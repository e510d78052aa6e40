#include "binaries/commands/train_definition.h"

#include <absl/strings/str_split.h>

#include <algorithm>
#include <filesystem>

#include "binaries/commands/command.h"
#include "binaries/commands/model.h"
#include "binaries/commands/outputs.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/training/data_facts.h"
#include "caffe2_core/training/initial_weights.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

// Options that describe a net without a TrainDef.
constexpr const char* kNetOptions[] = {"predict-net", "init-net", "fresh-weights",
                                       "loss",        "accuracy", "blobs"};

// --device decides where the nets run.
NetDef NetOnAnyDevice(const std::string& file) {
  NetDef net = LoadNet(file);
  net.clear_device_option();
  for (OperatorDef& op : *net.mutable_op()) op.clear_device_option();
  return net;
}

TrainDef DefinitionFromNet(const CommandLine& line) {
  if (!line.Has("loss"))
    throw UsageError("--predict-net needs --loss: softmax, squared, or a blob of the net");
  TrainDef def;
  *def.mutable_net() = NetOnAnyDevice(line.Text("predict-net"));
  NameNet(def.mutable_net(), FileStem(line.Text("predict-net")));
  def.set_name(def.net().name());
  if (line.Has("init-net")) *def.mutable_init_net() = NetOnAnyDevice(line.Text("init-net"));
  if (line.Has("fresh-weights")) UseFreshFills(def.mutable_init_net());
  if (line.Has("accuracy")) def.set_accuracy(line.Text("accuracy"));
  for (const std::string& blob :
       std::vector<std::string>(absl::StrSplit(line.Text("blobs"), ',', absl::SkipEmpty())))
    def.mutable_input()->add_blob(blob);
  AddLoss(line.Text("loss"), &def);
  return def;
}

float Number(const CommandLine& line, const char* option) {
  const std::vector<float> numbers = line.Floats(option);
  if (numbers.size() != 1)
    throw UsageError(
        MakeString("option --", option, " is \"", line.Text(option), "\", want one number"));
  return numbers[0];
}

void ApplyOptimizer(const CommandLine& line, TrainDef* def) {
  OptimizerDef& optimizer = *def->mutable_optimizer();
  if (line.Has("optimizer")) optimizer.set_type(line.Text("optimizer"));
  if (line.Has("rate")) optimizer.set_rate(Number(line, "rate"));
  if (line.Has("momentum")) optimizer.set_momentum(Number(line, "momentum"));
  if (line.Has("weight-decay")) optimizer.set_weight_decay(Number(line, "weight-decay"));
  if (line.Has("batch-size"))
    def->mutable_input()->set_batch_size(static_cast<int>(line.Integer("batch-size", 1, 1 << 20)));
}

// Absolute, because a run may go on from another folder.
DatabaseDef Database(const std::string& path) {
  DatabaseDef def;
  std::string whole = fs::absolute(path).lexically_normal().string();
  while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  def.set_path(whole);
  def.set_type(DBTypeOfKind(DetectFileKind(whole).kind));
  return def;
}

// The names of the classes: --labels, or those that `caffe2 db make images` left beside the data.
void AddClassNames(const CommandLine& line, TrainDef* def) {
  const std::string beside = line.Text("data") + ".labels.txt";
  const std::string file = line.Has("labels") ? line.Text("labels")
                           : def->input().class_name_size() == 0 && fs::exists(beside) ? beside
                                                                                       : "";
  if (file.empty()) return;
  def->mutable_input()->clear_class_name();
  for (const std::string& name : ReadLabels(file)) def->mutable_input()->add_class_name(name);
}

}  // namespace

RunDef RunDefOf(const CommandLine& line) {
  RunDef run;
  if (line.Has("predict-net")) {
    CheckPositional(line, 0, 0, "no file, because --predict-net names the net");
    *run.mutable_train() = DefinitionFromNet(line);
  } else {
    CheckPositional(line, 1, 1, "one TrainDef file, or --predict-net");
    for (const char* option : kNetOptions) {
      if (line.Has(option))
        throw UsageError(MakeString("option --", option, " applies to --predict-net only"));
    }
    const std::string& file = line.positional()[0];
    LoadProto(file, run.mutable_train());
    if (run.train().name().empty()) run.mutable_train()->set_name(FileStem(file));
  }
  if (!line.Has("data"))
    throw UsageError("the data are missing; want --data DB, from caffe2 db make");
  ApplyOptimizer(line, run.mutable_train());
  AddClassNames(line, run.mutable_train());
  *run.mutable_data() = Database(line.Text("data"));
  if (line.Has("test")) *run.mutable_test() = Database(line.Text("test"));
  run.set_epochs(static_cast<int>(line.Integer("epochs", 1, 1000000)));
  run.set_seed(static_cast<uint64_t>(line.Integer("seed", 0, UINT32_MAX)));
  run.set_shuffle(line.Has("shuffle"));
  run.set_device(line.Text("device"));
  if (line.Has("stop-after"))
    run.set_stop_after(static_cast<int>(line.Integer("stop-after", 1, 1000000)));
  if (line.Has("checkpoint-every"))
    run.set_checkpoint_every(line.Integer("checkpoint-every", 1, INT64_MAX));
  run.set_keep(static_cast<int>(line.Integer("keep", 1, 1000000)));
  if (line.Has("init")) run.set_init(fs::absolute(line.Text("init")).string());
  if (line.Has("on-error")) run.set_on_error(line.Text("on-error"));
  return run;
}

}  // namespace caffe2rt
