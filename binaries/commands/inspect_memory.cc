#include "binaries/commands/inspect_memory.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "binaries/commands/imported_model.h"
#include "binaries/commands/model.h"
#include "binaries/commands/number_text.h"
#include "binaries/commands/optimizing.h"
#include "binaries/table.h"
#include "binaries/terminal.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/inspect/shape_inference_workspace.h"
#include "caffe2_core/model/memory_arena.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/net_report.h"

namespace caffe2rt {
namespace {

// The options that load the model whose predict net is `net`; nothing if the net is another one or its
// weights are not there.
std::optional<ModelFileOptions> ModelOf(const CommandLine& line, const std::string& path,
                                        FileKind kind, const TitledNet& net) {
  ModelFileOptions options{.db_type_remedy = "--as specifies the kind", .device_fallback = true};
  if (kind == FileKind::kPackedModel || (kind == FileKind::kNetDef && line.Has("init-net"))) {
    options.init_nets = line.All("init-net");
    options.predict_net = path;
    return options;
  }
  if (IsImportedNet(kind)) {
    options.predict_net = path;
    options.weights = line.Text("weights");
    options.caffe = CaffeImportOptionsOf(line);
    if (kind == FileKind::kOnnxModel) options.onnx = OnnxImportOptionsOf(line);
    return options;
  }
  if (net.role != "PREDICT_NET_TYPE" || DBTypeOfKind(kind).empty()) return std::nullopt;
  options.predictor_db = path;
  options.db_type = DBTypeOfKind(kind);
  return options;
}

std::set<std::string> NamesOfInputs(const CommandLine& line) {
  std::set<std::string> names;
  for (const std::string& text : line.All("input")) names.insert(text.substr(0, text.rfind('=')));
  return names;
}

int Threads(const CommandLine& line) { return static_cast<int>(line.Integer("threads", 1, 1024)); }

InspectedMemory MemoryAsWritten(const CommandLine& line, const TitledNet& net,
                                const InspectContext& context) {
  const std::vector<std::string> kept = line.All("fetch");
  return {.report = ReportMemory(InitNetsOf(net, context), net.net, context.shapes,
                                 context.parameters, {kept.begin(), kept.end()}, Threads(line))};
}

// Creates the net and lets its operators prepare their weights.
void CountPreparedWeights(const Preparation& prepared, Workspace* ws, InspectedMemory* memory) try {
  for (const std::string& name : prepared.options.inputs) ws->CreateBlob(name);
  PreparedNet net(prepared.net, prepared.options.kept, std::make_shared<ArenaStock>(), ws);
  std::vector<size_t> unknown = net.PlanAhead(prepared);
  SetPreparedBytes(PreparedBytesOf(net.net()), std::move(unknown), &memory->report);
} catch (const EnforceNotMet& error) {
  memory->problem = error.message();
}

InspectedMemory MemoryAsPrepared(const CommandLine& line, const ModelFileOptions& file,
                                 const TitledNet& net, const InspectContext& context) {
  Model model = LoadModel(file);
  const std::unique_ptr<Workspace> ws = MakeWorkspace(line, ".", &model);
  const std::set<std::string> given = NamesOfInputs(line);
  const std::vector<std::string> fetched = line.All("fetch");
  PreparationOptions options =
      PreparationOptionsOf(line, model, given, {fetched.begin(), fetched.end()});
  options.input_shapes = context.shapes;
  const Preparation prepared = PrepareNet(std::move(model.predict_net), options, ws.get());
  ShapeMap shapes = ShapesOfWorkspace(*ws);
  std::set<std::string> parameters;
  for (const auto& [name, shape] : shapes) {
    if (!options.inputs.contains(name)) parameters.insert(name);
  }
  for (const std::string& name : given) shapes[name] = context.shapes.at(name);
  for (const auto& [name, dims] : model.input_shapes) shapes[name] = context.shapes.at(name);
  InspectedMemory memory{.prepared = true,
                         .passes = prepared.passes,
                         .report = ReportMemory(InitNetsOf(net, context), prepared.net, shapes,
                                                parameters, options.kept, Threads(line))};
  CountPreparedWeights(prepared, ws.get(), &memory);
  return memory;
}

void PrintHow(const std::string& title, const InspectedMemory& memory) {
  std::cout << OneLine(title) << ", memory before a run\n";
  constexpr size_t kIndent = 2;
  if (!memory.prepared) {
    PrintParagraph("of the net as it is written", kIndent);
  } else if (memory.passes.empty()) {
    PrintParagraph("of the net as it runs; no graph pass changes it", kIndent);
  } else {
    PrintParagraph(
        absl::StrCat("of the net as it runs, after ", absl::StrJoin(memory.passes, ", ")), kIndent);
  }
}

// A missing input makes the sizes of most other blobs unknown, so that only the first of these is
// printed, and the names of the inputs.
void PrintUnknown(const MemoryReport& report) {
  constexpr size_t kIndent = 2;
  std::vector<std::string> inputs;
  std::vector<const MemoryReport::UnknownBlob*> others;
  for (const MemoryReport::UnknownBlob& blob : report.unknown) {
    if (blob.is_input) {
      inputs.push_back(OneLine(blob.name));
    } else {
      others.push_back(&blob);
    }
  }
  if (!inputs.empty()) {
    PrintParagraph(absl::StrCat("not counted: ", CountText(inputs.size(), "input"),
                                " without a shape (--input or --init-net): ", FirstNames(inputs)),
                   kIndent);
  }
  if (!report.unknown_prepared.empty()) {
    PrintParagraph(
        absl::StrCat("not counted: prepared weights of ",
                     CountText(report.unknown_prepared.size(), "operator"),
                     ", which are known when it has its weights and the shapes of its inputs "
                     "(--init-net, --input): operator ",
                     absl::StrJoin(report.unknown_prepared, ", ")),
        kIndent);
  }
  if (others.empty()) return;
  PrintParagraph(
      absl::StrCat("not counted: ", CountText(others.size(), "blob"), " of unknown size, first \"",
                   OneLine(others[0]->name), "\": ", OneLine(others[0]->problem)),
      kIndent);
}

}  // namespace

InspectedMemory MemoryOf(const CommandLine& line, const std::string& path, FileKind kind,
                         const TitledNet& net, const InspectContext& context) {
  const std::optional<ModelFileOptions> model = ModelOf(line, path, kind, net);
  return model ? MemoryAsPrepared(line, *model, net, context) : MemoryAsWritten(line, net, context);
}

void PrintMemory(const std::string& title, const InspectedMemory& memory, size_t limit) {
  PrintHow(title, memory);
  const MemoryReport& report = memory.report;
  Table parts({{.kind = Column::kText}, {.kind = Column::kNumber}, {.kind = Column::kText}});
  for (const std::vector<std::string>& part : std::vector<std::vector<std::string>>{
           {"weights", BytesText(report.weight_bytes), ""},
           {"prepared weights", BytesText(report.prepared_bytes),
            "in the layouts of the operators"},
           {"inputs", BytesText(report.input_bytes), ""},
           {"activations", BytesText(report.arena_bytes),
            absl::StrCat("planned; at least ", BytesText(report.live_bytes),
                         " are in use at once")},
           {"outputs and others", BytesText(report.own_bytes),
            "activations with memory of their own"},
           {"scratch memory", BytesText(report.scratch_bytes), ""},
           {"peak", BytesText(report.peak_bytes),
            absl::StrCat("the activations need ", BytesText(report.activation_bytes),
                         " without a plan")}}) {
    parts.Add(part);
  }
  parts.Print();
  Table blobs({{"blob", Column::kName},
               {"shape", Column::kText, 2, kLeastShapeWidth},
               {"memory", Column::kNumber},
               {"offset", Column::kNumber, 1},
               {"operators", Column::kText}});
  for (size_t i = 0; i < std::min(limit, report.blobs.size()); ++i) {
    const MemoryReport::BlobUse& blob = report.blobs[i];
    blobs.Add({OneLine(blob.name), blob.shape, BytesText(blob.bytes),
               blob.planned ? absl::StrCat(blob.offset) : "own",
               absl::StrCat(blob.first_op, " to ", blob.last_op)});
  }
  if (!report.blobs.empty()) blobs.Print();
  if (report.blobs.size() > limit)
    std::cout << "  and " << report.blobs.size() - limit << " more, see --limit\n";
  PrintUnknown(report);
  if (!memory.problem.empty()) {
    PrintParagraph(
        absl::StrCat("prepared weights are estimated, because the net cannot be created: ",
                     OneLine(memory.problem)),
        2);
  }
}

void WriteMemory(const InspectedMemory& memory, Json* json) {
  const MemoryReport& report = memory.report;
  *json = {{"prepared", memory.prepared},
           {"passes", memory.passes},
           {"weight_bytes", report.weight_bytes},
           {"prepared_bytes", report.prepared_bytes},
           {"unknown_prepared", report.unknown_prepared},
           {"input_bytes", report.input_bytes},
           {"arena_bytes", report.arena_bytes},
           {"own_bytes", report.own_bytes},
           {"scratch_bytes", report.scratch_bytes},
           {"peak_bytes", report.peak_bytes},
           {"live_bytes", report.live_bytes},
           {"activation_bytes", report.activation_bytes}};
  Json& blobs = (*json)["blobs"] = Json::array();
  for (const MemoryReport::BlobUse& blob : report.blobs) {
    Json& entry = blobs.emplace_back();
    entry = {{"name", blob.name},       {"shape", blob.shape},       {"bytes", blob.bytes},
             {"planned", blob.planned}, {"first_op", blob.first_op}, {"last_op", blob.last_op}};
    if (blob.planned) entry["offset"] = blob.offset;
  }
  Json& unknown = (*json)["unknown"] = Json::array();
  for (const MemoryReport::UnknownBlob& blob : report.unknown) {
    unknown.emplace_back() = {{"name", blob.name}, {"problem", blob.problem}};
  }
}

}  // namespace caffe2rt
