// caffe2 gradients: adds the backward pass to a net.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "binaries/commands/command.h"
#include "binaries/commands/file_argument.h"
#include "binaries/commands/input_values.h"
#include "binaries/commands/model.h"
#include "binaries/json_output.h"
#include "binaries/table.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/inspect/gradient_check.h"
#include "caffe2_core/inspect/shape_inference_workspace.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/model_inputs.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

// A blob that the net does not write is most likely misspelt.
GradientStart StartOf(const CommandLine& line, const NetDef& net, const std::string& path) {
  if (!line.Has("loss"))
    throw UsageError("option --loss is missing, want the blob to differentiate");
  const NetBlobs blobs(net);
  std::vector<std::string> written;
  for (const uint32_t blob : blobs.written()) written.push_back(blobs.name(blob));
  GradientStart start;
  for (const std::string& loss : line.All("loss")) {
    CAFFE_ENFORCE(blobs.Writes(loss), "no operator of \"", path, "\" writes the blob \"", loss,
                  "\"", DidYouMean(loss, written));
    start.push_back({loss, {}});
  }
  return start;
}

// The names of a gradient, in the order in which --json and the table print them.
std::vector<std::pair<const char*, std::string>> NamesOf(const GradientWrapper& gradient) {
  if (gradient.IsDense()) return {{"gradient", gradient.dense_}};
  return {{"indices", gradient.indices_}, {"values", gradient.values_}};
}

// The gradients are results: an executor may otherwise reuse their memory.
void AddOutputs(const GradientMap& gradients, NetDef* net) {
  for (const auto& [blob, gradient] : gradients) {
    for (const auto& [what, name] : NamesOf(gradient)) {
      const auto& outputs = net->external_output();
      if (std::find(outputs.begin(), outputs.end(), name) == outputs.end()) {
        net->add_external_output(name);
      }
    }
  }
}

void Print(const GradientMap& gradients) {
  for (const auto& [blob, gradient] : gradients) {
    std::cout << OneLine(blob) << ":";
    for (const auto& [what, name] : NamesOf(gradient)) std::cout << " " << OneLine(name);
    std::cout << "\n";
  }
}

void PrintAsJson(const GradientMap& gradients, const NetDef& net, int forward) {
  const JsonDocument document = NewJson();
  Json& json = *document;
  json["net"] = net.name();
  json["forward_operators"] = forward;
  json["backward_operators"] = net.op_size() - forward;
  Json& list = json["gradients"] = Json::array();
  for (const auto& [blob, gradient] : gradients) {
    Json& entry = list.emplace_back();
    entry["blob"] = blob;
    for (const auto& [what, name] : NamesOf(gradient)) entry[what] = name;
  }
  PrintJson(json);
}

void PrintVerified(const std::vector<CheckedGradient>& checked) {
  Table table({{"blob", Column::kName},
               {"gradient", Column::kName},
               {"elements", Column::kNumber},
               {"not smooth", Column::kNumber},
               {"wrong", Column::kNumber},
               {"worst at", Column::kNumber},
               {"computed", Column::kNumber},
               {"quotient", Column::kNumber}});
  for (const CheckedGradient& gradient : checked) {
    const GradientElement& worst = gradient.worst;
    table.Add({OneLine(gradient.blob), OneLine(gradient.gradient), MakeString(gradient.elements),
               MakeString(gradient.not_smooth), MakeString(gradient.wrong), MakeString(worst.index),
               ShortText(static_cast<float>(worst.computed)),
               ShortText(static_cast<float>(worst.quotient))},
              gradient.wrong > 0 ? Style::kRed : Style::kPlain);
  }
  table.Print();
}

void PrintVerifiedAsJson(const std::vector<CheckedGradient>& checked) {
  const JsonDocument document = NewJson();
  Json& list = (*document)["verified"] = Json::array();
  for (const CheckedGradient& gradient : checked) {
    list.emplace_back() = {{"blob", gradient.blob},
                           {"gradient", gradient.gradient},
                           {"elements", gradient.elements},
                           {"not_smooth", gradient.not_smooth},
                           {"wrong", gradient.wrong},
                           {"worst",
                            {{"element", gradient.worst.index},
                             {"computed", gradient.worst.computed},
                             {"quotient", gradient.worst.quotient}}}};
  }
  PrintJson(*document);
}

