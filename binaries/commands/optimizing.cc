#include "binaries/commands/optimizing.h"

#include <algorithm>
#include <iostream>

#include "binaries/commands/command.h"
#include "binaries/commands/file_argument.h"
#include "binaries/commands/model.h"
#include "binaries/terminal.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/net_report.h"

namespace caffe2rt {
namespace {

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const NetPassInfo& pass : NetPasses()) names.emplace_back(pass.name);
  return names;
}

std::vector<std::string> PrecisionNames() {
  std::vector<std::string> names;
  for (const Precision precision : kPrecisions) names.emplace_back(PrecisionName(precision));
  return names;
}

Precision PrecisionOf(const CommandLine& line) {
  if (!line.Has("precision")) return Precision::kFloat32;
  const std::string name = line.Text("precision");
  const std::vector<std::string> known = PrecisionNames();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    throw UsageError("option --precision is \"" + name + "\", want f32, bf16, int8 or auto");
  }
  return ParsePrecision(name);
}

void CheckPassNames(const CommandLine& line) {
  const std::vector<std::string> known = PassNames();
  for (const std::string& name : line.All("without-pass")) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw UsageError("option --without-pass is \"" + name +
                     "\", want a name that caffe2 optimize --passes lists" +
                     DidYouMean(name, known));
  }
}

}  // namespace

const std::vector<Option>& OptimizeOptions() {
  static const std::vector<Option> options = {
      {"no-optimize", "", "", "run the net as it is written, without graph passes", false, true},
      {"without-pass", "NAME", "", "a pass that is not applied; may be repeated", true, true,
       &PassNames},
      {"deterministic", "", "", "use direct convolutions only, no Winograd", false, true},
      {"winograd-memory", "BYTES", "",
       "use Winograd only where a filter prepared for it, four times as large, has at most this "
       "size, such as 4M",
       false, true},
      {"precision", "NAME", "f32",
       "f32; bf16: convolutions round their inputs and weights to bfloat16 where the processor "
       "multiplies it and that is estimated to be faster; int8: those that caffe2 quantize has "
       "given ranges multiply bytes, the others as with bf16. FC and MatMul with constant weights "
       "need no ranges; auto: int8, bf16 or f32, by what caffe2 quantize has measured and "
       "--min-snr",
       false, true, &PrecisionNames},
      {"min-snr", "DECIBELS", "30",
       "with --precision auto: the least ratio of signal to noise of the outputs", false, true},
  };
  return options;
}

Option OptimizeOption(const std::string& name) {
  const std::vector<Option>& options = OptimizeOptions();
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const Option& option) { return option.name == name; });
  CAFFE_ENFORCE(found != options.end(), "there is no option --", name);
  return *found;
}

void WriteNetFile(const NetDef& net, const std::string& path, AtomicFile* file) {
  file->Write(NamesTextFormat(path) ? ProtoToText(net) : ProtoToBinary(net));
}

void WriteReport(const CommandLine& line, const Preparation& preparation, const NetBase* net) {
  if (!line.Has("report")) return;
  WriteFileAtomically(line.Text("report"), NetReportAsJson(ReportNet(preparation, net)));
}

void ListPasses() {
  size_t width = 0;
  for (const NetPassInfo& pass : NetPasses())
    width = std::max(width, std::string(pass.name).size());
  for (const NetPassInfo& pass : NetPasses()) {
    std::cout << NamedLine(
        pass.name, width + 2,
        MakeString(pass.doc, pass.same_bits ? "" : " Results may be rounded differently."),
        OutputWidth());
  }
}

PreparationOptions PreparationOptionsOf(const CommandLine& line, const Model& model,
                                        const std::set<std::string>& fed,
                                        const std::set<std::string>& kept) {
  CheckPassNames(line);
  const std::vector<std::string> without = line.All("without-pass");
  PreparationOptions options{.optimize = !line.Has("no-optimize"),
                             .without_passes = {without.begin(), without.end()},
                             .inputs = fed,
                             .kept = kept,
                             .deterministic = line.Has("deterministic"),
                             .precision = PrecisionOf(line),
                             .min_snr_db = static_cast<double>(line.Integer("min-snr", 0, 200)),
                             .free_constants = true,
                             .packed = model.packed};
  if (line.Has("winograd-memory")) options.winograd_filter_bytes = line.Bytes("winograd-memory");
  if (const std::string reason = WhyFloat32(model.predict_net, options); !reason.empty()) {
    Warn(MakeString("precision ", PrecisionName(options.precision),
                    ": all operators compute in f32, because ", reason));
    options.precision = Precision::kFloat32;
  } else if (const std::string other = OtherConvPrecision(model.predict_net, options);
             !other.empty()) {
    Warn(MakeString("precision ", PrecisionName(options.precision), ": ", other));
  }
  options.inputs.insert(model.inputs.begin(), model.inputs.end());
  options.inputs.insert(model.placeholders.begin(), model.placeholders.end());
  options.kept.insert(model.outputs.begin(), model.outputs.end());
  return options;
}

}  // namespace caffe2rt
