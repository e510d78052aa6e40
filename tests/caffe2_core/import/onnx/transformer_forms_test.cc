// Attention of ONNX and of ONNX Runtime in the forms that other tests leave out: masks, past keys, heads
// of keys, embeddings. Queries of 0 take the mean of the values that they see; other scores are
// logarithms, so that weights are fractions. Values worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"

namespace caffe2rt::test::transformer_forms_test {
namespace {

using node_forms::Constant;
using node_forms::Float;
using node_forms::Int;
using node_forms::Ints;
using node_forms::kFloat;
using node_forms::kInt32;
using node_forms::kInt64;

const double kLn3 = std::log(3.0);

std::string Floats(const std::string& name, const std::vector<int64_t>& dims,
                   const std::vector<double>& values) {
  return Constant(name, kFloat, dims, values);
}
// "-" is an absent input or output.
std::string Node(const std::string& domain, const std::string& type,
                 const std::vector<std::string>& inputs, const std::string& attributes,
                 const std::vector<std::string>& outputs) {
  std::string text = "node { op_type: '" + type + "' domain: '" + domain + "' ";
  for (const std::string& input : inputs) text += "input: '" + (input == "-" ? "" : input) + "' ";
  for (const std::string& out : outputs) text += "output: '" + (out == "-" ? "" : out) + "' ";
  return text + attributes + "} ";
}
std::string Onnx(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& attributes = "",
                 const std::vector<std::string>& outputs = {"y"}) {
  return Node("", type, inputs, attributes, outputs);
}
std::string Contrib(const std::string& type, const std::vector<std::string>& inputs,
                    const std::string& attributes = "",
                    const std::vector<std::string>& outputs = {"y"}) {
  return Node("com.microsoft", type, inputs, attributes, outputs);
}

struct Case {
  const char* name;
  std::string graph;  // reads x and writes y
  std::vector<int64_t> x_dims;
  std::vector<float> x;
  std::vector<int64_t> dims;
  std::vector<double> want;
};

void Check(const std::vector<Case>& cases, int64_t opset = 24) {
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    std::vector<std::string> dims;
    for (const int64_t dim : row.x_dims) dims.push_back(MakeString(dim));
    const std::string bytes =
        OnnxBytes(OnnxValue("input", "x", dims) + row.graph + "output { name: 'y' }", opset,
                  "opset_import { domain: 'com.microsoft' version: 1 } ");
    EXPECT_EQ(OnnxImportError(bytes), "");
    if (!OnnxImportError(bytes).empty()) continue;
    const Tensor y = RunOnnxBytes(bytes, {{"x", FloatTensor(row.x_dims, row.x)}}, "y");
    EXPECT_EQ(y.dims(), row.dims);
    const std::vector<float> got = FloatsOf(y);
    ASSERT_EQ(got.size(), row.want.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], row.want[i], 2e-5) << i;
  }
}

// --- ONNX's attention with heads side by side: [batch, length, heads * size] ---

