#include "binaries/commands/inspect_net.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "binaries/commands/inspect_context.h"
#include "binaries/commands/inspect_drawing.h"
#include "binaries/commands/inspect_memory.h"
#include "binaries/commands/inspect_plan.h"
#include "binaries/commands/number_text.h"
#include "binaries/json_output.h"
#include "binaries/table.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {
namespace {

void PrintNet(const TitledNet& net, const NetSummary& summary) {
  std::cout << OneLine(net.title) << (net.net.has_type() ? ", type " + OneLine(net.net.type()) : "")
            << ", " << CountText(net.net.op_size(), "operator") << "\n";
  Table table({{"", Column::kNumber},
               {"type", Column::kName},
               {"output", Column::kName},
               {"shape", Column::kText, 0, kLeastShapeWidth},
               {"params", Column::kNumber, 1},
               {"mult-adds", Column::kNumber, 2},
               {"memory", Column::kNumber, 3}});
  for (size_t i = 0; i < summary.ops.size(); ++i) {
    const OpSummary& op = summary.ops[i];
    const std::string output = op.output_names.empty() ? "" : op.output_names[0];
    const std::string more =
        op.output_names.size() > 1 ? MakeString(" +", op.output_names.size() - 1) : "";
    table.Add({MakeString(i), OneLine(op.type), OneLine(output) + more,
               op.outputs.empty() ? "" : ShapeText(op.outputs[0]),
               op.parameters > 0 ? ShortCount(op.parameters) : "",
               op.multiply_adds > 0 ? ShortCount(op.multiply_adds) : "",
               op.output_bytes > 0 ? BytesText(op.output_bytes) : ""});
  }
  table.Print();
  std::cout << "total: " << ShortCount(summary.parameters)
            << (summary.parameters == 1 ? " parameter (" : " parameters (")
            << BytesText(summary.parameter_bytes) << "), " << ShortCount(summary.multiply_adds)
            << (summary.multiply_adds == 1 ? " multiply-add, " : " multiply-adds, ")
            << BytesText(summary.activation_bytes) << " of output blobs\n";
  if (summary.unknown_ops == 0) return;
  for (const OpSummary& op : summary.ops) {
    if (op.problem.empty()) continue;
    std::cout << CountText(summary.unknown_ops, "operator has", "operators have")
              << " unknown shapes, first " << OneLine(op.type) << ": " << OneLine(op.problem)
              << "; --init-net and --input BLOB=DIMS provide shapes\n";
    return;
  }
}

Json JsonOf(const TensorShape& shape) {
  if (shape.unknown_shape()) return {{"known", false}};
  return {{"type", TensorProto::DataType_Name(shape.data_type())}, {"dims", shape.dims()}};
}

void WriteOperator(const OpSummary& op, Json* json) {
  (*json)["type"] = op.type;
  (*json)["name"] = op.name;
  (*json)["inputs"] = op.input_names;
  (*json)["outputs"] = op.output_names;
  Json& shapes = (*json)["output_shapes"] = Json::array();
  for (const TensorShape& shape : op.outputs) shapes.push_back(JsonOf(shape));
  (*json)["parameters"] = op.parameters;
  (*json)["multiply_adds"] = op.multiply_adds;
  (*json)["output_bytes"] = op.output_bytes;
  if (!op.problem.empty()) (*json)["problem"] = op.problem;
}

void WriteNet(const TitledNet& net, const NetSummary& summary, Json* json) {
  *json = {{"name", net.net.name()},
           {"role", net.role},
           {"type", net.net.type()},
           {"parameters", summary.parameters},
           {"parameter_bytes", summary.parameter_bytes},
           {"multiply_adds", summary.multiply_adds},
           {"activation_bytes", summary.activation_bytes},
           {"unknown_operators", summary.unknown_ops}};
  (*json)["external_input"] = net.net.external_input();
  (*json)["external_output"] = net.net.external_output();
  Json& operators = (*json)["operators"] = Json::array();
  for (const OpSummary& op : summary.ops) WriteOperator(op, &operators.emplace_back());
}

void PrintStep(const ExecutionStep& step, int depth) {
  std::cout << std::string(static_cast<size_t>(depth) * 2 + 2, ' ') << "step \""
            << OneLine(step.name()) << "\"";
  if (step.has_num_iter()) std::cout << ", " << CountText(step.num_iter(), "time");
  if (step.has_should_stop_blob())
    std::cout << ", until \"" << OneLine(step.should_stop_blob()) << "\"";
  if (step.concurrent_substeps()) std::cout << ", substeps concurrently";
  if (step.num_concurrent_instances() > 1)
    std::cout << ", " << step.num_concurrent_instances() << " instances";
  if (step.network_size() > 0) std::cout << ": " << OneLine(absl::StrJoin(step.network(), ", "));
  std::cout << "\n";
  for (const ExecutionStep& substep : step.substep()) PrintStep(substep, depth + 1);
}

void PrintPacked(const PackedModel& model) {
  uint64_t bytes = 0, form_bytes = 0;
  int forms = 0;
  for (const PackedTensor& tensor : model.index().tensor()) bytes += tensor.block().size();
  ForEachTensor(model.index(), [&](const PackedTensor& tensor) {
    for (const PackedForm& form : tensor.form()) form_bytes += form.block().size();
    forms += tensor.form_size();
  });
  const int count = model.index().tensor_size();
  std::cout << CountText(count, "tensor") << ", " << BytesText(static_cast<int64_t>(bytes));
  if (forms > 0) {
    std::cout << "; prepared for " << OneLine(model.index().instruction_set()) << ": "
              << CountText(forms, "form") << ", " << BytesText(static_cast<int64_t>(form_bytes));
  }
  if (model.index().has_preparation()) {
    std::cout << "; with a prepared net of "
              << CountText(model.index().preparation().net().op_size(), "operator") << " ("
              << OneLine(model.index().preparation().description()) << ")";
  }
  std::cout << "\n";
}

// The weights, as far as they are known: what the init nets write, except the inputs given.
std::set<std::string> ParametersOf(const CommandLine& line, const InspectContext& context) {
  if (!context.parameters.empty()) return context.parameters;
  std::set<std::string> parameters;
  for (const NetDef& init : context.init_nets) {
    for (std::string& name : NamesWrittenBy(init)) parameters.insert(std::move(name));
  }
  for (const std::string& text : line.All("input"))
    parameters.erase(text.substr(0, text.rfind('=')));
  return parameters;
}

void DrawNets(const CommandLine& line, const std::string& path, FileKind kind,
              const NetsOfFile& found, InspectContext context) {
  constexpr size_t kMostChained =
      64;  // nets of a plan that know the shapes of the nets before them
  const std::vector<TitledNet> nets = NetsToDraw(path, kind, found);
  std::vector<NetSummary> summaries;
  for (const TitledNet& net : nets) {
    summaries.push_back(SummaryOf(net, context));
    if (kind == FileKind::kPlanDef && nets.size() <= kMostChained)
      context.shapes = summaries.back().shapes;
  }
  const std::string name = kind == FileKind::kPlanDef ? found.plan.name() : nets[0].net.name();
  WriteDrawings(line, name.empty() ? FileStem(path) : name, nets, summaries,
                ParametersOf(line, context));
}

}  // namespace

