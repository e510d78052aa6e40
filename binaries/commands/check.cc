// caffe2 check: lists the errors in nets and plans without running them.

#include <absl/strings/str_join.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "binaries/commands/command.h"
#include "binaries/commands/file_argument.h"
#include "binaries/json_output.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/runtime/net_validation.h"

namespace caffe2rt {
namespace {

// The findings for one net or plan of a file, and its title.
struct Titled {
  std::string title;
  std::vector<NetFinding> findings;
};

std::vector<Titled> CheckFile(const CommandLine& line, const std::string& path) {
  const FileKind kind = KindOfFile(line, path);
  const NetsOfFile found = LoadNets(path, kind, KindCheckOf(line));
  if (kind == FileKind::kPlanDef) {
    return {{MakeString("plan \"", found.plan.name(), "\""), ValidatePlan(found.plan)}};
  }
  if (found.nets.empty())
    ThrowUnwantedKind(path, kind,
                      "a NetDef, PlanDef, MetaNetDef, a packed model or a predictor's database");
  if (found.packed != nullptr) found.packed->Verify();
  std::vector<Titled> all;
  for (const TitledNet& net : found.nets) all.push_back({net.title, ValidateNet(net.net)});
  return all;
}

// "operator 3: ", "operators 3, 5 and 7: ", "".
std::string Positions(const std::vector<int>& ops) {
  if (ops.empty()) return "";
  constexpr size_t kMost = 12;
  std::vector<int> shown(ops.begin(),
                         ops.begin() + static_cast<int64_t>(std::min(ops.size(), kMost)));
  std::string text =
      MakeString(ops.size() == 1 ? "operator " : "operators ", absl::StrJoin(shown, ", "));
  if (ops.size() > kMost) text += MakeString(" and ", ops.size() - kMost, " more");
  return text + ": ";
}

std::string Counted(size_t count, const std::string& what) {
  return MakeString(count, " ", what, count == 1 ? "" : "s");
}

size_t CountOf(const std::vector<NetFinding>& findings, NetFindingKind kind) {
  size_t count = 0;
  for (const NetFinding& finding : findings) count += finding.kind == kind;
  return count;
}

void PrintFindings(const std::string& path, const Titled& titled) {
  const auto& findings = titled.findings;
  std::cout << path << ": " << OneLine(titled.title) << ": ";
  if (findings.empty()) {
    std::cout << "fine\n";
    return;
  }
  std::vector<std::string> counts;
  for (const NetFindingKind kind :
       {NetFindingKind::kError, NetFindingKind::kWarning, NetFindingKind::kNote}) {
    if (const size_t count = CountOf(findings, kind))
      counts.push_back(Counted(count, NetFindingKindName(kind)));
  }
  std::cout << absl::StrJoin(counts, ", ") << "\n";
  for (const NetFinding& finding : findings) {
    std::cout << "  " << NetFindingKindName(finding.kind) << ": " << OneLine(finding.path)
              << Positions(finding.ops) << OneLine(finding.text) << "\n";
  }
}

void WriteFindings(const std::string& path, const Titled& titled, Json* json) {
  std::set<std::string> missing;
  *json = {{"file", path}, {"subject", titled.title}};
  Json& findings = (*json)["findings"] = Json::array();
  for (const NetFinding& finding : titled.findings) {
    Json& entry = findings.emplace_back();
    entry["kind"] = NetFindingKindName(finding.kind);
    entry["operators"] = finding.ops;
    entry["path"] = finding.path;
    entry["text"] = finding.text;
    if (!finding.missing_type.empty()) {
      entry["missing_operator"] = finding.missing_type;
      missing.insert(finding.missing_type);
    }
  }
  (*json)["missing_operators"] = missing;
  (*json)["errors"] = CountOf(titled.findings, NetFindingKind::kError);
}

int Check(const CommandLine& line) {
  CheckPositional(line, 1, SIZE_MAX, "at least one file");
  const JsonDocument json = NewJson();
  *json = Json::array();
  bool errors = false;
  for (const std::string& path : line.positional()) {
    try {
      for (const Titled& titled : CheckFile(line, path)) {
        errors |= CountOf(titled.findings, NetFindingKind::kError) > 0;
        if (line.Has("json")) {
          WriteFindings(path, titled, &json->emplace_back());
        } else {
          PrintFindings(path, titled);
        }
      }
    } catch (const EnforceNotMet& error) {
      // The remaining files are still checked.
      std::cout.flush();
      std::cerr << "caffe2: " << OneLine(error.message()) << std::endl;
      json->emplace_back() = {{"file", path}, {"error", error.message()}};
      errors = true;
    }
  }
  if (line.Has("json")) PrintJson(*json);
  return errors ? 1 : 0;
}

}  // namespace

const Command& CheckCommand() {
  static const Command command = {
      .name = "check",
      .purpose = "lists the errors in nets and plans without running them",
      .usage = "check FILE... [options]",
      .examples =
          "  caffe2 check binaries/demo/stripes/init_net.pb binaries/demo/stripes/predict_net.pb\n"
          "  caffe2 check --json binaries/demo/doubling_plan.pbtxt\n",
      .options = {kAsOption,
                  ProcessOptions()[1],
                  {"module", "FILE.so", "", "module with operators; may be repeated", true},
                  kJsonOption},
      .run = Check,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