TEST(TransformerFormsTest, AttentionOfThreeAxes) {
  const std::string one = Int("q_num_heads", 1) + Int("kv_num_heads", 1);
  const std::string kv = Floats("k", {1, 2, 1}, {1, 1}) + Floats("v", {1, 2, 1}, {2, 7});
  const std::string past = Floats("pk", {1, 1, 1, 1}, {1}) + Floats("pv", {1, 1, 1, 1}, {6});
  const std::vector<std::string> behind = {"x", "k", "v", "-", "pk", "pv"};
  const std::vector<int64_t> two = {1, 2, 1};
  const std::vector<float> zeros = {0, 0};
  Check({{"All", kv + Onnx("Attention", {"x", "k", "v"}, one), two, zeros, two, {4.5, 4.5}},
         {"Causal",
          kv + Onnx("Attention", {"x", "k", "v"}, one + Int("is_causal", 1)),
          two,
          zeros,
          two,
          {2, 4.5}},
         {"BehindThePast", kv + past + Onnx("Attention", behind, one), two, zeros, two, {5, 5}},
         // Both queries see the key of the past.
         {"CausalBehindThePast",
          kv + past + Onnx("Attention", behind, one + Int("is_causal", 1)),
          two,
          zeros,
          two,
          {4, 5}},
         // Two keys of one number each: 6, 12 and 2, and behind them 7.
         {"CausalBehindALongerPast",
          kv + Floats("pk", {1, 1, 2, 1}, {1, 1}) + Floats("pv", {1, 1, 2, 1}, {6, 12}) +
              Onnx("Attention", behind, one + Int("is_causal", 1)),
          two,
          zeros,
          two,
          {20.0 / 3, 6.75}},
         {"WindowBehindThePast",
          kv + past + Onnx("Attention", behind, one + Int("left_window_size", 1)),
          two,
          zeros,
          two,
          {5, 4.5}},
         {"KeysAreGiven",
          kv + past + Onnx("Attention", behind, one, {"a", "y"}),
          two,
          zeros,
          {1, 1, 3, 1},
          {1, 1, 1}},
         {"ValuesAreGiven",
          kv + past + Onnx("Attention", behind, one, {"a", "b", "y"}),
          two,
          zeros,
          {1, 1, 3, 1},
          {6, 2, 7}}},
        28);
}

// Four heads of queries: the first two read the first head of the keys.
TEST(TransformerFormsTest, HeadsOfQueriesShareThoseOfKeys) {
  Check({{"Shared",
          Floats("k", {1, 1, 2}, {1, 1}) + Floats("v", {1, 1, 2}, {3, 8}) +
              Onnx("Attention", {"x", "k", "v"}, Int("q_num_heads", 4) + Int("kv_num_heads", 2)),
          {1, 1, 4},
          {0, 0, 0, 0},
          {1, 1, 4},
          {3, 3, 8, 8}},
         // With 4 axes the number of heads is that of the axis; batches have their own keys.
         {"Batches",
          Floats("k", {2, 1, 1, 1}, {1, 1}) + Floats("v", {2, 1, 1, 2}, {1, 2, 3, 4}) +
              Onnx("Attention", {"x", "k", "v"}),
          {2, 2, 1, 1},
          {0, 0, 0, 0},
          {2, 2, 1, 2},
          {1, 2, 1, 2, 3, 4, 3, 4}}});
}

// --- ONNX Runtime's packed attention ---

// X is [[[1], [2]]], and the values are X; queries and keys are 0.
TEST(TransformerFormsTest, PackedAttentionReadsItsMasks) {
  const std::string w = Floats("w", {1, 3}, {0, 0, 1}), one = Int("num_heads", 1);
  const auto masked = [&](const std::string& mask, const std::string& more = "") {
    return w + mask + Contrib("Attention", {"x", "w", "-", "m"}, one + more);
  };
  const std::vector<int64_t> two = {1, 2, 1};
  const std::vector<float> x = {1, 2};
  const std::string first = Constant("m", kInt32, {1, 2}, {1, 0});
  Check({{"OfKeys", masked(first), two, x, two, {1, 1}},
         {"OfQueriesAndKeys",
          masked(Constant("m", kInt32, {1, 2, 2}, {0, 1, 1, 0})),
          two,
          x,
          two,
          {2, 1}},
         {"OfTwoKeysOfAll", masked(Constant("m", kInt32, {1}, {2})), two, x, two, {1.5, 1.5}},
         // What is masked gets this score: it changes nothing, or halves the weight by a third.
         {"WithoutEffect", masked(first, Float("mask_filter_value", 0)), two, x, two, {1.5, 1.5}},
         {"ByAFilter", masked(first, Float("mask_filter_value", -kLn3)), two, x, two, {1.25, 1.25}},
         {"BiasOfTheScores",
          w + Floats("s", {1, 1, 2, 2}, {0, kLn3, kLn3, 0}) +
              Contrib("Attention", {"x", "w", "-", "-", "-", "s"}, one),
          two,
          x,
          two,
          {1.75, 1.25}},
         {"MaskAndBias",
          w + first + Floats("s", {1, 1, 2, 2}, {0, kLn3, kLn3, 0}) +
              Contrib("Attention", {"x", "w", "-", "m", "-", "s"},
                      one + Float("mask_filter_value", -kLn3)),
          two,
          x,
          two,
          {1.5, 1.1}}});
}

