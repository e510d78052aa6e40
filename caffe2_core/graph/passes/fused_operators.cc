#include "caffe2_core/graph/passes/fused_operators.h"

#include "caffe2_core/graph/arguments.h"

namespace caffe2rt {

const char* FusedTypeFor(const std::string& type) {
  for (const char* conv : {"Conv", "Conv1D", "Conv2D", "Conv3D", kConvFusionType}) {
    if (type == conv) return kConvFusionType;
  }
  return type == "FC" || type == kFCFusionType ? kFCFusionType : nullptr;
}

bool HasFusedActivation(const OperatorDef& op) {
  return !ArgumentHelper(op).GetSingleArgument<std::string>(kActivationArgument, "").empty();
}

bool HasFusedSum(const OperatorDef& op) {
  return ArgumentHelper(op).GetSingleArgument<int>(kSumArgument, 0) != 0;
}

}  // namespace caffe2rt
