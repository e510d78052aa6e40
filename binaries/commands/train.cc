// caffe2 train: trains a net, with checkpoints that it goes on from.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "binaries/commands/command.h"
#include "binaries/commands/file_argument.h"
#include "binaries/commands/file_policy.h"
#include "binaries/commands/model.h"
#include "binaries/commands/train_definition.h"
#include "binaries/commands/train_progress.h"
#include "binaries/commands/train_ranks.h"
#include "binaries/json_output.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/signal_handler.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/training/initial_weights.h"
#include "caffe2_core/training/training_nets.h"
#include "caffe2_core/training/training_run.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

// The nets may open what the command line names, and what lies beside the definition.
FileAccess AccessOf(const CommandLine& line, const std::string& folder, const RunDef& run) {
  if (line.Has("allow-files-anywhere")) return FileAccess::Free();
  std::vector<std::string> roots = {".", folder, run.data().path(), run.test().path(), run.init()};
  if (line.Has("store")) roots.push_back(StoreFolder(line));
  for (const std::string& path : {run.data().path(), run.test().path()}) {
    if (!path.empty()) roots.push_back(fs::path(path).parent_path().string());
  }
  if (!line.positional().empty())
    roots.push_back(fs::absolute(line.positional()[0]).parent_path().string());
  return FileAccess::Below(roots, "--allow-files-anywhere allows it");
}

// Four digits, also of small numbers.
std::string LossText(double loss) { return FixedText(loss, loss > 0 && loss < 0.01 ? 7 : 4); }

std::string ResultText(const EpochResult& result, int epochs) {
  std::string text = MakeString("epoch ", result.epoch, "/", epochs, "  ",
                                result.has_test ? "test " : "", "loss ", LossText(result.loss));
  if (result.has_accuracy)
    text += MakeString("  accuracy ", FixedText(result.accuracy * 100, 2), " %");
  return text + (result.is_best ? "  best so far\n" : "\n");
}

void PrintEnd(const CommandLine& line, const std::string& folder, const TrainingEnd& end) {
  const bool stopped = end.reason == TrainingEnd::Reason::kStopped;
  if (line.Has("json")) {
    const JsonDocument json = NewJson();
    *json = {{"run", folder},
             {"steps", end.iteration},
             {"checkpoint", end.checkpoint},
             {"model", end.model_is_missing ? "" : folder + "/model.minidb"},
             {"interrupted", stopped}};
    PrintJson(*json);
  } else if (stopped) {
    std::cout << "saved " << OneLine(end.checkpoint) << "; continue with: caffe2 train --resume "
              << OneLine(folder) << "\n";
  } else {
    if (end.reason == TrainingEnd::Reason::kNoGain) std::cout << "ended: no gain\n";
    std::cout << "trained " << CountText(end.iteration, "step") << "; ";
    if (end.model_is_missing) {
      std::cout << "the net could not be written\n";
    } else {
      std::cout << "the net is in " << OneLine(folder) << "/model.minidb, its curves in "
                << OneLine(folder) << "/curves.svg\n";
    }
  }
}

int Train(const CommandLine& line, const std::string& folder, TrainingRun run, int rank) {
  SignalHandler signals(SignalHandler::Action::STOP, SignalHandler::Action::STOP);
  const int epochs = run.def().epochs();
  TrainProgressLine progress(epochs);
  TrainingCallbacks callbacks;
  if (rank == 0) callbacks.on_step = [&](const TrainingProgress& at) { progress.Show(at); };
  callbacks.lost_ranks = &LostRanksOf;
  callbacks.on_epoch = [&](const EpochResult& result) {
    progress.Clear();
    if (!line.Has("json") && rank == 0) std::cout << ResultText(result, epochs) << std::flush;
  };
  callbacks.on_warning = [&](const std::string& text) {
    progress.Clear();
    Warn(text);
  };
  callbacks.should_stop = [&] { return signals.CheckForSignals() != SignalHandler::Action::NONE; };
  const TrainingEnd end = run.Run(callbacks, AccessOf(line, folder, run.def()));
  progress.Clear();
  if (rank == 0) PrintEnd(line, folder, end);
  // An interrupted command has not done what it was asked for.
  return end.reason == TrainingEnd::Reason::kStopped || end.model_is_missing ? 1 : 0;
}

