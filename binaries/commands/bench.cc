// caffe2 bench: times a net and its operators.

#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "binaries/commands/bench_explain.h"
#include "binaries/commands/bench_report.h"
#include "binaries/commands/bench_tune.h"
#include "binaries/commands/command.h"
#include "binaries/commands/images.h"
#include "binaries/commands/imported_model.h"
#include "binaries/commands/input_values.h"
#include "binaries/commands/model.h"
#include "binaries/commands/optimizing.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/inspect/net_profile.h"
#include "caffe2_core/inspect/profile_drawing.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/model/released_weights.h"
#include "operators/conv/conv_tuning.h"

namespace caffe2rt {
namespace {

double FailAbove(const CommandLine& line) {
  const std::vector<float> percent = line.Floats("fail-above");
  if (percent.size() != 1 || percent[0] < 0) {
    throw UsageError("option --fail-above is \"" + line.Text("fail-above") +
                     "\", want a percentage such as 5 or 2.5");
  }
  return percent[0];
}
int64_t Top(const CommandLine& line) { return line.Integer("top", 0, INT32_MAX); }

// THROWS if the net's median is more than --fail-above percent longer than before.
void CheckAgainst(const CommandLine& line, const NetProfile& profile,
                  const EarlierProfile& earlier) {
  if (!line.Has("fail-above")) return;
  const double limit_ms = earlier.median_ms * (1 + FailAbove(line) / 100);
  const double now_ms = profile.warm.median_ms;
  CAFFE_ENFORCE(now_ms <= limit_ms, "net \"", profile.net, "\" takes ", FixedText(now_ms, 4),
                " ms (median of the warm runs), want at most ", FixedText(limit_ms, 4),
                " ms: ", FixedText(earlier.median_ms, 4), " ms in \"", earlier.file, "\" and ",
                line.Text("fail-above"), "% more (--fail-above)");
}

void Report(const CommandLine& line, const NetProfile& profile,
            const std::optional<EarlierProfile>& earlier) {
  const auto top = static_cast<size_t>(Top(line));
  if (line.Has("json")) {
    const JsonDocument json = NewJson();
    WriteProfile(profile, json.get());
    if (line.Has("explain")) WriteKernels(profile, json.get());
    if (earlier) WriteComparison(profile, *earlier, &(*json)["against"]);
    PrintJson(*json);
    return;
  }
  PrintProfile(profile, top);
  if (line.Has("explain")) PrintKernels(profile);
  if (earlier) PrintComparison(profile, *earlier, top);
}

// Loads the model, feeds its inputs and creates its net.
class BenchJob {
 public:
  explicit BenchJob(const CommandLine& line) : line_(line), model_(LoadModel(line)) {
    ws_ = MakeWorkspace(line, &model_);
    const std::vector<FedInput> inputs = FeedInputs(line, model_, ws_.get());
    for (const FedInput& input : inputs) fed_.insert(input.blob);
    const InputImages images = FindInputImages(line, model_, inputs);
    fed_.insert(images.blob);
    if (!images.files.empty()) FeedImage(line, images, images.files[0], ws_.get());
    CheckInputsAreThere(model_, *ws_);
  }

  std::string Tune() { return TuneNet(model_, *ws_); }

  NetProfile Profile() {
    const ProfileOptions options{.warmup_runs = line_.Integer("warmup", 0, 1000000),
                                 .timed_runs = line_.Integer("iterations", 1, 10000000)};
    const PreparationOptions preparation = PreparationOptionsOf(line_, model_, fed_, {});
    const Preparation prepared = PrepareNet(std::move(model_.predict_net), preparation, ws_.get());
    WarnOfWorkers(prepared.net, line_.Text("executor"));
    PreparedNet net(prepared.net, {}, ArenasOf(line_), ws_.get(), line_.Text("executor"),
                    prepared.options);
    Timer timer;
    (void)net.PlanAhead(prepared);
    const auto release = [&] { (void)ReleaseWeights(net.net().debug_def(), fed_, ws_.get()); };
    release();
    const double ahead_ms = timer.MilliSeconds();
    int64_t runs = 0;
    NetProfile profile;
    WithCastHint(fed_, *ws_, [&] {
      profile = ProfileNet(
          &net.net(),
          [&] {
            if (runs++ == 1) release();  // what the first run has prepared; it is timed
            net.Run();
            return true;
          },
          options);
    });
    profile.ahead_ms = ahead_ms;
    WriteReport(line_, prepared, &net.net());
    return profile;
  }

