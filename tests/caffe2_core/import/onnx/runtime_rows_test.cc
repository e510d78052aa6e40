// Further operators of com.microsoft, and ONNX's experimental ones: values worked out by hand from
// their definitions.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::runtime_rows_test {
namespace {

constexpr int kFloat = 1, kUint8 = 2, kInt8 = 3, kInt64 = 7;

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
std::string Floats(const std::string& name, const std::vector<double>& values) {
  return Constant(name, kFloat, {static_cast<int64_t>(values.size())}, values);
}
std::string Scalar(const std::string& name, double value, int type = kFloat) {
  return Constant(name, type, {}, {value});
}
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
std::string FloatList(const std::string& name, const std::vector<double>& values) {
  std::string text = "attribute { name: '" + name + "' type: FLOATS ";
  for (const double value : values) text += MakeString("floats: ", value, " ");
  return text + "} ";
}
std::string Text(const std::string& name, const std::string& value) {
  return "attribute { name: '" + name + "' type: STRING s: '" + value + "' } ";
}
std::string Node(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& attributes = "",
                 const std::vector<std::string>& outputs = {"y"},
                 const std::string& domain = "com.microsoft") {
  std::string text = "node { op_type: '" + type + "' name: 'n' domain: '" + domain + "' ";
  for (const std::string& input : inputs) text += "input: '" + (input == "-" ? "" : input) + "' ";
  for (const std::string& out : outputs) text += "output: '" + (out == "-" ? "" : out) + "' ";
  return text + attributes + "} ";
}
const char kAsNumbers[] =
    "node { op_type: 'Cast' input: 'q' output: 'y' attribute { name: 'to' type: INT i: 1 } } ";

struct Case {
  std::string graph;  // reads x and writes y
  std::vector<int64_t> x_dims;
  std::vector<float> x;
  std::vector<int64_t> dims;
  std::vector<double> want;
};

void Check(const std::vector<Case>& cases) {
  for (const Case& row : cases) {
    SCOPED_TRACE(row.graph);
    std::vector<std::string> dims;
    for (const int64_t dim : row.x_dims) dims.push_back(MakeString(dim));
    const std::string bytes =
        OnnxBytes(OnnxValue("input", "x", dims) + row.graph + "output { name: 'y' }", 17,
                  "opset_import { domain: 'com.microsoft' version: 1 } ");
    ASSERT_EQ(OnnxImportError(bytes), "");
    const Tensor y = RunOnnxBytes(bytes, {{"x", FloatTensor(row.x_dims, row.x)}}, "y");
    EXPECT_EQ(y.dims(), row.dims);
    const std::vector<float> got = FloatsOf(y);
    ASSERT_EQ(got.size(), row.want.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], row.want[i], 2e-5) << "element " << i;
  }
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(RuntimeRowsTest, Activations) {
  const double gelu = 0.5 * (1 + std::erf(1 / std::sqrt(2.0)));
  const double fast = 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * 1.044715));
  const std::string b = Floats("b", {1, 0});
  Check({{b + Node("BiasGelu", {"x", "b"}), {2}, {0, 1}, {2}, {gelu, gelu}},
         {Node("Gelu", {"x"}), {2}, {0, 1}, {2}, {0, gelu}},
         {Node("FastGelu", {"x"}), {2}, {0, 1}, {2}, {0, fast}},
         {b + Node("FastGelu", {"x", "b"}), {2}, {0, 1}, {2}, {fast, fast}},
         {Node("QuickGelu", {"x"}), {1}, {1}, {1}, {Sigmoid(1.702)}},
         {Node("QuickGelu", {"x"}, Float("alpha", 3)), {1}, {2}, {1}, {2 * Sigmoid(6)}}});
}

