// caffe2 quantize: measures the ranges that precision int8 needs, on examples, and writes the net with them.

#include <charconv>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "binaries/commands/command.h"
#include "binaries/commands/imported_model.h"
#include "binaries/commands/model.h"
#include "binaries/commands/number_text.h"
#include "binaries/commands/optimizing.h"
#include "binaries/commands/outputs.h"
#include "binaries/commands/progress.h"
#include "binaries/commands/quantize_examples.h"
#include "binaries/table.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/inspect/calibration.h"
#include "caffe2_core/inspect/precision_search.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

// A number that the option gives, or nothing.
std::optional<double> NumberOf(const CommandLine& line, const std::string& name, double most) {
  if (!line.Has(name)) return std::nullopt;
  const std::string text = line.Text(name);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= most))
    throw UsageError(
        MakeString("option --", name, " is \"", text, "\", want a number from 0 to ", most));
  return value;
}

class QuantizeJob {
 public:
  explicit QuantizeJob(const CommandLine& line) : line_(line), model_(LoadModelForCPU(line)) {
    if (line.Has("predictor")) {
      throw UsageError(
          "--predictor is given: only models in --init-net and --predict-net files can be "
          "quantized; caffe2 convert DB --output FOLDER writes such files");
    }
    if (model_.packed != nullptr)
      throw UsageError("want the files of an init net and a predict net, see --help");
    if (!line.Has("output-predict-net"))
      throw UsageError("want --output-predict-net FILE, see --help");
    goal_ = {.min_snr_db = NumberOf(line, "min-snr", 200),
             .max_drop = NumberOf(line, "max-drop", 100)};
    headroom_ = NumberOf(line, "headroom", 1000);
    if (goal_.max_drop && !line.Has("labels"))
      throw UsageError("--max-drop is given without --labels FILE, by which accuracy is measured");
  }

  int Run() {
    ws_ = MakeWorkspace(line_, &model_);
    examples_.emplace(line_, model_, ws_.get());
    const std::vector<int64_t> labels = examples_->Labels();
    net_ = model_.predict_net;
    MeasureRanges();
    MeasurePrecisions(labels);
    AtomicFile file(line_.Text("output-predict-net"));
    WriteNetFile(net_, line_.Text("output-predict-net"), &file);
    file.Commit();
    if (line_.Has("json")) {
      PrintAsJson();
    } else {
      Print();
    }
    return 0;
  }

 private:
  // Calls a function that runs example `i`.
  template <class Function>
  void WithExample(size_t i, Function&& function) {
    try {
      function();
    } catch (const OutOfMemory&) {
      throw;
    } catch (const EnforceNotMet& error) {
      const std::string name = examples_->NameOf(i);
      if (error.message().find(name.substr(name.find('"') + 1)) != std::string::npos) throw;
      CAFFE_THROW(name, ": ", error.message());
    }
  }

  void MeasureRanges() {
    WithExample(0, [&] { examples_->Feed(0); });
    CheckInputsAreThere(model_, *ws_);
    const NetDef watched = NetToWatch(net_);
    NetBase* const net = ws_->CreateNet(watched, true);
    CAFFE_ENFORCE(net != nullptr, "net \"", net_.name(), "\" cannot be created");
    Calibration calibration(watched, net);
    Progress progress(static_cast<int64_t>(examples_->count()), "examples");
    for (size_t i = 0; i < examples_->count(); ++i) {
      WithExample(i, [&] {
        examples_->Feed(i);
        net->Run();
      });
      progress.Show(static_cast<int64_t>(i) + 1);
    }
    const float headroom = headroom_ ? static_cast<float>(*headroom_ / 100) : HeadroomFor(Rows());
    calibration.StateRanges(&net_, headroom);
    ranges_ = calibration.ranges(headroom);
  }

  // The examples, of which an array may hold several.
  int64_t Rows() const {
    const auto count = static_cast<int64_t>(examples_->count());
    if (examples_->fed().empty()) return count;
    const Tensor* const fed = FindTensor(*ws_->GetBlob(examples_->fed()[0].blob));
    return fed != nullptr && fed->dim() > 0 ? count * fed->dim(0) : count;
  }

