// caffe2 run: runs a net on input files.

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>

#include "binaries/commands/boxes.h"
#include "binaries/commands/command.h"
#include "binaries/commands/images.h"
#include "binaries/commands/imported_model.h"
#include "binaries/commands/input_values.h"
#include "binaries/commands/model.h"
#include "binaries/commands/optimizing.h"
#include "binaries/commands/output_saver.h"
#include "binaries/commands/outputs.h"
#include "binaries/commands/progress.h"
#include "binaries/commands/run_folder.h"
#include "binaries/commands/run_nan.h"
#include "binaries/commands/run_receipt.h"
#include "binaries/commands/run_stop.h"
#include "binaries/commands/run_values.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/running_median.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/stated_inputs.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/model/released_weights.h"
#include "caffe2_core/tensor/prepared_forms.h"

namespace caffe2rt {
namespace {

class RunJob {
 public:
  explicit RunJob(const CommandLine& line)
      : line_(line),
        json_wanted_(line.Has("json")),
        options_(OutputOptionsOf(line)),
        image_saver_(line),
        model_(LoadModel(line)),
        boxes_(line, model_.predict_net),
        values_(line, &model_.predict_net),
        nan_(line),
        receipt_(line) {
    if (options_.labels.empty() && !model_.image.classes.empty()) {
      options_.labels = model_.image.classes;
      options_.top = line.Integer("top", 1, 1000000);
    }
    outputs_ = values_.Outputs(model_.outputs, BlobsOfLayers(line.All("fetch"), model_));
    std::set<std::string> blobs = BlobNames({&model_.predict_net});
    for (const auto& [layer, blob] : model_.layer_blobs) blobs.insert(layer);
    image_saver_.FindTargets(blobs);
    for (const ImageSaver::Target& target : image_saver_.targets()) {
      if (std::find(outputs_.begin(), outputs_.end(), target.blob) == outputs_.end())
        outputs_.push_back(target.blob);
    }
    for (const std::string& name : boxes_.blobs()) {
      if (std::find(outputs_.begin(), outputs_.end(), name) == outputs_.end())
        outputs_.push_back(name);
    }
    if (line.Has("output")) saver_ = OutputSaver(line.Text("output"), outputs_, values_.all());
    saver_.SetFormats(StatedOutputFormats(model_.predict_net));
    saver_.CheckFiles();
    for (const ImageSaver::Target& target : image_saver_.targets()) CheckWritable(target.file);
    if (!image_saver_.box_file().empty()) CheckWritable(image_saver_.box_file());
    for (const std::string& name : outputs_) width_ = WiderNames(width_, values_.TitleOf(name));
  }

  int Run() {
    ws_ = MakeWorkspace(line_, &model_);
    fed_ = FeedInputs(line_, model_, ws_.get());
    scale_ = ScaleOfImInfo(*ws_);
    images_ = FindInputImages(line_, model_, fed_, ImageCount::kAll);
    std::vector<std::string> existing = ws_->Blobs();
    existing.push_back(images_.blob);
    for (const auto& [layer, blob] : model_.layer_blobs) existing.push_back(layer);
    CheckFetchedNames(line_, {&model_.predict_net}, existing);
    for (const FedInput& input : fed_) width_ = WiderNames(width_, input.blob);
    width_ = WiderNames(width_, images_.blob);
    if (images_.several) return RunOnImages();
    if (line_.Has("json-lines"))
      throw UsageError("option --json-lines is given without images, want --json");
    (*json_)["net"] = model_.predict_net.name();
    RunOnce();
    WriteReport(line_, preparation_, &net_->net());
    ReportNaN(json_.get());
    if (json_wanted_) {
      (*json_)["milliseconds"] = JsonNumber(MillisecondsPerRun());
      (*json_)["threads"] = GetNumThreads();
      (*json_)["includes_preparation"] = times_.count() == 0;
      (*json_)["first_run_milliseconds"] = JsonNumber(first_ms_.value_or(0));
      if (ahead_ms_) (*json_)["ahead_milliseconds"] = JsonNumber(*ahead_ms_);
      const PreparedForms::Counts counts = PreparedForms::Count();
      (*json_)["prepared_weights"] = {{"made", counts.made}, {"mapped", counts.mapped}};
      PrintJson(*json_);
    } else {
      PrintTime(images_.files.empty() ? "run" : "image");
    }
    return 0;
  }

 private:
  const Blob& Fetch(const std::string& name) {
    const Blob* blob = values_.Find(name);
    if (blob == nullptr) blob = ws_->FindBlob(name).get();
    if (blob == nullptr) {
      std::vector<std::string> names = ws_->Blobs();
      names.insert(names.end(), names_.begin(), names_.end());
      const std::string close = DidYouMean(name, names);
      CAFFE_THROW("blob \"", name, "\" does not exist after the run",
                  close.empty() ? "; outputs of the net: " + FirstNames(model_.outputs) : close);
    }
    return OnCpu(*blob, &copies_[name]);
  }