TEST(RuntimeRowsTest, FusedProducts) {
  const std::string conv = Constant("w", kFloat, {1, 1, 1, 1}, {2}) + Floats("b", {1}) +
                           Constant("z", kFloat, {1, 1, 1, 2}, {10, 20});
  const auto fused = [&](const std::string& more,
                         const std::vector<std::string>& inputs = {"x", "w", "b"}) {
    return conv + Node("FusedConv", inputs, more);
  };
  const std::vector<int64_t> dims = {1, 1, 1, 2};
  const std::vector<float> x = {1, -2};  // 2 x + 1 is 3, -3
  const auto params = [](double a, double b) { return FloatList("activation_params", {a, b}); };
  const std::string a = Constant("a", kFloat, {1, 1}, {2});
  Check({{fused(""), dims, x, dims, {3, -3}},
         {fused(Text("activation", "Relu")), dims, x, dims, {3, 0}},
         {fused(Text("activation", "Tanh")), dims, x, dims, {std::tanh(3), std::tanh(-3)}},
         {fused(Text("activation", "Sigmoid")), dims, x, dims, {Sigmoid(3), Sigmoid(-3)}},
         {fused(Text("activation", "LeakyRelu") + params(0.5, 0)), dims, x, dims, {3, -1.5}},
         {fused(Text("activation", "Clip") + params(-1, 2)), dims, x, dims, {2, -1}},
         {fused(Text("activation", "HardSigmoid") + params(0.125, 0.5)),
          dims,
          x,
          dims,
          {0.875, 0.125}},
         {fused(Text("activation", "Relu"), {"x", "w", "b", "z"}), dims, x, dims, {13, 17}},
         {fused("", {"x", "w"}), dims, x, dims, {2, -4}},
         {fused(Ints("pads", {0, 1, 0, 0})), dims, x, {1, 1, 1, 3}, {1, 3, -3}},
         {a + Node("FusedGemm", {"x", "a"},
                   Text("activation", "HardSigmoid") + Float("activation_alpha", 0.125) +
                       Float("activation_beta", 0.5)),
          {2, 1},
          x,
          {2, 1},
          {0.75, 0}},
         {a + Floats("b", {1}) +
              Node("FusedGemm", {"x", "a", "b"}, Float("alpha", 2) + Float("beta", 3)),
          {2, 1},
          x,
          {2, 1},
          {7, -5}},
         {a + Node("FusedMatMul", {"x", "a"}, Float("alpha", 0.5)), {2, 1}, x, {2, 1}, {1, -2}},
         {Constant("d", kFloat, {3, 1}, {1, 10, 100}) +
              Node("FusedMatMul", {"x", "d"}, Int("transB", 1)),
          {2, 1},
          x,
          {2, 3},
          {1, 10, 100, -2, -20, -200}},
         // The second matrix is [rows, batches, columns].
         {Constant("d", kFloat, {2, 1, 1}, {1, 10}) +
              Node("FusedMatMul", {"x", "d"}, Int("transBatchB", 1)),
          {1, 1, 2},
          x,
          {1, 1, 1},
          {-19}}});
}

TEST(RuntimeRowsTest, SkippedNormalizations) {
  const std::string skip = Constant("k", kFloat, {1, 2}, {1, 1}), gamma = Floats("g", {1, 2}),
                    beta = Floats("t", {0, 10}), bias = Floats("b", {2, -2});
  const std::vector<int64_t> dims = {1, 2};
  const double rms = std::sqrt((4.0 + 16) / 2), plain = std::sqrt((9.0 + 16) / 2);
  // x + k = (2, 4): normalized -1 and 1. With the bias (4, 2).
  const std::vector<float> x = {1, 3};
  Check({{skip + gamma + beta + Node("SkipLayerNormalization", {"x", "k", "g", "t"}),
          dims,
          x,
          dims,
          {-1, 12}},
         {skip + gamma + Node("SkipLayerNormalization", {"x", "k", "g"}), dims, x, dims, {-1, 2}},
         {skip + gamma + beta +
              Node("SkipLayerNormalization", {"x", "k", "g", "t"}, Float("epsilon", 3)),
          dims,
          x,
          dims,
          {-0.5, 11}},
         {skip + gamma + beta + bias + Node("SkipLayerNormalization", {"x", "k", "g", "t", "b"}),
          dims,
          x,
          dims,
          {1, 8}},
         {skip + gamma + beta + bias +
              Node("SkipLayerNormalization", {"x", "k", "g", "t", "b"}, "", {"q", "-", "-", "y"}),
          dims,
          x,
          dims,
          {4, 2}},
         {skip + gamma + Node("SkipSimplifiedLayerNormalization", {"x", "k", "g"}),
          dims,
          x,
          dims,
          {2 / rms, 8 / rms}},
         {skip + gamma + bias +
              Node("SkipSimplifiedLayerNormalization", {"x", "k", "g", "b"}, "",
                   {"q", "-", "-", "y"}),
          dims,
          x,
          dims,
          {4, 2}},
         {skip + gamma + bias + Node("SkipSimplifiedLayerNormalization", {"x", "k", "g", "b"}),
          dims,
          x,
          dims,
          {4 / rms, 4 / rms}},
         {gamma + Node("SimplifiedLayerNormalization", {"x", "g"}, Float("epsilon", 0), {"y"}, ""),
          dims,
          {3, 4},
          dims,
          {3 / plain, 8 / plain}}});
}

