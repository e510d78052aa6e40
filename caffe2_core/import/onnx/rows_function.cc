// Operators that ONNX defines by other operators: the same steps, by the rows of those.

#include <numeric>

#include "caffe2_core/import/onnx/node_table.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

std::string Scalar(OnnxNode* n, double value, const std::string& like) {
  return n->ScalarConst("number", value, n->Type(like));
}

std::vector<int64_t> AxesFrom(const OnnxNode& n, const std::string& x, int64_t first) {
  const int64_t begin = n.Axis(x, first);
  std::vector<int64_t> axes(static_cast<size_t>(n.Rank(x) - begin));
  std::iota(axes.begin(), axes.end(), begin);
  return axes;
}

std::string MeanOver(OnnxNode* n, const std::string& x, const std::vector<int64_t>& axes) {
  return n->Call("ReduceMean", {x, n->IntConst("axes", axes)}, {OnnxInt("keepdims", 1)});
}

// --- normalizations ---

void TranslateRmsNormalization(OnnxNode* n) {
  std::string x = n->In(0);
  const int type = n->Type(x);
  const auto stash = static_cast<int>(n->Int("stash_type", 1));
  if (stash != type) x = n->Call("Cast", {x}, {OnnxInt("to", stash)});
  const std::string square = n->Call("Mul", {x, x});
  const std::string mean = MeanOver(n, square, AxesFrom(*n, x, n->Int("axis", -1)));
  const std::string shifted = n->Call("Add", {mean, Scalar(n, n->Float("epsilon", 1e-5f), x)});
  std::string y = n->Call("Div", {x, n->Call("Sqrt", {shifted})});
  if (stash != type) y = n->Call("Cast", {y}, {OnnxInt("to", type)});
  // The scale may have a type of its own, which is that of the result.
  const std::string& scale = n->In(1);
  if (n->KnowsType(scale) && n->Type(scale) != type) {
    y = n->Call("Cast", {y}, {OnnxInt("to", n->Type(scale))});
  }
  n->Forward(0, n->Call("Mul", {y, scale}));
}

void TranslateMeanVarianceNormalization(OnnxNode* n) {
  const std::string& x = n->In(0);
  const std::vector<int64_t> axes = n->IntList("axes", {0, 2, 3});
  const std::string mean = MeanOver(n, x, axes);
  const std::string squares = MeanOver(n, n->Call("Mul", {x, x}), axes);
  const std::string variance = n->Call("Sub", {squares, n->Call("Mul", {mean, mean})});
  const std::string deviation = n->Call("Add", {n->Call("Sqrt", {variance}), Scalar(n, 1e-9, x)});
  n->Forward(0, n->Call("Div", {n->Call("Sub", {x, mean}), deviation}));
}

// --- losses ---

// The loss of each target: minus the score of its class, times the weight of the class.
struct Losses {
  std::string values, weights = {};
};

Losses ClassLosses(OnnxNode* n, const std::string& scores, const std::string& targets,
                   const std::string& weight) {
  const std::string axis = n->IntConst("axis", {1});
  std::string classes = targets, ignored;
  if (n->HasAttr("ignore_index")) {
    const std::string index =
        n->ScalarConst("ignored", static_cast<double>(n->Int("ignore_index", 0)), n->Type(targets));
    ignored = n->Call("Equal", {targets, index});
    classes = n->Call("Where", {ignored, n->ScalarConst("zero", 0, n->Type(targets)), targets});
  }
  const std::string column = n->Call("Unsqueeze", {classes, axis});
  const std::string picked = n->Call("GatherElements", {scores, column}, {OnnxInt("axis", 1)});
  Losses losses = {.values = n->Call("Neg", {n->Call("Squeeze", {picked, axis})})};
  if (weight.empty() && ignored.empty()) return losses;
  losses.weights = weight.empty() ? Scalar(n, 1, scores)
                                  : n->Call("Gather", {weight, classes}, {OnnxInt("axis", 0)});
  if (!ignored.empty())
    losses.weights = n->Call("Where", {ignored, Scalar(n, 0, scores), losses.weights});
  losses.values = n->Call("Mul", {losses.values, losses.weights});
  return losses;
}

