// Parts of transformers that ONNX Runtime's optimizers and quantizers write (domain com.microsoft), by
// the rows of ONNX's operators. Sizes of batches and lengths may be unknown.

#include <cmath>
#include <limits>

#include "caffe2_core/import/onnx/node_table.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

constexpr double kNever = -std::numeric_limits<double>::infinity();

// Queries, keys and values, each [batch, heads, length, size]; and what is added to the scores.
struct Heads {
  std::string q = {}, k = {}, v = {}, bias = {};
  int64_t heads = 0, value_size = 0;
};

// [batch, length, heads * size] -> [batch, heads, length, size]
std::string Apart(OnnxNode* n, const std::string& x, int64_t heads) {
  const int64_t columns = n->FixedDim(x, -1);
  CAFFE_ENFORCE(heads > 0 && columns % heads == 0, columns, " columns for num_heads ", heads);
  return n->Transpose(n->Reshape(x, {0, 0, heads, columns / heads}), {0, 2, 1, 3});
}

std::string Sum(OnnxNode* n, const std::string& a, const std::string& b) {
  return a.empty() ? b : b.empty() ? a : n->Call("Add", {a, b});
}

// The size of an axis, as a list of one number that a run may decide.
std::string SizeOf(OnnxNode* n, const std::string& x, int64_t axis) {
  return n->Call("Shape", {x}, {OnnxInt("start", axis), OnnxInt("end", axis + 1)});
}

// The number in a list of one number.
std::string NumberIn(OnnxNode* n, const std::string& list) {
  return n->Call("Squeeze", {list, n->IntConst("axes", {0})});
}

// Added to scores where `kept`, a tensor of booleans, is false.
std::string Masked(OnnxNode* n, const std::string& kept, double filter, int type) {
  return n->Call("Where",
                 {kept, n->ScalarConst("zero", 0, type), n->ScalarConst("filter", filter, type)});
}

// No query sees later keys; both end at the same position.
std::string CausalBias(OnnxNode* n, const Heads& h) {
  const std::string queries = SizeOf(n, h.q, 2), keys = SizeOf(n, h.k, 2);
  const std::string shape = n->Call("Concat", {queries, keys}, {OnnxInt("axis", 0)});
  const std::string all =
      n->Call("Expand", {n->ScalarConst("filter", kNever, n->Type(h.q)), shape});
  const std::string later =
      n->Call("Add", {n->Call("Sub", {keys, queries}), n->IntConst("one", {1})});
  return n->Call("Trilu", {all, NumberIn(n, later)}, {OnnxInt("upper", 1)});
}

// The attributes mask_filter_value and an input with a 0 for each key that is not seen: [batch, keys] or
// [batch, queries, keys]; or the number of keys of each batch, [batch].
std::string MaskBias(OnnxNode* n, size_t input, const Heads& h) {
  if (!n->Has(input)) return "";
  std::string mask = n->In(input);
  const int64_t rank = n->Rank(mask);
  const double filter = n->Float("mask_filter_value", -10000);
  if (rank == 1) {
    const auto batch = n->DimsIn(h.q, 0).at(0), lengths = n->DimsIn(mask, 0).at(0);
    CAFFE_ENFORCE_EQ(lengths, batch,
                     "elements of a mask of one axis: only one length for each batch");
    const std::string end = NumberIn(n, SizeOf(n, h.k, 2));
    const std::string positions = n->Call("Range", {n->ScalarConst("zero", 0, Proto::INT64), end,
                                                    n->ScalarConst("one", 1, Proto::INT64)});
    mask = n->Call("Cast", {mask}, {OnnxInt("to", Proto::INT64)});
    const std::string kept = n->Call("Less", {positions, n->Reshape(mask, {-1, 1, 1, 1})});
    return Masked(n, kept, filter, n->Type(h.q));
  }
  CAFFE_ENFORCE(rank == 2 || rank == 3, "its mask has ", rank, " axes, want 1, 2 or 3");
  mask = n->Call("Unsqueeze",
                 {mask, rank == 2 ? n->IntConst("axes", {1, 2}) : n->IntConst("axes", {1})});
  return Masked(n, n->Call("Cast", {mask}, {OnnxInt("to", Proto::BOOL)}), filter, n->Type(h.q));
}

