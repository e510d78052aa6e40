// caffe2 plan: runs a PlanDef.

#include <absl/strings/str_join.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "binaries/commands/command.h"
#include "binaries/commands/file_argument.h"
#include "binaries/commands/file_policy.h"
#include "binaries/commands/model.h"
#include "binaries/commands/output_saver.h"
#include "binaries/commands/outputs.h"
#include "binaries/commands/plan_progress.h"
#include "binaries/commands/plan_targets.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/signal_handler.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/executors/net_types.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/device_placement.h"
#include "caffe2_core/plan/plan_executor.h"

namespace caffe2rt {
namespace {

// Nets without a name, and the steps that run them, get the name of the file.
void NameNets(const std::string& stem, PlanDef* plan) {
  for (NetDef& net : *plan->mutable_network()) NameNet(&net, stem);
}
void NameNets(const std::string& stem, ExecutionStep* step) {
  for (std::string& name : *step->mutable_network()) {
    if (name.empty()) name = stem;
  }
  for (ExecutionStep& substep : *step->mutable_substep()) NameNets(stem, &substep);
}

void SetDevices(const CommandLine& line, PlanDef* plan) {
  std::set<std::string> missing, on_cpu;
  for (NetDef& net : *plan->mutable_network()) {
    if (line.Text("device") == "cpu") {
      MoveToCPU(&net);
      (void)MoveUnsupportedToCPU(&net);  // of operators that IDEEP lacks
      continue;
    }
    for (const std::string& name : FallBackToCPU(&net)) missing.insert(name);
    for (const std::string& type : MoveUnsupportedToCPU(&net)) on_cpu.insert(type);
  }
  if (!missing.empty()) {
    Warn(MakeString("plan \"", plan->name(), "\" asks for ", absl::StrJoin(missing, ", "),
                    ", which is not available: it runs on the CPU"));
  }
  if (!on_cpu.empty()) {
    Warn(
        MakeString("operators without an implementation for the device that they name run on the "
                   "CPU: ",
                   absl::StrJoin(on_cpu, ", ")));
  }
}

void WarnOfFirstWithTooManyWorkers(const PlanDef& plan) {
  for (const NetDef& net : plan.network()) {
    if (TooManyWorkers(net, net.type()).empty()) continue;
    return WarnOfWorkers(net, net.type());
  }
}

// Moves the inputs to the devices of the operators that read them first. No net can copy them: when
// a net of a plan is created, its other inputs may not exist, so that their devices are not known.
void PlaceInputs(const std::vector<const NetDef*>& nets, const std::vector<FedInput>& inputs,
                 Workspace* ws) {
  for (const FedInput& input : inputs) {
    for (const NetDef* net : nets) {
      const std::optional<DeviceOption> device = DeviceOfFirstReader(*net, input.blob);
      if (!device.has_value()) continue;
      MoveBlobToDevice(input.blob, *device, ws);
      break;
    }
  }
}

PlanDef LoadPlan(const CommandLine& line, const std::string& path) {
  const FileKind kind = KindOfFile(line, path);
  if (kind != FileKind::kPlanDef)
    ThrowUnwantedKind(path, kind, "a PlanDef (caffe2 run accepts nets)");
  PlanDef plan;
  LoadProto(path, &plan, KindCheckOf(line));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  NameNets(FileStem(path), &plan);
  for (ExecutionStep& step : *plan.mutable_execution_step()) NameNets(FileStem(path), &step);
  for (NetDef& net : *plan.mutable_network())
    FindDatabases(&net, line.Text("root"), folder.empty() ? "." : folder);
  SetDevices(line, &plan);
  return plan;
}

// The net of --on-interrupt, or null.
const NetDef* NetForInterrupt(const CommandLine& line, const PlanDef& plan) {
  if (!line.Has("on-interrupt")) return nullptr;
  std::vector<std::string> names;
  for (const NetDef& net : plan.network()) {
    if (net.name() == line.Text("on-interrupt")) return &net;
    names.push_back(net.name());
  }
  throw UsageError("option --on-interrupt is \"" + line.Text("on-interrupt") +
                   "\", which is no net of the plan" +
                   DidYouMean(line.Text("on-interrupt"), names));
}

// THROWS if the plan fails, or if a signal stops it early. In the second case `on_interrupt`, if it is
// not null, runs first, between two iterations of the plan.
void RunToTheEnd(const PlanDef& plan, PlanOptions options, const NetDef* on_interrupt,
                 Workspace* ws) {
  SignalHandler signals(SignalHandler::Action::STOP, SignalHandler::Action::STOP);
  PlanProgress progress;
  std::atomic<bool> interrupted{false};
  options.on_iteration = [&](const PlanPosition& position) { progress.Enter(position); };
  const auto is_interrupted = [&] {
    if (signals.CheckForSignals() != SignalHandler::Action::NONE) interrupted = true;
    return interrupted.load();
  };
  // Without this function, a signal also stops the net that is running.
  if (on_interrupt != nullptr) options.should_continue = [&](int) { return !is_interrupted(); };
  const bool succeeded = ws->RunPlan(plan, options);
  const std::string position = progress.PositionText();
  if (is_interrupted()) {
    const std::string where = position.empty() ? ", before its first step" : " in " + position;
    if (on_interrupt != nullptr && !position.empty()) ws->RunNetOnce(*on_interrupt);
    CAFFE_THROW("plan \"", plan.name(), "\" was interrupted by a signal", where,
                on_interrupt != nullptr && !position.empty()
                    ? "; net \"" + on_interrupt->name() + "\" has run"
                    : "");
  }
  CAFFE_ENFORCE(succeeded, "plan \"", plan.name(), "\" failed",
                position.empty() ? "" : " in " + position);
}

int Plan(const CommandLine& line) {
  CheckPositional(line, 1, 1, "one plan file");
  const std::string device = line.Text("device");
  if (device != "auto" && device != "cpu") {
    throw UsageError("option --device is \"" + device +
                     "\", want auto or cpu: a plan's nets specify their devices" +
                     DidYouMean(device, {"auto", "cpu"}));
  }
  if (line.Has("output") && !line.Has("fetch"))
    throw UsageError("option --output is given without --fetch BLOB, which it saves");
  const PlanDef plan = LoadPlan(line, line.positional()[0]);
  OutputOptions options = OutputOptionsOf(line);
  // A plan fetches weights and counters more often than scores.
  options.finds_probabilities = false;
  options.prints_rows = true;
  OutputSaver saver;
  if (line.Has("output")) saver = OutputSaver(line.Text("output"), line.All("fetch"));
  saver.CheckFiles();
  Workspace ws(line.Text("root"));
  ws.SetFileAccess(FileAccessOf(line, line.Text("root"), {line.positional()[0]}));
  std::vector<const NetDef*> nets;
  for (const NetDef& net : plan.network()) nets.push_back(&net);
  if (line.Has("seed"))
    ws.SetRandomSeed(static_cast<uint64_t>(line.Integer("seed", 0, UINT32_MAX)));
  PlaceInputs(nets, FeedInputs(line, nets, &ws), &ws);
  CheckFetchedNames(line, nets, ws.Blobs());
  const NetDef* const on_interrupt = NetForInterrupt(line, plan);
  WarnOfFirstWithTooManyWorkers(plan);
  if (line.Has("overwrite")) RemoveTargetsOf(plan, ws);
  Timer timer;
  RunToTheEnd(plan, PlanOptions{.allow_races = line.Has("allow-races")}, on_interrupt, &ws);
  const float ms = timer.MilliSeconds();
  const JsonDocument json = NewJson();
  *json = {{"plan", plan.name()}, {"milliseconds", JsonNumber(ms)}};
  Json& outputs = (*json)["outputs"] = Json::array();
  for (const std::string& name : line.All("fetch")) {
    const Blob* blob = ws.FindBlob(name).get();
    CAFFE_ENFORCE(blob != nullptr, "blob \"", name, "\" does not exist after the plan",
                  DidYouMean(name, ws.Blobs()));
    Blob copy;
    blob = &OnCpu(*blob, &copy);
    if (saver.files().contains(name)) saver.Save(name, *blob);
    if (line.Has("json")) {
      WriteOutput(name, *blob, options, &outputs.emplace_back());
    } else {
      PrintOutput(name, *blob, options, name.size());
    }
  }
  saver.Finish();
  if (line.Has("json")) {
    PrintJson(*json);
    return 0;
  }
  std::cout << "plan \"" << OneLine(plan.name())
            << "\" done: " << CountText(plan.network_size(), "net") << ", "
            << CountText(plan.execution_step_size(), "step") << ", " << FixedText(ms, 1) << " ms\n";
  return 0;
}

}  // namespace

const Command& PlanCommand() {
  static const Command command = {
      .name = "plan",
      .purpose = "runs a plan: its nets, in the order of its steps",
      .usage = "plan FILE [options]",
      .examples =
          "  caffe2 plan binaries/demo/doubling_plan.pbtxt --fetch x\n"
          "  caffe2 plan binaries/demo/doubling_plan.pbtxt --fetch x --output results\n",
      .options = JoinOptions(
          {{kAsOption,
            {"device", "NAME", "auto",
             "auto: the nets' devices, or the CPU if not available; cpu: the CPU"},
            {"root", "DIR", ".", "folder of relative `db` paths, searched before the plan's"},
            kAllowFilesOption,
            {"input", "BLOB=VALUE", "",
             "FILE (.npy, .npz, TensorProto, image), d0,d1,... (random), or numbers: "
             "320,320,0.625; fed before the plan; may be repeated",
             true},
            kCastOption,
            {"seed", "N", "1", "seed of random inputs and, if given, of the nets"},
            {"fetch", "BLOB", "", "blob to print, and to save, after the plan; may be repeated",
             true},
            {"top", "N", "", "print the N highest values of each row of a fetched blob"},
            {"output", "PATH", "",
             "save fetched blobs as PATH/BLOB.npy, or in the archive PATH.npz"},
            {"overwrite", "", "", "replace the databases that the plan creates, if they exist"},
            {"on-interrupt", "NET", "",
             "a net of the plan, such as one that saves, that runs when Ctrl-C ends the plan"},
            {"allow-races", "", "",
             "let concurrent steps write blobs that others use; only for trusted plans"}},
           {{"threads", "N", "1", "threads per operator"},
            ProcessOptions()[1],
            ProcessOptions()[2]},
           {kJsonOption}}),
      .run = Plan,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
