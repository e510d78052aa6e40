#include "caffe2_core/graph/gradient.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <new>

#include "caffe2_core/base/conflicts.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/builtin_operators.h"

namespace caffe2rt {
namespace {

const char* KindOf(const GradientWrapper& gradient) {
  if (gradient.IsSparse()) return "sparse";
  return gradient.IsDense() ? "dense" : "not given";
}

// To find out what the gradient of an operator that works in place reads, its maker is asked again,
// about an operator whose outputs have this suffix where they overwrite inputs.
constexpr char kApart[] = "/OUTPUT_APART_FROM_INPUT";

bool IsApart(const OperatorDef& def) {
  return std::any_of(def.output().begin(), def.output().end(),
                     [](const std::string& output) { return output.ends_with(kApart); });
}

}  // namespace

void GradientMakerBase::VerifyOp() const {
  if (IsApart(def_)) return;  // the schema may require the names of the operator
  const OpSchema* schema = OpSchemaRegistry::Schema(def_.type());
  std::string why;
  CAFFE_ENFORCE(schema == nullptr || schema->Verify(def_, &why),
                "Operator def did not pass schema checking: operator ", def_.type(), ": ", why);
}

GradientOpsMeta GradientMakerBase::Get() {
  VerifyOp();
  std::vector<OperatorDef> ops = GetGradientDefs();
  for (OperatorDef& op : ops) op.set_is_gradient_op(true);
  return GradientOpsMeta(std::move(ops), g_input_);
}

std::map<std::string, std::string> GradientMakerBase::MatchGradsToParams(const OperatorDef& op) {
  std::map<std::string, std::string> params;
  for (const std::string& output : op.output()) {
    if (IsGradientBlob(output)) params[output] = GradientNameToParam(output);
  }
  return params;
}

std::vector<OperatorDef> GradientMakerBase::GetGradientDefs() {
  CAFFE_THROW("the gradient maker of operator ", def_.type(),
              " overrides neither Get nor GetGradientDefs");
}

std::string GradientMakerBase::I(int i) const {
  CAFFE_ENFORCE(i >= 0 && i < def_.input_size(), "operator ", def_.type(), " has ",
                CountText(def_.input_size(), "input"), ", but its gradient maker requests input ",
                i);
  return def_.input(i);
}

std::string GradientMakerBase::O(int i) const {
  CAFFE_ENFORCE(i >= 0 && i < def_.output_size(), "operator ", def_.type(), " has ",
                CountText(def_.output_size(), "output"),
                ", but its gradient maker requests output ", i);
  return def_.output(i);
}

std::string GradientMakerBase::ShapeOf(int i) const {
  const std::string input = I(i), output = input + kApart;
  return HasOutput(def_, output) ? output : input;
}

const GradientWrapper& GradientMakerBase::Given(int i) const {
  CAFFE_ENFORCE(i >= 0 && static_cast<size_t>(i) < g_output_.size(), "operator ", def_.type(),
                " has gradients for ", CountText(g_output_.size(), "output"),
                ", but its gradient maker requests the gradient of output ", i);
  return g_output_[static_cast<size_t>(i)];
}

const GradientWrapper& GradientMakerBase::GivenSparse(int i) const {
  const GradientWrapper& gradient = Given(i);
  CAFFE_ENFORCE(gradient.IsSparse(), "the gradient of output ", O(i), " is ", KindOf(gradient),
                ", want a sparse one");
  return gradient;
}

std::string GradientMakerBase::GO(int i) const {
  const GradientWrapper& gradient = Given(i);
  CAFFE_ENFORCE(gradient.IsDense(), "the gradient of output ", O(i), " is ", KindOf(gradient),
                ", want a dense one");
  return gradient.dense_;
}

std::string GradientMakerBase::GO_I(int i) const { return GivenSparse(i).indices_; }
std::string GradientMakerBase::GO_V(int i) const { return GivenSparse(i).values_; }

GradientWrapper& GradientMakerBase::Noted(int i, bool sparse) {
  const std::string input = I(i);
  GradientWrapper& gradient = g_input_[static_cast<size_t>(i)];
  CAFFE_ENFORCE(sparse ? !gradient.IsDense() : !gradient.IsSparse(), "the gradient of input ",
                input, " is already set as ", KindOf(gradient), " and cannot also be ",
                sparse ? "sparse" : "dense");
  return gradient;
}

std::string GradientMakerBase::GI(int i) { return Noted(i, false).dense_ = GradientName(I(i)); }
std::string GradientMakerBase::GI_I(int i) {
  return Noted(i, true).indices_ = GradientSliceIndices(I(i));
}
std::string GradientMakerBase::GI_V(int i) {
  return Noted(i, true).values_ = GradientSliceValues(I(i));
}

void GradientMakerBase::SetDense(int i, const std::string& name) { Noted(i, false).dense_ = name; }

void GradientMakerBase::SetSparse(int i, const std::string& indices, const std::string& values) {
  GradientWrapper& gradient = Noted(i, true);
  gradient.indices_ = indices;
  gradient.values_ = values;
}

GradientOpsMeta ThrowInTheTowelIfGradientIsCalled::Get() {
  CAFFE_THROW("One should not call gradient for operator ", def_.type(), ".");
}

GradientOpsMeta GradientNotImplementedYet::Get() {
  CAFFE_THROW("Operator ", def_.type(), " should have a gradient but is not implemented yet");
}

namespace {
// The registry, which may not contain the built-in makers yet.
GradientRegistryType* GradientMakers() {
  static auto* const registry = new GradientRegistryType("gradient of operator");
  return registry;
}
}  // namespace

GradientRegistryType* GradientRegistry() {
  RegisterBuiltinOperatorsOnce();
  return GradientMakers();
}

namespace {

bool IsInPlace(const OperatorDef& def) {
  return std::any_of(def.output().begin(), def.output().end(),
                     [&](const std::string& output) { return HasInput(def, output); });
}

// The operator with a name of its own for each output that overwrites an input.
OperatorDef WithOutputsApart(const OperatorDef& def) {
  OperatorDef apart = def;
  for (std::string& output : *apart.mutable_output()) {
    if (HasInput(def, output)) output += kApart;
  }
  return apart;
}

// The gradients with names that differ from those of the gradients of inputs.
std::vector<GradientWrapper> Apart(std::vector<GradientWrapper> gradients) {
  for (GradientWrapper& gradient : gradients) {
    for (std::string* name : {&gradient.dense_, &gradient.indices_, &gradient.values_}) {
      if (!name->empty()) *name += kApart;
    }
  }
  return gradients;
}

// The operator before `op` that writes the blob last, or -1 if there is none.
int WriterOf(const std::vector<OperatorDef>& ops, size_t op, const std::string& name) {
  while (op-- > 0) {
    if (HasOutput(ops[op], name)) return static_cast<int>(op);
  }
  return -1;
}

// THROWS if a gradient operator of an operator that works in place would not read what it does if
// all blobs had different names: an input of the operator, or a gradient. `apart` is what the maker
// returns for such names of the outputs and their gradients; inputs have their names.
void CheckInPlace(const OperatorDef& def, const GradientOpsMeta& meta,
                  const GradientOpsMeta& meta_apart) {
  const std::vector<OperatorDef>&ops = meta.ops_, &apart = meta_apart.ops_;
  if (ops.size() != apart.size()) return;
  const auto check_value = [&def](const std::string& reader, const std::string& name) {
    CAFFE_ENFORCE(!HasInput(def, name) || !HasOutput(def, name), reader,
                  " needs the value of blob \"", name, "\" that the operator read, but ",
                  def.type(), " overwrites it; write the output of ", def.type(),
                  " to another blob");
  };
  for (size_t k = 0; k < ops.size(); ++k) {
    const OperatorDef& op = ops[k];
    if (op.type() != apart[k].type() || op.input_size() != apart[k].input_size()) return;
    for (int i = 0; i < op.input_size(); ++i) {
      const std::string& name = op.input(i);
      const int writer = WriterOf(ops, k, name);
      CAFFE_ENFORCE(writer == WriterOf(apart, k, apart[k].input(i)), op.type(), " needs \"", name,
                    "\", the gradient of an output of ", def.type(), ", but ",
                    ops[static_cast<size_t>(std::max(writer, 0))].type(),
                    " overwrites it with that of an input; write the output of ", def.type(),
                    " to another blob");
      if (writer < 0 && apart[k].input(i) == name) check_value(op.type(), name);
    }
  }
  // A maker may return an input as the indices of a sparse gradient.
  for (size_t i = 0; i < std::min(meta.g_input_.size(), meta_apart.g_input_.size()); ++i) {
    const GradientWrapper &gradient = meta.g_input_[i], &other = meta_apart.g_input_[i];
    if (gradient.indices_ == other.indices_) check_value(def.type(), gradient.indices_);
    if (gradient.values_ == other.values_) check_value(def.type(), gradient.values_);
  }
}

// THROWS if a gradient operator must not write the gradient of an input over that of an output.
void CheckSchemasInPlace(const OperatorDef& def, const std::vector<OperatorDef>& ops) {
  for (const OperatorDef& op : ops) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
    std::string why;
    CAFFE_ENFORCE(schema == nullptr || schema->Verify(op, &why), op.type(),
                  " does not support the gradients of an operator that works in place: ", why,
                  "; write the output of ", def.type(), " to another blob");
  }
}

}  // namespace