TEST(RuntimeRowsTest, QuantizedOperators) {
  // a is (1, 1.5), b (0.75, 1); y has steps of 0.25 from 3.
  const std::string a =
      Constant("a", kUint8, {2}, {3, 4}) + Scalar("as", 0.5) + Scalar("az", 1, kUint8);
  const std::string b =
      Constant("b", kUint8, {2}, {5, 6}) + Scalar("bs", 0.25) + Scalar("bz", 2, kUint8);
  const std::string y = Scalar("ys", 0.25) + Scalar("yz", 3, kUint8);
  const std::string unit = Scalar("us", 1.0 / 256);  // from 0, without a zero point
  const auto node = [](const std::string& type, const std::vector<std::string>& inputs,
                       const std::string& more = "") {
    return Node(type, inputs, more, {"q"}) + kAsNumbers;
  };
  const std::vector<std::string> pair = {"a", "as", "az", "b", "bs", "bz", "ys", "yz"};
  const std::string image = Constant("i", kUint8, {1, 1, 1, 2}, {1, 4});
  const std::string one = Scalar("os", 1), matrix = Constant("m", kUint8, {2, 2}, {1, 3, 5, 7});
  const std::string low = Constant("l", kUint8, {1}, {0}) + Scalar("lz", 2, kUint8);
  Check({{a + b + y + node("QLinearAdd", pair), {1}, {0}, {2}, {10, 13}},
         {a + b + y + node("QLinearMul", pair), {1}, {0}, {2}, {6, 9}},
         {Constant("n", kUint8, {1}, {2}) + low + one + unit +
              node("QLinearSigmoid", {"n", "os", "lz", "us"}),
          {1},
          {0},
          {1},
          {128}},
         {low + one + y +
              node("QLinearLeakyRelu", {"l", "os", "lz", "ys", "yz"}, Float("alpha", 0.25)),
          {1},
          {0},
          {1},
          {1}},
         {image + one + y + node("QLinearGlobalAveragePool", {"i", "os", "-", "ys", "yz"}),
          {1},
          {0},
          {1, 1, 1, 1},
          {13}},
         {image + one + y +
              node("QLinearAveragePool", {"i", "os", "-", "ys", "yz"},
                   Ints("kernel_shape", {1, 2}) + Int("channels_last", 0)),
          {1},
          {0},
          {1, 1, 1, 1},
          {13}},
         {matrix + one +
              node("QLinearReduceMean", {"m", "os", "-", "os"},
                   Ints("axes", {1}) + Int("keepdims", 0)),
          {1},
          {0},
          {2},
          {2, 6}},
         {matrix + one + node("QLinearReduceMean", {"m", "os", "-", "os"}), {1}, {0}, {1, 1}, {4}},
         {a + b + y + node("QLinearConcat", {"ys", "yz", "a", "as", "az", "b", "bs", "bz"}),
          {1},
          {0},
          {4},
          {7, 9, 6, 7}},
         {matrix + one +
              node("QLinearConcat", {"os", "-", "m", "os", "-", "m", "os", "-"}, Int("axis", 1)),
          {1},
          {0},
          {2, 4},
          {1, 3, 1, 3, 5, 7, 5, 7}},
         {Constant("e", kUint8, {1, 2}, {9, 9}) + one + unit +
              node("QLinearSoftmax", {"e", "os", "-", "us"}),
          {1},
          {0},
          {1, 2},
          {128, 128}},
         {a + node("DequantizeLinear", {"a", "as", "az"}), {1}, {0}, {2}, {1, 1.5}},
         {y + node("QuantizeLinear", {"x", "ys", "yz"}), {2}, {1, -5}, {2}, {7, 0}}});
}

