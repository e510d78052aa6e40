// Replays gradient makers and backward passes of nets. Compares operators by type, inputs, outputs,
// arguments (in any order) and engine.
#include <absl/strings/str_join.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <regex>

#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/net_gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/oracle/original_faults.h"
#include "tests/oracle/replay.h"
#include "tests/oracle/run_operator.h"

namespace caffe2rt::test {
namespace {

bool HasMaker(const std::string& type) {
  return GradientRegistry()->Has(type) || NetGradientRegistry()->Has(type);
}

// Whether the original has no maker for the type.
bool LacksMaker(const oracle::GradientCase& recorded) {
  return recorded.throws() &&
         recorded.error().find("GradientRegistry()->Has(def.type())") != std::string::npos;
}

GradientWrapper Wrap(const oracle::GradientRef& ref) {
  GradientWrapper wrapper;
  wrapper.dense_ = ref.dense();
  wrapper.indices_ = ref.indices();
  wrapper.values_ = ref.values();
  return wrapper;
}

std::string Text(const GradientWrapper& gradient) {
  if (gradient.IsDense()) return '"' + gradient.dense_ + '"';
  if (gradient.IsSparse()) return '"' + gradient.indices_ + "\" and \"" + gradient.values_ + '"';
  return "none";
}

// The compared parts, in canonical form.
std::string Canonical(const OperatorDef& op) {
  std::vector<std::string> args;
  for (const Argument& arg : op.arg()) args.push_back(arg.ShortDebugString());
  // The original gives some operators an argument twice.
  std::sort(args.begin(), args.end());
  args.erase(std::unique(args.begin(), args.end()), args.end());
  return MakeString(op.type(), '(', absl::StrJoin(op.input(), ", "), ") -> (",
                    absl::StrJoin(op.output(), ", "), ") {", absl::StrJoin(args, "; "),
                    "} engine \"", op.engine(), '"');
}

CaseResult Compare(const oracle::GradientCase& recorded, const GradientOpsMeta& got) {
  OperatorDefs ops(got.ops_.begin(), got.ops_.end()), wanted;
  for (const std::string& op : recorded.gradient_op()) {
    CAFFE_ENFORCE(wanted.Add()->ParseFromString(op), "the case contains no OperatorDef");
  }
  if (ops.size() != wanted.size()) {
    return CaseResult::Failed(
        MakeString("got ", ops.size(), " gradient operators, want ", wanted.size()));
  }
  ScaleBeforeSqr(wanted, &ops);
  for (int i = 0; i < wanted.size(); ++i) {
    if (Canonical(ops[i]) != Canonical(wanted[i])) {
      return CaseResult::Failed(MakeString("gradient operator ", i, ": got ", Canonical(ops[i]),
                                           ", want ", Canonical(wanted[i])));
    }
  }
  for (int i = 0; i < recorded.g_input_size(); ++i) {
    const std::string want = Text(Wrap(recorded.g_input(i)));
    const std::string have =
        i < static_cast<int>(got.g_input_.size()) ? Text(got.g_input_[i]) : "none";
    if (have != want) {
      return CaseResult::Failed(
          MakeString("gradient of input ", i, ": got ", have, ", want ", want));
    }
  }
  return {};
}

// The operators that exist only in the cases of nets: a gradient operator gets the inputs or the
// outputs, if the type requires it, and the gradients of all outputs.
class MadeUpMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs, outputs;
    if (def_.type() == "UseInput") inputs = {def_.input().begin(), def_.input().end()};
    if (def_.type() == "UseOutput") inputs = {def_.output().begin(), def_.output().end()};
    for (int i = 0; i < def_.output_size(); ++i) inputs.push_back(GO(i));
    for (int i = 0; i < def_.input_size(); ++i) outputs.push_back(GI(i));
    return SingleGradientDef(def_.type() + "Gradient", "", inputs, outputs);
  }
};