std::string ReducedLoss(OnnxNode* n, const Losses& losses) {
  const std::string reduction = n->Text("reduction", "mean");
  if (reduction == "none") return losses.values;
  const std::vector<onnx::AttributeProto> all = {OnnxInt("keepdims", 0)};
  if (reduction == "sum") return n->Call("ReduceSum", {losses.values}, all);
  CAFFE_ENFORCE(reduction == "mean", "reduction is \"", reduction, "\", want none, mean or sum");
  if (losses.weights.empty()) return n->Call("ReduceMean", {losses.values}, all);
  return n->Call("Div", {n->Call("ReduceSum", {losses.values}, all),
                         n->Call("ReduceSum", {losses.weights}, all)});
}

void TranslateNegativeLogLikelihoodLoss(OnnxNode* n) {
  n->Forward(0, ReducedLoss(n, ClassLosses(n, n->In(0), n->In(1), n->Has(2) ? n->In(2) : "")));
}

void TranslateSoftmaxCrossEntropyLoss(OnnxNode* n) {
  const std::string scores = n->Call("LogSoftmax", {n->In(0)}, {OnnxInt("axis", 1)});
  n->Forward(0, ReducedLoss(n, ClassLosses(n, scores, n->In(1), n->Has(2) ? n->In(2) : "")));
  n->Forward(1, scores);
}

// --- others ---

void TranslateSwiGlu(OnnxNode* n) {
  const std::string gate = n->Call("Swish", {n->In(0)}, {OnnxFloat("alpha", n->Float("alpha", 1))});
  n->Forward(0, n->Call("Mul", {gate, n->In(1)}));
}

// The positions of the `size` pixels of an axis, from -1 to 1: [size].
std::string GridAxis(OnnxNode* n, const std::string& size, bool align_corners) {
  const auto number = [&](double value) { return n->ScalarConst("number", value, Proto::FLOAT); };
  const auto integer = [&](double value) { return n->ScalarConst("number", value, Proto::INT64); };
  const std::string range = n->Call("Range", {integer(0), size, integer(1)});
  const std::string places = n->Call("Cast", {range}, {OnnxInt("to", Proto::FLOAT)});
  const std::string count = n->Call("Cast", {size}, {OnnxInt("to", Proto::FLOAT)});
  if (align_corners) {
    const std::string step = n->Call("Div", {number(2), n->Call("Sub", {count, number(1)})});
    return n->Call("Sub", {n->Call("Mul", {places, step}), number(1)});
  }
  const std::string middle = n->Call("Add", {n->Call("Mul", {places, number(2)}), number(1)});
  return n->Call("Sub", {n->Call("Div", {middle, count}), number(1)});
}

// theta times the positions of all pixels, each with a last coordinate of 1.
void TranslateAffineGrid(OnnxNode* n) {
  const std::string &theta = n->In(0), &size = n->In(1);
  const int64_t axes = n->FixedDim(size, 0) - 2;
  CAFFE_ENFORCE(axes == 2 || axes == 3, "the size has ", axes + 2, " numbers, want 4 or 5");
  const std::string spatial =
      n->Call("Slice", {size, n->IntConst("two", {2}), n->IntConst("end", {INT64_MAX})});
  std::vector<std::string> coordinates;  // from the last axis to the first
  for (int64_t axis = axes - 1; axis >= 0; --axis) {
    const std::string count = n->Call(
        "Gather", {spatial, n->ScalarConst("axis", static_cast<double>(axis), Proto::INT64)});
    std::vector<int64_t> shape(static_cast<size_t>(axes) + 1, 1);
    shape[static_cast<size_t>(axis)] = -1;
    const std::string places = GridAxis(n, count, n->Int("align_corners", 0) != 0);
    const std::string all =
        n->Call("Concat", {spatial, n->IntConst("one", {1})}, {OnnxInt("axis", 0)});
    coordinates.push_back(n->Call("Expand", {n->Reshape(places, shape), all}));
  }
  const std::string &last = coordinates.back(), one = n->ScalarConst("one", 1, Proto::FLOAT);
  coordinates.push_back(
      n->Call("Add", {n->Call("Mul", {last, n->ScalarConst("zero", 0, Proto::FLOAT)}), one}));
  const std::string grid = n->Call("Concat", coordinates, {OnnxInt("axis", -1)});
  const std::string rows = n->Call("Reshape", {grid, n->IntConst("rows", {1, -1, axes + 1})});
  const std::string moved = n->Call(
      "MatMul",
      {rows, n->Transpose(n->Call("Cast", {theta}, {OnnxInt("to", Proto::FLOAT)}), {0, 2, 1})});
  const std::string batch =
      n->Call("Slice", {size, n->IntConst("zero", {0}), n->IntConst("one", {1})});
  const std::string dims =
      n->Call("Concat", {batch, spatial, n->IntConst("axes", {axes})}, {OnnxInt("axis", 0)});
  n->Forward(0, n->Call("CastLike", {n->Call("Reshape", {moved, dims}), theta}));
}