TEST(TransformerFormsTest, PackedAttentionHasHeadsAndSizes) {
  const std::vector<int64_t> one = {1, 1, 1};
  // A column of queries, a column of keys, two of values.
  Check({{"WiderValues",
          Floats("w", {1, 4}, {0, 0, 5, 7}) +
              Contrib("Attention", {"x", "w"},
                      Int("num_heads", 1) + Ints("qkv_hidden_sizes", {1, 1, 2})),
          one,
          {2},
          {1, 1, 2},
          {10, 14}},
         {"TwoHeads",
          Floats("w", {1, 6}, {kLn3, 0, 1, 1, 1, 10}) +
              Contrib("Attention", {"x", "w"}, Int("num_heads", 2) + Float("scale", 1)),
          {1, 2, 1},
          {1, 0},
          {1, 2, 2},
          // Of the queries ln 3 and 0, and the keys 1 and 0; the second head sees both alike.
          {0.75, 5, 0.5, 5}},
         {"LimitedScores",
          Floats("w", {1, 3}, {1000, 1, 1}) +
              Contrib("Attention", {"x", "w"}, Int("num_heads", 1) + Float("softcap", kLn3)),
          {1, 2, 1},
          {1, 0},
          {1, 2, 1},
          {0.75, 0.5}}});
}

TEST(TransformerFormsTest, QuantizedAttentionSeesMasksAndThePast) {
  const std::string parts =
      Constant("a", 2, {1, 2, 1}, {1, 3}) + Constant("w", 3, {1, 3}, {1, 1, 5}) +
      Floats("b", {3}, {0, 0, 1}) + Floats("as", {}, {0.5}) + Floats("ws", {}, {0.5}) +
      Constant("az", 2, {}, {1}) + Constant("wz", 3, {}, {1}) +
      Constant("m", kInt32, {1, 2}, {0, 1}) + Constant("n", kInt32, {1, 3}, {1, 0, 1}) +
      Floats("p", {2, 1, 1, 1, 1}, {0, 7});
  const std::string one = Int("num_heads", 1);
  const auto node = [&](const std::vector<std::string>& more) {
    std::vector<std::string> inputs = {"a", "w", "b", "as", "ws"};
    inputs.insert(inputs.end(), more.begin(), more.end());
    return parts + Contrib("QAttention", inputs, one);
  };
  const std::vector<int64_t> two = {1, 2, 1};
  // a is (0, 1) and w (0, 0, 2): the values are 1 and 3, behind 7.
  Check({{"Mask", node({"m", "az", "wz"}), {1}, {0}, two, {3, 3}},
         {"Past", node({"-", "az", "wz", "p"}), {1}, {0}, two, {11.0 / 3, 11.0 / 3}},
         {"MaskOfThePast", node({"n", "az", "wz", "p"}), {1}, {0}, two, {5, 5}},
         // Without zero points a is (0.5, 1.5) and w (0.5, 0.5, 2.5): the values are 2.25 and 4.75.
         {"NoZeroPoints", node({"m"}), {1}, {0}, two, {4.75, 4.75}}});
}

// --- MultiHeadAttention ---