// Compares the gradients with difference quotients, on the CPU, and prints the result. Returns
// whether they agree.
bool Verify(const CommandLine& line, NetDef net, const std::string& path) {
  (void)StartOf(line, net, path);  // THROWS for a wrong --loss
  MoveToCPU(&net);
  Workspace ws;
  for (const std::string& file : line.All("init-net")) {
    NetDef init = LoadNet(file);
    FindDatabases(&init, ".", std::filesystem::path(file).parent_path().string());
    MoveToCPU(&init);
    CAFFE_ENFORCE(ws.RunNetOnce(init), "net \"", init.name(), "\" failed");
  }
  std::set<std::string> fed;
  for (const FedInput& input : FeedInputs(line, {&net}, &ws)) fed.insert(input.blob);
  const std::vector<std::string> missing = UnfilledInputs(net, ws);
  CAFFE_ENFORCE(missing.empty(), "net \"", net.name(),
                "\": ", InputsNotGivenText(net, missing, {}, ShapesOfWorkspace(ws)),
                "; want --input BLOB=VALUE, or --init-net FILE, for each");
  GradientCheckOptions options;
  options.wrt = line.All("wrt");
  std::vector<CheckedGradient> checked;
  WithCastHint(fed, ws, [&] { checked = CheckGradients(net, line.All("loss"), options, &ws); });
  bool agree = true;
  for (const CheckedGradient& gradient : checked) agree &= gradient.wrong == 0;
  line.Has("json") ? PrintVerifiedAsJson(checked) : PrintVerified(checked);
  return agree;
}

int Gradients(const CommandLine& line) {
  CheckPositional(line, 0, 0, "no files: --predict-net FILE names the net");
  const bool verify = line.Has("verify");
  if (!line.Has("predict-net")) throw UsageError("option --predict-net is missing");
  if (!line.Has("output") && !verify) throw UsageError("option --output is missing");
  for (const char* option : {"init-net", "input", "cast"}) {
    if (line.Has(option) && !verify)
      throw UsageError(MakeString("option --", option, " is given without --verify"));
  }
  const std::string path = line.Text("predict-net");
  NetDef net = LoadNet(path);
  if (verify) {
    if (!Verify(line, net, path))
      CAFFE_THROW("gradients of net \"", net.name(), "\" differ from the difference quotients");
    if (!line.Has("output")) return 0;
  }
  const int forward = net.op_size();
  const GradientMap gradients =
      AddGradientOperators(&net, StartOf(line, net, path), {.wrt = line.All("wrt")});
  if (line.Has("wrt")) AddOutputs(gradients, &net);
  const std::string output = line.Text("output");
  const bool text =
      NamesTextFormat(output) || (!output.ends_with(".pb") && DetectFileKind(path).text);
  WriteFileAtomically(output, text ? ProtoToText(net) : ProtoToBinary(net));
  if (verify) return 0;
  if (line.Has("json")) {
    PrintAsJson(gradients, net, forward);
  } else {
    Print(gradients);
  }
  return 0;
}

}  // namespace

const Command& GradientsCommand() {
  static const Command command = {
      .name = "gradients",
      .purpose = "adds the operators of the backward pass to a net, or verifies its gradients",
      .usage = "gradients --predict-net FILE --loss BLOB --output FILE | --verify [options]",
      .examples =
          "  caffe2 gradients --predict-net binaries/demo/line.pbtxt --loss loss --output "
          "line_train.pbtxt\n"
          "  caffe2 gradients --predict-net binaries/demo/line.pbtxt --loss loss --wrt w --wrt b "
          "--output "
          "line_train.pbtxt\n"
          "  caffe2 gradients --predict-net binaries/demo/line.pbtxt --loss loss --verify \\\n"
          "    --input x=2,1 --input w=1,1 --input b=1 --input target=2,1\n",
      .options = {{"predict-net", "FILE", "", "the net, text or binary"},
                  {"loss", "BLOB", "", "blob to differentiate; may be repeated", true},
                  {"wrt", "BLOB", "",
                   "compute only what the gradient of this blob needs, and make it an output; may "
                   "be repeated (default: the gradients of all blobs)",
                   true},
                  {"output", "FILE", "",
                   "file to write: text if it ends in .pbtxt, .prototxt or .txt, binary if in .pb, "
                   "else in the format of the net's file"},
                  {"verify", "", "",
                   "compare the gradients of the net's inputs with difference quotients; fail if "
                   "they differ"},
                  {"init-net", "FILE", "", "with --verify: net that fills inputs; may be repeated",
                   true},
                  {"input", "BLOB=VALUE", "",
                   "with --verify: FILE, d0,d1,... (random) or numbers; may be repeated", true},
                  {"cast", "[BLOB=]TYPE", "", "with --verify: convert the elements of arrays", true,
                   true},
                  {"seed", "N", "1", "with --verify: seed of random inputs", false, true},
                  {"module", "FILE.so", "", "module with operators; may be repeated", true},
                  kJsonOption},
      .run = Gradients};
  return command;
}

}  // namespace caffe2rt
