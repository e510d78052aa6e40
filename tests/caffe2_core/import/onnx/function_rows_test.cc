// Operators that ONNX defines by other operators: attention, losses, normalizations, grids, loops
// over an axis. The wanted values come from formulas in this file, or are worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::function_rows_test {
namespace {

constexpr int kFloat = 1, kInt64 = 7, kBool = 9;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string Int(const std::string& name, int64_t value) {
  return MakeString("attribute { name: '", name, "' type: INT i: ", value, " } ");
}
std::string Ints(const std::string& name, const std::vector<int64_t>& values) {
  std::string text = "attribute { name: '" + name + "' type: INTS ";
  for (const int64_t value : values) text += MakeString("ints: ", value, " ");
  return text + "} ";
}
std::string Float(const std::string& name, double value) {
  return MakeString("attribute { name: '", name, "' type: FLOAT f: ", value, " } ");
}
std::string Text(const std::string& name, const std::string& value) {
  return "attribute { name: '" + name + "' type: STRING s: '" + value + "' } ";
}
std::string Constant(const std::string& name, int type, const std::vector<int64_t>& dims,
                     const std::vector<double>& values) {
  std::string text = MakeString("initializer { name: '", name, "' data_type: ", type, " ");
  for (const int64_t dim : dims) text += MakeString("dims: ", dim, " ");
  const char* const field = type == kFloat   ? "float_data: "
                            : type == kInt64 ? "int64_data: "
                                             : "int32_data: ";
  for (const double value : values) text += MakeString(field, value, " ");
  return text + "} ";
}
// "-" is an absent input or output.
std::string Node(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& attributes = "",
                 const std::vector<std::string>& outputs = {"y"}) {
  std::string text = "node { op_type: '" + type + "' name: 'n' ";
  for (const std::string& input : inputs) text += "input: '" + (input == "-" ? "" : input) + "' ";
  for (const std::string& out : outputs) text += "output: '" + (out == "-" ? "" : out) + "' ";
  return text + attributes + "} ";
}
std::string InputOf(const std::string& name, const Tensor& value) {
  std::vector<std::string> dims;
  for (const int64_t dim : value.dims()) dims.push_back(MakeString(dim));
  return OnnxValue("input", name, dims, value.IsType<int64_t>() ? kInt64 : kFloat);
}

Tensor RunNode(const std::string& nodes, const NamedTensors& inputs, int64_t opset,
               const std::string& output = "y") {
  std::string graph = nodes;
  for (const auto& [name, value] : inputs) graph += InputOf(name, value);
  return RunOnnxBytes(OnnxBytes(graph + "output { name: '" + output + "' }", opset), inputs,
                      output);
}
void ExpectNear(const Tensor& got, const std::vector<int64_t>& dims,
                const std::vector<double>& want) {
  EXPECT_EQ(got.dims(), dims);
  const std::vector<float> values = FloatsOf(got);
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], 2e-5) << "element " << i;
}

std::vector<float> Spread(int count, double step) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(std::sin(step * (i + 1))));
  return values;
}

// --- attention ---

// Two heads of queries for one of keys and values; 2 queries, 3 keys, 2 columns.
constexpr int kHeads = 2, kQueries = 2, kKeys = 3, kSize = 2;

struct AttentionForm {
  std::string attributes = {};
  double scale = 1 / std::sqrt(2.0), softcap = 0;
  int low = -100, high = 100;     // of query - key
  std::vector<double> bias = {};  // [queries, keys]
  int known_keys = kKeys;
  int mode = 3;  // of output 3: scores, after softcap, with bias, probabilities
};

struct AttentionResult {
  std::vector<double> y, scores;
};