  std::set<std::string> FedBlobs() const {
    std::set<std::string> fed = {images_.blob};
    for (const FedInput& input : fed_) fed.insert(input.blob);
    return fed;
  }

  // A net whose values are watched runs as it is written, in order.
  void Prepare() {
    for (std::string& name : NamesWrittenBy(model_.predict_net)) names_.push_back(std::move(name));
    PreparationOptions options =
        PreparationOptionsOf(line_, model_, FedBlobs(), {outputs_.begin(), outputs_.end()});
    if (values_.watched()) options.optimize = false;
    preparation_ = PrepareNet(std::move(model_.predict_net), options, ws_.get());
    model_.predict_net = std::exchange(preparation_.net, NetDef());
  }

  // The blobs that are printed or saved.
  std::set<std::string> KeptBlobs() const {
    std::set<std::string> kept = FedBlobs();
    kept.insert(outputs_.begin(), outputs_.end());
    return kept;
  }

  std::string Executor() const { return values_.watched() ? "simple" : line_.Text("executor"); }

  void CreateNet() {
    WithCastHint(FedBlobs(), *ws_, [this] {
      CheckInputsAreThere(model_, *ws_);
      Prepare();
      WarnOfWorkers(model_.predict_net, Executor());
      net_.emplace(model_.predict_net, KeptBlobs(), values_.watched() ? nullptr : ArenasOf(line_),
                   ws_.get(), Executor(), preparation_.options);
    });
    if (iterations_ > 1 && !values_.watched()) PlanAhead();
    receipt_.Watch(&net_->net());
    if (values_.watched()) values_.Watch(&net_->net(), FedBlobs(), ws_.get());
    nan_.SetNet(model_.predict_net, FedBlobs(), images_);
    nan_.KeepInputs(*ws_);
  }

  // What the first run would do once. A net that runs only once does it in that run: its first operator starts
  // earlier.
  void PlanAhead() {
    Timer timer;
    (void)net_->PlanAhead(preparation_);
    ReleaseWeightsForMoreRuns();
    ahead_ms_ = timer.MilliSeconds();
  }

  // Runs all iterations on the inputs of `files` files. `progress` may be null.
  void RunNet(int64_t files, Progress* progress) {
    WithCastHint(FedBlobs(), *ws_, [&] { RunIterations(files, progress); });
  }

  void RunIterations(int64_t files, Progress* progress) {
    for (int64_t i = 0; i < iterations_; ++i) {
      if (values_.watched()) values_.BeginRun();
      Timer timer;
      stop_.Run([this] { net_->Run(); });
      const bool is_first = !first_ms_.has_value();
      AddTime((timer.MilliSeconds() - values_.milliseconds()) / static_cast<float>(files));
      if (is_first) ReleaseWeightsForMoreRuns();
      if (progress != nullptr) progress->Show(i + 1);
    }
  }

  // What is printed or saved stays.
  void ReleaseWeightsForMoreRuns() {
    if (values_.watched() || (iterations_ == 1 && !images_.several)) return;
    (void)ReleaseWeights(net_->net().debug_def(), KeptBlobs(), ws_.get());
  }

  // The first run prepares the weights and plans the memory, unless PlanAhead did. Its time counts only
  // if there is no other.
  void AddTime(float ms) {
    if (first_ms_.has_value()) {
      times_.Add(ms);
    } else {
      first_ms_ = ms;
    }
  }
  float MillisecondsPerRun() const {
    return times_.count() > 0 ? times_.Median() : first_ms_.value_or(0);
  }

  void SaveOutputs() {
    for (const std::string& name : outputs_) {
      if (!saver_.files().contains(name)) continue;
      const Blob& blob = Fetch(name);
      if (!values_.all() || IsSaved(blob)) saver_.Save(name, blob);
    }
    saver_.Finish();
    for (const ImageSaver::Target& target : image_saver_.targets())
      image_saver_.Save(target, Fetch(target.blob));
  }

  void WriteInput(const FedInput& input) {
    const Blob& blob = Fetch(input.blob);
    if (json_wanted_) {
      (*json_)["inputs"].emplace_back() = {
          {"name", input.blob}, {"type", BlobText(blob)}, {"source", input.source}};
    } else {
      std::cout << PaddedName(input.blob, width_) << BlobText(blob) << "   "
                << OneLine(input.source) << "\n";
    }
  }

