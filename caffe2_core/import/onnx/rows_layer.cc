// Matrix products and normalizations.

#include <algorithm>
#include <numeric>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/import/onnx/node_table.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

// BatchMatMul is for floats; its product of two vectors is not a scalar.
void TranslateMatMul(OnnxNode* n) {
  const std::string &a = n->In(0), &b = n->In(1);
  if (n->Type(a) != Proto::FLOAT) return n->Emit("ONNXMatMul", {a, b}, {n->Out(0)});
  const auto may_be_vector = [n](const std::string& x) {
    return !n->KnowsRank(x) || n->Rank(x) == 1;
  };
  const bool vectors = n->KnowsRank(a) && n->KnowsRank(b) && n->Rank(a) == 1 && n->Rank(b) == 1;
  if (!vectors) {
    std::vector<Argument> arguments = {MakeArgument("broadcast", 1),
                                       MakeArgument("broadcast_gradient", 1)};
    if (may_be_vector(a) && may_be_vector(b)) arguments.push_back(MakeArgument("scalar", 1));
    return n->EmitTyped("BatchMatMul", {a, b}, n->Out(0), arguments);
  }
  const std::string product = n->TypedValue(
      "BatchMatMul", {a, b}, {MakeArgument("broadcast", 1), MakeArgument("broadcast_gradient", 1)});
  n->EmitReshape(product, {}, n->Out(0));
}

void TranslateGemm(OnnxNode* n) {
  const std::string &a = n->In(0), &b = n->In(1);
  const int64_t trans_a = n->Int("transA", 0), trans_b = n->Int("transB", 0);
  const float alpha = n->Float("alpha", 1), beta = n->Float("beta", 1);
  const bool bias = n->Has(2) && n->HasDims(n->In(2)) && n->HasDims(b) && n->Rank(b) == 2;
  if (bias && alpha == 1 && beta == 1 && trans_a == 0 && trans_b == 1 &&
      n->Dims(n->In(2)) == OnnxDims{n->Dims(b).at(0)} && n->Type(a) == Proto::FLOAT) {
    return n->Emit("FC", {a, b, n->In(2)}, {n->Out(0)});
  }
  // The product of other types transposes no factor.
  const bool by_argument = Caffe2TypeOf(n->Type(a)) == TensorProto::FLOAT;
  std::string y =
      by_argument ? n->Value("MatMul", {a, b},
                             {MakeArgument("trans_a", trans_a), MakeArgument("trans_b", trans_b)})
                  : n->TypedValue("MatMul", {trans_a == 0 ? a : n->Transpose(a, {1, 0}),
                                             trans_b == 0 ? b : n->Transpose(b, {1, 0})});
  if (alpha != 1) y = n->TypedValue("Mul", {y, n->ScalarConst("alpha", alpha, n->Type(y))});
  if (!n->Has(2)) return n->Forward(0, y);
  std::string c = n->In(2);
  if (beta != 1) c = n->TypedValue("Mul", {c, n->ScalarConst("beta", beta, n->Type(c))});
  n->EmitTyped("Add", {y, c}, n->Out(0));
}

// --- normalizations ---

// Normalized by the mean and variance of the batch; outputs 1 and 2 are the running ones.
void TranslateTrainingBatchNorm(OnnxNode* n) {
  const std::string& x = n->In(0);
  const int64_t rank = n->Rank(x);
  std::vector<int64_t> axes;
  OnnxDims channels(static_cast<size_t>(rank), 1);
  channels.at(1) = -1;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis != 1) axes.push_back(axis);
  }
  const std::vector<Argument> reduced = {MakeArgument("axes", axes), MakeArgument("keepdims", 1)};
  const std::string mean = n->TypedValue("ReduceMean", {x}, reduced);
  const std::string centered = n->TypedValue("Sub", {x, mean});
  const std::string square = n->TypedValue("Mul", {centered, centered});
  const std::string variance = n->TypedValue("ReduceMean", {square}, reduced);
  const std::string epsilon = n->FloatConst("epsilon", n->Float("epsilon", 1e-5f));
  const std::string deviation = n->Value("Sqrt", {n->TypedValue("Add", {variance, epsilon})});
  const std::string scaled = n->TypedValue(
      "Mul", {n->TypedValue("Div", {centered, deviation}), n->Reshape(n->In(1), channels)});
  n->EmitTyped("Add", {scaled, n->Reshape(n->In(2), channels)}, n->Out(0));
  const float momentum = n->Float("momentum", 0.9f);
  for (size_t i = 1; i <= 2; ++i) {
    if (!n->HasOut(i)) continue;
    const std::string now = n->Reshape(i == 1 ? mean : variance, {-1});
    const std::string kept = n->Value("Scale", {n->In(i + 2)}, {MakeArgument("scale", momentum)});
    const std::string added = n->Value("Scale", {now}, {MakeArgument("scale", 1 - momentum)});
    n->EmitTyped("Add", {kept, added}, n->Out(i));
  }
}