  PreparationOptions OptionsOfSearch() const {
    PreparationOptions options;
    for (const FedInput& input : examples_->fed()) options.inputs.insert(input.blob);
    if (!examples_->image_blob().empty()) options.inputs.insert(examples_->image_blob());
    options.inputs.insert(model_.inputs.begin(), model_.inputs.end());
    options.kept.insert(model_.outputs.begin(), model_.outputs.end());
    return options;
  }

  void MeasurePrecisions(const std::vector<int64_t>& labels) {
    std::optional<Progress> trials;
    int64_t total_before = -1;
    PrecisionSearch search(OptionsOfSearch(), ws_.get(),
                           {.count = examples_->count(),
                            .feed = [&](size_t i) { examples_->Feed(i); },
                            .labels = labels},
                           [&](int64_t done, int64_t total) {
                             if (total != total_before) {
                               trials.emplace(total, total > 0 ? "operators" : "trials");
                             }
                             total_before = total;
                             trials->Show(done);
                           });
    search.Begin(net_);
    exact_ = search.exact();
    if (goal_.min_snr_db || goal_.max_drop) {
      found_ = search.Find(&net_, goal_);
    } else if (line_.Has("alone")) {
      found_ = search.Find(&net_, {.min_snr_db = 0});
    } else {
      found_.measured = search.Measure(net_, Precision::kInt8);
    }
    trials.reset();
    if (WhyNoInt8Convs().empty()) limited_ = search.Measure(net_, Precision::kInt8, true);
    if (WhyNoBf16Convs().empty()) bf16_ = search.Measure(net_, Precision::kBfloat16);
    const auto snr = [](const std::optional<PrecisionMeasured>& measured) {
      return measured ? std::optional(measured->snr_db) : std::nullopt;
    };
    if (MultipliesWholeBytes()) whole_ = found_.measured;
    StateSnr(&net_, snr(whole_), snr(limited_), snr(bf16_));
  }

  // --- the report ---

  std::string PrecisionOf(int position) const {
    const auto back = found_.put_back.find(position);
    return back == found_.put_back.end() ? "int8" : PrecisionName(back->second);
  }

  static std::string SnrText(double db) { return std::isinf(db) ? "equal" : FixedText(db, 1); }

  void PrintMeasured(const char* name, const std::optional<PrecisionMeasured>& measured,
                     const std::string& lacking) const {
    std::cout << name << ": ";
    if (!measured) {
      std::cout << lacking << "\n";
      return;
    }
    std::cout << "signal to noise " << SnrText(measured->snr_db)
              << (std::isinf(measured->snr_db) ? "" : " dB");
    if (measured->accuracy) std::cout << ", accuracy " << FixedText(*measured->accuracy, 2) << " %";
    if (measured->layers > 0) {
      std::cout << ", " << measured->int8_layers << " of " << CountText(measured->layers, "layer")
                << " in int8, " << measured->bf16_layers << " in bf16";
    }
    std::cout << "\n";
  }

  void Print() const {
    Table table({{.title = "op", .kind = Column::kNumber},
                 {.title = "operator", .kind = Column::kName},
                 {.title = "min", .kind = Column::kNumber},
                 {.title = "max", .kind = Column::kNumber},
                 {.title = "largest seen", .kind = Column::kNumber, .optional = 3},
                 {.title = "SNR dB alone", .kind = Column::kNumber, .optional = 1},
                 {.title = "at least", .kind = Column::kText, .optional = 2}});
    for (const auto& [position, range] : ranges_) {
      const auto alone = found_.alone_snr_db.find(position);
      table.Add({MakeString(position), OneLine(OperatorText(net_.op(position))),
                 ShortNumberText(range.min), ShortNumberText(range.max),
                 ShortNumberText(std::max(-range.seen_min, range.seen_max)),
                 alone == found_.alone_snr_db.end() ? "" : SnrText(alone->second),
                 PrecisionOf(position)});
    }
    table.Print();
    std::cout << CountText(ranges_.size(), "operator has ranges", "operators have ranges")
              << ", measured on " << CountText(examples_->count(), "example") << "\n";
    if (exact_->accuracy) {
      std::cout << "f32: accuracy " << FixedText(*exact_->accuracy, 2) << " %\n";
    }
    PrintMeasured("int8, filters of 8 bits", whole_, "not measured, the processor lacks VNNI");
    PrintMeasured("int8, pair-limited filters", limited_, WhyNoInt8Convs());
    PrintMeasured("bf16", bf16_, "not measured, the processor does not multiply it");
    if (goal_.min_snr_db || goal_.max_drop) {
      std::cout << CountText(found_.put_back.size(), "operator was", "operators were")
                << " put back to bf16 or f32\n";
    }
    std::cout << "run it with --precision int8, or auto\n";
  }