bool RegisterGradient(std::string_view op_type, GradientCreator* creator, const char* file) {
  return GradientMakers()->Register(std::string(op_type), creator, file);
}

GradientOpsMeta GetGradientForOp(const OperatorDef& def,
                                 const std::vector<GradientWrapper>& g_output) try {
  GradientRegistryType* const registry = GradientRegistry();
  ReportConflicts([] {
    std::vector<std::string> conflicts;
    AppendConflicts([] { GradientRegistry()->ThrowConflicts(); }, &conflicts);
    return conflicts;
  });
  const std::unique_ptr<GradientMakerBase> maker = registry->Create(def.type(), def, g_output);
  if (maker == nullptr) {
    const std::string close = absl::StrJoin(NearestNames(def.type(), registry->Keys()), ", ");
    CAFFE_THROW("Gradient maker for operator ", def.type(), " not implemented",
                close.empty() ? "" : "; close: ", close);
  }
  GradientOpsMeta meta = maker->Get();
  for (OperatorDef& op : meta.ops_) {
    if (maker->CopyDeviceOption() && def.has_device_option()) {
      *op.mutable_device_option() = def.device_option();
    }
    if (maker->CopyEngine() && def.has_engine()) op.set_engine(def.engine());
    if (maker->CopyArguments()) op.mutable_arg()->MergeFrom(def.arg());
  }
  if (IsInPlace(def)) {
    const OperatorDef apart = WithOutputsApart(def);
    const std::vector<GradientWrapper> given = Apart(g_output);
    const std::unique_ptr<GradientMakerBase> observed = registry->Create(def.type(), apart, given);
    GradientOpsMeta meta_apart;
    try {
      meta_apart = observed->Get();
    } catch (const EnforceNotMet&) {  // the maker works only in place
    }
    CheckInPlace(def, meta, meta_apart);
    CheckSchemasInPlace(def, meta.ops_);
  }
  CAFFE_ENFORCE_EQ(meta.g_input_.size(), static_cast<size_t>(def.input_size()),
                   "gradients returned by the maker of operator ", def.type(),
                   ", want one per input");
  for (const GradientWrapper& gradient : meta.g_input_) {
    CAFFE_ENFORCE(!gradient.IsSparse() || (!gradient.indices_.empty() && !gradient.values_.empty()),
                  "a sparse gradient of operator ", def.type(), " has indices \"",
                  gradient.indices_, "\" and values \"", gradient.values_, "\", want both");
  }
  return meta;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