void TranslateBatchNormalization(OnnxNode* n) {
  CAFFE_ENFORCE(n->Int("spatial", 1) != 0, "spatial is 0, which is not supported");
  if (n->Int("training_mode", 0) != 0) return TranslateTrainingBatchNorm(n);
  n->Emit("SpatialBN", n->Ins(), {n->Out(0)},
          {MakeArgument("is_test", 1), MakeArgument("epsilon", n->Float("epsilon", 1e-5f))});
}

void TranslateInstanceNormalization(OnnxNode* n) {
  n->Emit("InstanceNorm", n->Ins(), {n->Out(0)},
          {MakeArgument("epsilon", n->Float("epsilon", 1e-5f))});
}

void TranslateLrn(OnnxNode* n) {
  n->Emit(
      "LRN", {n->In(0)}, {n->Out(0), n->NewName("scale")},
      {MakeArgument("size", n->Int("size", 1)), MakeArgument("alpha", n->Float("alpha", 1e-4f)),
       MakeArgument("beta", n->Float("beta", 0.75f)), MakeArgument("bias", n->Float("bias", 1))});
}

void TranslateLpNormalization(OnnxNode* n) {
  const int64_t p = n->Int("p", 2), axis = n->Int("axis", -1);
  CAFFE_ENFORCE(p == 1 || p == 2, "p is ", p, ", want 1 or 2");
  n->Emit(p == 1 ? "NormalizeL1" : "Normalize", {n->In(0)}, {n->Out(0)},
          {MakeArgument("axis", axis)});
}

// The axes with the given one last, and the order back.
std::vector<int64_t> AxisLast(int64_t rank, int64_t axis) {
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(axis)], order.back());
  return order;
}