// Two heads of one column.
TEST(TransformerFormsTest, KeysAndValuesMayHaveTheirHeadsApart) {
  const std::string kv =
      Floats("k", {1, 2, 2, 1}, {1, 0, 1, 0}) + Floats("v", {1, 2, 2, 1}, {4, 8, 1, 3});
  const std::string two = Int("num_heads", 2), scale = Float("scale", 1);
  const std::vector<int64_t> query = {1, 1, 2};
  Check({{"Means",
          kv + Contrib("MultiHeadAttention", {"x", "k", "v"}, two),
          query,
          {0, 0},
          query,
          {6, 2}},
         // Of the bias only the part of the queries counts.
         {"Bias",
          kv + Floats("b", {6}, {kLn3, 0, 5, 5, 100, 100}) +
              Contrib("MultiHeadAttention", {"x", "k", "v", "b"}, two + scale),
          query,
          {0, 0},
          query,
          {5, 2}},
         {"BiasOfTheScores",
          kv + Floats("s", {1, 2, 1, 2}, {0, kLn3, kLn3, 0}) +
              Contrib("MultiHeadAttention", {"x", "k", "v", "-", "-", "s"}, two),
          query,
          {0, 0},
          query,
          {7, 1.5}},
         {"KeysBelowALength",
          kv + Constant("m", kInt32, {1}, {1}) +
              Contrib("MultiHeadAttention", {"x", "k", "v", "-", "m"}, two),
          query,
          {0, 0},
          query,
          {4, 1}},
         {"Causal",
          Floats("k", {1, 2, 2}, {0, 0, 0, 0}) + Floats("v", {1, 2, 2}, {4, 1, 8, 3}) +
              Contrib("MultiHeadAttention", {"x", "k", "v"}, two + Int("unidirectional", 1)),
          {1, 2, 2},
          {0, 0, 0, 0},
          {1, 2, 2},
          {4, 1, 6, 2}},
         {"KeysAreGiven",
          kv + Floats("p", {1, 2, 1, 1}, {8, 9}) +
              Contrib("MultiHeadAttention", {"x", "k", "v", "-", "-", "-", "p", "p"}, two,
                      {"a", "y"}),
          query,
          {0, 0},
          {1, 2, 3, 1},
          {8, 1, 0, 9, 1, 0}},
         {"ValuesAreGiven",
          kv + Floats("p", {1, 2, 1, 1}, {8, 9}) +
              Contrib("MultiHeadAttention", {"x", "k", "v", "-", "-", "-", "p", "p"}, two,
                      {"a", "b", "y"}),
          query,
          {0, 0},
          {1, 2, 3, 1},
          {8, 4, 8, 9, 1, 3}}});
}

// --- GroupQueryAttention ---

TEST(TransformerFormsTest, GroupsOfQueriesTurnAtTheirPositions) {
  // Row 1 is a quarter turn. The key of the past has the score ln 3 with a query (1, 0) turned by it.
  const std::string tables = Floats("cos", {3, 1}, {1, 0, -1}) + Floats("sin", {3, 1}, {0, 1, 0});
  const std::string past = Floats("pk", {1, 1, 1, 2}, {0, kLn3}) +
                           Floats("pv", {1, 1, 1, 2}, {4, 0}) + Constant("last", kInt32, {1}, {1}) +
                           Constant("all", kInt32, {}, {2});
  const std::string parts = past + Floats("k", {1, 1, 2}, {0, 0}) + Floats("v", {1, 1, 2}, {8, 4});
  const std::string one = Int("num_heads", 1) + Int("kv_num_heads", 1) + Float("scale", 1);
  const std::vector<std::string> inputs = {"x", "k", "v", "pk", "pv", "last", "all", "cos", "sin"};
  std::vector<std::string> placed = inputs;
  placed.push_back("at");
  const std::vector<int64_t> query = {1, 1, 2};
  Check({{"Plain",
          parts + tables + Contrib("GroupQueryAttention", inputs, one),
          query,
          {1, 0},
          query,
          {6, 2}},
         {"Turned",
          parts + tables + Contrib("GroupQueryAttention", inputs, one + Int("do_rotary", 1)),
          query,
          {1, 0},
          query,
          {5, 1}},
         {"TurnedAtAPosition",
          parts + tables + Constant("at", kInt64, {1, 1}, {2}) +
              Contrib("GroupQueryAttention", placed, one + Int("do_rotary", 1)),
          query,
          {0, -1},  // half a turn: (0, 1)
          query,
          {5, 1}}});
  Check({{"KeysAreTurned",
          Floats("k", {1, 1, 2}, {5, 0}) + Floats("v", {1, 1, 2}, {8, 4}) + past + tables +
              Contrib("GroupQueryAttention", inputs, one + Int("do_rotary", 1), {"a", "y"}),
          query,
          {1, 0},
          {1, 1, 2, 2},
          {0, kLn3, 0, 5}},
         {"ValuesAreNot",
          parts + tables +
              Contrib("GroupQueryAttention", inputs, one + Int("do_rotary", 1), {"a", "b", "y"}),
          query,
          {1, 0},
          {1, 1, 2, 2},
          {4, 0, 8, 4}}});
}