AttentionResult Attend(const AttentionForm& form, const std::vector<float>& q,
                       const std::vector<float>& k, const std::vector<float>& v) {
  AttentionResult result;
  for (int h = 0; h < kHeads; ++h) {
    for (int i = 0; i < kQueries; ++i) {
      double scores[kKeys], raw[kKeys], capped[kKeys], weights[kKeys], sum = 0;
      bool any = false;
      for (int j = 0; j < kKeys; ++j) {
        double score = 0;
        for (int d = 0; d < kSize; ++d)
          score += q[static_cast<size_t>((h * kQueries + i) * kSize + d)] *
                   k[static_cast<size_t>(j * kSize + d)];
        score *= form.scale;
        raw[j] = score;
        if (form.softcap > 0) score = form.softcap * std::tanh(score / form.softcap);
        capped[j] = score;
        if (!form.bias.empty()) score += form.bias[static_cast<size_t>(i * kKeys + j)];
        if (i - j < form.low || i - j > form.high || j >= form.known_keys) score = -kInfinity;
        scores[j] = score;
        any |= score > -kInfinity;
        sum += std::exp(score);
      }
      for (int j = 0; j < kKeys; ++j) weights[j] = any ? std::exp(scores[j]) / sum : 0;
      for (int d = 0; d < kSize; ++d) {
        double y = 0;
        for (int j = 0; j < kKeys; ++j) y += weights[j] * v[static_cast<size_t>(j * kSize + d)];
        result.y.push_back(y);
      }
      for (int j = 0; j < kKeys; ++j)
        result.scores.push_back(form.mode == 0   ? raw[j]
                                : form.mode == 1 ? capped[j]
                                : form.mode == 2 ? scores[j]
                                                 : weights[j]);
    }
  }
  return result;
}

class AttentionTest : public testing::Test {
 protected:
  void ExpectFormula(const AttentionForm& form, const std::vector<std::string>& more = {},
                     const std::string& constants = "", int64_t opset = 24) {
    SCOPED_TRACE(form.attributes);
    std::vector<std::string> inputs = {"q", "k", "v"};
    inputs.insert(inputs.end(), more.begin(), more.end());
    const NamedTensors given = {{"q", FloatTensor({1, kHeads, kQueries, kSize}, q_)},
                                {"k", FloatTensor({1, 1, kKeys, kSize}, k_)},
                                {"v", FloatTensor({1, 1, kKeys, kSize}, v_)}};
    const std::string node =
        constants + Node("Attention", inputs,
                         form.attributes + Int("qk_matmul_output_mode", form.mode),
                         {"y", "-", "-", "s"});
    const AttentionResult want = Attend(form, q_, k_, v_);
    ExpectNear(RunNode(node, given, opset), {1, kHeads, kQueries, kSize}, want.y);
    const Tensor scores = RunNode(node, given, opset, "s");
    EXPECT_EQ(scores.dims(), (std::vector<int64_t>{1, kHeads, kQueries, kKeys}));
    const std::vector<float> got = FloatsOf(scores);
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::isinf(want.scores[i])) {
        EXPECT_EQ(got[i], want.scores[i]);
      } else {
        EXPECT_NEAR(got[i], want.scores[i], 2e-5);
      }
    }
  }

  const std::vector<float> q_ = Spread(8, 0.7), k_ = Spread(6, 1.3), v_ = Spread(6, 2.1);
};

TEST_F(AttentionTest, ComputesTheDefinition) {
  ExpectFormula({});
  ExpectFormula({.attributes = Float("scale", 2), .scale = 2});
  ExpectFormula({.attributes = Float("softcap", 0.5), .softcap = 0.5});
  ExpectFormula({.attributes = Int("is_causal", 1), .low = 0});
  for (const int mode : {0, 1, 2})
    ExpectFormula({.attributes = Float("softcap", 0.5) + Int("is_causal", 1),
                   .softcap = 0.5,
                   .low = 0,
                   .mode = mode});
}

TEST_F(AttentionTest, SeesWindowsOfKeys) {
  // A window on the left is of query - key, one on the right of key - query.
  ExpectFormula({.attributes = Int("left_window_size", 0), .high = 0}, {}, "", 28);
  ExpectFormula({.attributes = Int("right_window_size", 1), .low = -1}, {}, "", 28);
  ExpectFormula(
      {.attributes = Int("left_window_size", 0) + Int("right_window_size", 0), .low = 0, .high = 0},
      {}, "", 28);
  ExpectFormula({.attributes = Int("right_window_size", 1) + Int("is_causal", 1), .low = 0}, {}, "",
                28);
}

