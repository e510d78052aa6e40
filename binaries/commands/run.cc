// caffe2 run: runs a net on input files.

#include <absl/strings/str_join.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "binaries/commands/command.h"
#include "binaries/commands/images.h"
#include "binaries/commands/model.h"
#include "binaries/commands/optimizing.h"
#include "binaries/commands/outputs.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/net_check.h"

namespace caffe2rt {
namespace {

// Shows the progress of a job on a terminal, once it has taken two seconds.
class Progress {
 public:
  explicit Progress(size_t total) : total_(total), shown_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() { Clear(); }
  void Show(size_t done) {
    if (!shown_ || timer_.Seconds() < 2.f) return;
    std::fprintf(stderr, "\r%zu of %zu images", done, total_);  // std::cerr would escape "\r"
    printed_ = true;
  }
  // Call before anything else is printed.
  void Clear() {
    if (printed_) std::fputs("\r\033[K", stderr);
    printed_ = false;
  }

 private:
  const size_t total_;
  const bool shown_;
  bool printed_ = false;
  Timer timer_;
};

float Median(std::vector<float> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

class RunJob {
 public:
  explicit RunJob(const CommandLine& line)
      : line_(line),
        json_wanted_(line.Has("json")),
        options_(OutputOptionsOf(line)),
        model_(LoadModel(line)) {
    outputs_ = model_.outputs;
    for (const std::string& name : line.All("fetch")) {
      if (std::find(outputs_.begin(), outputs_.end(), name) == outputs_.end())
        outputs_.push_back(name);
    }
    if (line.Has("output")) saver_ = OutputSaver(line.Text("output"), outputs_);
    for (const std::string& name : outputs_) width_ = std::max(width_, name.size());
  }

  int Run() {
    ws_ = MakeWorkspace(line_, &model_);
    fed_ = FeedInputs(line_, model_, ws_.get());
    pictures_ = FindPictures(line_, model_, fed_);
    for (const FedInput& input : fed_) width_ = std::max(width_, input.blob.size());
    width_ = std::max(width_, pictures_.blob.size());
    (*json_)["net"] = model_.predict_net.name();
    const int code = pictures_.from_folder ? RunFolder() : RunOnce();
    // The first run prepares the weights and plans the memory. Its time counts only if there is no
    // other.
    const bool with_preparation = times_.size() == 1;
    if (times_.size() > 1) times_.erase(times_.begin());
    const float ms = Median(times_);
    const int threads = GetNumThreads();
    if (json_wanted_) {
      (*json_)["milliseconds"] = JsonNumber(ms);
      (*json_)["threads"] = threads;
      (*json_)["includes_preparation"] = with_preparation;
      PrintJson(*json_);
    } else {
      std::cout << FixedText(ms, ms < 1 ? 3 : 1)
                << (pictures_.files.empty() ? " ms per run, " : " ms per image, ") << threads
                << (threads == 1 ? " thread" : " threads")
                << (with_preparation ? ", with the preparation of the first run" : "")
                << " (details: caffe2 bench)\n";
    }
    return code;
  }

 private:
  const Blob& Fetch(const std::string& name) {
    const Blob* blob = ws_->FindBlob(name).get();
    if (blob == nullptr) {
      std::vector<std::string> names = ws_->Blobs();
      names.insert(names.end(), names_.begin(), names_.end());
      CAFFE_THROW("blob \"", name, "\" does not exist after the run", DidYouMean(name, names));
    }
    return OnCpu(*blob, &copies_[name]);
  }

  void Optimize() {
    std::set<std::string> fed = {pictures_.blob};
    for (const FedInput& input : fed_) fed.insert(input.blob);
    for (std::string& name : NamesWrittenBy(model_.predict_net)) names_.push_back(std::move(name));
    OptimizeModel(line_, fed, {outputs_.begin(), outputs_.end()}, ws_.get(), &model_);
  }

  // The blobs that are printed or saved.
  std::set<std::string> KeptBlobs() const {
    std::set<std::string> kept(outputs_.begin(), outputs_.end());
    for (const FedInput& input : fed_) kept.insert(input.blob);
    kept.insert(pictures_.blob);
    return kept;
  }

  // Runs all iterations. Creates the net on the first call.
  void RunNet() {
    if (net_ == nullptr) {
      CheckInputsAreThere(model_, *ws_);
      Optimize();
      net_ = CreatePredictNet(model_, ws_.get());
      memory_ = std::make_unique<NetMemory>(net_, KeptBlobs(), ArenasOf(line_));
    }
    const int64_t iterations = line_.Integer("iterations", 1, 1000000000);
    for (int64_t i = 0; i < iterations; ++i) {
      Timer timer;
      CAFFE_ENFORCE(memory_->Run(), "net \"", net_->Name(), "\" failed");
      times_.push_back(timer.MilliSeconds());
    }
  }

  void SaveOutputs() {
    for (const std::string& name : outputs_) {
      if (!saver_.files().contains(name)) continue;
      const Blob& blob = Fetch(name);
      if (pictures_.from_folder) {
        Collect(name, blob);
      } else {
        saver_.Save(name, blob);
      }
    }
    if (!pictures_.from_folder) saver_.Finish();
  }

  void WriteInput(const FedInput& input) {
    const Blob& blob = Fetch(input.blob);
    if (json_wanted_) {
      (*json_)["inputs"].emplace_back() = {
          {"name", input.blob}, {"type", BlobText(blob)}, {"source", input.source}};
    } else {
      std::cout << OneLine(input.blob) << std::string(width_ - input.blob.size() + 2, ' ')
                << BlobText(blob) << "   " << input.source << "\n";
    }
  }

  // Adds the outputs to `json` with --json, else prints them.
  void WriteOutputs(Json* json) {
    if (json_wanted_) (*json)["outputs"] = Json::array();
    for (const std::string& name : outputs_) {
      const Blob& blob = Fetch(name);
      if (json_wanted_) {
        WriteOutput(name, blob, options_, &(*json)["outputs"].emplace_back());
      } else if (saver_.files().contains(name) && !pictures_.from_folder && options_.top == 0) {
        std::cout << OneLine(name) << std::string(width_ - name.size() + 2, ' ') << BlobText(blob)
                  << "   saved as " << saver_.files().at(name) << "\n";
      } else {
        PrintOutput(name, blob, options_, width_);
      }
    }
    CheckLabelsFit();
  }

  // Warns if the labels match no output: they are probably from the wrong file.
  void CheckLabelsFit() {
    if (options_.labels.empty() || labels_checked_) return;
    labels_checked_ = true;
    for (const std::string& name : outputs_) {
      const Blob& blob = Fetch(name);
      if (!blob.IsType<Tensor>() || !blob.Get<Tensor>().IsShaped()) continue;
      const Tensor& tensor = blob.Get<Tensor>();
      const int64_t rows = tensor.dim() > 1 ? std::max<int64_t>(tensor.dim(0), 1) : 1;
      if (tensor.numel() == rows * static_cast<int64_t>(options_.labels.size())) return;
    }
    Warn(MakeString("file \"", line_.Text("labels"), "\" has ", options_.labels.size(),
                    " labels, but no output has as many classes"));
  }

  int RunOnce() {
    if (!pictures_.files.empty()) {
      fed_.push_back(FeedPicture(line_, pictures_, pictures_.files[0], ws_.get()));
    }
    std::vector<FedInput> inputs = fed_;
    if (json_wanted_) (*json_)["inputs"] = Json::array();
    for (const FedInput& input : inputs) WriteInput(input);
    RunNet();
    SaveOutputs();
    WriteOutputs(json_.get());
    return 0;
  }

  // Runs the net on one image at a time, because images may differ in size. A damaged image is
  // reported and skipped.
  int RunFolder() {
    Progress progress(pictures_.files.size());
    int failures = 0;
    Json& pictures = (*json_)["pictures"] = Json::array();
    for (size_t i = 0; i < pictures_.files.size(); ++i) {
      const std::string& file = pictures_.files[i];
      FedInput fed;
      try {
        fed = FeedPicture(line_, pictures_, file, ws_.get());
      } catch (const EnforceNotMet& error) {
        std::cout.flush();
        progress.Clear();
        std::cerr << "caffe2: " << error.message() << std::endl;
        ++failures;
        continue;
      }
      RunNet();
      progress.Clear();
      Json& picture = pictures.emplace_back();
      if (json_wanted_) {
        picture["file"] = file;
      } else {
        std::cout << fed.source << "\n";
      }
      SaveOutputs();
      WriteOutputs(&picture);
      std::cout.flush();
      progress.Show(i + 1);
    }
    SaveCollected();
    return failures == 0 ? 0 : 1;
  }

  // Collects the results for a folder, to be joined into one array per output. Each image adds the
  // rows that the net returns for it.
  void Collect(const std::string& name, const Blob& blob) {
    const Tensor& tensor = TensorToSave(name, blob);
    std::vector<Tensor>& all = collected_[name];
    CAFFE_ENFORCE(all.empty() || (all[0].dims() == tensor.dims() && all[0].meta() == tensor.meta()),
                  "cannot save output \"", name, "\" of a folder: its shape is ", BlobText(blob),
                  " for one image and [", all.empty() ? "" : absl::StrJoin(all[0].dims(), ", "),
                  "] for the first; --resize and --crop make images equal in size");
    all.push_back(tensor.Clone());
  }

  void SaveCollected() {
    for (const std::string& name : outputs_) {
      if (!collected_.contains(name)) continue;
      const std::vector<Tensor>& all = collected_.at(name);
      std::vector<int64_t> dims = all[0].dims();
      if (dims.empty()) dims = {1};
      dims[0] *= static_cast<int64_t>(all.size());
      Tensor joined(dims, CPU);
      const TypeMeta meta = all[0].meta();
      char* to = static_cast<char*>(joined.raw_mutable_data(meta));
      auto context = joined.CreateContext();
      for (const Tensor& tensor : all) {
        context->CopyItemsSameDevice(meta, static_cast<size_t>(tensor.numel()), tensor.raw_data(),
                                     to);
        to += tensor.nbytes();
      }
      saver_.Save(name, joined);
    }
    saver_.Finish();
  }

  const CommandLine& line_;
  const bool json_wanted_;
  const OutputOptions options_;
  Model model_;
  std::vector<std::string> outputs_;
  OutputSaver saver_;
  std::map<std::string, Blob> copies_;  // CPU copies of blobs on other devices
  size_t width_ = 0;
  std::unique_ptr<Workspace> ws_;
  std::vector<FedInput> fed_;
  Pictures pictures_;
  NetBase* net_ = nullptr;
  std::vector<std::string> names_;     // of the blobs that the net wrote before it was optimized
  std::unique_ptr<NetMemory> memory_;  // destroyed before the workspace
  std::vector<float> times_;
  bool labels_checked_ = false;
  std::map<std::string, std::vector<Tensor>> collected_;
  const JsonDocument json_ = NewJson();
};

int Run(const CommandLine& line) {
  CheckPositional(line, 0, 0, "no files");
  return RunJob(line).Run();
}

}  // namespace

const Command& RunCommand() {
  static const Command command = {
      .name = "run",
      .purpose = "runs a net on files and prints or saves its outputs",
      .usage = "run [--init-net FILE] --predict-net FILE | --predictor DB [options]",
      .examples =
          "  caffe2 run --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --image binaries/demo/stripes/pictures/rising_1.png --labels "
          "binaries/demo/stripes/labels.txt --top 2\n"
          "  caffe2 run --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --input data=1,3,64,64 --output results\n",
      .options = JoinOptions(
          {ModelOptions(),
           InputOptions(),
           {{"labels", "FILE", "", "names of the classes, one per line"},
            {"top", "N", "5", "classes to print per row"},
            {"fetch", "BLOB", "", "another blob to print or save; may be repeated", true},
            {"output", "PATH", "", "save outputs as PATH/BLOB.npy, or in the archive PATH.npz"},
            {"iterations", "N", "1", "runs; the first one is left out of the time"},
            kTuningOption,
            kNoMemoryPlanOption},
           OptimizeOptions(),
           ProcessOptions(),
           {kJsonOption}}),
      .run = Run};
  return command;
}

}  // namespace caffe2rt