TEST(TransformerFormsTest, GroupsOfQueriesHaveWindowsAndBiases) {
  const std::string parts = Floats("k", {1, 3, 1}, {0, 0, 0}) + Floats("v", {1, 3, 1}, {1, 3, 8}) +
                            Constant("last", kInt32, {1}, {2}) + Constant("all", kInt32, {}, {3});
  const std::string one = Int("num_heads", 1) + Int("kv_num_heads", 1);
  std::vector<std::string> inputs = {"x", "k", "v", "-", "-", "last", "all"};
  const std::vector<int64_t> three = {1, 3, 1};
  const std::vector<float> zeros = {0, 0, 0};
  std::vector<std::string> biased = inputs;
  biased.insert(biased.end(), {"-", "-", "-", "s"});
  Check({{"Causal",
          parts + Contrib("GroupQueryAttention", inputs, one),
          three,
          zeros,
          three,
          {1, 2, 4}},
         {"TwoOfThem",
          parts + Contrib("GroupQueryAttention", inputs, one + Int("local_window_size", 2)),
          three,
          zeros,
          three,
          {1, 2, 5.5}},
         {"Bias",
          parts + Floats("s", {1, 1, 3, 3}, {9, 9, 9, 0, kLn3, 9, 0, 0, std::log(6.0)}) +
              Contrib("GroupQueryAttention", biased, one),
          three,
          zeros,
          three,
          {1, 2.5, 6.5}},
         // Three heads of queries for one of keys.
         {"ThreeHeads",
          parts +
              Contrib("GroupQueryAttention", inputs, Int("num_heads", 3) + Int("kv_num_heads", 1)),
          {1, 3, 3},
          std::vector<float>(9, 0),
          {1, 3, 3},
          {1, 1, 1, 2, 2, 2, 4, 4, 4}},
         // Four heads of queries: the first two read the first head of keys and values.
         {"TwoForEach",
          Floats("k", {1, 2, 2}, {0, 0, 0, 0}) + Floats("v", {1, 2, 2}, {1, 10, 3, 30}) +
              Constant("last", kInt32, {1}, {1}) + Constant("all", kInt32, {}, {2}) +
              Contrib("GroupQueryAttention", inputs, Int("num_heads", 4) + Int("kv_num_heads", 2)),
          {1, 2, 4},
          std::vector<float>(8, 0),
          {1, 2, 4},
          {1, 1, 10, 10, 2, 2, 20, 20}}});
}

// --- embeddings ---