TEST(RuntimeRowsTest, ProductsOfIntegers) {
  const std::string b = Constant("b", kInt8, {2, 1}, {2, 4}) + Scalar("bs", 0.25) +
                        Scalar("bz", 1, kInt8) + Floats("c", {10});
  const std::string a =
      Constant("a", kUint8, {1, 2}, {1, 3}) + Scalar("as", 0.5) + Scalar("az", 1, kUint8);
  // x is quantized in steps of 1 from 0, so that it is exact.
  const std::vector<float> x = {0, 255};
  Check(
      {{a + b + Node("MatMulIntegerToFloat", {"a", "b", "as", "bs", "az"}), {1}, {0}, {1, 1}, {1}},
       {a + b + Node("MatMulIntegerToFloat", {"a", "b", "as", "bs", "az", "bz", "c"}),
        {1},
        {0},
        {1, 1},
        {10.75}},
       {a + b + Node("MatMulIntegerToFloat", {"a", "b", "as", "bs"}), {1}, {0}, {1, 1}, {1.75}},
       {b + Node("DynamicQuantizeMatMul", {"x", "b", "bs"}), {1, 2}, x, {1, 1}, {255}},
       {b + Node("DynamicQuantizeMatMul", {"x", "b", "bs", "bz", "c"}),
        {1, 2},
        x,
        {1, 1},
        {201.25}}});
}

// Only the run knows whether both are vectors, whose product has no dimensions.
TEST(RuntimeRowsTest, ProductsOfUnknownRank) {
  const auto unknown = [](const char* field, const char* name) {
    return std::string(field) + " { name: '" + name + "' type { tensor_type { elem_type: 1 } } }";
  };
  const std::string b_as_row = Int("transB", 1);
  for (const auto& [node, b_dims] :
       {std::pair(Node("MatMul", {"a", "b"}, "", {"y"}, ""), std::vector<int64_t>{2, 1}),
        {Node("FusedMatMul", {"a", "b"}), {2, 1}},
        {Node("FusedMatMul", {"a", "b"}, b_as_row), {1, 2}}}) {
    SCOPED_TRACE(node);
    const std::string bytes =
        OnnxBytes(node + unknown("input", "a") + unknown("input", "b") + unknown("output", "y"));
    const auto run = [&](const Tensor& a, const Tensor& b) {
      NamedTensors inputs;
      inputs.emplace_back("a", a);
      inputs.emplace_back("b", b);
      return RunOnnxBytes(bytes, inputs, "y");
    };
    Tensor y = run(FloatTensor({2}, {1, 2}), FloatTensor({2}, {3, 4}));
    EXPECT_EQ(y.dims(), std::vector<int64_t>());
    EXPECT_EQ(FloatsOf(y), std::vector<float>{11});
    y = run(FloatTensor({2}, {1, 2}), FloatTensor(b_dims, {3, 4}));
    EXPECT_EQ(y.dims(), std::vector<int64_t>{1});
    y = run(FloatTensor({1, 2}, {1, 2}), FloatTensor({2}, {3, 4}));
    EXPECT_EQ(y.dims(), std::vector<int64_t>{1});
  }
}

