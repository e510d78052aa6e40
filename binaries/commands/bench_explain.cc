#include "binaries/commands/bench_explain.h"

#include <absl/strings/str_cat.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "binaries/commands/bench_report.h"
#include "binaries/table.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"

namespace caffe2rt {
namespace {

std::string MicrosecondsText(const std::optional<double>& us) {
  return us ? FixedText(*us, 1) : "-";
}

std::string LayoutsText(const KernelCandidate& candidate) {
  if (candidate.x_layout.empty()) return "-";
  if (candidate.x_layout == candidate.y_layout) return candidate.x_layout;
  return absl::StrCat(candidate.x_layout, " to ", candidate.y_layout);
}

Json CandidateJson(const KernelCandidate& candidate) {
  Json json = {{"algorithm", candidate.algorithm},
               {"implementation", candidate.implementation},
               {"reason", candidate.reason},
               {"excluded", candidate.excluded}};
  // Absent if they are not known.
  if (!candidate.x_layout.empty()) json["x_layout"] = candidate.x_layout;
  if (!candidate.y_layout.empty()) json["y_layout"] = candidate.y_layout;
  if (candidate.model_us) json["model_us"] = *candidate.model_us;
  if (candidate.table_us) json["table_us"] = *candidate.table_us;
  return json;
}

void AddCandidates(const OperatorProfile& op, const KernelChoice& choice, Table* table) {
  for (size_t i = 0; i < choice.candidates.size(); ++i) {
    const KernelCandidate& candidate = choice.candidates[i];
    const bool runs = i == choice.position;
    table->Add({i == 0 ? absl::StrCat(op.index) : "", i == 0 ? BlobText(op.output) : "",
                OneLine(candidate.algorithm), candidate.implementation, LayoutsText(candidate),
                MicrosecondsText(candidate.model_us), MicrosecondsText(candidate.table_us),
                runs ? "runs" : (candidate.excluded ? "excluded" : ""), candidate.reason},
               runs ? Style::kPlain : Style::kDim);
  }
}

}  // namespace

void PrintKernels(const NetProfile& profile) {
  Table table({{"#", Column::kNumber},
               {"output", Column::kName},
               {"candidate", Column::kText},
               {"by", Column::kText, 1},
               {"layouts", Column::kText},
               {"model us", Column::kNumber},
               {"table us", Column::kNumber},
               {"", Column::kText},
               {"reason", Column::kText}});
  for (const OperatorProfile& op : profile.operators) {
    if (op.kernel) AddCandidates(op, *op.kernel, &table);
  }
  std::cout
      << "kernels (candidates in the order of preference; model us: estimated; table us: from\n"
         "the table of timings; reason: why a candidate has its place or is excluded):\n";
  table.Print();
}

void WriteKernels(const NetProfile& profile, Json* json) {
  Json& list = (*json)["operators"];
  for (size_t i = 0; i < profile.operators.size(); ++i) {
    const OperatorProfile& op = profile.operators[i];
    if (!op.kernel) continue;
    list[i]["kernel"] = CandidateJson(op.kernel->taken());
    Json& candidates = list[i]["candidates"] = Json::array();
    for (const KernelCandidate& candidate : op.kernel->candidates) {
      candidates.push_back(CandidateJson(candidate));
    }
  }
}

}  // namespace caffe2rt
