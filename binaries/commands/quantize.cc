// caffe2 quantize: measures the ranges that precision int8 needs, on examples, and writes the net with them.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "binaries/commands/command.h"
#include "binaries/commands/images.h"
#include "binaries/commands/imported_model.h"
#include "binaries/commands/model.h"
#include "binaries/commands/number_text.h"
#include "binaries/commands/optimizing.h"
#include "binaries/commands/outputs.h"
#include "binaries/commands/progress.h"
#include "binaries/table.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/inspect/calibration.h"
#include "caffe2_core/io/atomic_file.h"

namespace caffe2rt {
namespace {

// On how many of the examples precisions are compared.
constexpr size_t kMostCompared = 16;

// The signal and the noise of the outputs, as sums of squares.
class SignalToNoise {
 public:
  void Add(const std::string& name, const Tensor& exact, const Tensor& rounded) {
    Sums& sums = sums_[name];
    for (int64_t i = 0; i < exact.numel(); ++i) {
      const double x = exact.data<float>()[i], noise = x - rounded.data<float>()[i];
      sums.signal += x * x;
      sums.noise += noise * noise;
    }
  }
  // Of the worst output, in decibels.
  double Decibels() const {
    double worst = HUGE_VAL;
    for (const auto& [name, sums] : sums_) {
      if (sums.noise > 0) worst = std::min(worst, 10 * std::log10(sums.signal / sums.noise));
    }
    return worst;
  }

 private:
  struct Sums {
    double signal = 0, noise = 0;
  };
  std::map<std::string, Sums> sums_;
};

class QuantizeJob {
 public:
  explicit QuantizeJob(const CommandLine& line) : line_(line), model_(LoadModelForCPU(line)) {
    if (model_.packed != nullptr || line.Has("predictor"))
      throw UsageError("want the files of an init net and a predict net, see --help");
    if (!line.Has("output-predict-net"))
      throw UsageError("want --output-predict-net FILE, see --help");
    if (line.Has("min-snr")) min_snr_ = static_cast<double>(line.Integer("min-snr", 0, 200));
  }

  int Run() {
    ws_ = MakeWorkspace(line_, &model_);
    for (const FedInput& input : FeedInputs(line_, model_, ws_.get())) fed_.push_back(input);
    images_ = FindInputImages(line_, model_, fed_, ImageCount::kAll);
    if (images_.files.empty()) {
      const bool random =
          std::any_of(fed_.begin(), fed_.end(), [](const auto& input) { return input.is_random; });
      if (fed_.empty() || random)
        throw UsageError(
            "want examples to measure ranges on: --image FOLDER, or --input BLOB=FILE.npy");
    }
    if (images_.stream != nullptr)
      throw UsageError("option --image gives a stream, want files or a folder");
    net_ = model_.predict_net;
    const std::map<int, InputRange> ranges = Measure();
    if (min_snr_.has_value()) KeepSignal(ranges);
    AtomicFile file(line_.Text("output-predict-net"));
    WriteNetFile(net_, line_.Text("output-predict-net"), &file);
    file.Commit();
    Print(ranges);
    return 0;
  }

 private:
  size_t examples() const { return std::max<size_t>(images_.files.size(), 1); }
  // Feeds example `i`. Arrays are one example, whatever their batch.
  void Feed(size_t i) {
    if (!images_.files.empty()) FeedImage(line_, images_, images_.files[i], ws_.get());
  }

  std::map<int, InputRange> Measure() {
    CheckInputsAreThereFirst();
    const NetDef watched = NetToWatch(net_);
    NetBase* const net = ws_->CreateNet(watched, true);
    CAFFE_ENFORCE(net != nullptr, "net \"", net_.name(), "\" cannot be created");
    Calibration calibration(watched, net);
    Progress progress(static_cast<int64_t>(examples()), "examples");
    for (size_t i = 0; i < examples(); ++i) {
      Feed(i);
      net->Run();
      progress.Show(static_cast<int64_t>(i) + 1);
    }
    calibration.StateRanges(&net_);
    const std::map<int, InputRange> ranges = calibration.ranges();
    return ranges;
  }

  void CheckInputsAreThereFirst() {
    Feed(0);
    CheckInputsAreThere(model_, *ws_);
  }

  // --- signal to noise ---

  using Outputs = std::map<std::string, Tensor>;

  // The float outputs of the net for each of the first examples.
  std::vector<Outputs> OutputsOf(const NetDef& net, Precision precision) {
    PreparationOptions options{.precision = precision};
    for (const FedInput& input : fed_) options.inputs.insert(input.blob);
    if (!images_.blob.empty()) options.inputs.insert(images_.blob);
    options.kept.insert(model_.outputs.begin(), model_.outputs.end());
    const Preparation prepared = PrepareNet(net, options, ws_.get());
    std::vector<Outputs> all;
    {
      PreparedNet runnable(prepared.net, options.kept, nullptr, ws_.get());
      for (size_t i = 0; i < std::min(examples(), kMostCompared); ++i) {
        Feed(i);
        runnable.Run();
        all.push_back(CopyOutputs());
      }
    }
    for (const std::string& name : prepared.new_constants) ws_->RemoveBlob(name);
    return all;
  }

  Outputs CopyOutputs() const {
    Outputs outputs;
    for (const std::string& name : model_.outputs) {
      const Blob* const blob = ws_->FindBlob(name).get();
      const Tensor* const tensor = blob == nullptr ? nullptr : FindTensor(*blob);
      if (tensor != nullptr && tensor->IsType<float>()) outputs[name] = Tensor(*tensor, CPU);
    }
    return outputs;
  }

