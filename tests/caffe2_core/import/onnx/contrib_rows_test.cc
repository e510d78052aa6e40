// Operators of com.microsoft that optimizers and quantizers write, for values worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::contrib_rows_test {
namespace {

constexpr int kUint8 = 2, kInt8 = 3, kInt32 = 6, kInt64 = 7, kBool = 9;
const float kLn2 = std::log(2.0f);

struct Given {
  std::vector<std::string> dims;  // as the model states them
  std::vector<int64_t> shape;
  std::vector<float> values;
};

struct Case {
  const char* name;
  std::string graph;  // writes y
  Given x;
  std::vector<int64_t> dims;  // of y
  std::vector<float> want;
};

std::string Ints(const std::string& name, int type, const std::vector<int64_t>& dims,
                 const std::vector<int>& values) {
  std::string text = MakeString("initializer { name: '", name, "' data_type: ", type, " ");
  for (const int64_t dim : dims) text += MakeString("dims: ", dim, " ");
  for (const int value : values) {
    text += MakeString(type == kInt64 ? "int64_data: " : "int32_data: ", value, " ");
  }
  return text + "} ";
}
std::string Floats(const std::string& name, const std::vector<int64_t>& dims,
                   const std::vector<float>& values) {
  std::string text = "initializer { name: '" + name + "' data_type: 1 ";
  for (const int64_t dim : dims) text += MakeString("dims: ", dim, " ");
  for (const float value : values) text += MakeString("float_data: ", value, " ");
  return text + "} ";
}
std::string Int(const std::string& name, int value) {
  return MakeString("attribute { name: '", name, "' type: INT i: ", value, " } ");
}
std::string Float(const std::string& name, float value) {
  return MakeString("attribute { name: '", name, "' type: FLOAT f: ", value, " } ");
}
std::string Text(const std::string& name, const std::string& value) {
  return "attribute { name: '" + name + "' type: STRING s: '" + value + "' } ";
}

// "-" is an absent input.
std::string Node(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& attributes = "", const std::string& outputs = "output: 'y' ") {
  std::string text = "node { op_type: '" + type + "' domain: 'com.microsoft' " + outputs;
  for (const std::string& input : inputs) text += "input: '" + (input == "-" ? "" : input) + "' ";
  return text + attributes + "} ";
}
// The bytes of output `q` as numbers.
const char kAsNumbers[] =
    "node { op_type: 'Cast' input: 'q' output: 'y' attribute { name: 'to' type: INT i: 1 } } ";

std::vector<Case> Products() {
  const Given a = {{"2", "2"}, {2, 2}, {1, -2, 3, 4}};  // a a = [[-5, -10], [15, 10]]
  // The numbers [[0, 1]] and [[0.5, 1], [1.5, 2]]; C is [1, 2] in steps of 0.5 * 0.25.
  const std::string quantized = Ints("a", kUint8, {1, 2}, {1, 3}) + Floats("as", {}, {0.5f}) +
                                Ints("az", kUint8, {}, {1}) +
                                Ints("b", kInt8, {2, 2}, {2, 4, 6, 8}) + Floats("bs", {}, {0.25f}) +
                                Ints("bz", kInt8, {}, {0}) + Ints("c", kInt32, {2}, {8, 16}) +
                                Floats("ys", {}, {0.5f}) + Ints("yz", kUint8, {}, {10});
  const std::vector<std::string> inputs = {"a", "as", "az", "b", "bs", "bz", "c"};
  std::vector<std::string> with_scale = inputs;
  with_scale.insert(with_scale.end(), {"ys", "yz"});
  return {
      {"FusedGemmRelu",
       Node("FusedGemm", {"x", "x"}, Text("activation", "Relu")),
       a,
       {2, 2},
       {0, 0, 15, 10}},
      {"FusedGemmLeakyRelu",
       Node("FusedGemm", {"x", "x"},
            Text("activation", "LeakyRelu") + Float("activation_alpha", 0.5f)),
       a,
       {2, 2},
       {-2.5f, -5, 15, 10}},
      {"FusedMatMulOfBatchesInTheMiddle",  // [rows, batches, columns]: one batch
       Node("FusedMatMul", {"x", "b"}, Int("transBatchA", 1)) + Floats("b", {2, 1}, {1, 10}),
       {{"2", "1", "2"}, {2, 1, 2}, {1, 2, 3, 4}},
       {1, 2, 1},
       {21, 43}},
      {"QGemmOfNumbers", quantized + Node("QGemm", inputs, Int("transB", 1)), a, {1, 2}, {2, 4}},
      {"QGemmOfBytes",
       quantized + Node("QGemm", with_scale, Int("transB", 1) + Float("alpha", 2), "output: 'q' ") +
           kAsNumbers,
       a,
       {1, 2},
       {18, 26}},
      {"QLinearWhere",
       Ints("cond", kBool, {2}, {1, 0}) + Ints("a", kUint8, {2}, {3, 4}) + Floats("as", {}, {2}) +
           Ints("az", kUint8, {}, {1}) + Ints("b", kUint8, {2}, {5, 6}) + Floats("bs", {}, {3}) +
           Ints("bz", kUint8, {}, {2}) + Floats("ys", {}, {1}) + Ints("yz", kUint8, {}, {7}) +
           Node("QLinearWhere", {"cond", "a", "as", "az", "b", "bs", "bz", "ys", "yz"}, "",
                "output: 'q' ") +
           kAsNumbers,
       a,
       {2},
       {11, 19}},
      {"DynamicQuantizeLSTM",  // gates i, o, f, c are 1, 1, 0.5, tanh(1)
       Ints("w", kInt8, {1, 1, 4}, {101, 101, 1, 3}) + Ints("r", kInt8, {1, 1, 4}, {1, 1, 1, 1}) +
           Floats("s", {1}, {0.5f}) + Ints("z", kInt8, {1}, {1}) +
           Node("DynamicQuantizeLSTM", {"x", "w", "r", "-", "-", "-", "-", "-", "s", "z", "s", "z"},
                Int("hidden_size", 1)),
       {{"n", "1", "1"}, {1, 1, 1}, {1}},
       {1, 1, 1, 1},
       {std::tanh(std::tanh(1.0f))}}};
}

// X is [batch, length, 1], [[[1], [2]]]. Queries and keys are 0, so that each query takes the mean of the
// values that it sees, which are X.
std::vector<Case> PackedAttentions() {
  const Given x = {{"1", "length", "1"}, {1, 2, 1}, {1, 2}};
  const std::string w = Floats("w", {1, 3}, {0, 0, 1}), heads = Int("num_heads", 1);
  const std::string past = Floats("past", {2, 1, 1, 1, 1}, {0, 4});
  return {
      {"AttentionSeesAll", w + Node("Attention", {"x", "w"}, heads), x, {1, 2, 1}, {1.5f, 1.5f}},
      {"AttentionIsCausal",
       w + Node("Attention", {"x", "w"}, heads + Int("unidirectional", 1)),
       x,
       {1, 2, 1},
       {1, 1.5f}},
      {"AttentionAddsItsBias",
       w + Floats("b", {3}, {0, 0, 10}) + Node("Attention", {"x", "w", "b"}, heads),
       x,
       {1, 2, 1},
       {11.5f, 11.5f}},
      {"AttentionOfKeysWithAMask",
       w + Ints("m", kInt32, {1, 2}, {0, 1}) + Node("Attention", {"x", "w", "-", "m"}, heads),
       x,
       {1, 2, 1},
       {2, 2}},
      {"AttentionOfKeysBelowALength",
       w + Ints("m", kInt32, {1}, {1}) + Node("Attention", {"x", "w", "-", "m"}, heads),
       x,
       {1, 2, 1},
       {1, 1}},
      {"AttentionSeesThePast",
       w + past + Node("Attention", {"x", "w", "-", "-", "past"}, heads + Int("unidirectional", 1)),
       x,
       {1, 2, 1},
       {2.5f, 7.0f / 3}},
      {"AttentionGivesKeysAndValues",
       w + past +
           Node("Attention", {"x", "w", "-", "-", "past"}, heads, "output: 'z' output: 'y' "),
       x,
       {2, 1, 1, 3, 1},
       {0, 0, 0, 4, 1, 2}},
      // Queries, keys and values are X, [0, ln 2]: the scores are [[0, 0], [0, ln 2]].
      {"AttentionScalesItsScores",
       Floats("ones", {1, 3}, {1, 1, 1}) +
           Node("Attention", {"x", "ones"}, heads + Float("scale", 1 / kLn2)),
       {{"batch", "length", "1"}, {1, 2, 1}, {0, kLn2}},
       {1, 2, 1},
       {kLn2 / 2, kLn2 * 2 / 3}},
      // x is [1, 3] - 1 = [0, 2] in steps of 0.5; the values are twice that.
      {"QAttention",
       Ints("a", kUint8, {1, 2, 1}, {1, 3}) + Ints("wq", kInt8, {1, 3}, {0, 0, 4}) +
           Floats("b", {3}, {0, 0, 1}) + Floats("as", {}, {0.5f}) + Floats("ws", {}, {0.5f}) +
           Ints("az", kUint8, {}, {1}) +
           Node("QAttention", {"a", "wq", "b", "as", "ws", "-", "az"}, heads),
       x,
       {1, 2, 1},
       {2, 2}}};
}

std::vector<Case> OtherParts() {
  // Two heads of one column: values 1 and 3, and 10 and 30.
  const Given q = {{"batch", "length", "2"}, {1, 1, 2}, {0, 0}};
  const std::string kv =
      Floats("k", {1, 2, 2}, {1, 1, 1, 1}) + Floats("v", {1, 2, 2}, {1, 10, 3, 30});
  const std::string two = Int("num_heads", 2);
  // Words [1, 3] and [5, 9], positions [0, 0] and [1, 1], text [1, 0]: sums [5, 9] and [2, 4].
  const std::string embed =
      Ints("ids", kInt32, {1, 2}, {1, 0}) + Floats("words", {2, 2}, {1, 3, 5, 9}) +
      Floats("places", {3, 2}, {0, 0, 1, 1, 7, 7}) + Floats("gamma", {2}, {1, 1}) +
      Floats("beta", {2}, {0, 10}) + Ints("mask", kInt32, {1, 2}, {1, 1});
  const std::vector<std::string> inputs = {"ids", "-",     "words", "places",
                                           "-",   "gamma", "beta",  "mask"};
  // Turns by 0, 90 and 180 degrees.
  const std::string turns = Floats("cos", {3, 1}, {1, 0, -1}) + Floats("sin", {3, 1}, {0, 1, 0});
  const Given pairs = {{"1", "1", "2", "2"}, {1, 1, 2, 2}, {1, 2, 3, 4}};
  return {
      {"MultiHeadAttention",
       kv + Node("MultiHeadAttention", {"x", "k", "v"}, two),
       q,
       {1, 1, 2},
       {2, 20}},
      {"MultiHeadAttentionWithABias",
       kv + Floats("b", {6}, {0, 0, 0, 0, 1, 2}) +
           Node("MultiHeadAttention", {"x", "k", "v", "b"}, two),
       q,
       {1, 1, 2},
       {3, 22}},
      {"MultiHeadAttentionWithAMask",
       kv + Ints("m", kInt32, {1, 2}, {0, 1}) +
           Node("MultiHeadAttention", {"x", "k", "v", "-", "m"}, two),
       q,
       {1, 1, 2},
       {3, 30}},
      {"MultiHeadAttentionSeesThePast",
       kv + Floats("pk", {1, 2, 1, 1}, {0, 0}) + Floats("pv", {1, 2, 1, 1}, {5, 50}) +
           Node("MultiHeadAttention", {"x", "k", "v", "-", "-", "-", "pk", "pv"}, two),
       q,
       {1, 1, 2},
       {3, 30}},
      {"EmbedLayerNormalization",
       embed + Node("EmbedLayerNormalization", inputs),
       q,
       {1, 2, 2},
       {-1, 11, -1, 11}},
      {"EmbedLayerNormalizationCountsItsMask",
       embed + Node("EmbedLayerNormalization", inputs, "", "output: 'z' output: 'q' ") + kAsNumbers,
       q,
       {1},
       {2}},
      {"RotaryEmbeddingFromAPosition",
       turns + Ints("first", kInt64, {1}, {1}) +
           Node("RotaryEmbedding", {"x", "first", "cos", "sin"}),
       pairs,
       {1, 1, 2, 2},
       {-2, 1, -3, -4}},
      {"RotaryEmbeddingAtPositions",
       turns + Ints("at", kInt64, {1, 2}, {2, 0}) +
           Node("RotaryEmbedding", {"x", "at", "cos", "sin"}),
       pairs,
       {1, 1, 2, 2},
       {-1, -2, 3, 4}}};
}

std::vector<Case> FewerHeadsAndBits() {
  // Queries of 0 see all keys alike: the values are 3, then 5.
  const Given packed = {{"batch", "length", "4"}, {1, 2, 4}, {0, 0, 7, 3, 0, 0, -2, 5}};
  const std::string heads = Int("num_heads", 2) + Int("kv_num_heads", 1);
  const std::string lengths = Ints("last", kInt32, {1}, {1}) + Ints("all", kInt32, {}, {2});
  const std::string past = Floats("pk", {1, 1, 1, 1}, {9}) + Floats("pv", {1, 1, 1, 1}, {-2}) +
                           Ints("last", kInt32, {1}, {2}) + Ints("all", kInt32, {}, {3});
  // The numbers 9, 7, 8 and 10: by default (0.5, -0.5, 0, 1).
  const std::string bits = Ints("b", kUint8, {1, 1, 2}, {0x79, 0xa8}) + Floats("s", {1}, {0.5f});
  const std::string matrix = Int("K", 4) + Int("N", 1) + Int("block_size", 4);
  const Given row = {{"n", "4"}, {1, 4}, {1, 2, 3, 4}};
  // Rows (8, 9) and (7, 0) in steps of 0.5 and 2.
  const std::string table = Ints("t", kUint8, {2, 1}, {0x98, 0x07}) +
                            Floats("s", {2, 1}, {0.5f, 2}) + Ints("i", kInt64, {2}, {1, 0});
  const std::string added = "node { op_type: 'Add' input: 'x' input: 'q' output: 'y' } ";
  return {
      {"GroupQueryAttentionIsCausal",
       lengths + Node("GroupQueryAttention", {"x", "-", "-", "-", "-", "last", "all"}, heads),
       packed,
       {1, 2, 2},
       {3, 3, 4, 4}},
      {"GroupQueryAttentionInAWindow",
       lengths + Node("GroupQueryAttention", {"x", "-", "-", "-", "-", "last", "all"},
                      heads + Int("local_window_size", 1)),
       packed,
       {1, 2, 2},
       {3, 3, 5, 5}},
      {"GroupQueryAttentionSeesThePast",
       past + Node("GroupQueryAttention", {"x", "-", "-", "pk", "pv", "last", "all"}, heads),
       packed,
       {1, 2, 2},
       {0.5f, 0.5f, 2, 2}},
      {"MatMulNBits", bits + Node("MatMulNBits", {"x", "b", "s"}, matrix), row, {1, 1}, {3.5f}},
      {"MatMulNBitsWithPackedZeroPoints",
       bits + Ints("z", kUint8, {1}, {9}) + Node("MatMulNBits", {"x", "b", "s", "z"}, matrix),
       row,
       {1, 1},
       {-1.5f}},
      {"GatherBlockQuantized",
       table + Node("GatherBlockQuantized", {"t", "i", "s"}, Int("block_size", 2), "output: 'q' ") +
           added,
       {{"2", "2"}, {2, 2}, {0, 0, 0, 0}},
       {2, 2},
       {-2, -16, 0, 0.5f}}};
}

std::vector<Case> AllCases() {
  std::vector<Case> all;
  for (const auto& cases : {Products(), PackedAttentions(), OtherParts(), FewerHeadsAndBits()}) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

class ContribRowsTest : public ::testing::TestWithParam<Case> {};

TEST_P(ContribRowsTest, ComputesItsDefinition) {
  const Case& row = GetParam();
  const std::string graph =
      OnnxValue("input", "x", row.x.dims) + row.graph + "output { name: 'y' }";
  const std::string domain = "opset_import { domain: 'com.microsoft' version: 1 } ";
  const Tensor y = RunOnnxBytes(OnnxBytes(graph, 17, domain),
                                {{"x", FloatTensor(row.x.shape, row.x.values)}}, "y");
  EXPECT_EQ(y.dims(), row.dims);
  const std::vector<float> got = FloatsOf(y);
  ASSERT_EQ(got.size(), row.want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], row.want[i], 1e-5) << "element " << i;
}

INSTANTIATE_TEST_SUITE_P(Rows, ContribRowsTest, ::testing::ValuesIn(AllCases()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ContribRowsErrorTest, NamesWhatIsNotSupported) {
  const std::string domain = "opset_import { domain: 'com.microsoft' version: 1 } ";
  const auto error = [&](const std::string& node) {
    return OnnxImportError(OnnxBytes(OnnxValue("input", "x", {"1", "2", "6"}) +
                                         Floats("w", {6, 6}, std::vector<float>(36, 1)) + node +
                                         "output { name: 'y' }",
                                     17, domain));
  };
  EXPECT_NE(error(Node("Attention", {"x", "w"}, Int("num_heads", 1) + Int("do_rotary", 1)))
                .find("do_rotary is 1, which is not supported"),
            std::string::npos);
  EXPECT_NE(
      error(Node("Attention", {"x", "w"}, Int("num_heads", 4))).find("2 columns for num_heads 4"),
      std::string::npos);
  EXPECT_NE(error(Node("MultiHeadAttention", {"x"}, Int("num_heads", 1)))
                .find("queries, keys and values in one input are not supported"),
            std::string::npos);
}

}  // namespace
}  // namespace caffe2rt::test::contrib_rows_test
