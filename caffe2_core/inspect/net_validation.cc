#include "caffe2_core/inspect/net_validation.h"

#include <algorithm>
#include <map>
#include <new>
#include <set>
#include <unordered_set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/executors/net_types.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/inspect/argument_problems.h"
#include "caffe2_core/inspect/net_findings.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_engines.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

using enum NetFindingKind;

// Caffe2's Python helpers add these arguments to operators of every type. Warnings about them would
// hide warnings about misspelled arguments.
bool IsHelpersHint(const std::string& argument) {
  return argument == "order" || argument == "use_cudnn" || argument == "cudnn_exhaustive_search";
}

class Validation {
 public:
  explicit Validation(NetFindings* findings) : findings_(*findings) {}

  void AddNet(const NetDef& net, const std::string& path, int depth) {
    findings_.set_path(path);
    CheckType(net);
    CheckOutputs(net);
    for (const NetProblem& problem : CheckNetDataflow(net)) {
      if (problem.op >= 0 && depth == 0) Add(kError, problem.op, problem.text);
    }
    try {
      ArgumentHelper unused(net);
    } catch (const std::exception&) {
      Add(kError, -1, CurrentExceptionMessage());
    }
    for (int i = 0; i < net.op_size(); ++i) CheckOperator(net, i);
    for (const OverwrittenOutput& lost : OverwrittenOutputsOf(net)) {
      Add(kNote, lost.op,
          MakeString("output \"", Shortened(lost.output), "\" is overwritten by operator ", lost.by,
                     " (", Shortened(net.op(lost.by).type()), ") before any operator reads it"));
    }
    if (depth >= kMaxNetDepth) return;
    for (int i = 0; i < net.op_size(); ++i) AddNestedNets(net.op(i), i, path, depth);
  }

 private:
  void Add(NetFindingKind kind, int op, const std::string& text,
           const std::string& missing_type = "") {
    findings_.Add(kind, op, text, missing_type);
  }
  std::string Close(const std::string& name, const std::vector<std::string>& known) {
    return findings_.Close(name, known);
  }

  void CheckType(const NetDef& net) {
    if (!IsKnownNetType(net.type())) {
      Add(kError, -1,
          MakeString("net type \"", net.type(), "\" is not known",
                     Close(net.type(), GetNetRegistry()->Keys())));
    } else if (OrderOfType(net.type()) == NetOrder::kOrderOfNet && !net.type().empty() &&
               net.type() != "simple") {
      Add(kNote, -1,
          MakeString("net type \"", net.type(), "\" runs as simple: one operator after the other"));
    }
    if (net.has_device_option()) CheckDevice(net.device_option(), -1);
  }

  void CheckOutputs(const NetDef& net) {
    const std::unordered_set<std::string> declared(net.external_input().begin(),
                                                   net.external_input().end());
    const NetBlobs blobs(net);
    for (const std::string& output : net.external_output()) {
      if (!blobs.Writes(output) && !declared.contains(output)) {
        Add(kError, -1,
            MakeString("external_output \"", output, "\" is not written by any operator"));
      }
    }
  }

  void CheckDevice(const DeviceOption& option, int op) {
    const int type = option.device_type();
    if (!IsValidDeviceType(type)) {
      Add(kError, op,
          MakeString("device type ", type, " is not known, want 0 to ", kMaxDeviceTypes - 1));
    } else if (FindStaticContext(static_cast<DeviceType>(type)) == nullptr) {
      Add(kNote, op,
          MakeString("asks for the device ", DeviceTypeName(type),
                     ", which is not available: it runs on the CPU (--device auto)"));
    }
  }

  static std::string WhyMissing(const std::string& type) {
    if (!IsKnownCaffe2Operator(type)) return "not known";
    const OpSchema* const schema = OpSchemaRegistry::Schema(type);
    if (schema == nullptr || schema->missing().empty()) return "known to Caffe2 but not available";
    return "known to Caffe2 but not available: it needs " + schema->missing();
  }

  void CheckOperator(const NetDef& net, int i) {
    const OperatorDef& op = net.op(i);
    DeviceOption device = op.device_option();
    if (net.has_device_option()) device = MergeDeviceOption(net.device_option(), device);
    if (op.has_device_option()) CheckDevice(op.device_option(), i);
    const int type = device.device_type();
    // The CPU replaces a device that is not available.
    const bool here =
        IsValidDeviceType(type) && FindStaticContext(static_cast<DeviceType>(type)) != nullptr;
    const DeviceType runs_on = here ? static_cast<DeviceType>(type) : CPU;
    const std::string& runs_as = here && type != CPU ? op.type() : OperatorTypeOnCPU(op.type());
    const std::vector<std::string>& types = TypesOn(runs_on);
    const bool exists = std::binary_search(types.begin(), types.end(), runs_as);
    if (!exists) {
      Add(kError, i,
          MakeString("operator type \"", op.type(), "\" is ", WhyMissing(op.type()),
                     Close(op.type(), types)),
          op.type());
    }
    const bool readable = CheckArguments(op, i);
    if (!exists) return;
    device.set_device_type(runs_on);
    if (!here) device.clear_device_id();
    if (const OpSchema* schema = OpSchemaRegistry::Schema(runs_as); schema != nullptr) {
      CheckArgumentNames(*schema, op, i);
      std::string why;
      if (!schema->Verify(op, &why)) {
        std::vector<std::string> problems = SchemaProblemsOf(*schema, op);
        if (std::find(problems.begin(), problems.end(), why) == problems.end())
          problems.insert(problems.begin(), why);
        return AddProblems(op, problems, i);
      }
    }
    if (!readable) return CheckFirstArguments(op, runs_as, i);
    CheckConstruction(op, runs_as, device, i);
    if (here) CheckEngines(op, runs_as, device, i);
  }