  // Adds the outputs to `json`, or prints them if it is null. `file` is the one of a folder, or
  // empty.
  void WriteOutputs(const std::string& file, const FetchBlob& fetch, Json* json) {
    if (json != nullptr) (*json)["outputs"] = Json::array();
    for (const std::string& name : outputs_) {
      const Blob& blob = fetch(name);
      if (json != nullptr) {
        Json& entry = (*json)["outputs"].emplace_back();
        WriteOutput(name, blob, options_, &entry);
        values_.Describe(name, &entry);
      } else if (boxes_.IsBoxBlob(name)) {
        // printed below
      } else if (saver_.files().contains(name) && !images_.several && options_.top == 0) {
        std::cout << PaddedName(values_.TitleOf(name), width_) << BlobText(blob)
                  << (IsSaved(blob) ? "   saved as " + saver_.files().at(name) : "") << "\n";
      } else {
        PrintOutput(values_.TitleOf(name), blob, options_, width_);
      }
      const bool is_output =
          std::find(model_.outputs.begin(), model_.outputs.end(), name) != model_.outputs.end();
      if (is_output || !values_.all()) nan_.Look(name, blob, file, *ws_);
    }
    if (boxes_.wanted())
      json != nullptr ? boxes_.Write(fetch, options_, json) : boxes_.Print(fetch, options_);
    json != nullptr ? values_.WriteStats(json) : values_.PrintStats();
    CheckLabelsFit(fetch);
  }

  // Warns if an output had a NaN, and adds that to `json`. Frees the model, which is loaded again
  // for it.
  void ReportNaN(Json* json) {
    net_.reset();
    values_.StopWatching();
    ws_.reset();
    nan_.Report(json);
  }

  // Warns if the labels match no output: they are probably from the wrong file.
  void CheckLabelsFit(const FetchBlob& fetch) {
    if (!line_.Has("labels") || labels_checked_ || boxes_.wanted()) return;
    labels_checked_ = true;
    for (const std::string& name : outputs_) {
      const Blob& blob = fetch(name);
      if (!blob.IsType<Tensor>() || !blob.Get<Tensor>().IsShaped()) continue;
      const Tensor& tensor = blob.Get<Tensor>();
      const int64_t rows = tensor.dim() > 1 ? std::max<int64_t>(tensor.dim(0), 1) : 1;
      if (tensor.numel() == rows * static_cast<int64_t>(options_.labels.size())) return;
    }
    Warn(MakeString("file \"", line_.Text("labels"), "\" has ",
                    CountText(options_.labels.size(), "label"),
                    ", but no output has as many classes"));
  }

  void RunOnce() {
    if (!images_.files.empty()) {
      fed_.push_back(FeedImage(line_, images_, images_.files[0], ws_.get()));
    }
    std::vector<FedInput> inputs = fed_;
    if (json_wanted_) (*json_)["inputs"] = Json::array();
    for (const FedInput& input : inputs) WriteInput(input);
    receipt_.KeepInputs(model_, FedBlobs(), *ws_);
    CreateNet();
    {
      Progress progress(iterations_, "runs");
      RunNet(1, &progress);
    }
    SaveOutputs();
    const FetchBlob fetch = [this](const std::string& name) -> const Blob& { return Fetch(name); };
    WriteOutputs("", fetch, json_wanted_ ? json_.get() : nullptr);
    receipt_.Write(preparation_, Executor(), iterations_, outputs_, fetch);
    if (!image_saver_.box_file().empty()) DrawBoxes(fetch);
    if (json_wanted_) return;
    for (const ImageSaver::Target& target : image_saver_.targets())
      std::cout << PaddedName(target.blob, width_) << "saved as " << target.file << "\n";
  }

  void DrawBoxes(const FetchBlob& fetch) {
    const std::string& file = image_saver_.box_file();
    if (images_.files.empty())
      throw UsageError("option --save-image is \"" + file +
                       "\", want --image, too: the boxes are "
                       "drawn into it");
    boxes_.Draw(fetch, options_, line_, images_.files[0], scale_, file);
    if (!json_wanted_) std::cout << "boxes drawn into " << OneLine(file) << "\n";
  }

