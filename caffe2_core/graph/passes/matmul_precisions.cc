#include "caffe2_core/graph/passes/matmul_precisions.h"

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/declared_arguments.h"
#include "caffe2_core/graph/passes/fused_operators.h"
#include "caffe2_core/graph/passes/group_fusion.h"

namespace caffe2rt {
namespace {

constexpr char kPrecisionArgumentName[] = "precision";

// The lowest precision that the user and the net allow.
Precision LeastPrecisionOf(const OperatorDef& def, const PassContext& context) {
  const Argument* const least = GetArgumentPtr(def, "least_precision");
  if (least == nullptr || least->s().empty()) return context.precision;
  return std::min(context.precision, ParsePrecision(least->s()));
}

Precision FCPrecisionOf(const OperatorDef& def, const Tensor* w, const PassContext& context) try {
  if (w == nullptr || !w->IsType<float>() || w->numel() == 0) return Precision::kFloat32;
  const DeclaredArguments args(def);
  const int cut = canonical_axis_index_(args.Get<int>("axis_w"), w->dim());
  const int64_t rows = w->size_to_dim(cut), columns = w->size_from_dim(cut);
  const bool transposed = args.Get<bool>("transposed");
  const Precision least = LeastPrecisionOf(def, context);
  // Not all machines multiply bf16.
  if (context.ForAnyMachine() && least != Precision::kInt8) return Precision::kFloat32;
  return FastestFCPrecision(transposed ? rows : columns, transposed ? columns : rows, least,
                            context.deterministic);
} catch (const EnforceNotMet&) {  // an argument is invalid, which the operator reports
  return Precision::kFloat32;
}

// Attention has no weights: its operands are rounded when they are packed.
Precision AttentionPrecisionOf(const OperatorDef& def, const PassContext& context) {
  const bool rounds = LeastPrecisionOf(def, context) >= Precision::kBfloat16 &&
                      !context.ForAnyMachine() && WhyNoProductsIn(Precision::kBfloat16).empty();
  return rounds ? Precision::kBfloat16 : Precision::kFloat32;
}

bool HasPrecision(const std::string& type) {
  return type == kFCFusionType || type == kAttentionType;
}

}  // namespace

// An argument that a file states is overwritten: it is not what the user asked for.
NetDef ChooseMatMulPrecisions(NetDef net, PassContext& context) {
  GroupFusion groups(&net, context);
  std::vector<Precision> chosen(groups.size(), Precision::kFloat32);
  for (uint32_t op = 0; op < groups.size(); ++op) {
    if (context.precision == Precision::kFloat32) continue;
    if (groups.IsType(op, kFCFusionType)) {
      chosen[op] = FCPrecisionOf(groups.op(op), groups.Constant(op, 1), context);
    } else if (groups.IsType(op, kAttentionType)) {
      chosen[op] = AttentionPrecisionOf(groups.op(op), context);
    }
  }
  for (uint32_t op = 0; op < chosen.size(); ++op) {
    OperatorDef* const def = net.mutable_op(static_cast<int>(op));
    if (!HasPrecision(def->type())) continue;
    const bool asked = context.precision != Precision::kFloat32;
    if (!asked && GetArgumentPtr(*def, kPrecisionArgumentName) == nullptr) continue;
    *GetMutableArgument(kPrecisionArgumentName, true, def) =
        MakeArgument(kPrecisionArgumentName, std::string(PrecisionName(chosen[op])));
  }
  return net;
}

}  // namespace caffe2rt
