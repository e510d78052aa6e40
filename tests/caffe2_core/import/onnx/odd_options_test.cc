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

}  // namespace
}  // namespace caffe2rt::test::odd_options_test