TEST_F(AttentionTest, AddsItsMask) {
  ExpectFormula({.bias = {0.5, -1, 0, 2, 0, 1}}, {"m"},
                Constant("m", kFloat, {kQueries, kKeys}, {0.5, -1, 0, 2, 0, 1}));
  ExpectFormula({.bias = {0, -kInfinity, 0, 0, 0, -kInfinity}}, {"m"},
                Constant("m", kBool, {kQueries, kKeys}, {1, 0, 1, 1, 1, 0}));
  // A query that sees nothing gives zeros.
  ExpectFormula({.bias = {-kInfinity, -kInfinity, -kInfinity, 0, 0, 0}}, {"m"},
                Constant("m", kBool, {kQueries, kKeys}, {0, 0, 0, 1, 1, 1}));
  // A mask of fewer keys hides the others; with the causal one, both count.
  ExpectFormula({.bias = {0.5, -1, -kInfinity, 2, 0, -kInfinity}}, {"m"},
                Constant("m", kFloat, {kQueries, 2}, {0.5, -1, 2, 0}));
  ExpectFormula({.attributes = Int("is_causal", 1), .low = 0, .bias = {0.5, -1, 0, 2, 0, 1}}, {"m"},
                Constant("m", kFloat, {kQueries, kKeys}, {0.5, -1, 0, 2, 0, 1}));
}

TEST_F(AttentionTest, CountsTheKeysOfEachBatch) {
  ExpectFormula({.known_keys = 2}, {"-", "-", "-", "c"}, Constant("c", kInt64, {1}, {2}));
  // The last query is at the last key that counts.
  for (const int keys : {2, 3}) {
    ExpectFormula({.attributes = Int("is_causal", 1), .low = kQueries - keys, .known_keys = keys},
                  {"-", "-", "-", "c"}, Constant("c", kInt64, {1}, {static_cast<double>(keys)}));
  }
}

// Columns of heads side by side, and the same keys and values for both heads.
TEST_F(AttentionTest, DividesTheColumnsOfThreeAxes) {
  std::vector<float> flat;  // [1, queries, heads * size]
  for (int i = 0; i < kQueries; ++i) {
    for (int h = 0; h < kHeads; ++h) {
      for (int d = 0; d < kSize; ++d)
        flat.push_back(q_[static_cast<size_t>((h * kQueries + i) * kSize + d)]);
    }
  }
  const AttentionResult want = Attend({}, q_, k_, v_);
  std::vector<double> y(8);
  for (int h = 0; h < kHeads; ++h) {
    for (int i = 0; i < kQueries; ++i) {
      for (int d = 0; d < kSize; ++d)
        y[static_cast<size_t>((i * kHeads + h) * kSize + d)] =
            want.y[static_cast<size_t>((h * kQueries + i) * kSize + d)];
    }
  }
  ExpectNear(
      RunNode(Node("Attention", {"q", "k", "v"}, Int("q_num_heads", 2) + Int("kv_num_heads", 1)),
              {{"q", FloatTensor({1, 2, 4}, flat)},
               {"k", FloatTensor({1, 3, 2}, k_)},
               {"v", FloatTensor({1, 3, 2}, v_)}},
              23),
      {1, 2, 4}, y);
}

// One head of one column, so that a state is a number.
TEST(FunctionRowsTest, LinearAttentionUpdatesItsState) {
  const std::vector<float> q = {2, 3}, k = {0.5f, -1}, v = {4, 5}, decay = {-0.5f, 0.25f},
                           beta = {0.5f, 2};
  for (const std::string rule : {"linear", "gated", "delta", "gated_delta"}) {
    for (const double scale : {0.0, 0.25}) {
      SCOPED_TRACE(rule);
      double state = 0.75;
      std::vector<double> want;
      for (size_t t = 0; t < 2; ++t) {
        if (rule.starts_with("gated")) state *= std::exp(decay[t]);
        double value = v[t];
        if (rule.ends_with("delta")) value = beta[t] * (value - k[t] * state);
        state += k[t] * value;
        want.push_back(q[t] * state * (scale == 0 ? 1 : scale));
      }
      const auto column = [](const std::vector<float>& values) {
        return FloatTensor({1, 2, 1}, values);
      };
      const std::string node =
          Node("LinearAttention", {"q", "k", "v", "s", "d", "b"},
               Int("q_num_heads", 1) + Int("kv_num_heads", 1) + Text("update_rule", rule) +
                   (scale == 0 ? "" : Float("scale", scale)),
               {"y", "z"});
      const NamedTensors inputs = {{"q", column(q)},     {"k", column(k)},
                                   {"v", column(v)},     {"s", FloatTensor({1, 1, 1, 1}, {0.75f})},
                                   {"d", column(decay)}, {"b", column(beta)}};
      ExpectNear(RunNode(node, inputs, 28), {1, 2, 1}, want);
      ExpectNear(RunNode(node, inputs, 28, "z"), {1, 1, 1, 1}, {state});
    }
  }
}

