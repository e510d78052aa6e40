// Runs nets with Predictor on request, so that compare_with_engines.sh can time this project and
// other engines in turns, each in a process that stays alive.
//
// Each line of the standard input is a command; each answer is one line, "ok ..." or "error ...".
//
//   load FOLDER BATCH  reads init_net.pb and predict_net.pb, or with --format onnx model.onnx;
//                      and for each input BLOB_BATCH.npy. With --precision int8 it prefers predict_net_int8.pb, which
//                      caffe2 quantize wrote. Answers with the milliseconds from the files to a net that is ready to run.
//   run N              runs N times and answers with the milliseconds of each run
//   save FILE          writes the net's first output of the last run as a .npy file
//   memory             answers with the peak resident memory of the process in KiB
//   peak               answers with the peak rate of multiply-adds in GFLOP/s (fma_peak.h)
//   describe           answers with the instruction set and the number of threads
//   unload             frees the net
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "binaries/program_main.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/isa.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/predictor.h"
#include "tests/benchmarks/fma_peak.h"

namespace caffe2rt::test {
namespace {

// The peak resident memory of this process alone. getrusage would include the process that started
// it.
int64_t PeakResidentKib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    int64_t kib = 0;
    status >> kib;
    return kib;
  }
  CAFFE_THROW("/proc/self/status has no VmHWM");
}

class Session {
 public:
  Session(bool reads_onnx, Precision precision) : reads_onnx_(reads_onnx), precision_(precision) {}

  // THROWS if the command is not known or fails.
  std::string Execute(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "load") {
      std::string folder, batch;
      words >> folder >> batch;
      return Load(folder, batch);
    }
    if (command == "run") {
      int64_t runs = 0;
      words >> runs;
      return Run(runs);
    }
    if (command == "save") {
      std::string file;
      words >> file;
      CAFFE_ENFORCE(!outputs_.empty(), "no net has run");
      WriteNpy(file, outputs_[0]);
      return "";
    }
    if (command == "memory") return std::to_string(PeakResidentKib());
    if (command == "peak") return ShortText(FmaPeakGflops());
    if (command == "describe")
      return MakeString(IsaName(CpuIsa()), " ", GetNumThreads(), " threads");
    if (command == "unload") {
      Unload();
      return "";
    }
    CAFFE_THROW("command \"", command,
                "\" is not known, want load, run, save, memory, peak, describe or unload");
  }

 private:
  std::string Load(const std::string& folder, const std::string& batch) {
    CAFFE_ENFORCE(!folder.empty() && !batch.empty(), "want load FOLDER BATCH");
    Unload();
    const Timer timer;
    ModelFileOptions files;
    if (reads_onnx_) {
      files.predict_net = folder + "/model.onnx";
    } else {
      files.init_nets = {folder + "/init_net.pb"};
      const std::string with_ranges = folder + "/predict_net_int8.pb";
      const bool quantized = precision_ == Precision::kInt8 && std::filesystem::exists(with_ranges);
      files.predict_net = quantized ? with_ranges : folder + "/predict_net.pb";
    }
    PredictorOptions options;
    options.precision = precision_;
    predictor_.emplace(LoadModel(files), options);
    const double milliseconds = timer.MilliSeconds();
    for (const std::string& name : predictor_->input_names()) {
      inputs_.push_back(ReadNpy(folder + "/" + name + "_" + batch + ".npy"));
    }
    return ShortText(milliseconds);
  }

  std::string Run(int64_t runs) {
    CAFFE_ENFORCE(predictor_.has_value(), "no net is loaded");
    CAFFE_ENFORCE(runs >= 1 && runs <= 1'000'000, "want run N with 1 to 1000000 runs");
    std::string times;
    for (int64_t i = 0; i < runs; ++i) {
      const Timer timer;
      (*predictor_)(inputs_, &outputs_);
      times += (i == 0 ? "" : " ") + ShortText(timer.MilliSeconds());
    }
    return times;
  }

  void Unload() {
    outputs_.clear();
    inputs_.clear();
    predictor_.reset();
  }

  const bool reads_onnx_;
  const Precision precision_;
  std::optional<Predictor> predictor_;
  Predictor::TensorList inputs_, outputs_;
};

bool Answer(Session* session, const std::string& line) {
  try {
    const std::string result = session->Execute(line);
    std::cout << "ok" << (result.empty() ? "" : " ") << result << std::endl;
    return true;
  } catch (const std::exception& error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::cout << "error " << text << std::endl;
    return false;
  }
}

int Serve(const CommandLine& line) {
  SetNumThreads(static_cast<int>(line.Integer("threads", 1, 1024)));
  const std::string format = line.Text("format");
  if (format != "netdef" && format != "onnx")
    throw UsageError("option --format is \"" + format + "\", want netdef or onnx");
  Session session(format == "onnx", ParsePrecision(line.Text("precision")));
  bool good = true;
  for (const std::string& command : line.positional()) good = Answer(&session, command) && good;
  if (!line.positional().empty()) return good ? 0 : 1;
  for (std::string command; std::getline(std::cin, command);) Answer(&session, command);
  return 0;
}

const Program& Runner() {
  static const Program program = {
      .name = "engine_runner",
      .purpose = "runs nets with Predictor and times them, as commands on stdin say",
      .usage = "[options] [COMMAND ...]",
      .options = {{"threads", "N", "1", "number of threads per operator"},
                  {"format", "NAME", "netdef", "the files to load: netdef or onnx"},
                  {"precision", "NAME", "f32", "f32, bf16 or int8, as in caffe2 bench"}},
      .notes =
          "Commands: load FOLDER BATCH, run N, save FILE, memory, peak, describe, unload. Without\n"
          "commands as arguments, they are read from stdin, one per line.\n\n"
          "example:\n"
          "  engine_runner \"load build/engines/nets/resnet50 1\" \"run 10\" memory\n",
      .run = &Serve};
  return program;
}

}  // namespace
}  // namespace caffe2rt::test

int main(int argc, char** argv) {
  return caffe2rt::ProgramMain(caffe2rt::test::Runner(), argc, argv);
}
