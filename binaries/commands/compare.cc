// caffe2 compare: compares two nets, a net and expected outputs, or two sets of tensors.

#include <absl/strings/str_split.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <set>

#include "binaries/commands/command.h"
#include "binaries/commands/compare_model.h"
#include "binaries/commands/compare_report.h"
#include "binaries/commands/file_policy.h"
#include "binaries/commands/input_values.h"
#include "binaries/commands/model.h"
#include "binaries/commands/optimizing.h"
#include "binaries/commands/output_saver.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/work_scope.h"
#include "caffe2_core/graph/blob_values.h"
#include "caffe2_core/inspect/net_comparison.h"
#include "caffe2_core/io/tensor_file.h"

namespace caffe2rt {
namespace {

Tolerance ToleranceOf(const CommandLine& line) {
  const std::string text = line.Text("tol");
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  std::array<double, 2> values = {};
  bool valid = parts.size() <= 2;
  for (size_t i = 0; valid && i < parts.size(); ++i) {
    valid = ParseNumber(parts[i], &values[i]) && values[i] >= 0 && std::isfinite(values[i]);
  }
  if (!valid) {
    throw UsageError("option --tol is \"" + text +
                     "\", want ABS or ABS,REL with numbers that are 0 or greater");
  }
  return {.absolute = values[0],
          .relative = parts.size() == 2 ? values[1] : values[0],
          .nan_equals_nan = line.Has("equal-nan"),
          .any_type = line.Has("any-type")};
}

// As run does, for the same bytes: which precision a net has is known when it is prepared.
WorkSettings SettingsOf(const CommandLine& line,
                        std::initializer_list<const ComparedModel*> models) {
  bool any_machine = false;
  for (const ComparedModel* model : models)
    any_machine = any_machine || model->preparation.options.precision == Precision::kInt8;
  return {.any_machine = line.Has("deterministic") && any_machine};
}

void CompareTwoNets(const CommandLine& line, Comparison* comparison) {
  ComparedModel first = LoadComparedModel(line, comparison->first, false);
  ComparedModel second = LoadComparedModel(line, comparison->second, true);
  FeedFirst(line, &first);
  FeedSame(first, &second);
  PrepareComparison(line, false, &first);
  PrepareComparison(line, true, &second);
  const WorkScope scope(SettingsOf(line, {&first, &second}));
  WithCastHint(first.fed, *first.ws, [&] {
    comparison->values = CompareNets(first.ToCompare(), second.ToCompare(), comparison->tolerance);
  });
  ReportCompared(line, second);
  comparison->outputs.insert(first.model.outputs.begin(), first.model.outputs.end());
  comparison->outputs.insert(second.model.outputs.begin(), second.model.outputs.end());
  comparison->first_net = std::move(first.model.predict_net);
  comparison->second_net = std::move(second.model.predict_net);
}

// Gives each tensor the key of the value that it is compared with: a file has the name of a blob
// with other characters, and a single .npy file may have any name.
void NameExpected(const Model& model, const std::string& path, NamedTensors* expected) {
  std::map<std::string, std::string> keys;
  std::set<std::string> taken;
  for (const BlobValue& value : ListBlobValues(model.predict_net)) {
    keys.emplace(FileStemOf(value.key), value.key);
    taken.insert(value.key);
  }
  for (auto& [name, tensor] : *expected) {
    if (name.empty()) {
      name = std::filesystem::path(path).stem().string();
      const bool known = taken.contains(name) || keys.contains(name);
      if (!known && model.outputs.size() == 1) name = model.outputs[0];
    }
    if (!taken.contains(name) && keys.contains(name)) name = keys.at(name);
  }
}

void CompareWithFiles(const CommandLine& line, Comparison* comparison) {
  NamedTensors expected = LoadNamedTensors(comparison->second);
  ComparedModel net = LoadComparedModel(line, comparison->first, false);
  FeedFirst(line, &net);
  PrepareComparison(line, false, &net);
  NameExpected(net.model, comparison->second, &expected);
  const WorkScope scope(SettingsOf(line, {&net}));
  WithCastHint(net.fed, *net.ws, [&] {
    comparison->values = CompareWithTensors(net.ToCompare(), expected, comparison->tolerance);
  });
  ReportCompared(line, net);
  comparison->first_net = std::move(net.model.predict_net);
}

// The name of a file without its ending.
std::string StemOf(const std::string& path) {
  return std::filesystem::path(SourceName(path)).stem().string();
}

void CompareFiles(Comparison* comparison) {
  NamedTensors first = LoadNamedTensors(comparison->first);
  NamedTensors second = LoadNamedTensors(comparison->second);
  // Files in a folder have the names of blobs with other characters.
  std::error_code ignored;
  const bool folders = std::filesystem::is_directory(comparison->first, ignored) ||
                       std::filesystem::is_directory(comparison->second, ignored);
  for (NamedTensors* tensors : {&first, &second}) {
    for (auto& [name, tensor] : *tensors) {
      if (folders) name = FileStemOf(name);
    }
  }
  if (first.size() == 1 && second.size() == 1) {
    if (first[0].first.empty()) first[0].first = second[0].first;
    if (first[0].first.empty()) first[0].first = StemOf(comparison->first);
    if (second[0].first.empty()) second[0].first = first[0].first;
  }
  // A .npy file has no name for its tensor.
  if (!first.empty() && first[0].first.empty()) first[0].first = StemOf(comparison->first);
  if (!second.empty() && second[0].first.empty()) second[0].first = StemOf(comparison->second);
  comparison->values = CompareTensorLists(first, second, comparison->tolerance);
}

int Compare(const CommandLine& line) {
  CheckPositional(line, 2, 2, "two nets, folders or files");
  Comparison comparison{.first = line.positional()[0],
                        .second = line.positional()[1],
                        .tolerance = ToleranceOf(line)};
  const bool first = ContainsNet(comparison.first), second = ContainsNet(comparison.second);
  if (second && !first) {
    (void)LoadNamedTensors(comparison.first);  // THROWS if it cannot be read
    throw UsageError("a net is compared with files the other way round: caffe2 compare NET FILES");
  }
  if (!first &&
      (line.Has("input") || line.Has("image") || line.Has("image-list") || line.Has("init-net")))
    throw UsageError("--input, --image and --init-net are given, but \"" + comparison.first +
                     "\" is not a net");
  for (const char* option : {"report", "optimize"}) {
    if (!first && line.Has(option))
      throw UsageError(MakeString("option --", option, " is given, but \"", comparison.first,
                                  "\" is not a net"));
  }
  if (first && second) {
    CompareTwoNets(line, &comparison);
  } else if (first) {
    CompareWithFiles(line, &comparison);
  } else {
    CompareFiles(&comparison);
  }
  CAFFE_ENFORCE(!comparison.values.empty(), "there is no blob to compare in \"", comparison.first,
                "\" and \"", comparison.second, "\"");
  return Report(comparison, line.Has("json"));
}

}  // namespace

const Command& CompareCommand() {
  static const Command command = {
      .name = "compare",
      .purpose = "compares two nets, a net and expected outputs, or two folders, blob by blob",
      .usage = "compare NET NET|FILES | FILES FILES [options]",
      .examples =
          "  caffe2 compare binaries/demo/stripes/predict_net.pb "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --init-net binaries/demo/stripes/init_net.pb --input data=1,3,64,64 --optimize "
          "second\n"
          "  caffe2 compare binaries/demo/stripes/predict_net.pb "
          "binaries/demo/stripes/predict_net.pb \\\n"
          "    --init-net binaries/demo/stripes/init_net.pb --image "
          "binaries/demo/stripes/images/rising_1.png --optimize both --tol 1e-5,1e-3\n",
      .options = JoinOptions(
          {{{"tol", "ABS[,REL]", "1e-4",
             "|first - second| <= ABS + REL * |second|, of integers <= ABS; REL: as ABS"},
            {"equal-nan", "", "", "NaN equals NaN; otherwise it differs from everything"},
            {"any-type", "", "", "compare numbers of different types by their values", false, true},
            {"init-net", "FILE", "", "net that fills the weights of both nets; may be repeated",
             true},
            {"init-net2", "FILE", "", "the same for the second net, instead of --init-net", true},
            {"device", "NAME", "auto", "auto (the net's, or else the CPU), cpu or cuda:N"},
            {"weights2", "FILE", "", "the same for the second net, instead of --weights"},
            {"device2", "NAME", "", "device of the second net (default: as --device)"},
            {"optimize", "WHICH", "none",
             "graph passes for: first, second, both; other nets run as written", false, false,
             [] {
               return std::vector<std::string>{"none", "first", "second", "both"};
             }},
            OptimizeOption("without-pass"),
            OptimizeOption("deterministic"),
            OptimizeOption("precision"),
            OptimizeOption("min-snr"),
            {"report", "FILE", "", "as in `caffe2 run`, of the second net, or of the only one",
             false, true},
            {"root", "DIR", ".", "folder of relative `db` paths, searched before the net's", false,
             true},
            kAllowFilesOption},
           ImportOptions(),
           InputOptions(),
           ProcessOptions(),
           {kJsonOption}}),
      .run = Compare,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