// --- attention ---

void TranslateRotaryEmbedding(OnnxNode* n) {
  std::string x = n->In(0);
  const int64_t rank = n->Rank(x), heads = n->Int("num_heads", 0);
  const int64_t columns = n->FixedDim(x, -1),
                size = rank == 3 && heads > 0 ? columns / heads : columns;
  if (rank == 3) {  // [batch, length, heads * size] -> [batch, length, heads, size]
    CAFFE_ENFORCE(heads > 0, "num_heads is ", heads, ", want at least 1 for an input of 3 axes");
    x = n->Reshape(x, {0, 0, heads, size});
  } else {
    x = n->Transpose(x, {0, 2, 1, 3});
  }
  const int64_t rotated =
      n->Int("rotary_embedding_dim", 0) > 0 ? n->Int("rotary_embedding_dim", 0) : size;
  std::string rest;
  if (rotated < size) {
    const std::vector<std::string> parts = n->CallAll(
        "Split", {x, n->IntConst("sizes", {rotated, size - rotated})}, {OnnxInt("axis", -1)}, 2);
    x = parts[0];
    rest = parts[1];
  }
  const auto table = [&](size_t i) {
    std::string values = n->In(i);
    if (n->Has(3)) values = n->Call("Gather", {values, n->In(3)}, {OnnxInt("axis", 0)});
    return n->Call("Unsqueeze", {values, n->IntConst("axes", {2})});
  };
  const std::string cos = table(1), sin = table(2);
  const bool interleaved = n->Int("interleaved", 0) != 0;
  const int64_t half = rotated / 2;
  std::string first, second;
  if (interleaved) {  // [batch, length, heads, half, 2]
    const std::string pairs = n->Call("Reshape", {x, n->IntConst("pairs", {0, 0, 0, half, 2})});
    const std::vector<std::string> parts =
        n->CallAll("Split", {pairs}, {OnnxInt("axis", -1), OnnxInt("num_outputs", 2)}, 2);
    first = n->Reshape(parts[0], {0, 0, 0, half});
    second = n->Reshape(parts[1], {0, 0, 0, half});
  } else {
    const std::vector<std::string> parts =
        n->CallAll("Split", {x}, {OnnxInt("axis", -1), OnnxInt("num_outputs", 2)}, 2);
    first = parts[0];
    second = parts[1];
  }
  const std::string real =
      n->Call("Sub", {n->Call("Mul", {cos, first}), n->Call("Mul", {sin, second})});
  const std::string imag =
      n->Call("Add", {n->Call("Mul", {sin, first}), n->Call("Mul", {cos, second})});
  std::string y;
  if (interleaved) {
    const std::string axes = n->IntConst("axes", {-1});
    const std::string pairs =
        n->Call("Concat", {n->Call("Unsqueeze", {real, axes}), n->Call("Unsqueeze", {imag, axes})},
                {OnnxInt("axis", -1)});
    y = n->Reshape(pairs, {0, 0, 0, rotated});
  } else {
    y = n->Call("Concat", {real, imag}, {OnnxInt("axis", -1)});
  }
  if (!rest.empty()) y = n->Call("Concat", {y, rest}, {OnnxInt("axis", -1)});
  n->Forward(0, rank == 3 ? n->Reshape(y, {0, 0, columns}) : n->Transpose(y, {0, 2, 1, 3}));
}

}  // namespace

std::vector<OnnxRow> OnnxFunctionRows() {
  return {{"AffineGrid", &TranslateAffineGrid},
          {"MeanVarianceNormalization", &TranslateMeanVarianceNormalization},
          {"NegativeLogLikelihoodLoss", &TranslateNegativeLogLikelihoodLoss},
          {"RMSNormalization", &TranslateRmsNormalization},
          {"RotaryEmbedding", &TranslateRotaryEmbedding},
          {"SoftmaxCrossEntropyLoss", &TranslateSoftmaxCrossEntropyLoss},
          {"SwiGLU", &TranslateSwiGlu}};
}

}  // namespace caffe2rt
