// Compares the loading of VGG-19 as a model of Caffe (prototxt and caffemodel) with that as an init
// net and a predict net, each in a process of its own, in turns. The weights are random and the same.
//
// "loaded" is what the process holds when LoadModel returns, "run" what it holds after the first run:
// its anonymous memory, and what the weights are of it. "first result" is the time from the start of
// LoadModel to the end of the first run. The files are in the page cache. --check makes the limits
// errors.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "binaries/program_main.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/benchmarks/child_sample.h"
#include "tests/benchmarks/vgg19_files.h"

namespace caffe2rt::test {
namespace {

constexpr const char* kForms[] = {"NetDef", "Caffe"};

struct Sample {
  double load_ms = 0, first_result_ms = 0, loaded_bytes = 0, run_bytes = 0;
  double sum = 0;  // of the output, weighted, to compare the forms
};

double AnonymousBytes() {
  std::ifstream smaps("/proc/self/smaps_rollup");
  constexpr std::string_view kField = "Anonymous:";
  for (std::string line; std::getline(smaps, line);) {
    if (line.starts_with(kField)) return std::stod(line.substr(kField.size())) * 1024;
  }
  CAFFE_THROW("the kernel does not report the anonymous memory of a process");
}

Tensor Input() {
  Tensor data(std::vector<int64_t>{1, 3, 224, 224}, CPU);
  float* values = data.mutable_data<float>();
  for (int64_t i = 0; i < data.numel(); ++i) values[i] = static_cast<float>(i % 255) / 255 - 0.5f;
  return data;
}

Sample Measure(const std::string& form, const Vgg19Files& files) {
  EnsureBuiltinOperators();
  const Predictor::TensorMap inputs = {{"data", Input()}};
  const ModelFileOptions options =
      form == "Caffe"
          ? ModelFileOptions{.predict_net = files.prototxt, .weights = files.caffemodel}
          : ModelFileOptions{.init_nets = {files.init_net}, .predict_net = files.predict_net};
  Sample sample;
  const Timer timer;
  Model model = LoadModel(options);
  sample.load_ms = timer.MilliSeconds();
  sample.loaded_bytes = AnonymousBytes();
  const double asking_ms = timer.MilliSeconds() - sample.load_ms;
  Predictor predictor(std::move(model));
  Predictor::TensorMap outputs;
  CAFFE_ENFORCE(predictor(inputs, &outputs), "the net failed");
  sample.first_result_ms = timer.MilliSeconds() - asking_ms;
  sample.run_bytes = AnonymousBytes();
  const Tensor& output = outputs.begin()->second;
  for (int64_t i = 0; i < output.numel(); ++i) {
    sample.sum += static_cast<double>(output.data<float>()[i]) * static_cast<double>(i + 1);
  }
  return sample;
}

Sample MeasureApart(const std::string& form, const Vgg19Files& files) {
  return MeasureInChild("loading as " + form, [&] { return Measure(form, files); });
}

void Print(const std::map<std::string, std::vector<Sample>>& samples, double weight_bytes) {
  std::cout << "form     load ms   first result ms (least)   loaded MB (of the weights)   "
               "run MB (of the weights)\n";
  for (const char* form : kForms) {
    const std::vector<Sample>& all = samples.at(form);
    double least = all[0].first_result_ms;
    for (const Sample& sample : all) least = std::min(least, sample.first_result_ms);
    const double loaded = Median(all, &Sample::loaded_bytes), run = Median(all, &Sample::run_bytes);
    std::string name = form;
    name.resize(8, ' ');
    std::cout << name << " " << FixedText(Median(all, &Sample::load_ms), 1) << "   "
              << FixedText(Median(all, &Sample::first_result_ms), 1) << " (" << FixedText(least, 1)
              << ")   " << FixedText(loaded / 1e6, 1) << " (" << FixedText(loaded / weight_bytes, 3)
              << ")   " << FixedText(run / 1e6, 1) << " (" << FixedText(run / weight_bytes, 3)
              << ")\n";
  }
}

void Check(const std::map<std::string, std::vector<Sample>>& samples, double weight_bytes) {
  const std::vector<Sample>&net = samples.at("NetDef"), &caffe = samples.at("Caffe");
  CAFFE_ENFORCE_LE(Median(caffe, &Sample::loaded_bytes), 1.1 * weight_bytes,
                   "bytes of anonymous memory when the model of Caffe is loaded");
  CAFFE_ENFORCE_LE(Median(caffe, &Sample::run_bytes), 1.02 * Median(net, &Sample::run_bytes),
                   "bytes of anonymous memory after the first run of the model of Caffe");
  CAFFE_ENFORCE_LE(Median(caffe, &Sample::first_result_ms), Median(net, &Sample::first_result_ms),
                   "milliseconds to the first result of the model of Caffe");
}

int Main(const CommandLine& line) {
  const std::string folder = line.Text("folder");
  // In a child, so that this process stays small.
  const pid_t writer = fork();
  CAFFE_ENFORCE(writer >= 0, "cannot start a process");
  if (writer == 0) {
    WriteVgg19(folder);
    _exit(0);
  }
  int status = 0;
  waitpid(writer, &status, 0);
  CAFFE_ENFORCE(status == 0, "cannot write the models to \"", folder, "\"");
  const Vgg19Files files = Vgg19FilesIn(folder);
  const auto weight_bytes = static_cast<double>(kVgg19WeightBytes);
  std::cout << "VGG-19, batch 1, " << GetNumThreads() << " thread, "
            << FixedText(weight_bytes / 1e6, 1) << " MB of weights, medians of "
            << line.Text("rounds") << " rounds\n";
  std::map<std::string, std::vector<Sample>> samples;
  for (int64_t round = line.Integer("rounds", 1, 1000); round > 0; --round) {
    for (const char* form : kForms) samples[form].push_back(MeasureApart(form, files));
  }
  Print(samples, weight_bytes);
  const double want = samples["NetDef"][0].sum, got = samples["Caffe"][0].sum;
  CAFFE_ENFORCE(std::abs(got - want) <= 1e-6 * std::abs(want), "the weighted sum of the output is ",
                got, ", want that of the NetDef, ", want);
  if (line.Has("check")) Check(samples, weight_bytes);
  return 0;
}

const Program& Benchmark() {
  static const Program program = {
      .name = "import_benchmark",
      .purpose = "compares loading VGG-19 as a model of Caffe with loading it as a NetDef",
      .usage = "[options]",
      .options = {{"folder", "DIR", "build/import_benchmark",
                   "where the models (1.3 GB) are written and kept"},
                  {"rounds", "N", "5", "turns of each form"},
                  {"check", "", "", "fail if the model of Caffe needs more memory or time"}},
      .notes = "The files are in the page cache. Both forms must compute the same output.\n",
      .run = &Main};
  return program;
}

}  // namespace
}  // namespace caffe2rt::test

int main(int argc, char** argv) {
  return caffe2rt::ProgramMain(caffe2rt::test::Benchmark(), argc, argv);
}