void InspectNets(const CommandLine& line, const std::string& path, FileKind kind,
                 const NetsOfFile& found) {
  EnsureBuiltinOperators();
  const InspectContext context = ContextOf(line, path, kind, found);
  CheckGivenShapes(line, found, context);
  CheckMemoryOptions(line, found);
  if (WantsDrawing(line)) {
    DrawNets(line, path, kind, found, context);
    return;
  }
  if (line.Has("json")) {
    const JsonDocument json = NewJson();
    *json = {{"file", path}, {"kind", FileKindName(kind)}};
    if (kind == FileKind::kPlanDef) WriteFlows(found.plan, &(*json)["blobs"]);
    Json& nets = (*json)["nets"] = Json::array();
    for (const TitledNet& net : found.nets) {
      Json& entry = nets.emplace_back();
      WriteNet(net, SummaryOf(net, context), &entry);
      if (line.Has("memory"))
        WriteMemory(MemoryOf(line, path, kind, net, context), &entry["memory"]);
    }
    PrintJson(*json);
    return;
  }
  std::cout << path << ": " << FileKindDescription(kind) << "\n";
  if (kind == FileKind::kPlanDef) {
    std::cout << "plan \"" << OneLine(found.plan.name()) << "\"\n";
    for (const ExecutionStep& step : found.plan.execution_step()) PrintStep(step, 0);
    PrintFlows(found.plan, static_cast<size_t>(line.Integer("limit", 0, INT64_MAX)));
  }
  for (const BlobsMap& blobs : found.meta.blobs()) {
    std::cout << OneLine(blobs.key()) << ": " << OneLine(absl::StrJoin(blobs.value(), ", "))
              << "\n";
  }
  if (found.packed != nullptr) PrintPacked(*found.packed);
  for (const TitledNet& net : found.nets) {
    if (line.Has("memory")) {
      const auto limit = static_cast<size_t>(line.Integer("limit", 0, INT64_MAX));
      PrintMemory(net.title, MemoryOf(line, path, kind, net, context), limit);
    } else {
      PrintNet(net, SummaryOf(net, context));
    }
  }
}

}  // namespace caffe2rt