// [batch, queries, heads * size]
std::string Attend(OnnxNode* n, const Heads& h) {
  const int type = n->Type(h.q);
  const double size = static_cast<double>(n->FixedDim(h.q, 3));
  const double stated = n->Float("scale", 0), scale = stated == 0 ? 1 / std::sqrt(size) : stated;
  const std::string scaled = n->Call("Mul", {h.q, n->ScalarConst("scale", scale, type)});
  std::string scores = n->Call("MatMul", {scaled, n->Transpose(h.k, {0, 1, 3, 2})});
  if (const float cap = n->Float("softcap", 0); cap != 0) {
    const std::string limit = n->ScalarConst("softcap", cap, type);
    scores = n->Call("Mul", {n->Call("Tanh", {n->Call("Div", {scores, limit})}), limit});
  }
  std::string bias = h.bias;
  if (n->Int("unidirectional", 0) != 0) bias = Sum(n, bias, CausalBias(n, h));
  scores = Sum(n, scores, bias);
  const std::string weights = n->Call("Softmax", {scores}, {OnnxInt("axis", -1)});
  const std::string y = n->Transpose(n->Call("MatMul", {weights, h.v}), {0, 2, 1, 3});
  return n->Reshape(y, {0, 0, h.heads * h.value_size});
}

// What is no part of either form of attention here.
void CheckPlain(OnnxNode* n) {
  CAFFE_ENFORCE(n->Int("do_rotary", 0) == 0, "do_rotary is 1, which is not supported");
}

// --- Attention, QAttention ---

// `packed` is [batch, length, queries | keys | values].
void EmitPackedAttention(OnnxNode* n, const std::string& packed, size_t mask, size_t past,
                         size_t bias) {
  CheckPlain(n);
  std::vector<int64_t> sizes = n->IntList("qkv_hidden_sizes");
  if (sizes.empty()) sizes.assign(3, n->FixedDim(packed, -1) / 3);
  CAFFE_ENFORCE_EQ(sizes.size(), size_t{3}, "numbers in attribute \"qkv_hidden_sizes\"");
  const std::vector<std::string> parts =
      n->CallAll("Split", {packed, n->IntConst("sizes", sizes)}, {OnnxInt("axis", 2)}, 3);
  Heads h = {.heads = n->Int("num_heads", 0)};
  h.q = Apart(n, parts[0], h.heads);
  h.k = Apart(n, parts[1], h.heads);
  h.v = Apart(n, parts[2], h.heads);
  h.value_size = n->FixedDim(h.v, 3);
  if (n->Has(past)) {  // [2, batch, heads, length, size]
    const auto before = [&](double which) {
      return n->Call("Gather", {n->In(past), n->ScalarConst("which", which, Proto::INT64)},
                     {OnnxInt("axis", 0)});
    };
    h.k = n->Call("Concat", {before(0), h.k}, {OnnxInt("axis", 2)});
    h.v = n->Call("Concat", {before(1), h.v}, {OnnxInt("axis", 2)});
  }
  h.bias = Sum(n, MaskBias(n, mask, h), n->Has(bias) ? n->In(bias) : "");
  n->Forward(0, Attend(n, h));
  if (!n->HasOut(1)) return;
  const std::string first = n->IntConst("axes", {0});
  n->Forward(
      1, n->Call("Concat", {n->Call("Unsqueeze", {h.k, first}), n->Call("Unsqueeze", {h.v, first})},
                 {OnnxInt("axis", 0)}));
}

