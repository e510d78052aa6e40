#include "binaries/commands/inspect_drawing.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "binaries/commands/graphviz.h"
#include "binaries/commands/model.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/net_drawing.h"
#include "caffe2_core/io/atomic_file.h"

namespace caffe2rt {
namespace {

void WriteDrawing(const std::string& file, const std::string& drawing) {
  if (file == "-") {
    std::cout << drawing;
  } else {
    WriteFileAtomically(file, drawing);
  }
}

// The layout by Graphviz, or, with a warning, without it.
NetDrawingLayout LayoutOf(const CommandLine& line, const NetDrawing& drawing) {
  const int64_t seconds = line.Integer("dot-seconds", 0, 86400);
  if (seconds == 0) return drawing.PlainLayout();
  DotLimits limits;
  limits.time = std::chrono::seconds(seconds);
  DotAnswer answer = RunDot(drawing.DotRequest(), limits);
  if (answer.problem.empty()) {
    try {
      return drawing.ReadDotLayout(answer.plain);
    } catch (const EnforceNotMet& error) {
      answer.problem = absl::StrCat("dot printed an invalid layout: ", error.message());
    }
  }
  Warn(answer.problem + "; the drawing has a plain layout, in rows");
  return drawing.PlainLayout();
}

// A net of a step, and when it runs, such as `, in step "train", 100 times`.
using NetOfStep = std::pair<std::string, std::string>;

void AddNetsOfStep(const ExecutionStep& step, std::vector<NetOfStep>* nets) {
  std::string when;
  if (!step.name().empty()) absl::StrAppend(&when, ", in step \"", step.name(), "\"");
  if (step.num_iter() > 1) absl::StrAppend(&when, ", ", step.num_iter(), " times");
  for (const std::string& name : step.network()) nets->emplace_back(name, when);
  for (const ExecutionStep& substep : step.substep()) AddNetsOfStep(substep, nets);
  if (!step.report_net().empty()) nets->emplace_back(step.report_net(), when + ", for reports");
}

std::vector<TitledNet> NetsOfPlan(const NetsOfFile& found) {
  std::vector<NetOfStep> order;
  for (const ExecutionStep& step : found.plan.execution_step()) AddNetsOfStep(step, &order);
  std::map<std::string, size_t> by_name;
  for (size_t i = 0; i < found.nets.size(); ++i) by_name.emplace(found.nets[i].net.name(), i);
  std::vector<TitledNet> nets;
  std::vector<bool> drawn(found.nets.size(), false);
  for (const auto& [name, when] : order) {
    const auto net = by_name.find(name);
    if (net == by_name.end() || drawn[net->second]) continue;
    drawn[net->second] = true;
    nets.push_back(found.nets[net->second]);
    nets.back().title += when;
  }
  for (size_t i = 0; i < found.nets.size(); ++i) {
    if (drawn[i]) continue;
    nets.push_back(found.nets[i]);
    nets.back().title += ", in no step";
  }
  return nets;
}

}  // namespace

bool WantsDrawing(const CommandLine& line) {
  if (line.Has("dot") || line.Has("svg") || line.Has("html")) return true;
  for (const char* option : {"fold", "dot-seconds"}) {
    if (line.Has(option))
      throw UsageError(absl::StrCat("option --", option, " needs --svg, --html or --dot"));
  }
  return false;
}

std::vector<TitledNet> NetsToDraw(const std::string& path, FileKind kind, const NetsOfFile& found) {
  CAFFE_ENFORCE(!found.nets.empty(), "file \"", path, "\" contains no net to draw");
  if (kind == FileKind::kPlanDef) return NetsOfPlan(found);
  for (const TitledNet& net : found.nets) {
    if (net.role == "PREDICT_NET_TYPE") return {net};
  }
  return {*std::max_element(
      found.nets.begin(), found.nets.end(),
      [](const TitledNet& a, const TitledNet& b) { return a.net.op_size() < b.net.op_size(); })};
}

void WriteDrawings(const CommandLine& line, const std::string& title,
                   const std::vector<TitledNet>& nets, const std::vector<NetSummary>& summaries,
                   const std::set<std::string>& parameters) {
  std::vector<DrawnNet> drawn;
  for (size_t i = 0; i < nets.size(); ++i)
    drawn.push_back({&nets[i].net, &summaries[i], nets[i].title});
  const NetDrawing drawing(drawn,
                           {.fold = line.Has("fold"), .title = title, .parameters = parameters});
  if (line.Has("dot")) WriteDrawing(line.Text("dot"), drawing.Dot());
  if (!line.Has("svg") && !line.Has("html")) return;
  const NetDrawingLayout layout = LayoutOf(line, drawing);
  if (line.Has("svg")) WriteDrawing(line.Text("svg"), drawing.Svg(layout));
  if (line.Has("html")) WriteDrawing(line.Text("html"), drawing.Html(layout));
}

}  // namespace caffe2rt