void RegisterMadeUpMakers() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const char* type : {"Direct", "UseInput", "UseOutput"}) {
      RegisterGradient<MadeUpMaker>(type, __FILE__);
    }
    RegisterGradient<NoGradient>("Nogradient", __FILE__);
  });
}

std::vector<std::string> Operators(const NetDef& net, bool any_order);

// The original collects the blobs of these operators' gradients in hash tables.
bool ListsBlobsInHashOrder(const OperatorDef& op) {
  return op.type() == "If" || op.type() == "While" || op.type() == "Do";
}

// An operator that runs nets, without the order of its blobs. The bindings of Do are pairs of an
// inner and an outer name.
std::string CanonicalWithNets(const OperatorDef& op, bool any_order) {
  std::vector<std::string> inputs(op.input().begin(), op.input().end());
  std::vector<std::string> outputs(op.output().begin(), op.output().end());
  std::vector<std::string> args;
  for (const Argument& arg : op.arg()) {
    if (arg.has_n()) {
      args.push_back(MakeString(arg.name(), " = net ", arg.n().name(), " [",
                                absl::StrJoin(Operators(arg.n(), any_order), "; "), "]"));
    } else if (arg.name() == "inner_blobs") {
      std::vector<std::string> outer(op.input().begin(), op.input().end() - 1);
      outer.insert(outer.end(), op.output().begin(), op.output().end() - 1);
      const Argument& indices = GetArgument(op, "outer_blobs_idx");
      for (int i = 0; i < arg.strings_size(); ++i) {
        args.push_back(
            MakeString(arg.strings(i), " is ", outer.at(static_cast<size_t>(indices.ints(i)))));
      }
    } else if (arg.name() != "outer_blobs_idx") {
      Argument sorted = arg;
      std::sort(sorted.mutable_strings()->begin(), sorted.mutable_strings()->end());
      args.push_back(sorted.ShortDebugString());
    }
  }
  for (std::vector<std::string>* list : {&inputs, &outputs, &args}) {
    std::sort(list->begin(), list->end());
  }
  return MakeString(op.type(), '(', absl::StrJoin(inputs, ", "), ") -> (",
                    absl::StrJoin(outputs, ", "), ") {", absl::StrJoin(args, "; "), "} engine \"",
                    op.engine(), '"');
}

// One line per operator. If the original's result depends on the order of a hash table, the lines
// and the inputs of Sum are sorted, and partial gradients have no numbers.
std::vector<std::string> Operators(const NetDef& net, bool any_order) {
  static const std::regex* const number = new std::regex("_autosplit_[0-9]+");
  std::vector<std::string> lines;
  for (OperatorDef op : net.op()) {
    if (any_order && op.type() == "Sum") {
      std::sort(op.mutable_input()->begin(), op.mutable_input()->end());
    }
    const bool sorted = HasNestedNets(op) && (any_order || ListsBlobsInHashOrder(op));
    lines.push_back(sorted ? CanonicalWithNets(op, any_order) : Canonical(op));
    if (any_order) lines.back() = std::regex_replace(lines.back(), *number, "_autosplit_");
  }
  if (any_order) std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> Gradients(const GradientMap& gradients) {
  std::vector<std::string> lines;
  for (const auto& [blob, gradient] : gradients) {
    lines.push_back(MakeString("of \"", blob, "\": ", Text(gradient)));
  }
  return lines;
}
std::vector<std::string> Gradients(const oracle::NetGradientCase& recorded) {
  GradientMap gradients;
  for (const oracle::GradientEntry& entry : recorded.gradient()) {
    gradients[entry.blob()] = Wrap(entry.gradient());
  }
  return Gradients(gradients);
}

// Returns "" if the lists are equal.
std::string FirstDifference(const char* what, const std::vector<std::string>& got,
                            const std::vector<std::string>& want) {
  const size_t common = std::min(got.size(), want.size());
  for (size_t i = 0; i < common; ++i) {
    if (got[i] != want[i]) {
      return MakeString(what, ' ', i, ": got ", got[i], ", want ", want[i]);
    }
  }
  if (got.size() == want.size()) return "";
  return MakeString("got ", got.size(), ' ', what, "s, want ", want.size(),
                    got.size() > common ? "; the first one too many: " : "; missing: ",
                    (got.size() > common ? got : want)[common]);
}

// Returns "" if the backward passes are equal.
std::string Compare(const oracle::NetGradientCase& recorded, const NetDef& got, const NetDef& want,
                    const GradientMap& gradients) {
  const std::string difference = FirstDifference("operator", Operators(got, recorded.hash_order()),
                                                 Operators(want, recorded.hash_order()));
  if (!difference.empty()) return difference;
  return FirstDifference("gradient", Gradients(gradients), Gradients(recorded));
}

CaseResult WrongOr(const std::string& fault, const std::string& difference) {
  if (fault.empty()) return CaseResult::Failed(difference);
  return {CaseStatus::kKnownWrong, fault};
}

}  // namespace