// X, weights [columns, queries | keys | values], bias, mask, past, bias of the scores
void TranslatePackedAttention(OnnxNode* n) {
  const std::string product = n->Call("MatMul", {n->In(0), n->In(1)});
  EmitPackedAttention(n, Sum(n, product, n->Has(2) ? n->In(2) : ""), 3, 4, 5);
}

// X, weights, bias, scale of X, scale of weights, mask, zero point of X, zero point of weights, past
void TranslateQuantizedAttention(OnnxNode* n) {
  const std::string sums = n->Call(
      "MatMulInteger", {n->In(0), n->In(1), n->Has(6) ? n->In(6) : "", n->Has(7) ? n->In(7) : ""});
  const std::string scale = n->Call("Mul", {n->In(3), n->In(4)});
  const std::string product =
      n->Call("Mul", {n->Call("Cast", {sums}, {OnnxInt("to", Proto::FLOAT)}), scale});
  constexpr size_t kNone = 99;
  EmitPackedAttention(n, Sum(n, product, n->In(2)), 5, 8, kNone);
}

// --- MultiHeadAttention ---

// query, key, value, bias [queries | keys | values], mask, bias of the scores, past keys, past values
void TranslateMultiHeadAttention(OnnxNode* n) {
  CheckPlain(n);
  CAFFE_ENFORCE(n->Has(1) && n->Has(2) && n->Rank(n->In(0)) == 3,
                "queries, keys and values in one input are not supported");
  Heads h = {.q = n->In(0), .k = n->In(1), .v = n->In(2), .heads = n->Int("num_heads", 0)};
  const bool apart = n->Rank(h.k) == 4;  // keys and values [batch, heads, length, size]
  if (n->Has(3)) {
    const int64_t q = n->FixedDim(h.q, -1), all = n->FixedDim(n->In(3), -1);
    const int64_t v = n->FixedDim(h.v, -1);  // of all heads, unless only queries have a bias
    const std::vector<std::string> parts = n->CallAll(
        "Split", {n->In(3), n->IntConst("sizes", {q, all - q - v, v})}, {OnnxInt("axis", 0)}, 3);
    h.q = n->Call("Add", {h.q, parts[0]});
    if (!apart) {
      h.k = n->Call("Add", {h.k, parts[1]});
      h.v = n->Call("Add", {h.v, parts[2]});
    }
  }
  h.q = Apart(n, h.q, h.heads);
  if (!apart) {
    h.k = Apart(n, h.k, h.heads);
    h.v = Apart(n, h.v, h.heads);
  }
  h.value_size = n->FixedDim(h.v, 3);
  if (n->Has(6)) h.k = n->Call("Concat", {n->In(6), h.k}, {OnnxInt("axis", 2)});
  if (n->Has(7)) h.v = n->Call("Concat", {n->In(7), h.v}, {OnnxInt("axis", 2)});
  h.bias = Sum(n, MaskBias(n, 4, h), n->Has(5) ? n->In(5) : "");
  n->Forward(0, Attend(n, h));
  n->Forward(1, h.k);
  n->Forward(2, h.v);
}

// --- GroupQueryAttention ---

// Heads of keys or values, each for `group` heads of queries: [batch, heads, length, size] with all heads.
std::string Repeated(OnnxNode* n, const std::string& x, int64_t heads, int64_t group,
                     int64_t size) {
  if (group == 1) return x;
  const std::string apart = n->Call("Unsqueeze", {x, n->IntConst("axes", {2})});
  const std::vector<std::string> copies(static_cast<size_t>(group), apart);
  return n->Reshape(n->Call("Concat", copies, {OnnxInt("axis", 2)}), {0, heads, -1, size});
}