TEST(FunctionRowsTest, CausalConvolutionsSeeWhatCameBefore) {
  const NamedTensors inputs = {{"x", FloatTensor({1, 2, 3}, {1, 2, 3, 4, 5, 6})},
                               {"w", FloatTensor({2, 1, 2}, {1, 10, 2, 20})}};
  const std::string bias = Constant("b", kFloat, {2}, {100, 200});
  // y[t] = w[0] x[t - 1] + w[1] x[t], of each channel; the state is the last x.
  ExpectNear(RunNode(Node("CausalConvWithState", {"x", "w"}, "", {"y", "z"}), inputs, 28),
             {1, 2, 3}, {10, 21, 32, 80, 108, 130});
  ExpectNear(RunNode(Node("CausalConvWithState", {"x", "w"}, "", {"y", "z"}), inputs, 28, "z"),
             {1, 2, 1}, {3, 6});
  const std::string state = Constant("p", kFloat, {1, 2, 1}, {7, 8});
  ExpectNear(RunNode(bias + state + Node("CausalConvWithState", {"x", "w", "b", "p"}), inputs, 28),
             {1, 2, 3}, {117, 121, 132, 296, 308, 330});
  const auto silu = [](double x) { return x / (1 + std::exp(-x)); };
  ExpectNear(
      RunNode(Node("CausalConvWithState", {"x", "w"}, Text("activation", "silu")),
              {{"x", FloatTensor({1, 1, 2}, {1, -2})}, {"w", FloatTensor({1, 1, 2}, {1, 0.5f})}},
              28),
      {1, 1, 2}, {silu(0.5), silu(0)});
}

// --- embeddings and gates ---

TEST(FunctionRowsTest, RotaryEmbeddingsTurnPairs) {
  // [batch, heads, length, size]; a quarter turn of the first pair, and none of the second.
  const std::string tables =
      Constant("c", kFloat, {1, 1, 2}, {0, 1}) + Constant("s", kFloat, {1, 1, 2}, {1, 0});
  const NamedTensors x = {{"x", FloatTensor({1, 1, 1, 4}, {1, 2, 3, 4})}};
  const std::string node = "RotaryEmbedding";
  // Halves: (1, 3) becomes (-3, 1), (2, 4) stays.
  ExpectNear(RunNode(tables + Node(node, {"x", "c", "s"}), x, 23), {1, 1, 1, 4}, {-3, 2, 1, 4});
  // Neighbours: (1, 2) becomes (-2, 1).
  ExpectNear(RunNode(tables + Node(node, {"x", "c", "s"}, Int("interleaved", 1)), x, 23),
             {1, 1, 1, 4}, {-2, 1, 3, 4});
  // Only the first two columns turn.
  const std::string one =
      Constant("c", kFloat, {1, 1, 1}, {0}) + Constant("s", kFloat, {1, 1, 1}, {1});
  ExpectNear(RunNode(one + Node(node, {"x", "c", "s"}, Int("rotary_embedding_dim", 2)), x, 23),
             {1, 1, 1, 4}, {-2, 1, 3, 4});
  // Rows of the tables are chosen by positions; heads are side by side in three axes.
  const std::string rows = Constant("c", kFloat, {2, 1}, {1, 0}) +
                           Constant("s", kFloat, {2, 1}, {0, 1}) +
                           Constant("i", kInt64, {1, 2}, {1, 0});
  ExpectNear(RunNode(rows + Node(node, {"x", "c", "s", "i"}, Int("num_heads", 2)),
                     {{"x", FloatTensor({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})}}, 23),
             {1, 2, 4}, {-2, 1, -4, 3, 5, 6, 7, 8});
  EXPECT_NE(OnnxImportError(OnnxBytes(rows + OnnxValue("input", "x", {"1", "2", "4"}) +
                                          Node(node, {"x", "c", "s", "i"}) + "output { name: 'y' }",
                                      23))
                .find("num_heads is 0, want at least 1 for an input of 3 axes"),
            std::string::npos);
}