// Before opset 13 all axes from the given one on are a row.
// The axis of the node, or, before opset 13, all from it on.
std::vector<int64_t> SoftmaxAxes(OnnxNode* n) {
  if (n->version() >= 13) return {n->Int("axis", -1)};
  const int64_t rank = n->Rank(n->In(0)), first = n->Axis(n->In(0), n->Int("axis", 1));
  std::vector<int64_t> axes(static_cast<size_t>(rank - first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// The input without its maximum, and the sum of the exponentials of that.
struct ShiftedInput {
  std::string x, exponentials, sum;
};

ShiftedInput Shifted(OnnxNode* n) {
  const std::vector<int64_t> axes = SoftmaxAxes(n);
  ShiftedInput shifted;
  const std::string highest = n->TypedValue("ReduceMax", {n->In(0)}, {MakeArgument("axes", axes)});
  shifted.x = n->TypedValue("Sub", {n->In(0), highest});
  shifted.exponentials = n->TypedValue("Exp", {shifted.x});
  shifted.sum = n->TypedValue("ReduceSum", {shifted.exponentials}, {MakeArgument("axes", axes)});
  return shifted;
}

void TranslateSoftmax(OnnxNode* n) {
  const std::string& x = n->In(0);
  if (n->Type(x) == Proto::DOUBLE) {
    const ShiftedInput shifted = Shifted(n);
    return n->EmitTyped("Div", {shifted.exponentials, shifted.sum}, n->Out(0));
  }
  if (n->version() < 13) {
    return n->EmitTyped("Softmax", {x}, n->Out(0), {MakeArgument("axis", n->Int("axis", 1))});
  }
  const int64_t axis = n->Int("axis", -1);
  if (axis == -1 || (n->KnowsRank(x) && n->Axis(x, axis) == n->Rank(x) - 1)) {
    return n->EmitTyped("Softmax", {x}, n->Out(0), {MakeArgument("axis", -1)});
  }
  const int64_t rank = n->Rank(x);
  const std::vector<int64_t> order = AxisLast(rank, n->Axis(x, axis));
  const std::string y =
      n->TypedValue("Softmax", {n->Transpose(x, order)}, {MakeArgument("axis", -1)});
  n->Emit("Transpose", {y}, {n->Out(0)}, {MakeArgument("axes", order)});
}

void TranslateLogSoftmax(OnnxNode* n) {
  const ShiftedInput shifted = Shifted(n);
  n->EmitTyped("Sub", {shifted.x, n->TypedValue("Log", {shifted.sum})}, n->Out(0));
}

void TranslateLayerNormalization(OnnxNode* n) {
  const std::string& x = n->In(0);
  const int64_t axis = n->Int("axis", -1);
  std::vector<std::string> inputs = {x, n->In(1)};
  if (n->Has(2))
    inputs.push_back(n->In(2));
  else
    inputs.push_back(n->Value("Sub", {n->In(1), n->In(1)}));
  const std::string stddev = n->NewName("stddev"),
                    mean = n->HasOut(1) ? n->Out(1) : n->NewName("mean");
  n->Emit("LayerNorm", inputs, {n->Out(0), n->NewName("mean"), stddev},
          {MakeArgument("axis", axis), MakeArgument("epsilon", n->Float("epsilon", 1e-5f)),
           MakeArgument("elementwise_affine", 1)});
  if (!n->HasOut(1) && !n->HasOut(2)) return;
  const int64_t rank = n->Rank(x), first = n->Axis(x, axis);
  std::vector<int64_t> axes(static_cast<size_t>(rank - first));
  std::iota(axes.begin(), axes.end(), first);
  n->Emit("ReduceMean", {x}, {mean}, {MakeArgument("axes", axes)});
  if (!n->HasOut(2)) return;
  const std::string inverse = n->Value("Reciprocal", {stddev});
  OnnxDims dims = n->FixedDims(x);
  for (const int64_t a : axes) dims[static_cast<size_t>(a)] = 1;
  n->EmitReshape(inverse, dims, n->Out(2));
}

// Before opset 21 there is a scale and a bias for each group.
void TranslateGroupNormalization(OnnxNode* n) {
  const std::string& x = n->In(0);
  const int64_t groups = n->Int("num_groups", 1);
  std::string scale = n->In(1), bias = n->In(2);
  if (n->version() < 21) {
    const int64_t per_group = n->FixedDim(x, 1) / std::max<int64_t>(groups, 1);
    const auto spread = [&](const std::string& v) {
      const std::string column = n->Reshape(v, {-1, 1});
      const std::string tiled =
          n->Value("Tile", {column}, {MakeArgument("tiles", per_group), MakeArgument("axis", 1)});
      return n->Reshape(tiled, {-1});
    };
    scale = spread(scale);
    bias = spread(bias);
  }
  // Its gradient reads all outputs.
  n->Emit("GroupNorm", {x, scale, bias}, {n->Out(0), n->NewName("mean"), n->NewName("rstd")},
          {MakeArgument("group", groups), MakeArgument("epsilon", n->Float("epsilon", 1e-5f))});
}

}  // namespace

std::vector<OnnxRow> OnnxLayerRows() {
  return {{"BatchNormalization", &TranslateBatchNormalization},
          {"Gemm", &TranslateGemm},
          {"GroupNormalization", &TranslateGroupNormalization},
          {"InstanceNormalization", &TranslateInstanceNormalization},
          {"LRN", &TranslateLrn},
          {"LayerNormalization", &TranslateLayerNormalization},
          {"LogSoftmax", &TranslateLogSoftmax},
          {"LpNormalization", &TranslateLpNormalization},
          {"MatMul", &TranslateMatMul},
          {"Softmax", &TranslateSoftmax}};
}

}  // namespace caffe2rt