std::string OutputOf(const CommandLine& line) {
  if (!line.Has("output")) throw UsageError("the folder of the run is missing; want --output RUN");
  std::string folder = line.Text("output");
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

void WarnOfMissingWeights(const std::vector<std::string>& names) {
  if (!names.empty()) Warn("new weights, because --init does not have them: " + FirstNames(names));
}

// Whether caffe2 plan may open the files of the plan without --allow-files-anywhere.
bool AllowsFilesOf(const RunDef& run, const std::string& folder, const std::string& plan_file) {
  const FileAccess access =
      FileAccess::Below({".", fs::absolute(plan_file).parent_path().string()});
  try {
    for (const std::string& path : {run.data().path(), run.test().path(), run.init()}) {
      if (!path.empty()) (void)access.CheckRead(path);
    }
    (void)access.CheckWrite(folder + "/weights.minidb");
    return true;
  } catch (const EnforceNotMet&) {
    return false;
  }
}

// The plan loads first weights from a database in the folder of its results.
void CollectWeightsForPlan(const std::string& folder, RunDef* run) {
  const std::string weights = fs::absolute(folder + "/init.minidb").lexically_normal().string();
  const InitialWeights found =
      CollectInitialWeights(run->init(), MakeTrainingNets(run->train()), weights);
  run->set_init(weights);
  WarnOfMissingWeights(found.not_found);
}

int WritePlan(const CommandLine& line) {
  RunDef run = RunDefOf(line);
  TrainingData data;
  data.train = ReadDataFacts({run.data().type(), line.Text("data")});
  if (line.Has("test")) data.test = ReadDataFacts({run.test().type(), line.Text("test")});
  const std::string file = line.Text("write-plan");
  TrainingPlanOptions options;
  options.ranks = RanksOf(line);
  const std::string beside = fs::path(file).parent_path().string();
  options.folder = line.Has("output") ? OutputOf(line) : beside.empty() ? "." : beside;
  options.for_caffe2 = line.Has("plan-for-caffe2");
  std::error_code error;
  fs::create_directories(options.folder, error);
  CAFFE_ENFORCE(!error, "cannot create the folder \"", options.folder, "\": ", error.message());
  if (!run.init().empty()) CollectWeightsForPlan(options.folder, &run);
  const TrainingPlan plan = MakeTrainingPlan(run, data, options);
  if (NamesTextFormat(file)) {
    WriteProtoToTextFile(plan.plan, file);
  } else {
    WriteProtoToBinaryFile(plan.plan, file);
  }
  std::cout << OneLine(file) << ": " << CountText(run.epochs(), "epoch") << " of "
            << CountText(plan.steps_per_epoch, "step") << "; run it with: caffe2 plan "
            << OneLine(file);
  if (!plan.checkpoint_net.empty()) std::cout << " --on-interrupt " << OneLine(plan.checkpoint_net);
  if (!AllowsFilesOf(run, options.folder, file)) std::cout << " --allow-files-anywhere";
  std::cout << "\n";
  return 0;
}

// THROWS if an option is given that has no effect with the option `mode`. Those in `names` have one, and those that all
// commands have.
void CheckOptionsOf(const CommandLine& line, const char* mode, std::vector<std::string> names) {
  names.insert(names.end(),
               {mode, "json", "threads", "memory-limit", "module", "allow-files-anywhere"});
  for (const Option& option : TrainCommand().options) {
    if (line.Has(option.name) &&
        std::find(names.begin(), names.end(), option.name) == names.end()) {
      throw UsageError(MakeString("option --", option.name, " does not apply to --", mode));
    }
  }
}

int Evaluate(const CommandLine& line) {
  CheckPositional(line, 0, 0, "no file");
  CheckOptionsOf(line, "evaluate", {"data"});
  if (!line.Has("data")) throw UsageError("--evaluate needs --data DB");
  const std::string folder = line.Text("evaluate");
  RunDef run;
  run.mutable_data()->set_path(fs::absolute(line.Text("data")).string());
  const TestResult result = TestRun(folder, {"", line.Text("data")}, AccessOf(line, folder, run));
  if (line.Has("json")) {
    const JsonDocument json = NewJson();
    *json = {{"checkpoint", result.checkpoint},
             {"records", result.records},
             {"loss", JsonNumber(static_cast<float>(result.loss))}};
    if (result.has_accuracy) (*json)["accuracy"] = JsonNumber(static_cast<float>(result.accuracy));
    PrintJson(*json);
    return 0;
  }
  std::cout << OneLine(result.checkpoint) << " on " << CountText(result.records, "record")
            << ": loss " << LossText(result.loss);
  if (result.has_accuracy)
    std::cout << ", accuracy " << FixedText(result.accuracy * 100, 2) << " %";
  std::cout << "\n";
  return 0;
}

int TrainMain(const CommandLine& line) {
  if (line.Has("evaluate")) return Evaluate(line);
  if (line.Has("resume")) {
    CheckPositional(line, 0, 0, "no file, because the folder of --resume has all");
    CheckOptionsOf(line, "resume",
                   {"ranks", "rank", "size", "store", "run-id", "interface", "timeout"});
    const std::string folder = line.Text("resume");
    if (LaunchesRanks(line)) return LaunchRanks(line, folder);
    const RankOptions ranks = RanksOf(line);
    return Train(line, folder, TrainingRun(folder, ranks), ranks.rank);
  }
  if (line.Has("write-plan")) return WritePlan(line);
  const std::string folder = OutputOf(line);
  const bool launches = LaunchesRanks(line);
  const RankOptions ranks = launches ? PlannedRanks(line) : RanksOf(line);
  TrainingRun training(folder, RunDefOf(line), ranks);
  WarnOfMissingWeights(training.missing_weights());
  if (launches) return LaunchRanks(line, folder);
  return Train(line, folder, std::move(training), ranks.rank);
}

std::vector<std::string> OptimizerValues() {
  return {"adadelta", "adagrad", "adam", "rmsprop", "sgd"};
}
std::vector<std::string> ErrorValues() { return {"stop", "skip"}; }

}  // namespace