TEST(FunctionRowsTest, NormalizationsAndGates) {
  const NamedTensors x = {{"x", FloatTensor({1, 2, 2}, {3, 4, 6, 8})}};
  // The root of the mean square of (3, 4) is sqrt(12.5); of all four sqrt(31.25).
  ExpectNear(RunNode(Constant("s", kFloat, {2}, {1, 2}) +
                         Node("RMSNormalization", {"x", "s"}, Float("epsilon", 0)),
                     x, 23),
             {1, 2, 2},
             {3 / std::sqrt(12.5), 8 / std::sqrt(12.5), 6 / std::sqrt(50.0), 16 / std::sqrt(50.0)});
  ExpectNear(
      RunNode(Constant("s", kFloat, {1}, {1}) +
                  Node("RMSNormalization", {"x", "s"}, Int("axis", -2) + Float("epsilon", 5)),
              x, 23),
      {1, 2, 2},
      {3 / std::sqrt(36.25), 4 / std::sqrt(36.25), 6 / std::sqrt(36.25), 8 / std::sqrt(36.25)});
  ExpectNear(RunNode(Constant("s", kFloat, {1}, {1}) + Node("RMSNormalization", {"x", "s"}),
                     {{"x", FloatTensor({1, 1}, {0.001f})}}, 23),
             {1, 1}, {0.001 / std::sqrt(1e-6 + 1e-5)});
  // Each channel has a mean and a variance over all axes but 1.
  ExpectNear(RunNode(Node("MeanVarianceNormalization", {"x"}),
                     {{"x", FloatTensor({2, 2, 1, 1}, {1, 5, 3, 9})}}, 13),
             {2, 2, 1, 1}, {-1, -1, 1, 1});
  ExpectNear(RunNode(Node("MeanVarianceNormalization", {"x"}, Ints("axes", {2})), x, 13), {1, 2, 2},
             {-1, 1, -1, 1});
  const auto swish = [](double v, double alpha) { return v / (1 + std::exp(-alpha * v)); };
  const NamedTensors two = {{"x", FloatTensor({2}, {1, -2})}, {"g", FloatTensor({2}, {3, 5})}};
  ExpectNear(RunNode(Node("SwiGLU", {"x", "g"}), two, 28), {2},
             {swish(1, 1) * 3, swish(-2, 1) * 5});
  ExpectNear(RunNode(Node("SwiGLU", {"x", "g"}, Float("alpha", 2)), two, 28), {2},
             {swish(1, 2) * 3, swish(-2, 2) * 5});
}

// --- losses ---

TEST(FunctionRowsTest, LossesOfClasses) {
  // Scores [targets, classes] are logarithms.
  const NamedTensors inputs = {{"x", FloatTensor({3, 2}, {-1, -2, -3, -4, -5, -6})},
                               {"t", IntTensor({3}, {1, 0, 1})}};
  const std::string weights = Constant("w", kFloat, {2}, {0.5, 2});
  const auto loss = [&](const std::string& more, bool weighted = false) {
    std::vector<std::string> names = {"x", "t"};
    if (weighted) names.push_back("w");
    return RunNode((weighted ? weights : "") + Node("NegativeLogLikelihoodLoss", names, more),
                   inputs, 22);
  };
  ExpectNear(loss(Text("reduction", "none")), {3}, {2, 3, 6});
  ExpectNear(loss(Text("reduction", "sum")), {}, {11});
  ExpectNear(loss(""), {}, {11.0 / 3});
  ExpectNear(loss(Text("reduction", "none"), true), {3}, {4, 1.5, 12});
  // The mean divides by the sum of the weights.
  ExpectNear(loss("", true), {}, {17.5 / 4.5});
  ExpectNear(loss(Int("ignore_index", 0) + Text("reduction", "none")), {3}, {2, 0, 6});
  ExpectNear(loss(Int("ignore_index", 0)), {}, {4});
  ExpectNear(loss(Int("ignore_index", 1), true), {}, {3});
}

