// caffe2 gradients: adds the backward pass to a net.

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "binaries/commands/command.h"
#include "binaries/commands/file_argument.h"
#include "binaries/json_output.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/file_kind.h"

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

int Gradients(const CommandLine& line) {
  CheckPositional(line, 0, 0, "no files: --predict-net FILE names the net");
  for (const char* option : {"predict-net", "output"}) {
    if (!line.Has(option)) throw UsageError(std::string("option --") + option + " is missing");
  }
  const std::string path = line.Text("predict-net");
  NetDef net = LoadNet(path);
  const int forward = net.op_size();
  const GradientMap gradients =
      AddGradientOperators(&net, StartOf(line, net, path), {.wrt = line.All("wrt")});
  if (line.Has("wrt")) AddOutputs(gradients, &net);
  const bool text = DetectFileKind(path).text;
  WriteFileAtomically(line.Text("output"), text ? ProtoToText(net) : ProtoToBinary(net));
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
      .purpose = "adds the operators of the backward pass to a net",
      .usage = "gradients --predict-net FILE --loss BLOB --output FILE [options]",
      .examples =
          "  caffe2 gradients --predict-net binaries/demo/line.pbtxt --loss loss --output "
          "line_train.pbtxt\n"
          "  caffe2 gradients --predict-net binaries/demo/line.pbtxt --loss loss --wrt w --wrt b "
          "--output "
          "line_train.pbtxt\n",
      .options = {{"predict-net", "FILE", "", "the net, text or binary"},
                  {"loss", "BLOB", "", "blob to differentiate; may be repeated", true},
                  {"wrt", "BLOB", "",
                   "compute only what the gradient of this blob needs, and make it an output; may "
                   "be repeated (default: the gradients of all blobs)",
                   true},
                  {"output", "FILE", "", "file to write, in the format of the net's file"},
                  {"module", "FILE.so", "", "module with operators; may be repeated", true},
                  kJsonOption},
      .run = Gradients};
  return command;
}

}  // namespace caffe2rt