  double DecibelsOf(const NetDef& net) {
    const std::vector<Outputs> outputs = OutputsOf(net, Precision::kInt8);
    SignalToNoise result;
    for (size_t i = 0; i < outputs.size(); ++i) {
      for (const auto& [name, rounded] : outputs[i]) result.Add(name, exact_[i].at(name), rounded);
    }
    return result.Decibels();
  }

  static void SetLeast(OperatorDef* op, const char* precision) {
    *GetMutableArgument("least_precision", true, op) =
        MakeArgument("least_precision", std::string(precision));
  }

  // Puts operators back to float, those first whose quantization alone makes the most noise, until the
  // outputs have the wanted ratio.
  void KeepSignal(const std::map<int, InputRange>& ranges) {
    exact_ = OutputsOf(net_, Precision::kFloat32);
    std::vector<std::pair<double, int>> worst;
    {
      Progress progress(static_cast<int64_t>(ranges.size()), "operators");
      for (const auto& [position, range] : ranges) {
        NetDef alone = net_;
        for (const auto& [other, unused] : ranges) {
          if (other != position) SetLeast(alone.mutable_op(other), "f32");
        }
        alone_[position] = DecibelsOf(alone);
        worst.emplace_back(alone_[position], position);
        progress.Show(static_cast<int64_t>(worst.size()));
      }
    }
    std::sort(worst.begin(), worst.end());
    snr_ = DecibelsOf(net_);
    for (const auto& [decibels, position] : worst) {
      if (snr_ >= *min_snr_) return;
      SetLeast(net_.mutable_op(position), "f32");
      put_back_.insert(position);
      snr_ = DecibelsOf(net_);
    }
  }

  // --- the report ---

  void Print(const std::map<int, InputRange>& ranges) const {
    if (line_.Has("json")) return PrintAsJson(ranges);
    Table table({{.title = "op", .kind = Column::kNumber},
                 {.title = "operator", .kind = Column::kName},
                 {.title = "min", .kind = Column::kNumber},
                 {.title = "max", .kind = Column::kNumber},
                 {.title = "SNR dB alone", .kind = Column::kNumber, .optional = 1},
                 {.title = "", .kind = Column::kText, .optional = 2}});
    for (const auto& [position, range] : ranges) {
      table.Add({MakeString(position), OneLine(OperatorText(net_.op(position))),
                 ShortNumberText(range.min), ShortNumberText(range.max),
                 alone_.contains(position) ? FixedText(alone_.at(position), 1) : "",
                 put_back_.contains(position) ? "float" : ""});
    }
    table.Print();
    std::cout << ranges.size() << " operators have ranges, measured on " << examples()
              << (examples() == 1 ? " example" : " examples") << "\n";
    if (min_snr_.has_value()) {
      std::cout << put_back_.size() << " of them stay in float; signal to noise "
                << FixedText(snr_, 1) << " dB\n";
    }
    std::cout << "run it with --precision int8\n";
  }

  // Infinite decibels, of outputs without noise, are null in JSON.
  static Json Decibels(double decibels) { return std::isinf(decibels) ? Json() : Json(decibels); }

  void PrintAsJson(const std::map<int, InputRange>& ranges) const {
    const JsonDocument json = NewJson();
    (*json)["examples"] = examples();
    (*json)["operators"] = Json::array();
    for (const auto& [position, range] : ranges) {
      Json& entry = (*json)["operators"].emplace_back();
      entry = {{"position", position},
               {"type", net_.op(position).type()},
               {"min", JsonNumber(range.min)},
               {"max", JsonNumber(range.max)},
               {"float", put_back_.contains(position)}};
      if (alone_.contains(position)) entry["snr_alone"] = Decibels(alone_.at(position));
    }
    if (min_snr_.has_value()) (*json)["snr"] = Decibels(snr_);
    PrintJson(*json);
  }

  const CommandLine& line_;
  Model model_;
  std::optional<double> min_snr_;
  std::unique_ptr<Workspace> ws_;
  std::vector<FedInput> fed_;
  InputImages images_;
  NetDef net_;  // as written, with the ranges
  std::vector<Outputs> exact_;
  std::map<int, double> alone_;  // by position: the signal to noise if nothing else is quantized
  std::set<int> put_back_;       // positions of operators that stay in float
  double snr_ = HUGE_VAL;
};

int Quantize(const CommandLine& line) {
  CheckNetArgument(line);
  return QuantizeJob(line).Run();
}

}  // namespace

const Command& QuantizeCommand() {
  static const Command command = {
      .name = "quantize",
      .purpose = "measures on examples the ranges for --precision int8, writes the net with them",
      .usage =
          "quantize --init-net FILE --predict-net FILE --image FOLDER --output-predict-net FILE "
          "[options]",
      .examples =
          "  caffe2 quantize --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --image binaries/demo/stripes/images --output-predict-net int8_predict_net.pb\n"
          "  caffe2 run --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "int8_predict_net.pb --precision int8 --input data=1,3,64,64\n",
      .options = JoinOptions(
          {ModelOptions(),
           InputOptions(),
           {{"output-predict-net", "FILE", "",
             "net to write, the same with ranges; text if it ends in .pbtxt, else binary"},
            {"min-snr", "DECIBELS", "",
             "keep so many operators in float that the outputs have at least this ratio of signal "
             "to noise",
             false, true}},
           ProcessOptions(),
           {kJsonOption}}),
      .run = Quantize,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