CaseResult ReplayGradient(const oracle::GradientCase& recorded) {
  try {
    OperatorDef def;
    CAFFE_ENFORCE(def.ParseFromString(recorded.op()), "the case contains no OperatorDef");
    EnsureBuiltinOperators();
    // A type that has no maker in the original either must have an operator here.
    if (!HasMaker(def.type()) && !(LacksMaker(recorded) && MissingFor({}, def.type()).empty())) {
      return CaseResult::NotImplemented("gradient maker of " + def.type());
    }
    std::vector<GradientWrapper> g_output;
    for (const oracle::GradientRef& ref : recorded.g_output()) g_output.push_back(Wrap(ref));
    GradientOpsMeta got;
    try {
      got = GetGradientForOp(def, g_output);
    } catch (const EnforceNotMet& thrown) {
      if (recorded.throws()) return {};
      return WrongOr(FaultOfGradient(def), "got an error: " + thrown.message());
    }
    if (recorded.throws()) {
      return CaseResult::Failed("made a gradient, want an error: " + recorded.error());
    }
    return Compare(recorded, got);
  } catch (const std::exception&) {
    return CaseResult::Failed(CurrentExceptionMessage());
  }
}

CaseResult ReplayNetGradient(const oracle::NetGradientCase& recorded) {
  try {
    NetDef net, want;
    CAFFE_ENFORCE(net.ParseFromString(recorded.net_before()), "the case contains no NetDef");
    CAFFE_ENFORCE(want.ParseFromString(recorded.net_after()), "the case contains no NetDef");
    const NetDef before = net;
    EnsureBuiltinOperators();
    RegisterMadeUpMakers();
    for (const OperatorDef& op : net.op()) {
      if (!HasMaker(op.type())) {
        return CaseResult::NotImplemented("gradient maker of " + op.type());
      }
    }
    GradientStart start;
    for (const oracle::GradientEntry& entry : recorded.y()) {
      start.emplace_back(entry.blob(), Wrap(entry.gradient()));
    }
    GradientMap gradients;
    try {
      gradients = AddGradientOperators(&net, start);
    } catch (const EnforceNotMet& thrown) {
      if (recorded.throws()) return {};
      return WrongOr(FaultOfRecord(recorded, before), "got an error: " + thrown.message());
    }
    ScaleBeforeSqr(want.op(), net.mutable_op());
    if (recorded.throws()) {
      return WrongOr(FaultOfRecord(recorded, before),
                     "made gradients, want an error: " + recorded.error());
    }
    const std::string difference = Compare(recorded, net, want, gradients);
    if (difference.empty()) return {};
    if (RemoveFillsOfOtherBranch(before, &want) &&
        Compare(recorded, net, want, gradients).empty()) {
      return {
          CaseStatus::kKnownWrong,
          "a net of If has a value of its own: the original fills its gradient in the other net "
          "with the shape of that value, which does not exist if the first net has not run"};
    }
    return WrongOr(FaultOfRecord(recorded, before), difference);
  } catch (const std::exception&) {
    return CaseResult::Failed(CurrentExceptionMessage());
  }
}

}  // namespace caffe2rt::test
