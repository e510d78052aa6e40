#include "caffe2_core/import/onnx/node_facts.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace caffe2rt {
namespace {

using MaybeRank = std::optional<int64_t>;

// Every output has the rank of the first input.
constexpr std::string_view kKeepRank[] = {"Abs",
                                          "AveragePool",
                                          "BatchNormalization",
                                          "Cast",
                                          "Ceil",
                                          "Clip",
                                          "Conv",
                                          "ConvTranspose",
                                          "CumSum",
                                          "DepthToSpace",
                                          "Dropout",
                                          "Elu",
                                          "Erf",
                                          "Exp",
                                          "Floor",
                                          "GatherElements",
                                          "Gelu",
                                          "GlobalAveragePool",
                                          "GlobalMaxPool",
                                          "HardSigmoid",
                                          "HardSwish",
                                          "Identity",
                                          "InstanceNormalization",
                                          "LayerNormalization",
                                          "LeakyRelu",
                                          "Log",
                                          "LogSoftmax",
                                          "MaxPool",
                                          "Neg",
                                          "Not",
                                          "PRelu",
                                          "Pad",
                                          "Reciprocal",
                                          "Relu",
                                          "Resize",
                                          "Round",
                                          "ScatterElements",
                                          "ScatterND",
                                          "Selu",
                                          "Sigmoid",
                                          "Sign",
                                          "Sin",
                                          "Cos",
                                          "Slice",
                                          "Softmax",
                                          "Softplus",
                                          "Split",
                                          "Sqrt",
                                          "Tanh",
                                          "Tile",
                                          "TopK",
                                          "Transpose",
                                          "Trilu",
                                          "Concat"};

// The inputs are broadcast to the output.
constexpr std::string_view kBroadcast[] = {"Add",       "And",         "BitwiseAnd",
                                           "BitwiseOr", "BitwiseXor",  "Div",
                                           "Equal",     "Greater",     "GreaterOrEqual",
                                           "Less",      "LessOrEqual", "Max",
                                           "Mean",      "Min",         "Mod",
                                           "Mul",       "Or",          "Pow",
                                           "Sub",       "Sum",         "Where",
                                           "Xor"};

template <size_t kCount>
bool IsOneOf(std::string_view type, const std::string_view (&types)[kCount]) {
  return std::find(std::begin(types), std::end(types), type) != std::end(types);
}

MaybeRank RankOfInput(const OnnxNode& n, size_t i) {
  if (!n.Has(i) || !n.KnowsRank(n.In(i))) return std::nullopt;
  return n.Rank(n.In(i));
}

// The number of elements of a list.
MaybeRank LengthOfInput(const OnnxNode& n, size_t i) {
  if (!n.Has(i) || !n.HasDims(n.In(i)) || n.Rank(n.In(i)) != 1) return std::nullopt;
  return n.Dims(n.In(i))[0];
}

MaybeRank BroadcastRank(const OnnxNode& n) {
  int64_t rank = 0;
  for (size_t i = 0; i < n.inputs(); ++i) {
    const MaybeRank of_input = RankOfInput(n, i);
    if (!of_input.has_value()) return std::nullopt;
    rank = std::max(rank, *of_input);
  }
  return rank;
}

MaybeRank Plus(MaybeRank a, MaybeRank b) {
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  return *a + *b;
}

MaybeRank Minus(MaybeRank a, MaybeRank b) {
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  return *a - *b;
}

// A vector is a row or a column, whose axis the product lacks.
MaybeRank ProductRank(const OnnxNode& n) {
  const MaybeRank a = RankOfInput(n, 0), b = RankOfInput(n, 1);
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  return std::max<int64_t>({*a, *b, 2}) - (*a == 1 ? 1 : 0) - (*b == 1 ? 1 : 0);
}

MaybeRank ReducedRank(const OnnxNode& n) {
  if (n.Int("keepdims", 1) != 0) return RankOfInput(n, 0);
  if (n.type().starts_with("Arg")) return Minus(RankOfInput(n, 0), 1);
  if (!n.Has(1)) return n.Int("noop_with_empty_axes", 0) != 0 ? RankOfInput(n, 0) : 0;
  return Minus(RankOfInput(n, 0), LengthOfInput(n, 1));
}

// Indices of n elements each take a part of the data, below the batch axes that both have.
MaybeRank GatherNDRank(const OnnxNode& n) {
  const MaybeRank indices = RankOfInput(n, 1);
  if (!indices.has_value() || *indices == 0 || !n.HasRank(n.In(1))) return std::nullopt;
  const auto last = static_cast<size_t>(*indices - 1);
  const int64_t taken = n.DimsIn(n.In(1), 0)[last];
  for (size_t world = 1; world < kOnnxWorlds; ++world) {
    if (n.DimsIn(n.In(1), world)[last] != taken) return std::nullopt;
  }
  return Minus(Plus(RankOfInput(n, 0), *indices - 1), taken + n.Int("batch_dims", 0));
}

MaybeRank RankOfOutputs(const OnnxNode& n) {
  const std::string_view type = n.type();
  if (IsOneOf(type, kKeepRank)) return RankOfInput(n, 0);
  if (IsOneOf(type, kBroadcast)) return BroadcastRank(n);
  if (type == "MatMul" || type == "MatMulInteger") return ProductRank(n);
  if (type == "Reshape") return LengthOfInput(n, 1);
  if (type == "ConstantOfShape") return LengthOfInput(n, 0);
  if (type == "Flatten" || type == "Gemm" || type == "NonZero") return 2;
  if (type == "Range") return 1;
  if (type == "Gather") return Minus(Plus(RankOfInput(n, 0), RankOfInput(n, 1)), 1);
  if (type == "GatherND") return GatherNDRank(n);
  if (type == "Unsqueeze") return Plus(RankOfInput(n, 0), LengthOfInput(n, 1));
  if (type == "Squeeze") return Minus(RankOfInput(n, 0), LengthOfInput(n, 1));
  if (type.starts_with("Reduce") || type.starts_with("Arg")) return ReducedRank(n);
  if (type == "Expand") {
    const MaybeRank x = RankOfInput(n, 0), shape = LengthOfInput(n, 1);
    return x.has_value() && shape.has_value() ? MaybeRank(std::max(*x, *shape)) : std::nullopt;
  }
  return std::nullopt;
}

// Of the first output; 0 if it does not follow.
int TypeOfOutput(const OnnxNode& n) {
  const std::string_view type = n.type();
  constexpr std::string_view kBools[] = {"And",  "Equal",       "Greater", "GreaterOrEqual",
                                         "Less", "LessOrEqual", "Or",      "Xor"};
  constexpr std::string_view kMovers[] = {"Expand",  "Flatten", "Gather",   "GatherND",
                                          "Reshape", "Squeeze", "Unsqueeze"};
  if (IsOneOf(type, kBools)) return onnx::TensorProto::BOOL;
  if (type == "MatMulInteger") return onnx::TensorProto::INT32;
  if (type == "Where") return n.Has(1) ? n.nets().At(n.In(1)).type : 0;
  const bool same = IsOneOf(type, kKeepRank) || IsOneOf(type, kBroadcast) ||
                    IsOneOf(type, kMovers) || type == "MatMul" || type.starts_with("Reduce");
  return same && type != "Cast" && n.Has(0) ? n.nets().At(n.In(0)).type : 0;
}

// The other outputs of these types hold positions.
bool HoldsPositions(const OnnxNode& n, size_t output) {
  return output > 0 && (n.type() == "TopK" || n.type() == "MaxPool");
}

// A shape has as many elements as the input has axes.
void StateLengthOfShape(OnnxNode* n, const std::string& output) {
  const MaybeRank rank = RankOfInput(*n, 0);
  if (rank.has_value() && !n->HasAttr("start") && !n->HasAttr("end")) n->SetDims(output, {*rank});
}

}  // namespace

void StateOnnxFacts(OnnxNode* node) {
  if (!node->data().domain.empty()) return;
  const MaybeRank rank = RankOfOutputs(*node);
  const int type = TypeOfOutput(*node);
  for (size_t i = 0; i < node->outputs(); ++i) {
    const auto forward = node->data().forwards.find(i);
    const std::string& output =
        forward == node->data().forwards.end() ? node->data().outputs[i] : forward->second;
    if (output.empty() || !node->HasBlob(output)) continue;
    OnnxBlob& blob = node->nets().At(output);
    if (blob.type == 0) blob.type = HoldsPositions(*node, i) ? onnx::TensorProto::INT64 : type;
    if (node->KnowsRank(output)) continue;
    if (rank.has_value() && *rank >= 0) blob.rank = *rank;
    if (node->type() == "Shape") StateLengthOfShape(node, output);
  }
}

}  // namespace caffe2rt