// What keeps a query from keys that are `window` positions and more before it.
std::string WindowBias(OnnxNode* n, const Heads& h, int64_t window) {
  const std::string queries = SizeOf(n, h.q, 2), keys = SizeOf(n, h.k, 2);
  const std::string shape = n->Call("Concat", {queries, keys}, {OnnxInt("axis", 0)});
  const std::string all =
      n->Call("Expand", {n->ScalarConst("filter", kNever, n->Type(h.q)), shape});
  const std::string first =
      n->Call("Sub", {n->Call("Sub", {keys, queries}), n->IntConst("window", {window})});
  return n->Call("Trilu", {all, NumberIn(n, first)}, {OnnxInt("upper", 0)});
}

// Positions of the queries behind the past keys: [1, length].
std::string PositionsBehind(OnnxNode* n, const std::string& queries, size_t past) {
  const std::string zero = n->ScalarConst("zero", 0, Proto::INT64);
  const std::string begin = n->Has(past) ? NumberIn(n, SizeOf(n, n->In(past), 2)) : zero;
  const std::string end = n->Call("Add", {begin, NumberIn(n, SizeOf(n, queries, 1))});
  const std::string all = n->Call("Range", {begin, end, n->ScalarConst("one", 1, Proto::INT64)});
  return n->Call("Unsqueeze", {all, n->IntConst("axes", {0})});
}

// query, key, value, past keys and values [batch, heads, length, size], lengths of the keys, their maximum,
// cosines, sines, positions, bias of the scores. The past is as long as it is: keys behind it are new.
void TranslateGroupQueryAttention(OnnxNode* n) {
  CAFFE_ENFORCE(!n->Has(11) && n->Int("smooth_softmax", 0) <= 0,
                "head_sink and smooth_softmax are not supported");
  const int64_t heads = n->Int("num_heads", 0), few = n->Int("kv_num_heads", 0);
  CAFFE_ENFORCE(few > 0 && heads > 0 && heads % few == 0, heads, " heads of queries for ", few,
                " of keys");
  constexpr int64_t kMostOfGroup = 1024;
  CAFFE_ENFORCE_LE(heads / few, kMostOfGroup, "heads of queries for one of keys");
  Heads h = {.q = n->In(0), .k = n->Has(1) ? n->In(1) : "", .v = n->Has(2) ? n->In(2) : ""};
  h.heads = heads;
  if (h.k.empty()) {  // all in one
    const int64_t size = n->FixedDim(h.q, -1) / (heads + 2 * few);
    const std::vector<std::string> parts =
        n->CallAll("Split", {h.q, n->IntConst("sizes", {heads * size, few * size, few * size})},
                   {OnnxInt("axis", 2)}, 3);
    h.q = parts[0];
    h.k = parts[1];
    h.v = parts[2];
  }
  if (n->Int("do_rotary", 0) != 0) {
    const std::string positions = n->Has(9) ? n->In(9) : PositionsBehind(n, h.q, 3);
    const auto rotated = [&](const std::string& x, int64_t count) {
      return n->Call(
          "RotaryEmbedding", {x, n->In(7), n->In(8), positions},
          {OnnxInt("num_heads", count), OnnxInt("interleaved", n->Int("rotary_interleaved", 0)),
           OnnxInt("rotary_embedding_dim", 2 * n->FixedDim(n->In(7), -1))});
    };
    h.q = rotated(h.q, heads);
    h.k = rotated(h.k, few);
  }
  h.q = Apart(n, h.q, heads);
  h.k = Apart(n, h.k, few);
  h.v = Apart(n, h.v, few);
  const int64_t size = n->FixedDim(h.k, 3);
  h.value_size = n->FixedDim(h.v, 3);
  if (n->Has(3)) h.k = n->Call("Concat", {n->In(3), h.k}, {OnnxInt("axis", 2)});
  if (n->Has(4)) h.v = n->Call("Concat", {n->In(4), h.v}, {OnnxInt("axis", 2)});
  n->Forward(1, h.k);
  n->Forward(2, h.v);
  h.k = Repeated(n, h.k, heads, heads / few, size);
  h.v = Repeated(n, h.v, heads, heads / few, h.value_size);
  h.bias = Sum(n, CausalBias(n, h), n->Has(10) ? n->In(10) : "");
  const int64_t window = n->Int("local_window_size", -1);
  if (window > 0) h.bias = Sum(n, h.bias, WindowBias(n, h, window));
  n->Forward(0, Attend(n, h));
}

