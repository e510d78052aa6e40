// Replays gradient makers. Compares operators by type, inputs, outputs, arguments (in any order)
// and engine.
#include <absl/strings/str_join.h>

#include <algorithm>
#include <exception>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/oracle/replay.h"

namespace caffe2rt::test {
namespace {

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
  std::sort(args.begin(), args.end());
  return MakeString(op.type(), '(', absl::StrJoin(op.input(), ", "), ") -> (",
                    absl::StrJoin(op.output(), ", "), ") {", absl::StrJoin(args, "; "),
                    "} engine \"", op.engine(), '"');
}

CaseResult Compare(const oracle::GradientCase& recorded, const GradientOpsMeta& got) {
  if (static_cast<int>(got.ops_.size()) != recorded.gradient_op_size()) {
    return CaseResult::Failed(MakeString("got ", got.ops_.size(), " gradient operators, want ",
                                         recorded.gradient_op_size()));
  }
  for (int i = 0; i < recorded.gradient_op_size(); ++i) {
    OperatorDef want;
    CAFFE_ENFORCE(want.ParseFromString(recorded.gradient_op(i)),
                  "the case contains no OperatorDef");
    if (Canonical(got.ops_[i]) != Canonical(want)) {
      return CaseResult::Failed(MakeString("gradient operator ", i, ": got ",
                                           Canonical(got.ops_[i]), ", want ", Canonical(want)));
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

}  // namespace

CaseResult ReplayGradient(const oracle::GradientCase& recorded) {
  try {
    OperatorDef def;
    CAFFE_ENFORCE(def.ParseFromString(recorded.op()), "the case contains no OperatorDef");
    if (!GradientRegistry()->Has(def.type())) {
      return CaseResult::NotImplemented("gradient maker of " + def.type());
    }
    std::vector<GradientWrapper> g_output;
    for (const oracle::GradientRef& ref : recorded.g_output()) g_output.push_back(Wrap(ref));
    EnsureBuiltinOperators();
    GradientOpsMeta got;
    try {
      got = GetGradientForOp(def, g_output);
    } catch (const EnforceNotMet& thrown) {
      return recorded.throws() ? CaseResult()
                               : CaseResult::Failed("got an error: " + thrown.message());
    }
    if (recorded.throws()) {
      return CaseResult::Failed("made a gradient, want an error: " + recorded.error());
    }
    return Compare(recorded, got);
  } catch (const std::exception&) {
    return CaseResult::Failed(CurrentExceptionMessage());
  }
}

CaseResult ReplayNetGradient(const oracle::NetGradientCase&) {
  return CaseResult::NotImplemented("the backward pass of a net");
}

}  // namespace caffe2rt::test
