// Times the loading of a model in several ways, each in a process of its own, in turns:
//
//   parser     protobuf's parser reads the init net, its operators copy the weights
//   direct     LoadModel: weights are read straight into their tensors
//   packed     LoadModel of a packed model
//   prepared   the same, with the net and the weights prepared for this machine
//   touched    the same, and the pages of the file are read before the first run
//
// The files are in the page cache. "ready" is the time from the start of loading until a Predictor
// can run its first operator; "first run" follows it, and "warm" is the median of the runs behind
// it. Memory is that of the process, in MiB: the peak until the predictor is ready, the peak after
// the first run, what is resident after ten runs, and then with eight idle instances. "made" counts
// the weights that were prepared.

#include <algorithm>
#include <barrier>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "binaries/program_main.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/isa.h"
#include "caffe2_core/base/running_median.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/prepared_forms.h"
#include "tests/benchmarks/child_sample.h"
#include "tests/benchmarks/resnet50_net.h"

namespace caffe2rt::test {
namespace {

constexpr const char* kWays[] = {"parser", "direct", "packed", "prepared", "touched"};

struct Sample {
  double ready_ms = 0, first_run_ms = 0, warm_ms = 0;
  double ready_peak_mib = 0, peak_mib = 0, resident_mib = 0, eight_mib = 0;
  double sum = 0;   // of the output, weighted, to compare the ways
  double made = 0;  // weights
};

std::string FileOf(const std::string& folder, const std::string& name) {
  return folder + "/" + name;
}

// A field of /proc/self/status in MiB.
double StatusMib(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) return std::stod(line.substr(field.size() + 1)) / 1024;
  }
  return 0;
}

Tensor Input() {
  Tensor data(std::vector<int64_t>{1, 3, 224, 224}, CPU);
  float* values = data.mutable_data<float>();
  for (int64_t i = 0; i < data.numel(); ++i) values[i] = static_cast<float>(i % 255) / 255 - 0.5f;
  return data;
}

void WriteFiles(const std::string& folder) {
  std::filesystem::create_directories(folder);
  if (std::filesystem::exists(FileOf(folder, "prepared.c2pack"))) return;
  const ModelNets nets = ResNet50();
  WriteProtoToBinaryFile(nets.init, FileOf(folder, "init_net.pb"));
  WriteProtoToBinaryFile(nets.predict, FileOf(folder, "predict_net.pb"));
  Model model = LoadModel({.init_nets = {FileOf(folder, "init_net.pb")},
                           .predict_net = FileOf(folder, "predict_net.pb")});
  Workspace ws;
  RunInitNets(&model, &ws);
  ModelPacker packer(model, ws);
  packer.Write(FileOf(folder, "packed.c2pack"));
  *ws.CreateBlob("data")->GetMutableTensor(CPU) = Input();
  const Preparation prepared = packer.Prepare({.inputs = {"data"}, .kept = {"softmax"}}, &ws);
  PreparedNet(prepared.net, {}, nullptr, &ws).Run();
  packer.Write(FileOf(folder, "prepared.c2pack"));
}

Predictor Load(const std::string& way, const std::string& folder) {
  if (way == "parser") {
    NetDef init = LoadNet(FileOf(folder, "init_net.pb"));
    return Predictor(std::move(init), LoadNet(FileOf(folder, "predict_net.pb")));
  }
  if (way == "direct") {
    return Predictor(LoadModel({.init_nets = {FileOf(folder, "init_net.pb")},
                                .predict_net = FileOf(folder, "predict_net.pb")}));
  }
  const std::string file = way == "touched" ? "prepared" : way;
  return Predictor(LoadModel({.predict_net = FileOf(folder, file + ".c2pack")}));
}

// Reads one byte of each page of the files that are mapped from the folder.
void TouchPages(const std::string& folder) {
  constexpr uintptr_t kPage = 4096;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(folder) == std::string::npos) continue;
    const size_t dash = line.find('-');
    const uintptr_t end = std::stoull(line.substr(dash + 1), nullptr, 16);
    for (uintptr_t page = std::stoull(line, nullptr, 16); page < end; page += kPage)
      (void)*reinterpret_cast<const volatile char*>(page);
  }
}

