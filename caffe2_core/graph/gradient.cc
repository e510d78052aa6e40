#include "caffe2_core/graph/gradient.h"

#include <absl/strings/str_join.h>

#include <new>

#include "caffe2_core/base/conflicts.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/graph/builtin_operators.h"

namespace caffe2rt {
namespace {

const char* KindOf(const GradientWrapper& gradient) {
  if (gradient.IsSparse()) return "sparse";
  return gradient.IsDense() ? "dense" : "not given";
}

}  // namespace

void GradientMakerBase::VerifyOp() const {
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
                def_.input_size(), " inputs, but its gradient maker requests input ", i);
  return def_.input(i);
}

std::string GradientMakerBase::O(int i) const {
  CAFFE_ENFORCE(i >= 0 && i < def_.output_size(), "operator ", def_.type(), " has ",
                def_.output_size(), " outputs, but its gradient maker requests output ", i);
  return def_.output(i);
}

const GradientWrapper& GradientMakerBase::Given(int i) const {
  CAFFE_ENFORCE(i >= 0 && static_cast<size_t>(i) < g_output_.size(), "operator ", def_.type(),
                " has gradients for ", g_output_.size(),
                " outputs, but its gradient maker requests the gradient of output ", i);
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