const Command& TrainCommand() {
  static const Command command = {
      .name = "train",
      .purpose =
          "trains a net, described by a TrainDef file, on a database of caffe2 db make; goes on "
          "after an end at any moment with --resume",
      .usage =
          "train NET --data DB [--test DB] --output RUN [options] | --resume RUN | --evaluate RUN "
          "--data DB",
      .examples =
          "  caffe2 db make images binaries/demo/stripes --output stripes.minidb\n"
          "  caffe2 train binaries/demo/stripes.pbtxt --data stripes.minidb --epochs 2 --output "
          "run1\n",
      .options = JoinOptions(
          {{{"data", "DB", "", "database to train on"},
            {"test", "DB", "", "database to test on after each epoch"},
            {"epochs", "N", "1", "how often all records are trained on"},
            {"output", "RUN", "", "new folder: log, curves, checkpoints, model.minidb"},
            {"resume", "RUN", "", "go on at the last checkpoint of a run"},
            {"evaluate", "RUN", "", "test the net of a run on --data"},
            {"seed", "N", "1", "seed of first weights, dropout, order and changes of images"},
            {"shuffle", "", "", "another order of the records in each epoch"},
            {"batch-size", "N", "", "records of a step, instead of the TrainDef's"},
            {"optimizer", "TYPE", "",
             "instead of the TrainDef's: sgd, adagrad, adadelta, adam, rmsprop", false, false,
             &OptimizerValues},
            {"rate", "R", "", "learning rate, instead of the TrainDef's"},
            {"momentum", "M", "", "of sgd and rmsprop, instead of the TrainDef's", false, true},
            {"weight-decay", "D", "", "instead of the TrainDef's", false, true},
            {"init", "FILE", "",
             "start with the weights of a checkpoint, a predictor's database or an init net, "
             "matched by name and shape"},
            {"stop-after", "N", "", "end after N epochs without gain", false, true},
            {"checkpoint-every", "N", "", "steps between two checkpoints, besides one each epoch"},
            {"keep", "N", "3", "checkpoints that stay, besides the best", false, true},
            {"labels", "FILE", "", "names of the classes, one on each line, for model.minidb",
             false, true},
            {"on-error", "WHAT", "stop", "a damaged record is an error (stop) or left out (skip)",
             false, true, &ErrorValues},
            {"predict-net", "FILE", "", "a net without a TrainDef, which these options describe"},
            {"init-net", "FILE", "", "with --predict-net: the net that fills its parameters", false,
             true},
            {"fresh-weights", "", "", "with --init-net: use its shapes, and draw new weights",
             false, true},
            {"loss", "BLOB", "",
             "with --predict-net: its loss, or softmax or squared to add one to its output"},
            {"accuracy", "BLOB", "", "with --predict-net: its accuracy, if it has one", false,
             true},
            {"blobs", "A,B,...", "",
             "with --predict-net: its inputs and the label, in the order of a record's tensors "
             "(data,label)",
             false, true},
            {"write-plan", "FILE", "",
             "write the plan of the training instead of running it (text if FILE ends in .pbtxt, "
             ".prototxt or .txt)"},
            {"plan-for-caffe2", "", "", "with --write-plan: a plan that Caffe2 itself can run",
             false, true},
            {"device", "NAME", "cpu", "device of the nets, e.g. cuda:0"},
            kAllowFilesOption},
           RankOptionTable(),
           ProcessOptions(),
           {kJsonOption}}),
      .run = TrainMain,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