// Lets the predictor create an instance for each of eight threads.
void RunInEightInstances(const Predictor& predictor, const Predictor::TensorMap& inputs) {
  std::barrier all_lease(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&predictor, &inputs, &all_lease] {
      Predictor own = predictor;
      Predictor::TensorMap outputs;
      for (int run = 0; run < 3; ++run) {
        all_lease.arrive_and_wait();
        CAFFE_ENFORCE(own(inputs, &outputs), "the net failed");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

Sample Measure(const std::string& way, const std::string& folder) {
  EnsureBuiltinOperators();
  Sample sample;
  const Timer timer;
  Predictor predictor = Load(way, folder);
  sample.ready_ms = timer.MilliSeconds();
  sample.ready_peak_mib = StatusMib("VmHWM");
  Predictor::TensorMap outputs;
  const Predictor::TensorMap inputs = {{"data", Input()}};
  if (way == "touched") TouchPages(folder);
  const Timer run_timer;
  CAFFE_ENFORCE(predictor(inputs, &outputs), "the net failed");
  sample.first_run_ms = run_timer.MilliSeconds();
  sample.peak_mib = StatusMib("VmHWM");
  RunningMedian warm;
  for (int i = 1; i < 10; ++i) {
    const Timer warm_timer;
    CAFFE_ENFORCE(predictor(inputs, &outputs), "the net failed");
    warm.Add(warm_timer.MilliSeconds());
  }
  sample.warm_ms = warm.Median();
  sample.resident_mib = StatusMib("VmRSS");
  RunInEightInstances(predictor, inputs);
  sample.eight_mib = StatusMib("VmRSS");
  sample.made = static_cast<double>(PreparedForms::Count().made);
  const Tensor& output = outputs.begin()->second;
  for (int64_t i = 0; i < output.numel(); ++i) {
    sample.sum += static_cast<double>(output.data<float>()[i]) * static_cast<double>(i + 1);
  }
  return sample;
}

Sample MeasureApart(const std::string& way, const std::string& folder) {
  return MeasureInChild("loading by way \"" + way + "\"", [&] { return Measure(way, folder); });
}

void Print(const std::map<std::string, std::vector<Sample>>& samples) {
  std::cout << "way        ready ms (least)   first run ms   warm ms   ready peak MiB   peak MiB   "
               "resident MiB   8 instances MiB   made\n";
  for (const char* way : kWays) {
    const std::vector<Sample>& all = samples.at(way);
    double least = all[0].ready_ms;
    for (const Sample& sample : all) least = std::min(least, sample.ready_ms);
    std::string name = way;
    name.resize(10, ' ');
    std::cout << name << " " << FixedText(Median(all, &Sample::ready_ms), 2) << " ("
              << FixedText(least, 2) << ")   " << FixedText(Median(all, &Sample::first_run_ms), 1)
              << "   " << FixedText(Median(all, &Sample::warm_ms), 1) << "   "
              << FixedText(Median(all, &Sample::ready_peak_mib), 0) << "   "
              << FixedText(Median(all, &Sample::peak_mib), 0) << "   "
              << FixedText(Median(all, &Sample::resident_mib), 0) << "   "
              << FixedText(Median(all, &Sample::eight_mib), 0) << "   "
              << FixedText(Median(all, &Sample::made), 0) << "\n";
  }
}

int Main(const CommandLine& line) {
  const std::string folder = line.Text("folder");
  // In a child, so that this process stays small.
  const pid_t writer = fork();
  CAFFE_ENFORCE(writer >= 0, "cannot start a process");
  if (writer == 0) {
    WriteFiles(folder);
    _exit(0);
  }
  int status = 0;
  waitpid(writer, &status, 0);
  CAFFE_ENFORCE(status == 0, "cannot write the models to \"", folder, "\"");
  std::cout << "ResNet-50, batch 1, " << IsaName(CpuIsa()) << ", " << GetNumThreads()
            << " thread, init net of "
            << std::filesystem::file_size(FileOf(folder, "init_net.pb")) / 1000000
            << " MB, medians of " << line.Text("rounds") << " rounds\n";
  std::map<std::string, std::vector<Sample>> samples;
  for (int64_t round = line.Integer("rounds", 1, 1000); round > 0; --round) {
    for (const char* way : kWays) samples[way].push_back(MeasureApart(way, folder));
  }
  Print(samples);
  for (const char* way : kWays) {
    CAFFE_ENFORCE_EQ(samples[way][0].sum, samples["parser"][0].sum, "output of way \"", way, "\"");
  }
  return 0;
}

const Program& Benchmark() {
  static const Program program = {
      .name = "load_benchmark",
      .purpose = "times the loading of ResNet-50 in several ways, each in a process of its own",
      .usage = "[options]",
      .options = {{"folder", "DIR", "build/load_benchmark",
                   "where the models (750 MB) are written and kept"},
                  {"rounds", "N", "7", "turns of each way"}},
      .notes = "The files are in the page cache. The ways must compute the same output.\n",
      .run = &Main};
  return program;
}

}  // namespace
}  // namespace caffe2rt::test

int main(int argc, char** argv) {
  return caffe2rt::ProgramMain(caffe2rt::test::Benchmark(), argc, argv);
}