  // The default implementation replaces an engine that does not exist. If the device itself is not
  // available, a note about the device states it.
  void CheckEngines(const OperatorDef& op, const std::string& runs_as, const DeviceOption& device,
                    int i) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(runs_as);
    if (schema != nullptr && schema->has_effect(Effect::kCommunication, op)) return;  // theirs never fall back
    OperatorDef def;
    def.set_type(runs_as);
    def.set_engine(op.engine());
    *def.mutable_device_option() = device;
    for (const std::string& engine : MissingEngines(def)) {
      Add(kNote, i,
          MakeString("engine \"", Shortened(engine), "\" has no implementation on the device ",
                     DeviceTypeName(device.device_type()), ": another one runs"));
    }
  }

  // Creates the operator, because its constructor checks the values of the arguments.
  void CheckConstruction(const OperatorDef& op, const std::string& runs_as,
                         const DeviceOption& device, int i) {
    OperatorDef def = op;
    def.set_type(runs_as);
    *def.mutable_device_option() = device;
    const std::vector<std::string> nested = NestedBlobsOf(op).read;
    const auto create = [&](const OperatorDef& tried) {
      Workspace scratch;
      scratch.SetFileAccess(FileAccess::Off("operators open files when they run"));
      for (const std::string& input : op.input()) scratch.CreateBlob(input);
      for (const std::string& input : nested) scratch.CreateBlob(input);
      (void)CreateOperator(tried, &scratch);
    };
    try {
      create(def);
    } catch (const OutOfMemory&) {
      throw;  // not the net's fault
    } catch (...) {
      const std::string first = CurrentExceptionMessage();
      AddProblems(op, argument_problems_.Of(OpSchemaRegistry::Schema(runs_as), def, first, create),
                  i);
    }
  }

  void AddProblems(const OperatorDef& op, const std::vector<std::string>& problems, int i) {
    for (const std::string& problem : problems)
      Add(kError, i, MakeString("operator ", op.type(), ": ", problem));
  }

  // Returns false if the arguments are too malformed for further checks.
  bool CheckArguments(const OperatorDef& op, int i) {
    try {
      ArgumentHelper unused(op);
    } catch (const std::exception&) {
      Add(kError, i, MakeString("operator ", op.type(), ": ", CurrentExceptionMessage()));
      return false;
    }
    std::set<std::string> names;
    for (const Argument& arg : op.arg()) {
      if (!names.insert(arg.name()).second) {
        Add(kWarning, i,
            MakeString("operator ", op.type(), ": argument \"", arg.name(), "\" is given twice"));
      }
    }
    return true;
  }

  // Checks an operator that has several arguments of one name as if it had only the first of them.
  void CheckFirstArguments(const OperatorDef& op, const std::string& runs_as, int i) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(runs_as);
    if (schema == nullptr) return;
    OperatorDef first = op;
    first.clear_arg();
    std::set<std::string> names;
    for (const Argument& arg : op.arg()) {
      if (names.insert(arg.name()).second) *first.add_arg() = arg;
    }
    AddProblems(op, SchemaProblemsOf(*schema, first), i);
  }

  void CheckArgumentNames(const OpSchema& schema, const OperatorDef& op, int i) {
    if (schema.accepts_any_argument()) return;
    std::vector<std::string> known;
    for (const OpSchema::Argument& arg : schema.args()) known.push_back(arg.name);
    for (const Argument& arg : op.arg()) {
      if (std::find(known.begin(), known.end(), arg.name()) != known.end()) continue;
      if (IsHelpersHint(arg.name())) continue;
      Add(kWarning, i,
          MakeString("operator ", op.type(), ": argument \"", arg.name(),
                     "\" is not known and has no effect", Close(arg.name(), known)));
    }
  }

  void AddNestedNets(const OperatorDef& op, int i, const std::string& path, int depth) {
    for (const Argument& arg : op.arg()) {
      const std::string inner = MakeString(path, "operator ", i, " (", Shortened(op.type()),
                                           "), argument ", Shortened(arg.name()), ": ");
      if (arg.has_n()) AddNet(arg.n(), inner, depth + 1);
      for (const NetDef& nested : arg.nets()) AddNet(nested, inner, depth + 1);
      NetDef step;
      if (ParseTextNet(arg, &step)) AddNet(step, inner, depth + 1);
    }
  }

  // The sorted operator types of the device. They are cached, because a file may have many
  // operators of unknown types.
  const std::vector<std::string>& TypesOn(DeviceType device) {
    const auto [it, inserted] = types_.try_emplace(device);
    if (inserted) it->second = RegisteredOperatorTypes(device);
    return it->second;
  }

  NetFindings& findings_;
  ArgumentProblems argument_problems_;
  std::map<DeviceType, std::vector<std::string>> types_;
};

}  // namespace

void AddFindingsOf(const std::vector<std::pair<const NetDef*, std::string>>& nets,
                   NetFindings* findings) {
  EnsureBuiltinOperators();
  Validation validation(findings);
  for (const auto& [net, path] : nets) validation.AddNet(*net, path, 0);
}

const char* NetFindingKindName(NetFindingKind kind) {
  return kind == kError ? "error" : kind == kWarning ? "warning" : "note";
}

std::vector<NetFinding> ValidateNet(const NetDef& net) try {
  NetFindings findings;
  AddFindingsOf({{&net, ""}}, &findings);
  return findings.Take();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
