// caffe2 check: lists the errors in nets and plans without running them.

#include <absl/strings/str_join.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "binaries/commands/command.h"
#include "binaries/commands/file_argument.h"
#include "binaries/commands/file_policy.h"
#include "binaries/commands/imported_model.h"
#include "binaries/commands/input_values.h"
#include "binaries/commands/model.h"
#include "binaries/json_output.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/inspect/model_check.h"
#include "caffe2_core/inspect/net_validation.h"
#include "caffe2_core/inspect/shape_inference_workspace.h"
#include "caffe2_core/io/searched_folders.h"
#include "caffe2_core/model/model_inputs.h"

namespace caffe2rt {
namespace {

// The findings for one net or plan of a file, and its title.
struct Titled {
  std::string title;
  std::vector<NetFinding> findings;
};

// The nets given by --init-net, which fill weights of the nets to check.
struct InitNets {
  std::vector<NetDef> nets;
  ShapeMap loaded;  // blobs that they load from databases
};

// The outputs of a Load that its database does not have.
std::vector<std::string> MissingOutputs(const OperatorDef& op, const ShapeMap& shapes) {
  std::vector<std::string> missing;
  for (const char* renaming : {"add_prefix", "strip_prefix", "source_blob_names", "dbs"}) {
    if (GetArgumentPtr(op, renaming) != nullptr) return {};
  }
  if (GetFlagArgument(op, "allow_incomplete")) return {};
  for (const std::string& output : op.output()) {
    if (!shapes.contains(output)) missing.push_back(output);
  }
  return missing;
}

// Adds the shapes of the blobs that the net loads. Returns errors about databases that cannot be
// read or lack a blob.
std::vector<NetFinding> AddLoaded(const NetDef& net, const FileAccess& access, ShapeMap* shapes) {
  std::vector<NetFinding> errors;
  const auto add = [&](int op, const std::string& text) {
    errors.push_back({.kind = NetFindingKind::kError,
                      .ops = {op},
                      .path = "",
                      .text = "operator Load: " + text,
                      .missing_type = ""});
  };
  for (int i = 0; i < net.op_size(); ++i) {
    const Argument* const db = GetArgumentPtr(net.op(i), "db");
    if (net.op(i).type() != "Load" || net.op(i).input_size() > 0 || db == nullptr) continue;
    try {
      ShapeMap loaded = LoadedShapes(net.op(i), access);
      if (const auto missing = MissingOutputs(net.op(i), loaded); !missing.empty())
        add(i, MakeString("database \"", db->s(), "\" does not have ", FirstNames(missing)));
      shapes->merge(loaded);
    } catch (const EnforceNotMet& error) {
      add(i, error.message() + SearchedFolders(access, db->s(), db->s()));
    }
  }
  return errors;
}

Titled CheckInitNet(const CommandLine& line, const std::string& path, InitNets* init) {
  NetDef net = LoadNet(path);
  FindDatabases(&net, ".", std::filesystem::path(path).parent_path().string());
  Titled titled{MakeString("net \"", net.name(), "\""), ValidateInitNet(net)};
  const std::vector<NetFinding> errors =
      AddLoaded(net, FileAccessOf(line, ".", {path}), &init->loaded);
  titled.findings.insert(titled.findings.begin(), errors.begin(), errors.end());
  init->nets.push_back(std::move(net));
  return titled;
}

bool IsInitNet(const TitledNet& net) { return net.role.find("INIT") != std::string::npos; }

// What the file itself states about the blobs of its nets.
void AddBlobsOfFile(const std::string& path, FileKind kind, const NetsOfFile& found,
                    ModelToCheck* model) {
  const auto add = [](const auto& names, ShapeMap* to) {
    for (const std::string& name : names) to->try_emplace(name, UnknownShape());
  };
  if (found.packed != nullptr) {
    model->filled = ShapesOf(*found.packed);
    add(found.packed->inputs(), &model->given);
    add(found.packed->placeholders(), &model->given);
    for (const std::string& name : found.packed->placeholders()) model->filled.erase(name);
  }
  for (const auto& [name, shape] : found.input_shapes) model->given[name] = shape;
  if (!DBTypeOfKind(kind).empty()) model->filled = ShapesInDatabase(path, DBTypeOfKind(kind));
  for (const BlobsMap& blobs : found.meta.blobs()) {
    if (blobs.key() == "PARAMETERS_BLOB_TYPE") add(blobs.value(), &model->filled);
    if (blobs.key() == "INPUTS_BLOB_TYPE") add(blobs.value(), &model->given);
  }
}

// Feeds the inputs given by --input. THROWS if no net of the file has such an input.
std::vector<FedInput> FeedInputs(const CommandLine& line, const NetsOfFile& found, Workspace* ws) {
  std::vector<const NetDef*> nets;
  for (const TitledNet& net : found.nets) nets.push_back(&net.net);
  return FeedInputs(line, nets, ws, found.is_onnx);
}

// Adds what --input states and returns the names. The workspace holds the values.
std::set<std::string> AddGiven(const CommandLine& line, const NetsOfFile& found, Workspace* ws,
                               ModelToCheck* model) {
  std::set<std::string> names;
  const std::vector<FedInput> fed = FeedInputs(line, found, ws);
  model->given = ShapesOfWorkspace(*ws);
  for (const FedInput& input : fed) {
    names.insert(input.blob);
    if (!input.is_random) model->values[input.blob] = &ws->GetBlob(input.blob)->Get<Tensor>();
  }
  return names;
}

// Findings name the operator's operand; the blob may be an input that --cast converts.
void AddCastHint(const NetDef& net, const std::set<std::string>& fed, const Workspace& inputs,
                 NetFinding* finding) {
  if (finding->kind != NetFindingKind::kError || !finding->path.empty()) return;
  std::string text = finding->text;
  for (const int op : finding->ops) {
    for (const std::string& input : net.op(op).input()) text += MakeString(" \"", input, "\"");
  }
  finding->text += CastHint(text, fed, inputs);
}

std::vector<Titled> CheckNets(const CommandLine& line, const InitNets& init,
                              const NetsOfFile& found, ModelToCheck known) {
  for (const auto& [name, shape] : init.loaded) known.filled[name] = shape;
  for (const NetDef& net : init.nets) known.init_nets.push_back(&net);
  if (found.init_net.op_size() > 0) known.init_nets.push_back(&found.init_net);
  for (const TitledNet& net : found.nets) {
    if (IsInitNet(net)) known.init_nets.push_back(&net.net);
  }
  std::vector<std::string> listed;
  for (const auto& [name, shape] : known.given) listed.push_back(name);
  Workspace inputs;
  std::set<std::string> fed;
  if (line.Has("input")) fed = AddGiven(line, found, &inputs, &known);
  known.given_is_complete = line.Has("input");
  known.has_surroundings =
      !known.init_nets.empty() || !known.filled.empty() || !known.given.empty();
  std::vector<Titled> all;
  for (const TitledNet& net : found.nets) {
    if (IsInitNet(net)) {
      all.push_back({net.title, ValidateInitNet(net.net)});
      continue;
    }
    known.zero_placeholders = ZeroPlaceholdersOf(net.net, known.init_nets, {}, listed);
    Titled& titled = all.emplace_back(Titled{net.title, ValidateModel(net.net, known)});
    for (NetFinding& finding : titled.findings) AddCastHint(net.net, fed, inputs, &finding);
  }
  return all;
}

std::vector<Titled> CheckFile(const CommandLine& line, const std::string& path,
                              const InitNets& init) {
  const FileKind kind = KindOfFile(line, path);
  const NetsOfFile found =
      IsImportedNet(kind) ? LoadImportedNets(line, path, kind) : LoadNets(path, kind, KindCheckOf(line));
  if (kind == FileKind::kPlanDef) {
    Workspace inputs;
    FeedInputs(line, found, &inputs);
    return {{MakeString("plan \"", found.plan.name(), "\""), ValidatePlan(found.plan)}};
  }
  if (found.nets.empty())
    ThrowUnwantedKind(path, kind,
                      "a NetDef, PlanDef, MetaNetDef, a packed model or a predictor's database");
  if (found.packed != nullptr) found.packed->Verify();
  ModelToCheck known;
  AddBlobsOfFile(path, kind, found, &known);
  return CheckNets(line, init, found, std::move(known));
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
      counts.push_back(CountText(count, NetFindingKindName(kind)));
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

class CheckJob {
 public:
  explicit CheckJob(const CommandLine& line) : line_(line) {}

  int Run() {
    CheckPositional(line_, 1, SIZE_MAX, "at least one file");
    *json_ = Json::array();
    InitNets init;
    for (const std::string& path : line_.All("init-net")) {
      Add(path, [&] { return std::vector{CheckInitNet(line_, path, &init)}; });
    }
    for (const std::string& path : line_.positional()) {
      Add(path, [&] { return CheckFile(line_, path, init); });
    }
    if (line_.Has("json")) PrintJson(*json_);
    return errors_ ? 1 : 0;
  }

 private:
  // The remaining files are still checked if one cannot be read.
  template <class Function>
  void Add(const std::string& path, const Function& check) {
    try {
      for (const Titled& titled : check()) {
        errors_ |= CountOf(titled.findings, NetFindingKind::kError) > 0;
        if (line_.Has("json")) {
          WriteFindings(path, titled, &json_->emplace_back());
        } else {
          PrintFindings(path, titled);
        }
      }
    } catch (const EnforceNotMet& error) {
      std::cout.flush();
      std::cerr << "caffe2: " << OneLine(error.message()) << std::endl;
      json_->emplace_back() = {{"file", path}, {"error", error.message()}};
      errors_ = true;
    }
  }

  const CommandLine& line_;
  const JsonDocument json_ = NewJson();
  bool errors_ = false;
};

int Check(const CommandLine& line) { return CheckJob(line).Run(); }

}  // namespace

const Command& CheckCommand() {
  static const Command command = {
      .name = "check",
      .purpose = "lists the errors in nets and plans without running them",
      .usage = "check FILE... [options]",
      .examples =
          "  caffe2 check binaries/demo/stripes/init_net.pb binaries/demo/stripes/predict_net.pb\n"
          "  caffe2 check binaries/demo/stripes/predict_net.pb --init-net "
          "binaries/demo/stripes/init_net.pb --input data=1,3,64,64\n",
      .options = JoinOptions(
          {{kAsOption,
            {"init-net", "FILE", "",
             "net that fills the weights: check it, and the nets together with it", true},
            {"input", "BLOB=VALUE", "",
             "all inputs, as for `run`: check that they fit and that none is missing", true},
            kCastOption,
            kAllowFilesOption,
            ProcessOptions()[1],
            {"module", "FILE.so", "", "module with operators; may be repeated", true},
            kJsonOption},
           ImportOptions()}),
      .run = Check,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