  // Infinite decibels, of outputs without noise, are null in JSON.
  static Json Decibels(double decibels) {
    return std::isfinite(decibels) ? Json(decibels) : Json();
  }

  static Json JsonOf(const std::optional<PrecisionMeasured>& measured) {
    if (!measured) return Json();
    Json json = {{"snr", Decibels(measured->snr_db)},
                 {"layers", measured->layers},
                 {"int8_layers", measured->int8_layers},
                 {"bf16_layers", measured->bf16_layers}};
    if (measured->accuracy) json["accuracy"] = *measured->accuracy;
    return json;
  }

  void PrintAsJson() const {
    const JsonDocument json = NewJson();
    (*json)["examples"] = examples_->count();
    (*json)["operators"] = Json::array();
    for (const auto& [position, range] : ranges_) {
      Json& entry = (*json)["operators"].emplace_back();
      entry = {{"position", position},
               {"type", net_.op(position).type()},
               {"min", JsonNumber(range.min)},
               {"max", JsonNumber(range.max)},
               {"seen_min", JsonNumber(range.seen_min)},
               {"seen_max", JsonNumber(range.seen_max)},
               {"least_precision", PrecisionOf(position)}};
      const auto alone = found_.alone_snr_db.find(position);
      if (alone != found_.alone_snr_db.end()) entry["snr_alone"] = Decibels(alone->second);
    }
    (*json)["f32"] = JsonOf(exact_);
    (*json)["int8"] = JsonOf(whole_);
    (*json)["int8_pair_limited"] = JsonOf(limited_);
    (*json)["bf16"] = JsonOf(bf16_);
    (*json)["put_back"] = found_.put_back.size();
    (*json)["snr"] = Decibels(found_.measured.snr_db);
    PrintJson(*json);
  }

  const CommandLine& line_;
  Model model_;
  PrecisionGoal goal_;
  std::optional<double> headroom_;  // in percent
  std::unique_ptr<Workspace> ws_;
  std::optional<QuantizeExamples> examples_;
  NetDef net_;  // as written, with the ranges
  std::map<int, InputRange> ranges_;
  PrecisionFound found_;
  std::optional<PrecisionMeasured> exact_, whole_, limited_, bf16_;
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
          "quantize --init-net FILE --predict-net FILE --calibrate FOLDER --output-predict-net "
          "FILE [options]",
      .examples =
          "  caffe2 quantize --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --calibrate binaries/demo/stripes/images --output-predict-net int8_predict_net.pb\n"
          "  caffe2 run --init-net binaries/demo/stripes/init_net.pb --predict-net "
          "int8_predict_net.pb --precision int8 --input data=1,3,64,64\n",
      .options = JoinOptions(
          {ModelOptions(),
           InputOptions(),
           {{"calibrate", "FOLDER|FILE", "",
             "examples: a folder of images or .npy files, or a .npz file, whose arrays have the "
             "names "
             "of inputs and one example in each row"},
            {"output-predict-net", "FILE", "",
             "net to write, the same with ranges; text if it ends in .pbtxt, .prototxt or .txt, "
             "else binary"},
            {"labels", "FILE", "",
             "the classes of the examples, to measure accuracy: on each line a number, or the name "
             "of "
             "an image and a number"},
            {"max-drop", "POINTS", "",
             "put back to bf16 or f32 so many operators that the accuracy is at most so many "
             "percent "
             "points below that of f32"},
            {"min-snr", "DECIBELS", "",
             "put back to bf16 or f32 so many operators that the outputs have at least this ratio "
             "of "
             "signal to noise"},
            {"headroom", "PERCENT", "",
             "how much wider than what was seen ranges are (default: 50 divided by the root of the "
             "number of "
             "examples, at most 25)"},
            {"alone", "", "", "measure the noise of each operator alone", false, true}},
           ProcessOptions(),
           {kJsonOption}}),
      .run = Quantize,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