TEST(FunctionRowsTest, CrossEntropyGivesItsLogarithms) {
  const NamedTensors inputs = {{"x", FloatTensor({1, 2}, {0, static_cast<float>(std::log(3.0))})},
                               {"t", IntTensor({1}, {0})}};
  const std::string node = Node("SoftmaxCrossEntropyLoss", {"x", "t"}, "", {"y", "z"});
  ExpectNear(RunNode(node, inputs, 13), {}, {std::log(4.0)});
  ExpectNear(RunNode(node, inputs, 13, "z"), {1, 2}, {-std::log(4.0), std::log(0.75)});
}

TEST(FunctionRowsTest, AffineGridsOfTwoAndThreeAxes) {
  const auto identity = [](int axes) {
    std::vector<float> theta;
    for (int r = 0; r < axes; ++r) {
      for (int c = 0; c <= axes; ++c) theta.push_back(r == c ? 1.f : 0.f);
    }
    return theta;
  };
  // Two rows of three pixels: middles of pixels, from -1 to 1; x comes first.
  ExpectNear(RunNode(Constant("s", kInt64, {4}, {1, 1, 2, 3}) + Node("AffineGrid", {"x", "s"}),
                     {{"x", FloatTensor({1, 2, 3}, identity(2))}}, 20),
             {1, 2, 3, 2},
             {-2.0 / 3, -0.5, 0, -0.5, 2.0 / 3, -0.5, -2.0 / 3, 0.5, 0, 0.5, 2.0 / 3, 0.5});
  // Corners, and a shift by theta's last column.
  ExpectNear(RunNode(Constant("s", kInt64, {4}, {1, 1, 2, 3}) +
                         Node("AffineGrid", {"x", "s"}, Int("align_corners", 1)),
                     {{"x", FloatTensor({1, 2, 3}, {1, 0, 10, 0, 2, 20})}}, 20),
             {1, 2, 3, 2}, {9, 18, 10, 18, 11, 18, 9, 22, 10, 22, 11, 22});
  ExpectNear(RunNode(Constant("s", kInt64, {5}, {1, 1, 1, 1, 2}) + Node("AffineGrid", {"x", "s"}),
                     {{"x", FloatTensor({1, 3, 4}, identity(3))}}, 20),
             {1, 1, 1, 2, 3}, {-0.5, 0, 0, 0.5, 0, 0});
}

// --- control ---

// The body adds the scanned element to the state, and gives the sum as an item.
std::string ScanBody(const std::string& more) {
  return Node(
      "Scan", {"s", "x"},
      Int("num_scan_inputs", 1) + more +
          "attribute { name: 'body' type: GRAPH g { input { name: 'a' } input { name: 'b' } "
          "node { op_type: 'Add' input: 'a' input: 'b' output: 'c' } "
          "node { op_type: 'Identity' input: 'c' output: 'd' } "
          "output { name: 'c' } output { name: 'd' } } } ",
      {"f", "y"});
}

TEST(FunctionRowsTest, ScansAnAxisInBothDirections) {
  const NamedTensors inputs = {{"s", FloatTensor({2}, {100, 200})},
                               {"x", FloatTensor({3, 2}, {1, 2, 3, 4, 5, 6})}};
  ExpectNear(RunNode(ScanBody(""), inputs, 18), {3, 2}, {101, 202, 104, 206, 109, 212});
  ExpectNear(RunNode(ScanBody(""), inputs, 18, "f"), {2}, {109, 212});
  ExpectNear(RunNode(ScanBody(Ints("scan_input_directions", {1})), inputs, 18), {3, 2},
             {105, 206, 108, 210, 109, 212});
  ExpectNear(RunNode(ScanBody(Ints("scan_output_directions", {1})), inputs, 18), {3, 2},
             {109, 212, 104, 206, 101, 202});
  ExpectNear(RunNode(ScanBody(Ints("scan_output_axes", {-1})), inputs, 18), {2, 3},
             {101, 104, 109, 202, 206, 212});
  ExpectNear(
      RunNode(ScanBody(Ints("scan_input_axes", {1})),
              {{"s", FloatTensor({2}, {100, 200})}, {"x", FloatTensor({2, 3}, {1, 3, 5, 2, 4, 6})}},
              18),
      {3, 2}, {101, 202, 104, 206, 109, 212});
}

}  // namespace
}  // namespace caffe2rt::test::function_rows_test