TEST(RuntimeRowsTest, ExperimentalOperators) {
  const auto node = [](const std::string& type, const std::string& more) {
    return Node(type, {"x"}, more, {"y"}, "");
  };
  const std::string both = Float("alpha", 2) + Float("beta", 3);
  const std::vector<int64_t> image = {1, 1, 3, 4};
  const std::vector<float> ramp = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  Check({{node("Affine", both), {1}, {1}, {1}, {5}},
         {node("Affine", ""), {1}, {7}, {1}, {7}},
         {node("ScaledTanh", both), {1}, {0.25f}, {1}, {2 * std::tanh(0.75)}},
         {node("ParametricSoftplus", both), {1}, {0.5f}, {1}, {2 * std::log1p(std::exp(1.5))}},
         {node("ImageScaler", Float("scale", 2) + FloatList("bias", {1, 10})),
          {1, 2, 1, 1},
          {3, 4},
          {1, 2, 1, 1},
          {7, 18}},
         // Left, top, right, bottom.
         {node("Crop", Ints("border", {1, 1, 1, 0})), image, ramp, {1, 1, 2, 2}, {5, 6, 9, 10}},
         {node("Crop", Ints("border", {0, 0, 0, 2})), image, ramp, {1, 1, 1, 4}, {0, 1, 2, 3}},
         // The size, rows first.
         {node("Crop", Ints("border", {1, 0, 0, 0}) + Ints("scale", {1, 2})),
          image,
          ramp,
          {1, 1, 1, 2},
          {1, 2}},
         {Constant("b", kInt64, {1}, {1}) + Constant("e", kInt64, {1}, {3}) +
              Constant("d", kInt64, {1}, {3}) +
              Node("DynamicSlice", {"x", "b", "e", "d"}, "", {"y"}, ""),
          image,
          ramp,
          {1, 1, 3, 2},
          {1, 2, 5, 6, 9, 10}}});
}

TEST(RuntimeRowsTest, NamesWhatIsNotSupported) {
  const std::string one = Scalar("s", 1) + Constant("i", kUint8, {1, 1, 1, 2}, {1, 4});
  const struct {
    std::string node;
    const char* message;
  } rows[] = {
      {Constant("w", kFloat, {1, 1, 1, 1}, {2}) +
           Node("FusedConv", {"x", "w"}, Text("activation", "Gelu")),
       "activation is \"Gelu\", which is not supported"},
      {one + Node("QLinearGlobalAveragePool", {"i", "s", "-", "s"}, Int("channels_last", 1)),
       "channels_last is 1, which is not supported"},
      {one + Node("QLinearAveragePool", {"i", "s", "-", "s"},
                  Int("channels_last", 1) + Ints("kernel_shape", {1, 1})),
       "channels_last is 1, which is not supported"},
      {Constant("v", kFloat, {2}, {1, 1}) + Node("FusedMatMul", {"v", "v"}, Int("transBatchA", 1)),
       "axes of an input with transBatchA: got 1, want at least 2"},
      {one + Constant("g", kInt64, {1}, {0}) + Constant("b", kUint8, {1, 1, 1}, {1}) +
           Node("MatMulNBits", {"x", "b", "s", "-", "g"},
                Int("K", 2) + Int("N", 1) + Int("block_size", 2)),
       "g_idx is given, which is not supported"},
      {Constant("i", kUint8, {1, 2}, {1, 4}) + Constant("s", kFloat, {1, 1}, {1}) +
           Scalar("t", 1, kUint8) + Constant("g", kInt64, {1}, {0}) +
           Node("GatherBlockQuantized", {"i", "g", "s", "t"}),
       "a table without axes"},
      {one + Constant("g", kInt64, {1}, {0}) +
           Node("GatherBlockQuantized", {"i", "g", "s"}, Int("bits", 5)),
       "bits is 5, want 2, 4 or 8"},
      {Constant("ids", kInt64, {1, 1}, {0}) + Constant("w", kFloat, {1, 2}, {1, 2}) +
           Floats("g", {1, 1}) +
           Node("EmbedLayerNormalization", {"ids", "-", "w", "w", "-", "g", "g"}, "", {"y", "m"}),
       "output 1 without a mask is not supported"},
      {Constant("ids", kInt64, {1, 1}, {0}) + Constant("w", kFloat, {1, 2}, {1, 2}) +
           Floats("g", {1, 1}) +
           Node("EmbedLayerNormalization", {"ids", "ids", "w", "w", "-", "g", "g"}),
       "it has no input 4, want one"},
  };
  for (const auto& row : rows) {
    const std::string error = OnnxImportError(
        OnnxBytes(OnnxValue("input", "x", {"1", "1", "1", "2"}) + row.node + "output { name: 'y' }",
                  17, "opset_import { domain: 'com.microsoft' version: 1 } "));
    EXPECT_NE(error.find(row.message), std::string::npos) << error;
    EXPECT_NE(error.find("node \"n\" of type "), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace caffe2rt::test::runtime_rows_test