  int RunOnImages() {
    if (!image_saver_.targets().empty() || !image_saver_.box_file().empty())
      throw UsageError("option --save-image is given with several images, want one");
    if (receipt_.wanted())
      throw UsageError("option --receipt is given with several images, want one");
    if (values_.all() || line_.Has("stats"))
      throw UsageError("options --stats and --fetch all are given with several images, want one");
    // The files do not depend on each other, so that more threads cannot surprise anyone.
    if (!line_.Has("threads"))
      SetNumThreads(static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 1024u)));
    const std::string net = model_.predict_net.name();
    FolderResults results(line_, net, outputs_,
                          [this](const std::string& file, const FetchBlob& fetch, Json* json) {
                            WriteOutputs(file, fetch, json);
                          });
    const FolderRun run = {
        .line = line_,
        .images = images_,
        .net = net,
        .outputs = outputs_,
        .ws = ws_.get(),
        .prepare = [this] { CreateNet(); },
        .run_net = [this](int64_t files) { RunNet(files, nullptr); },
        .fetch = [this](const std::string& name) -> const Blob& { return Fetch(name); },
        .interrupted = [this] { return stop_.interrupted(); }};
    const int64_t failures = RunFolder(run, &results);
    if (net_.has_value()) WriteReport(line_, preparation_, &net_->net());
    if (!stop_.interrupted()) ReportNaN(json_.get());
    results.Finish(MillisecondsPerRun(), GetNumThreads(), times_.count() == 0,
                   json_->contains("nan") ? json_->at("nan") : Json());
    if (stop_.interrupted()) CAFFE_THROW("the program was interrupted by a signal");
    if (!json_wanted_ && !line_.Has("json-lines")) PrintTime("image");
    return failures == 0 ? 0 : 1;
  }

  void PrintTime(const char* unit) {
    const float ms = MillisecondsPerRun();
    const int threads = GetNumThreads();
    std::cout << FixedText(ms, ms < 1 ? 3 : 1) << " ms per " << unit << ", "
              << CountText(threads, "thread")
              << (times_.count() == 0 ? ", with the preparation of the first run" : "")
              << " (details: caffe2 bench)\n";
  }

  const CommandLine& line_;
  const bool json_wanted_;
  OutputOptions options_;
  ImageSaver image_saver_;
  const int64_t iterations_ = line_.Integer("iterations", 1, 1000000000);
  Model model_;
  std::vector<std::string> outputs_;
  OutputSaver saver_;
  std::map<std::string, Blob> copies_;  // CPU copies of blobs on other devices
  size_t width_ = 0;
  std::unique_ptr<Workspace> ws_;
  std::vector<FedInput> fed_;
  InputImages images_;
  std::vector<std::string> names_;  // of the blobs that the net wrote before it was optimized
  Preparation preparation_;         // of the net; its field `net` is empty
  std::optional<PreparedNet> net_;  // destroyed before the workspace
  const BoxReport boxes_;
  float scale_ = 1;   // of the image, from im_info
  RunValues values_;  // destroyed before the workspace
  NaNWarning nan_;
  RunReceipt receipt_;  // destroyed before the net
  RunStop stop_{line_};
  std::optional<float> ahead_ms_;  // of PlanAhead
  std::optional<float> first_ms_;
  RunningMedian times_;  // of the other runs
  bool labels_checked_ = false;
  const JsonDocument json_ = NewJson();
};

int Run(const CommandLine& line) {
  CheckNetArgument(line);
  return RunJob(line).Run();
}

}  // namespace

const Command& RunCommand() {
  static const Command command = {
      .name = "run",
      .purpose = "runs a net on files and prints or saves its outputs",
      .usage = "run --predict-net FILE | --predictor DB | MODEL [options]",
      .examples =
          "  caffe2 run --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --image binaries/demo/stripes/images/rising_1.png --labels "
          "binaries/demo/stripes/labels.txt --top 2\n"
          "  caffe2 run --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --input data=1,3,64,64 --output results\n"
          "  caffe2 run model.onnx --input data=data.npy --output results\n",
      .options = JoinOptions(
          {ModelOptions(),
           InputOptions(),
           {{"labels", "FILE", "", "names of the classes, one per line"},
            {"top", "N", "5", "classes to print per row"},
            {"fetch", "BLOB", "", "another blob; all: every value of every blob", true},
            {"output", "PATH", "", "save outputs as PATH/BLOB.npy, or in the archive PATH.npz"},
            {"save-image", "BLOB=FILE", "", "save an output as .png or .jpg; may be repeated",
             true},
            {"boxes", "", "", "print detected boxes; --save-image FILE draws them"},
            {"box-blobs", "S,B,C", "",
             "blobs of scores, boxes, classes (default: of BoxWithNMSLimit)", false, true},
            {"batch", "N", "1", "images of one size in a folder that run together", false, true},
            {"iterations", "N", "1", "runs; the first one is left out of the time"},
            kTimeoutOption,
            kExecutorOption,
            kTuningOption,
            kNoMemoryPlanOption,
            kReportOption},
           OptimizeOptions(),
           ValueOptions(),
           ReceiptOptions(),
           ProcessOptions(),
           {kJsonOption,
            {"json-lines", "", "", "print a line of JSON for each image, as soon as it is there",
             false, true}}}),
      .run = Run,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
