#include "caffe2_core/graph/passes/fused_operators.h"

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {

const char* FusedTypeFor(const std::string& type) {
  const OperatorTraits& traits = TraitsOf(type);
  const LinearForm form = traits.linear;
  if (form == LinearForm::kConv || type == kConvFusionType) return kConvFusionType;
  if (traits.affine == AffineForm::kBatchNorm) return kBatchNormFusionType;
  return form == LinearForm::kFC || type == kFCFusionType ? kFCFusionType : nullptr;
}

bool HasFusedActivation(const OperatorDef& op) {
  return !ArgumentHelper(op).GetSingleArgument<std::string>(kActivationArgument, "").empty();
}

bool HasFusedSum(const OperatorDef& op) {
  return ArgumentHelper(op).GetSingleArgument<int>(kSumArgument, 0) != 0;
}

}  // namespace caffe2rt
