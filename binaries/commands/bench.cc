// caffe2 bench: times a net and its operators.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "binaries/commands/bench_tune.h"
#include "binaries/commands/command.h"
#include "binaries/commands/images.h"
#include "binaries/commands/model.h"
#include "binaries/commands/optimizing.h"
#include "binaries/json_output.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/base/utf8.h"

namespace caffe2rt {
namespace {

struct Times {
  double median = 0, least = 0, mean = 0;
};

Times TimesOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  Times times{
      .median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2,
      .least = values[0],
      .mean = 0};
  for (const double value : values) times.mean += value / static_cast<double>(values.size());
  return times;
}

struct OperatorTime {
  std::string type, output;
  double ms = 0;  // median
};

// Times each operator separately; each runs `iterations` times.
std::vector<OperatorTime> TimeOperators(NetBase* net, NetMemory* memory, int64_t iterations) {
  const std::vector<OperatorBase*> operators = net->GetOperators();
  std::vector<std::vector<double>> samples(operators.size());
  Timer timer;
  for (int64_t k = 0; k < iterations; ++k) {
    memory->Begin();
    for (size_t i = 0; i < operators.size(); ++i) {
      timer.Start();
      CAFFE_ENFORCE(operators[i]->Run(), "operator ", i, " (", operators[i]->Describe(),
                    ") failed");
      samples[i].push_back(timer.NanoSeconds() / 1e6);
    }
    memory->End(true);
  }
  std::vector<OperatorTime> times;
  for (size_t i = 0; i < operators.size(); ++i) {
    const OperatorDef& def = operators[i]->debug_def();
    times.push_back(
        {def.type(), def.output_size() > 0 ? def.output(0) : "", TimesOf(samples[i]).median});
  }
  return times;
}

std::vector<std::pair<std::string, double>> ByType(const std::vector<OperatorTime>& operators) {
  std::map<std::string, double> sums;
  for (const OperatorTime& op : operators) sums[op.type] += op.ms;
  std::vector<std::pair<std::string, double>> types(sums.begin(), sums.end());
  std::sort(types.begin(), types.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  return types;
}

// Enough digits to be meaningful for short and long times.
std::string Milliseconds(double ms) { return FixedText(ms, ms < 0.1 ? 7 : 4); }

void Print(const std::string& net, const Times& times, int64_t iterations,
           const std::vector<OperatorTime>& operators) {
  std::cout << "net \"" << OneLine(net) << "\": median " << Milliseconds(times.median)
            << " ms, least " << Milliseconds(times.least) << " ms, mean "
            << Milliseconds(times.mean) << " ms of " << iterations << " runs, " << GetNumThreads()
            << (GetNumThreads() == 1 ? " thread\n" : " threads\n");
  double sum = 0;
  for (const OperatorTime& op : operators) sum += op.ms;
  const auto share = [&](double ms) {
    const auto column = [](const std::string& text, size_t width) {
      return std::string(width - std::min(width, text.size()), ' ') + text;
    };
    return MakeString(column(FixedText(ms, 4), 12), " ms ",
                      column(FixedText(sum > 0 ? 100 * ms / sum : 0, 1), 5), " %  ");
  };
  std::cout << "by operator:\n";
  for (size_t i = 0; i < operators.size(); ++i) {
    std::cout << share(operators[i].ms) << i << " " << OneLine(operators[i].type) << "  "
              << OneLine(operators[i].output) << "\n";
  }
  std::cout << "by type:\n";
  for (const auto& [type, ms] : ByType(operators)) std::cout << share(ms) << type << "\n";
}

void PrintAsJson(const std::string& net, const Times& times, int64_t iterations,
                 const std::vector<OperatorTime>& operators) {
  const JsonDocument json = NewJson();
  *json = {{"net", net},
           {"median_ms", times.median},
           {"min_ms", times.least},
           {"mean_ms", times.mean},
           {"iterations", iterations},
           {"threads", GetNumThreads()}};
  Json& list = (*json)["operators"] = Json::array();
  for (size_t i = 0; i < operators.size(); ++i) {
    list.emplace_back() = {{"index", i},
                           {"type", operators[i].type},
                           {"output", operators[i].output},
                           {"median_ms", operators[i].ms}};
  }
  Json& types = (*json)["types"] = Json::object();
  for (const auto& [type, ms] : ByType(operators)) types[type] = ms;
  PrintJson(*json);
}

int Bench(const CommandLine& line) {
  CheckPositional(line, 0, 0, "no files");
  const int64_t warmup = line.Integer("warmup", 0, 1000000),
                iterations = line.Integer("iterations", 1, 10000000);
  Model model = LoadModel(line);
  const std::unique_ptr<Workspace> ws = MakeWorkspace(line, &model);
  std::set<std::string> fed;
  for (const FedInput& input : FeedInputs(line, model, ws.get())) fed.insert(input.blob);
  const Pictures pictures = FindPictures(line, model);
  fed.insert(pictures.blob);
  if (!pictures.files.empty()) FeedPicture(line, pictures, pictures.files[0], ws.get());
  CheckInputsAreThere(model, *ws);
  if (line.Has("tune")) {
    TuneNet(model, *ws, line.Text("tune"));
    return 0;
  }
  OptimizeModel(line, fed, {}, ws.get(), &model);
  NetBase* net = CreatePredictNet(model, ws.get());
  NetMemory memory(net, {}, ArenasOf(line));
  for (int64_t i = 0; i < warmup; ++i)
    CAFFE_ENFORCE(memory.Run(), "net \"", net->Name(), "\" failed");
  std::vector<double> samples;
  Timer timer;
  for (int64_t i = 0; i < iterations; ++i) {
    timer.Start();
    CAFFE_ENFORCE(memory.Run(), "net \"", net->Name(), "\" failed");
    samples.push_back(timer.NanoSeconds() / 1e6);
  }
  const std::vector<OperatorTime> operators = TimeOperators(net, &memory, iterations);
  (line.Has("json") ? PrintAsJson : Print)(net->Name(), TimesOf(samples), iterations, operators);
  return 0;
}

}  // namespace

const Command& BenchCommand() {
  static const Command command = {
      .name = "bench",
      .purpose = "times a net, its operators and its operator types",
      .usage = "bench [--init-net FILE] --predict-net FILE | --predictor DB [options]",
      .examples =
          "  caffe2 bench --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --input data=1,3,64,64\n"
          "  caffe2 bench --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --input data=8,3,64,64 --iterations 100 --json\n",
      .options =
          JoinOptions({ModelOptions(),
                       InputOptions(),
                       {{"warmup", "N", "5", "runs before the timed ones"},
                        {"iterations", "N", "20", "timed runs"},
                        {"tune", "FILE", "",
                         "time the net's convolution algorithms, write a table of the fastest"},
                        kNoMemoryPlanOption},
                       OptimizeOptions(),
                       ProcessOptions(),
                       {kJsonOption}}),
      .run = Bench};
  return command;
}

}  // namespace caffe2rt
