// Attributes and inputs of ONNX nodes that rarely stand together. Values worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"

namespace caffe2rt::test::odd_options_test {
namespace {

using node_forms::Constant;
using node_forms::Float;
using node_forms::Int;
using node_forms::Ints;
using node_forms::kBool;
using node_forms::kFloat;
using node_forms::kUint8;
using node_forms::List;
using node_forms::Node;
using node_forms::Text;
using Numbers = std::vector<int64_t>;

struct OddCase {
  const char* name;
  std::string nodes;  // and constants; they read x and write y
  Numbers dims;       // of x
  std::vector<float> x;
  Numbers want_dims;
  std::vector<double> want;
  int64_t opset = 18;
};
void CheckOddCases(const std::vector<OddCase>& cases) {
  for (const OddCase& row : cases) {
    SCOPED_TRACE(row.name);
    std::vector<std::string> dims;
    for (const int64_t dim : row.dims) dims.push_back(MakeString(dim));
    const std::string bytes =
        OnnxBytes(OnnxValue("input", "x", dims) + row.nodes + "output { name: 'y' } ", row.opset,
                  "opset_import { domain: 'com.microsoft' version: 1 } ");
    ASSERT_EQ(OnnxImportError(bytes), "");
    const Tensor y = RunOnnxBytes(bytes, {{"x", FloatTensor(row.dims, row.x)}}, "y");
    EXPECT_EQ(y.dims(), row.want_dims);
    ASSERT_EQ(y.numel(), static_cast<int64_t>(row.want.size()));
    for (size_t i = 0; i < row.want.size(); ++i) {
      EXPECT_NEAR(FloatsOf(y).at(i), row.want[i], 1e-5 * std::max(1.0, std::fabs(row.want[i])))
          << i;
    }
  }
}
std::string Reals(const std::string& name, const Numbers& dims, const std::vector<double>& values) {
  return Constant(name, kFloat, dims, values);
}
std::string Contrib(std::string node) {
  return node.insert(node.find("op_type"), "domain: 'com.microsoft' ");
}

// x b is (31, 42), and x with b transposed (21, 43).
TEST(OddOptionsTest, FactorsOfGemmComeAloneOrTogether) {
  const std::string parts = Reals("b", {2, 2}, {1, 2, 3, 4}) + Reals("c", {2}, {10, 100});
  const auto gemm = [&](const std::string& more, const char* inputs = "xbc") {
    return parts + Node("Gemm", inputs, more);
  };
  const std::string turned = Int("transB", 1);
  const Numbers row = {1, 2};
  const std::vector<float> x = {1, 10};
  CheckOddCases({{"None", gemm(""), row, x, row, {41, 142}},
                 {"Alpha", gemm(Float("alpha", 2)), row, x, row, {72, 184}},
                 {"Beta", gemm(Float("beta", 3)), row, x, row, {61, 342}},
                 {"Both", gemm(Float("alpha", 2) + Float("beta", 3)), row, x, row, {92, 384}},
                 {"NoBeta", gemm(Float("beta", 0)), row, x, row, {31, 42}},
                 {"Turned", gemm(turned), row, x, row, {31, 143}},
                 {"TurnedBeta", gemm(turned + Float("beta", 3)), row, x, row, {51, 343}},
                 {"TurnedAlpha", gemm(turned + Float("alpha", 2)), row, x, row, {52, 186}},
                 {"NoC", gemm(Float("alpha", 2) + Float("beta", 3), "xb"), row, x, row, {62, 84}},
                 {"NoNameOfC", gemm(Float("beta", 3), "xb-"), row, x, row, {31, 42}}});
}

// [rows, 2, 3, columns] are batches of 2 x 3.
TEST(OddOptionsTest, BatchesInTheMiddleKeepTheirOrder) {
  const std::vector<double> powers = {1, 10, 100, 1000, 10000, 100000};
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::vector<double> want = {1, 20, 300, 4000, 50000, 600000};
  const auto fused = [](const std::string& more) {
    return Contrib(Node("FusedMatMul", "xb", more));
  };
  CheckOddCases(
      {{"OfA",
        Reals("b", {2, 3, 1, 1}, powers) + fused(Int("transBatchA", 1)),
        {1, 2, 3, 1},
        x,
        {2, 3, 1, 1},
        want},
       {"OfB",
        Reals("b", {1, 2, 3, 1}, powers) + fused(Int("transBatchB", 1)),
        {2, 3, 1, 1},
        x,
        {2, 3, 1, 1},
        want},
       {"OfBoth",
        Reals("b", {1, 2, 3, 1}, powers) + fused(Int("transBatchA", 1) + Int("transBatchB", 1)),
        {1, 2, 3, 1},
        x,
        {2, 3, 1, 1},
        want},
       // Two rows of one batch in the middle: x is (1, 2 | 3, 4).
       {"Rows",
        Reals("b", {1, 2, 1}, {1, 10}) + fused(Int("transBatchA", 1)),
        {2, 1, 2},
        {1, 2, 3, 4},
        {1, 2, 1},
        {21, 43}},
       {"RowsTurned",
        Reals("b", {1, 1, 2}, {1, 10}) + fused(Int("transBatchA", 1) + Int("transB", 1)),
        {2, 1, 2},
        {1, 2, 3, 4},
        {1, 2, 1},
        {21, 43}}});
}

// With four axes the heads are apart, and their stated number says nothing.
TEST(OddOptionsTest, HeadsOfRotaryEmbeddingsMayBeStatedTwice) {
  const std::string tables = Reals("c", {1, 1, 2}, {0, 1}) + Reals("s", {1, 1, 2}, {1, 0});
  const Numbers apart = {1, 2, 1, 4}, flat = {1, 1, 8};
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<double> halves = {-3, 2, 1, 4, -7, 6, 5, 8}, pairs = {-2, 1, 3, 4, -6, 5, 7, 8};
  const std::string two = Int("num_heads", 2), next = Int("interleaved", 1);
  CheckOddCases({{"Apart", tables + Node("RotaryEmbedding", "xcs"), apart, x, apart, halves, 23},
                 {"ApartAndStated", tables + Node("RotaryEmbedding", "xcs", two), apart, x, apart,
                  halves, 23},
                 {"Flat", tables + Node("RotaryEmbedding", "xcs", two), flat, x, flat, halves, 23},
                 {"ApartPairs", tables + Node("RotaryEmbedding", "xcs", two + next), apart, x,
                  apart, pairs, 23},
                 {"FlatPairs", tables + Node("RotaryEmbedding", "xcs", two + next), flat, x, flat,
                  pairs, 23}});
}

TEST(OddOptionsTest, ConvolutionsThatSeeThePastMayBeActivated) {
  const std::string w = Reals("w", {1, 1, 2}, {1, 1});
  const auto node = [&](const std::string& activation) {
    return w + Node("CausalConvWithState", "xw",
                    activation.empty() ? "" : Text("activation", activation), "yz");
  };
  const double one = 1 / (1 + std::exp(-1.0)), minus = -1 / (1 + std::exp(1.0));
  const Numbers dims = {1, 1, 2};
  CheckOddCases({{"Default", node(""), dims, {1, -2}, dims, {1, -1}, 28},
                 {"None", node("none"), dims, {1, -2}, dims, {1, -1}, 28},
                 {"Silu", node("silu"), dims, {1, -2}, dims, {one, minus}, 28},
                 {"Swish", node("swish"), dims, {1, -2}, dims, {one, minus}, 28}});
}

// Four queries of 0 for two keys: the mean of the values 1 and 3 that a query sees, or 0 if there is none.
TEST(OddOptionsTest, QueriesThatAreFarBehindTheKeysSeeNone) {
  const std::string keys = Reals("k", {1, 1, 2, 1}, {1, 1}) + Reals("v", {1, 1, 2, 1}, {1, 3});
  const std::string causal = Int("is_causal", 1);
  const Numbers dims = {1, 1, 4, 1};
  const std::vector<float> x = {0, 0, 0, 0};
  const auto node = [&](const std::string& more) { return keys + Node("Attention", "xkv", more); };
  CheckOddCases(
      {{"All", node(""), dims, x, dims, {2, 2, 2, 2}, 28},
       {"Causal", node(causal), dims, x, dims, {1, 2, 2, 2}, 28},
       {"OwnKey", node(causal + Int("left_window_size", 0)), dims, x, dims, {1, 3, 0, 0}, 28},
       {"Two", node(causal + Int("left_window_size", 1)), dims, x, dims, {1, 2, 3, 0}, 28},
       {"Three", node(causal + Int("left_window_size", 2)), dims, x, dims, {1, 2, 2, 3}, 28},
       {"Left", node(Int("left_window_size", 0)), dims, x, dims, {2, 3, 0, 0}, 28},
       {"Right",
        node(Int("left_window_size", 1) + Int("right_window_size", 0)),
        dims,
        x,
        dims,
        {1, 2, 3, 0},
        28},
       {"Behind",
        keys + Reals("p", {1, 1, 3, 1}, {1, 1, 1}) + Reals("q", {1, 1, 3, 1}, {10, 20, 30}) +
            Node("Attention", "xkv-pq", causal + Int("left_window_size", 1)),
        dims,
        x,
        dims,
        {15.5, 2, 3, 0},
        28}});
}

// Rows of (9, 7 | 10, 1 | 4) and (8, 8 | 6, 8 | 12) in blocks of two, less their zero points.
TEST(OddOptionsTest, QuantizedMatricesMayHaveZeroPointsAndABias) {
  const std::string matrix =
      Constant("b", kUint8, {2, 3, 1}, {0x79, 0x1a, 0xf4, 0x88, 0x86, 0xfc}) +
      Reals("s", {6}, {0.5, 1, 2, 3, 0.25, 1}) + Reals("c", {2}, {100, 200}) +
      Constant("z", kUint8, {4}, {0xa9, 0xf4, 0x68, 0xfc}) +
      Reals("f", {2, 3}, {8.5, 10, 3, 8, 7, 12});
  const auto node = [&](const char* inputs) {
    return matrix +
           Contrib(Node("MatMulNBits", inputs, Int("K", 5) + Int("N", 2) + Int("block_size", 2)));
  };
  const Numbers row = {1, 5}, two = {1, 2};
  const std::vector<float> x = {1, 2, 3, 4, 5};
  CheckOddCases({{"None", node("xbs"), row, x, two, {-62.5, 18.5}},
                 {"Bias", node("xbs--c"), row, x, two, {37.5, 218.5}},
                 {"Packed", node("xbsz"), row, x, two, {-38, 2}},
                 {"PackedAndBias", node("xbsz-c"), row, x, two, {62, 202}},
                 {"Floats", node("xbsf"), row, x, two, {-27.25, 0.25}},
                 {"FloatsAndBias", node("xbsf-c"), row, x, two, {72.75, 200.25}}});
}

// Inputs at the end may be absent by empty names.
TEST(OddOptionsTest, EmptyNamesAtTheEndAreNoInputs) {
  const std::string w = Reals("w", {1, 1, 1}, {2}) + Reals("g", {1}, {2}) + List("b", {1}) +
                        List("e", {2}) + List("p", {0, 0, 1, 0, 0, 0});
  const Numbers dims = {1, 1, 2};
  const std::vector<float> x = {3, 5};
  CheckOddCases({{"Conv", w + Node("Conv", "xw-"), dims, x, dims, {6, 10}},
                 {"ConvTranspose", w + Node("ConvTranspose", "xw-"), dims, x, dims, {6, 10}},
                 {"Clip", w + Node("Clip", "x--"), dims, x, dims, {3, 5}},
                 {"Dropout", w + Node("Dropout", "x--"), dims, x, dims, {3, 5}},
                 {"Pad", w + Node("Pad", "xp--"), dims, x, {1, 1, 3}, {0, 3, 5}},
                 {"Squeeze", w + Node("Squeeze", "x-"), dims, x, {2}, {3, 5}},
                 {"ReduceSum", w + Node("ReduceSum", "x-"), dims, x, {1, 1, 1}, {8}},
                 {"Split", w + Node("Split", "x-", Int("num_outputs", 1)), dims, x, dims, {3, 5}},
                 {"LayerNormalization",
                  Reals("g", {2}, {1, 1}) + Node("LayerNormalization", "xg-", Float("epsilon", 3)),
                  dims,
                  x,
                  dims,
                  {-0.5, 0.5}}});
}

TEST(OddOptionsTest, QuantizedProductsHaveABiasWithoutZeroPoints) {
  const std::string parts = Constant("b", kUint8, {2, 1}, {3, 2}) + Reals("s", {}, {0.5}) +
                            Constant("z", kUint8, {}, {1}) + Reals("c", {1}, {7});
  const auto node = [&](const char* inputs) {
    return parts + Contrib(Node("DynamicQuantizeMatMul", inputs));
  };
  const Numbers row = {1, 2}, one = {1, 1};
  CheckOddCases({{"None", node("xbs"), row, {0, 255}, one, {255}},
                 {"Bias", node("xbs-c"), row, {0, 255}, one, {262}},
                 {"ZeroPoint", node("xbsz"), row, {0, 255}, one, {127.5}},
                 {"Both", node("xbszc"), row, {0, 255}, one, {134.5}}});
}

// Axis 1 and blocks of 128 rows, which here are one block.
TEST(OddOptionsTest, BlocksOfTablesHaveDefaults) {
  std::vector<double> bytes, want;
  for (int i = 0; i < 40; ++i) {
    bytes.push_back(128 + i);
    want.push_back(2 * i);
  }
  const std::string table =
      Constant("t", kUint8, {1, 40, 1}, bytes) + Reals("s", {1, 1, 1}, {2}) + List("i", {0});
  const auto node = [&](const std::string& more) {
    return table + Contrib(Node("GatherBlockQuantized", "tis", Int("bits", 8) + more, "g")) +
           Node("Add", "gx");
  };
  CheckOddCases({{"Default", node(""), {1}, {0}, {1, 40, 1}, want},
                 {"Axis", node(Int("quantize_axis", -2)), {1}, {0}, {1, 40, 1}, want},
                 {"Block", node(Int("block_size", 64)), {1}, {0}, {1, 40, 1}, want}});
}

// One scale for each index of axis 1, also where it is not the last.
TEST(OddOptionsTest, NarrowFloatsAreQuantizedAlongAxis1) {
  const std::string parts = Reals("s", {2}, {1, 4}) + Constant("z", 17, {2}, {0, 0});
  const std::string number = Int("to", kFloat), narrow = Int("to", 17);
  const Numbers dims = {1, 2, 2};
  const std::vector<float> x = {1, 2, 4, 8};
  CheckOddCases(
      {{"Default",
        parts + Node("QuantizeLinear", "xsz", "", "q") + Node("Cast", "q", number),
        dims,
        x,
        dims,
        {1, 2, 1, 2},
        21},
       {"Last",
        parts + Node("QuantizeLinear", "xsz", Int("axis", 2), "q") + Node("Cast", "q", number),
        dims,
        x,
        dims,
        {1, 0.5, 4, 2},
        21},
       {"Back",
        parts + Node("Cast", "x", narrow, "q") + Node("DequantizeLinear", "qs"),
        dims,
        x,
        dims,
        {1, 2, 16, 32},
        21},
       {"BackLast",
        parts + Node("Cast", "x", narrow, "q") + Node("DequantizeLinear", "qs", Int("axis", -1)),
        dims,
        x,
        dims,
        {1, 8, 4, 32},
        21}});
}

TEST(OddOptionsTest, SequencesOfOneTensor) {
  const auto joined = [](const std::string& more) {
    return Node("SequenceConstruct", "x", "", "s") + Node("ConcatFromSequence", "s", more);
  };
  const auto split = [](const std::string& more) {
    return List("z", {0}, true) + Node("SplitToSequence", "x", more, "s") +
           Node("SequenceAt", "sz");
  };
  const std::vector<float> x = {1, 2, 3};
  const std::string stacked = Int("new_axis", 1), none = Int("keepdims", 0);
  CheckOddCases({{"Joined", joined(Int("axis", 0)), {3}, x, {3}, {1, 2, 3}},
                 {"Stacked", joined(Int("axis", 0) + stacked), {3}, x, {1, 3}, {1, 2, 3}},
                 {"StackedLast", joined(Int("axis", -1) + stacked), {3}, x, {3, 1}, {1, 2, 3}},
                 {"Kept", split(Int("axis", 0)), {1, 3}, x, {1, 3}, {1, 2, 3}},
                 {"Removed", split(Int("axis", 0) + none), {1, 3}, x, {3}, {1, 2, 3}},
                 {"RemovedLast", split(Int("axis", -1) + none), {3, 1}, x, {3}, {1, 2, 3}},
                 {"RemovedOfMany", split(Int("axis", 1) + none), {1, 3}, x, {1}, {1}}});
}

TEST(OddOptionsTest, AnAxisOf0IsNotNoAxis) {
  const std::string c = Constant("c", kBool, {2}, {0, 1});
  const std::vector<float> x = {3, 4, 1, 2};
  const Numbers dims = {2, 2};
  CheckOddCases(
      {{"Compress", c + Node("Compress", "xc"), dims, x, {1}, {4}},
       {"Compress0", c + Node("Compress", "xc", Int("axis", 0)), dims, x, {1, 2}, {1, 2}},
       {"Compress1", c + Node("Compress", "xc", Int("axis", 1)), dims, x, {2, 1}, {4, 2}},
       {"Unique", Node("Unique"), dims, {2, 1, 2, 1}, {2}, {1, 2}},
       {"Unique0", Node("Unique", "x", Int("axis", 0)), dims, {2, 1, 2, 1}, {1, 2}, {2, 1}},
       {"Unique1", Node("Unique", "x", Int("axis", 1)), dims, {2, 1, 2, 1}, dims, {1, 2, 1, 2}},
       // The counts are integers.
       {"Counts",
        Node("Unique", "x", "", "uijk") + Node("ReduceSum", "k", "", "n") +
            Node("Relu", "n", "", "r") + Node("Cast", "r", Int("to", kFloat)),
        dims,
        {2, 1, 2, 1},
        {1},
        {4}}});
}

// A window of one column is not larger than its padding, though that of the rows is.
TEST(OddOptionsTest, WindowsMayBeSmallerThanTheirPadding) {
  const std::string pads = Ints("pads", {1, 1, 1, 1}), ceil = Ints("kernel_shape", {3, 1});
  const std::string all = Int("count_include_pad", 1), flat = Ints("kernel_shape", {1, 3});
  CheckOddCases({{"Rows",
                  Node("AveragePool", "x", pads + ceil + all),
                  {1, 1, 1, 2},
                  {3, 6},
                  {1, 1, 1, 4},
                  {0, 1, 2, 0}},
                 {"Columns",
                  Node("AveragePool", "x", pads + flat + all),
                  {1, 1, 2, 1},
                  {3, 6},
                  {1, 1, 4, 1},
                  {0, 1, 2, 0}}});
}

TEST(OddOptionsTest, RunningStatisticsOfOpset14) {
  const std::string parts =
      Reals("s", {1}, {1}) + Reals("b", {1}, {5}) + Reals("m", {1}, {10}) + Reals("v", {1}, {4});
  const std::string trains = Int("training_mode", 1) + Float("momentum", 0.25);
  for (const int64_t opset : {14, 15, 18}) {
    const auto node = [&](const std::string& more, const char* outputs) {
      return parts + Node("BatchNormalization", "xsbmv", more, outputs);
    };
    CheckOddCases({{"Plain", node("", "y"), {2, 1}, {14, 6}, {2, 1}, {7, 3}, opset},
                   {"Y", node(trains, "yzw"), {2, 1}, {14, 6}, {2, 1}, {6, 4}, opset},
                   {"Mean", node(trains, "zyw"), {2, 1}, {14, 6}, {1}, {10}, opset},
                   {"Variance", node(trains, "zwy"), {2, 1}, {14, 6}, {1}, {13}, opset}});
  }
}

TEST(OddOptionsTest, CastLikeRoundsToTheTypeOfItsSecondInput) {
  for (const int type : {10, 16}) {
    CheckOddCases({{"Half",
                    Constant("t", type, {1}, {0}) + Node("CastLike", "xt", "", "h") +
                        Node("Cast", "h", Int("to", kFloat)),
                    {3},
                    {1.0f + 0x1p-13f, 1.0f + 0x1.8p-12f, -2},
                    {3},
                    {1, 1, -2}}});
  }
}

// --- attention ---

TEST(OddOptionsTest, ScoresOfAttentionAreScaled) {
  const std::string apart = Reals("k", {1, 1, 2, 1}, {0, 1}) + Reals("v", {1, 1, 2, 1}, {0, 8});
  const std::string flat = Reals("k", {1, 2, 1}, {0, 1}) + Reals("v", {1, 2, 1}, {0, 8});
  const std::string heads = Int("q_num_heads", 1) + Int("kv_num_heads", 1);
  const std::string scale = Float("scale", std::log(3.0f));
  const double whole = 8 / (1 + std::exp(-1.0));
  CheckOddCases(
      {{"Apart", apart + Node("Attention", "xkv"), {1, 1, 1, 1}, {1}, {1, 1, 1, 1}, {whole}, 23},
       {"ApartScaled",
        apart + Node("Attention", "xkv", scale),
        {1, 1, 1, 1},
        {1},
        {1, 1, 1, 1},
        {6},
        23},
       {"Flat", flat + Node("Attention", "xkv", heads), {1, 1, 1}, {1}, {1, 1, 1}, {whole}, 23},
       {"FlatScaled",
        flat + Node("Attention", "xkv", heads + scale),
        {1, 1, 1},
        {1},
        {1, 1, 1},
        {6},
        23}});
}

// Two heads of queries of 0 for one of keys of one column and values of two.
TEST(OddOptionsTest, GroupsOfQueriesShareValuesOfAnotherSize) {
  const std::string parts = Reals("k", {1, 2, 1}, {1, 1}) + Reals("v", {1, 2, 2}, {1, 10, 3, 30});
  CheckOddCases({{"Two",
                  parts + Contrib(Node("GroupQueryAttention", "xkv",
                                       Int("num_heads", 2) + Int("kv_num_heads", 1))),
                  {1, 2, 2},
                  {0, 0, 0, 0},
                  {1, 2, 4},
                  {1, 10, 1, 10, 2, 20, 2, 20}}});
}

// Queries and keys are 0, and values are x.
TEST(OddOptionsTest, NoQuerySeesLaterKeysNorMaskedOnes) {
  const auto node = [](const std::vector<double>& mask, int64_t unidirectional) {
    return Reals("w", {1, 3}, {0, 0, 1}) + Reals("b", {3}, {0, 0, 0}) +
           Constant("m", 6, {1, 3}, mask) +
           Contrib(Node("Attention", "xwbm",
                        Int("num_heads", 1) + Int("unidirectional", unidirectional)));
  };
  const Numbers dims = {1, 3, 1};
  const std::vector<float> x = {1, 3, 8};
  CheckOddCases({{"All", node({1, 1, 1}, 0), dims, x, dims, {4, 4, 4}},
                 {"Masked", node({1, 1, 0}, 0), dims, x, dims, {2, 2, 2}},
                 {"Causal", node({1, 1, 1}, 1), dims, x, dims, {1, 2, 4}},
                 {"Both", node({1, 0, 1}, 1), dims, x, dims, {1, 1, 4.5}}});
}

// A state of float32 is not rounded where the other inputs are of 16 bits.
TEST(OddOptionsTest, StatesOfLinearAttentionKeepTheirType) {
  for (const int half : {10, 16}) {
    const std::string zeros = Constant("k", half, {1, 1, 1}, {0}) +
                              Constant("q", half, {1, 1, 1}, {half == 10 ? 15360.0 : 16256.0}) +
                              Reals("s", {1, 1, 1, 1}, {2049});
    CheckOddCases(
        {{"State",
          zeros + Node("Cast", "x", Int("to", half), "v") +
              Node("LinearAttention", "qkvs",
                   Int("q_num_heads", 1) + Int("kv_num_heads", 1) + Text("update_rule", "linear"),
                   "zt") +
              Reals("e", {}, {2048}) + Node("Sub", "te"),
          {1, 1, 1},
          {5},
          {1, 1, 1, 1},
          {1},
          27}});
  }
}

// Files of the first versions do not state the types of attributes.
TEST(OddOptionsTest, AttributesWithoutTypes) {
  const auto ints = [](const char* name, const Numbers& values) {
    std::string text = MakeString("attribute { name: '", name, "' ");
    for (const int64_t value : values) text += MakeString("ints: ", value, " ");
    return text + "} ";
  };
  const std::string same = "attribute { name: 'auto_pad' s: 'SAME_UPPER' } ";
  const std::vector<float> x = {1, 5, 2, 4, 3};
  CheckOddCases({{"Max",
                  Node("MaxPool", "x", ints("kernel_shape", {2}) + same),
                  {1, 1, 5},
                  x,
                  {1, 1, 5},
                  {5, 5, 4, 4, 3},
                  6},
                 {"Average",
                  Node("AveragePool", "x", ints("kernel_shape", {2}) + ints("strides", {2}) + same),
                  {1, 1, 5},
                  x,
                  {1, 1, 3},
                  {3, 3, 3},
                  6},
                 {"Norm",
                  Node("LpPool", "x", ints("kernel_shape", {2}) + "attribute { name: 'p' i: 1 } "),
                  {1, 1, 5},
                  x,
                  {1, 1, 4},
                  {6, 7, 6, 7},
                  6},
                 {"Hardmax",
                  Node("Hardmax", "x", "attribute { name: 'axis' i: 2 } "),
                  {1, 1, 5},
                  x,
                  {1, 1, 5},
                  {0, 1, 0, 0, 0},
                  6}});
}

}  // namespace
}  // namespace caffe2rt::test::odd_options_test