TEST(TransformerFormsTest, EmbeddingsAddSegmentsAtPositions) {
  // Words [1, 3] and [5, 9], positions [0, 0], [1, 1] and [7, 1], segments [0, 0] and [2, 0].
  const std::string tables =
      Constant("ids", kInt32, {1, 2}, {1, 0}) + Constant("segments", kInt32, {1, 2}, {0, 1}) +
      Floats("words", {2, 2}, {1, 3, 5, 9}) + Floats("places", {3, 2}, {0, 0, 1, 1, 7, 1}) +
      Floats("kinds", {2, 2}, {0, 0, 2, 0}) + Floats("gamma", {2}, {1, 1}) +
      Floats("beta", {2}, {0, 10}) + Constant("at", kInt32, {1, 2}, {2, 1});
  const auto node = [&](const std::vector<std::string>& more, const std::string& attributes,
                        const std::vector<std::string>& outputs = {"y"}) {
    std::vector<std::string> inputs = {"ids",   "segments", "words", "places",
                                       "kinds", "gamma",    "beta"};
    inputs.insert(inputs.end(), more.begin(), more.end());
    return tables + Contrib("EmbedLayerNormalization", inputs, attributes, outputs);
  };
  const std::vector<int64_t> dims = {1, 2, 2};
  Check(
      {{"Sums", node({}, "", {"a", "-", "y"}), {1}, {0}, dims, {5, 9, 4, 4}},
       {"SumsAtPositions", node({"-", "at"}, "", {"a", "-", "y"}), {1}, {0}, dims, {12, 10, 4, 4}},
       // The halves of the differences are 2 and 0: 2 / sqrt(4 + 12).
       {"Normalized", node({}, Float("epsilon", 12)), {1}, {0}, dims, {-0.5, 10.5, 0, 10}}});
}

TEST(TransformerFormsTest, RotaryEmbeddingsOfRuntime) {
  // Rows of a quarter and of half a turn behind one of none, for pairs of columns.
  const std::string tables = Floats("cos", {3, 1}, {1, 0, -1}) + Floats("sin", {3, 1}, {0, 1, 0});
  const std::string first = Constant("at", kInt64, {1}, {1});
  const std::vector<std::string> inputs = {"x", "at", "cos", "sin"};
  const std::vector<int64_t> flat = {1, 2, 4};
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::string wide =
      Floats("cos", {3, 2}, {1, 1, 0, 1, -1, 1}) + Floats("sin", {3, 2}, {0, 0, 1, 0, 0, 0});
  // Two heads of two columns: the tables say so, or the attribute.
  const std::vector<double> turned = {-2, 1, -4, 3, -5, -6, -7, -8};
  Check({{"HeadsOfTheTables", tables + first + Contrib("RotaryEmbedding", inputs), flat, x, flat,
          turned},
         {"HeadsOfTheAttribute",
          tables + first + Contrib("RotaryEmbedding", inputs, Int("num_heads", 2)), flat, x, flat,
          turned},
         // The first of two pairs turns: columns 0 and 2, or neighbours 0 and 1.
         {"Halves",
          wide + first + Contrib("RotaryEmbedding", inputs),
          flat,
          x,
          flat,
          {-3, 2, 1, 4, -5, 6, -7, 8}},
         {"Neighbours",
          wide + first + Contrib("RotaryEmbedding", inputs, Int("interleaved", 1)),
          flat,
          x,
          flat,
          {-2, 1, 3, 4, -5, -6, 7, 8}},
         {"SomeColumns",
          tables + first +
              Contrib("RotaryEmbedding", inputs,
                      Int("num_heads", 1) + Int("rotary_embedding_dim", 2)),
          flat,
          x,
          flat,
          {-2, 1, 3, 4, -5, -6, 7, 8}},
         // One pair: its halves are its neighbours.
         {"SomeNeighbours",
          tables + first +
              Contrib("RotaryEmbedding", inputs,
                      Int("num_heads", 1) + Int("rotary_embedding_dim", 2) + Int("interleaved", 1)),
          flat,
          x,
          flat,
          {-2, 1, 3, 4, -5, -6, 7, 8}}});
}

}  // namespace
}  // namespace caffe2rt::test::transformer_forms_test
