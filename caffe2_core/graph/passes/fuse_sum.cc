#include "caffe2_core/graph/passes/fuse_sum.h"

#include <memory>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/declared_arguments.h"
#include "caffe2_core/graph/passes/fused_operators.h"
#include "caffe2_core/graph/passes/merging.h"
#include "caffe2_core/graph/passes/same_shapes.h"

namespace caffe2rt {
namespace {

class SumFuser {
 public:
  SumFuser(NetDef* net, PassContext* context)
      : net_(*net), context_(*context), values_(*net, *context), edits_(net) {}

  void Run() {
    if (context_.has_operator == nullptr || !context_.has_operator(kConvFusionType, CPU)) return;
    for (size_t op = 0; op < values_.num_operators(); ++op) {
      if (IsSum(op)) TryFuse(op);
    }
    edits_.Apply();
  }

 private:
  bool IsSum(size_t op) {
    const OperatorDef& def = edits_.op(op);
    const OperatorTraits& traits = TraitsOf(def.type());
    return values_.is_plain(op) && values_.num_inputs(op) == 2 && values_.num_outputs(op) == 1 &&
           (traits.sums_inputs || traits.affine == AffineForm::kAdd);
  }

  // Fuses into the operand that is computed later, whose convolution is closer.
  void TryFuse(size_t op) {
    const uint32_t writers[] = {values_.writer(values_.input(op, 0)),
                                values_.writer(values_.input(op, 1))};
    const size_t later = writers[1] > writers[0] ? 1 : 0;
    for (const size_t operand : {later, 1 - later}) {
      const uint32_t conv = writers[operand];
      if (conv == NetValues::kNone || !MayMerge(values_, edits_, conv, op)) continue;
      if (Fuse(conv, op, 1 - operand)) return;
    }
  }

  // Output 0 of the sum may be in place with the added tensor, but not with the convolution's
  // input.
  bool Fuse(size_t conv, size_t sum, size_t added) try {
    OperatorDef fused = edits_.op(conv);
    const char* const type = FusedTypeFor(fused.type());
    if (type == nullptr || std::string_view(type) != kConvFusionType) return false;
    if (fused.is_gradient_op() || HasFusedActivation(fused) || HasFusedSum(fused)) return false;
    if (SharesMemory(values_, sum, conv) || !HaveSameShape(sum)) return false;
    fused.set_type(type);
    fused.add_input(edits_.op(sum).input(static_cast<int>(added)));
    *GetMutableArgument(kSumArgument, true, &fused) = MakeArgument(kSumArgument, 1);
    Merge(conv, sum, std::move(fused), &edits_);
    return true;
  } catch (const EnforceNotMet&) {  // an argument has the wrong type, which the operator reports
    return false;
  }

  // Whether the operands have the same shape, or the operator throws.
  bool HaveSameShape(size_t sum) {
    if (TraitsOf(edits_.op(sum).type()).sums_inputs) return true;
    if (DeclaredArguments(edits_.op(sum)).Get<bool>("broadcast")) return false;
    if (shapes_ == nullptr) {
      shapes_ = std::make_unique<SameShapes>(net_, values_, &context_.constants);
    }
    return shapes_->AreSame(values_.input(sum, 0), values_.input(sum, 1));
  }

  const NetDef& net_;
  PassContext& context_;
  const NetValues values_;
  NetEdits edits_;
  std::unique_ptr<SameShapes> shapes_;  // made when first needed
};

}  // namespace

NetDef FuseSum(NetDef net, PassContext& context) {
  SumFuser(&net, &context).Run();
  return net;
}

}  // namespace caffe2rt
