#include "caffe2_core/graph/passes/fuse_activation.h"

#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/declared_arguments.h"
#include "caffe2_core/graph/passes/fused_operators.h"
#include "caffe2_core/graph/passes/merging.h"

namespace caffe2rt {
namespace {

// THROWS if an argument has the wrong type.
void SetActivation(const OperatorDef& activation, OperatorDef* op) {
  const DeclaredArguments args(activation);
  const std::string& type = activation.type();
  *GetMutableArgument(kActivationArgument, true, op) = MakeArgument(kActivationArgument, type);
  for (const OpSchema::Argument& declared : OpSchemaRegistry::Schema(type)->args()) {
    const std::string to = kActivationArgument + ("_" + declared.name);
    if (declared.type == ArgumentTypeName<float>()) {
      *GetMutableArgument(to, true, op) = MakeArgument(to, args.Get<float>(declared.name));
    } else if (declared.type == ArgumentTypeName<bool>()) {
      *GetMutableArgument(to, true, op) = MakeArgument(to, args.Get<bool>(declared.name));
    }
  }
}

class ActivationFuser {
 public:
  ActivationFuser(NetDef* net, const PassContext& context)
      : context_(context), values_(*net, context), edits_(net) {}

  void Run() {
    for (size_t op = 0; op < values_.num_operators(); ++op) {
      const char* const type = FusedTypeFor(edits_.op(op).type());
      if (type == nullptr || values_.num_outputs(op) != 1) continue;
      const uint32_t next = values_.SoleReader(values_.output(op, 0));
      if (next != NetValues::kNone && MayFuse(op, next, type)) Fuse(op, next, type);
    }
    edits_.Apply();
  }

 private:
  bool MayFuse(size_t op, size_t next, const char* type) const {
    if (!TraitsOf(edits_.op(next).type()).fused_activation) return false;
    if (!MayMerge(values_, edits_, op, next)) return false;
    if (SharesMemory(values_, next, op) || edits_.op(op).is_gradient_op()) return false;
    return context_.has_operator != nullptr && context_.has_operator(type, CPU);
  }

  void Fuse(size_t op, size_t next, const char* type) try {
    OperatorDef fused = edits_.op(op);
    if (HasFusedActivation(fused)) return;
    fused.set_type(type);
    SetActivation(edits_.op(next), &fused);
    Merge(op, next, std::move(fused), &edits_);
  } catch (const EnforceNotMet&) {  // an argument has the wrong type, which the operator reports
  }

  const PassContext& context_;
  const NetValues values_;
  NetEdits edits_;
};

}  // namespace

NetDef FuseActivation(NetDef net, PassContext& context) {
  ActivationFuser(&net, context).Run();
  return net;
}

}  // namespace caffe2rt
