#include "caffe2_core/inspect/net_findings.h"

#include <absl/strings/str_join.h>

#include <algorithm>

namespace caffe2rt {

void NetFindings::Add(NetFindingKind kind, int op, const std::string& text,
                      const std::string& missing_type) {
  const auto [it, inserted] = positions_.try_emplace({path_, text}, findings_.size());
  if (inserted) {
    findings_.push_back(
        {.kind = kind, .ops = {}, .path = path_, .text = text, .missing_type = missing_type});
  }
  std::vector<int>& ops = findings_[it->second].ops;
  if (op >= 0 && (ops.empty() || ops.back() != op)) ops.push_back(op);
}

std::string NetFindings::Close(const std::string& name, const std::vector<std::string>& known) {
  const std::string close =
      absl::StrJoin(NearestNames(name, known, 3, &suggestion_work_left_), ", ");
  return close.empty() ? "" : "; close: " + close;
}

std::vector<NetFinding> NetFindings::Take() {
  std::stable_sort(findings_.begin(), findings_.end(),
                   [](const NetFinding& a, const NetFinding& b) { return a.kind < b.kind; });
  return std::move(findings_);
}

}  // namespace caffe2rt