 private:
  const CommandLine& line_;
  Model model_;
  std::unique_ptr<Workspace> ws_;
  std::set<std::string> fed_;
};

// Writes a table of the fastest algorithms, and whether the net is faster with them or with a graph
// pass that places convolutions on IDEEP.
void Tune(const CommandLine& line) {
  AtomicFile file(line.Text("tune"));  // THROWS before time is spent
  const std::string table = BenchJob(line).Tune();
  std::string best;
  double best_ms = HUGE_VAL;
  for (const char* layouts : {"onednn", "plain"}) {
    const std::string candidate = MakeString(table, "layouts\t", layouts, "\n");
    UseConvTuning(candidate);
    const double ms = BenchJob(line).Profile().warm.least_ms;
    std::cout << "the net with layouts " << layouts << ": " << FixedText(ms, 4) << " ms"
              << std::endl;
    if (ms >= best_ms) continue;
    best = candidate;
    best_ms = ms;
  }
  file.Write(best);
  file.Commit();
  std::cout << "written to " << line.Text("tune") << "; --tuning of run and bench reads it\n";
}

int Bench(const CommandLine& line) {
  CheckNetArgument(line);
  if (line.Has("fail-above") && !line.Has("against")) {
    throw UsageError("option --fail-above is given without --against FILE");
  }
  // Wrong numbers are reported before the net runs.
  if (line.Has("fail-above")) FailAbove(line);
  Top(line);
  std::optional<EarlierProfile> earlier;
  if (line.Has("against")) earlier = ReadEarlierProfile(line.Text("against"));
  if (line.Has("tune")) {
    Tune(line);
    return 0;
  }
  const NetProfile profile = BenchJob(line).Profile();
  if (line.Text("svg") == "-") {
    std::cout << ProfileAsSvg(profile);
  } else {
    if (line.Has("svg")) WriteFileAtomically(line.Text("svg"), ProfileAsSvg(profile));
    Report(line, profile, earlier);
  }
  if (earlier) CheckAgainst(line, profile, *earlier);
  return 0;
}

}  // namespace

const Command& BenchCommand() {
  static const Command command = {
      .name = "bench",
      .purpose = "times a net, its operators and its operator types",
      .usage = "bench --predict-net FILE | --predictor DB | PROTOTXT | ONNX [options]",
      .examples =
          "  caffe2 bench --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --input data=1,3,64,64\n"
          "  caffe2 bench --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --input data=8,3,64,64 --iterations 100 --json > before.json\n"
          "  caffe2 bench --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --input data=8,3,64,64 --iterations 100 --against before.json\n",
      .options = JoinOptions(
          {ModelOptions(),
           InputOptions(),
           {{"warmup", "N", "5", "runs before the timed ones, after the first"},
            {"iterations", "N", "20", "timed runs of the net, and of its operators"},
            {"top", "N", "0", "operators to print, the costliest first; 0: all"},
            {"svg", "FILE", "", "draw where the time goes; - is standard output"},
            {"against", "FILE", "", "compare with an earlier result of --json"},
            {"fail-above", "PERCENT", "",
             "with --against: fail if the net's median is longer than before by more than this"},
            {"tune", "FILE", "", "time convolution algorithms, write a table"},
            {"explain", "", "", "print the candidates for each convolution, and why one runs",
             false, true},
            kExecutorOption,
            kTuningOption,
            kNoMemoryPlanOption,
            kReportOption},
           OptimizeOptions(),
           ProcessOptions(),
           {kJsonOption}}),
      .run = Bench,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