// --- embeddings ---

// ids, segments, words, positions, segments' rows, gamma, beta, mask, position ids
void TranslateEmbedLayerNormalization(OnnxNode* n) {
  const auto rows = [&](const std::string& table, const std::string& ids) {
    return n->Call("Gather", {table, ids}, {OnnxInt("axis", 0)});
  };
  std::string places;
  if (n->Has(8)) {
    places = rows(n->In(3), n->In(8));
  } else {
    places = n->Call("Slice", {n->In(3), n->IntConst("start", {0}), SizeOf(n, n->In(0), 1),
                               n->IntConst("axes", {0})});
  }
  std::string sum = n->Call("Add", {rows(n->In(2), n->In(0)), places});
  if (n->Has(1)) sum = n->Call("Add", {sum, rows(n->In(4), n->In(1))});
  n->Forward(0, n->Call("LayerNormalization", {sum, n->In(5), n->In(6)},
                        {OnnxFloat("epsilon", n->Float("epsilon", 1e-12f))}));
  if (n->HasOut(1)) {
    CAFFE_ENFORCE(n->Has(7), "output 1 without a mask is not supported");
    n->Forward(
        1, n->Call("ReduceSum", {n->In(7), n->IntConst("axes", {1})}, {OnnxInt("keepdims", 0)}));
  }
  n->Forward(2, sum);
}

// X, position ids [batch, length] or the first one, cosines, sines
void TranslateContribRotaryEmbedding(OnnxNode* n) {
  const std::string& x = n->In(0);
  const int64_t rank = n->Rank(x);
  std::string positions = n->In(1);
  if (n->Rank(positions) == 1) {
    const std::string length = NumberIn(n, SizeOf(n, x, rank == 3 ? 1 : 2));
    const std::string steps = n->Call("Range", {n->ScalarConst("zero", 0, Proto::INT64), length,
                                                n->ScalarConst("one", 1, Proto::INT64)});
    positions =
        n->Call("Unsqueeze", {n->Call("Add", {positions, steps}), n->IntConst("axes", {0})});
  }
  CAFFE_ENFORCE(n->Float("scale", 1) == 1, "scale is ", n->Float("scale", 1), ", want 1");
  int64_t heads = n->Int("num_heads", 0);
  if (heads == 0 && rank == 3) heads = n->FixedDim(x, 2) / (2 * n->FixedDim(n->In(2), 1));
  n->Forward(0,
             n->Call("RotaryEmbedding", {x, n->In(2), n->In(3), positions},
                     {OnnxInt("num_heads", heads), OnnxInt("interleaved", n->Int("interleaved", 0)),
                      OnnxInt("rotary_embedding_dim", n->Int("rotary_embedding_dim", 0))}));
}

}  // namespace

std::vector<OnnxRow> OnnxTransformerRows() {
  constexpr std::string_view kDomain = "com.microsoft";
  return {{"Attention", &TranslatePackedAttention, "", false, kDomain},
          {"EmbedLayerNormalization", &TranslateEmbedLayerNormalization, "", false, kDomain},
          {"GroupQueryAttention", &TranslateGroupQueryAttention, "", false, kDomain},
          {"MultiHeadAttention", &TranslateMultiHeadAttention, "", false, kDomain},
          {"QAttention", &TranslateQuantizedAttention, "", false, kDomain},
          {"RotaryEmbedding", &TranslateContribRotaryEmbedding, "", false, kDomain}};
}

}  // namespace caffe2rt
