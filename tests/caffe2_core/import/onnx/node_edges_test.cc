// Nodes with one input, an absent first output or a single step, slopes of all ranks, texts, and lists that are too
// short. Values worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "caffe2_core/base/float16.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"

namespace caffe2rt::test::node_edges_test {
namespace {

using namespace node_forms;  // used throughout this file

constexpr int kDouble = 11;
const std::string kNodeY = "output { name: 'y' } ";

using Int64s = std::vector<int64_t>;

TEST(NodeEdgesTest, SlopesForChannelsHaveAnOperatorOfTheirOwn) {
  const auto types = [](const std::vector<int64_t>& slope, const std::vector<std::string>& x,
                        int type = kFloat) {
    int64_t count = 1;
    for (const int64_t dim : slope) count *= dim;
    const OnnxModel model = ImportOnnxFromMemory(
        OnnxBytes(Constant("s", type, slope, std::vector<double>(static_cast<size_t>(count), 2)) +
                      Node("PRelu", "xs") + OnnxValue("input", "x", x, type) + kNodeY,
                  16),
        {});
    std::string text;
    for (const OperatorDef& op : model.predict_net.op()) text += op.type() + " ";
    return text;
  };
  const std::string steps = "Mul LT Where ";
  EXPECT_EQ(types({3}, {"2", "3"}), "PRelu ");
  EXPECT_EQ(types({1}, {"2", "3"}), "PRelu ");
  EXPECT_EQ(types({3, 1}, {"2", "3", "4"}), "PRelu ");
  EXPECT_EQ(types({3, 1, 1}, {"2", "3", "4", "5"}), "PRelu ");
  EXPECT_EQ(types({3, 1, 1, 1}, {"2", "3", "4", "5", "2"}), "PRelu ");
  EXPECT_EQ(types({3, 1, 1, 1}, {"n", "3", "4", "5", "2"}), "PRelu ");
  EXPECT_EQ(types({3, 1, 1, 1, 1}, {"2", "3", "4", "5", "2", "2"}), steps);
  EXPECT_EQ(types({1, 4, 1}, {"2", "3", "4", "5"}), steps);
  EXPECT_EQ(types({3, 1, 5}, {"2", "3", "4", "5"}), steps);
  EXPECT_EQ(types({4, 1}, {"2", "3", "4", "5"}), steps);
  EXPECT_EQ(types({1, 3, 1, 1}, {"2", "3", "4", "5"}), steps);
  EXPECT_EQ(types({}, {"3"}), steps);
  EXPECT_EQ(types({3, 1}, {"2", "3", "4"}, kInt32), steps);
}

TEST(NodeEdgesTest, RandomNumbersAreLikeTheirInput) {
  for (const auto& [node, fill] :
       {std::pair("RandomNormalLike", "GaussianFill(x) mean=0 std=1 -> %1\n"),
        {"RandomUniformLike", "UniformFill(x) min=0 max=1 -> %1\n"}}) {
    node_forms::Check({{Node(node), std::string(fill) + "Copy(%1) -> y\n"},
                       {.nodes = Node(node),
                        .want = std::string(fill) + "Cast(%1) to=13 -> %2\nCopy(%2) -> y\n",
                        .type = kDouble},
                       {.nodes = Node(node, "x", Int("dtype", kFloat)),
                        .want = std::string(fill) + "Copy(%1) -> y\n",
                        .type = kDouble}});
  }
}

TEST(NodeEdgesTest, TheOutputsOfLayerNormalizationComeAlone) {
  // Mean 2, variance 1.
  const std::string graph = OnnxValue("input", "x", {"1", "2"}) +
                            Constant("s", kFloat, {2}, {3, 5}) + Constant("b", kFloat, {2}, {1, 1});
  const auto run = [&](const std::string& outputs, const std::string& output,
                       const std::string& inputs = "xsb") {
    return FloatsOf(RunOnnxBytes(
        OnnxBytes(graph + Node("LayerNormalization", inputs, Float("epsilon", 0), outputs) +
                  "output { name: '" + output + "' } "),
        {{"x", FloatTensor({1, 2}, {1, 3})}}, output));
  };
  for (const char* outputs : {"y", "ym", "ymd", "y-d"}) {
    EXPECT_EQ(run(outputs, "y"), (std::vector<float>{-2, 6})) << outputs;
  }
  for (const char* outputs : {"ym", "ymd"}) EXPECT_EQ(run(outputs, "m"), std::vector<float>{2});
  for (const char* outputs : {"ymd", "y-d"}) EXPECT_EQ(run(outputs, "d"), std::vector<float>{1});
  EXPECT_EQ(run("y-d", "y", "xs"), (std::vector<float>{-3, 5}));
  EXPECT_EQ(run("y-d", "d", "xs"), std::vector<float>{1});
}

TEST(NodeEdgesTest, OneInputIsItsOwnSum) {
  for (const char* type : {"Sum", "Mean", "Max", "Min"}) {
    SCOPED_TRACE(type);
    const std::string bytes = OnnxBytes(OnnxValue("input", "x", {"2"}) + Node(type) + kNodeY, 13);
    EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, {{"x", FloatTensor({2}, {-1.5f, 4})}}, "y")),
              (std::vector<float>{-1.5f, 4}));
    EXPECT_EQ(ImportOnnxFromMemory(bytes, {}).predict_net.op_size(), 1);
  }
  const std::string three = OnnxValue("input", "x", {"2"}) + OnnxValue("input", "b", {"2"});
  const NamedTensors inputs = {{"x", FloatTensor({2}, {-1, 4})}, {"b", FloatTensor({2}, {5, 1})}};
  const auto run = [&](const char* type) {
    return FloatsOf(RunOnnxBytes(OnnxBytes(three + Node(type, "xbx") + kNodeY, 13), inputs, "y"));
  };
  EXPECT_EQ(run("Sum"), (std::vector<float>{3, 9}));
  EXPECT_EQ(run("Mean"), (std::vector<float>{1, 3}));
  EXPECT_EQ(run("Max"), (std::vector<float>{5, 4}));
  EXPECT_EQ(run("Min"), (std::vector<float>{-1, 1}));
}

// The first output of these may be the one that nobody reads.
TEST(NodeEdgesTest, TheFirstOutputMayBeAbsent) {
  const std::string x = OnnxValue("input", "x", {"4"});
  const NamedTensors four = {{"x", FloatTensor({4}, {3, 9, 1, 7})}};
  const std::string out = "output { name: 'i' } ";
  EXPECT_EQ(IntsOf(RunOnnxBytes(OnnxBytes(x + List("k", {2}) + Node("TopK", "xk", "", "-i") + out),
                                four, "i")),
            (Int64s{1, 3}));
  EXPECT_EQ(IntsOf(RunOnnxBytes(
                OnnxBytes(x + List("k", {2}) + Node("TopK", "xk", Int("largest", 0), "-i") + out),
                four, "i")),
            (Int64s{2, 0}));
  EXPECT_EQ(
      IntsOf(RunOnnxBytes(OnnxBytes(OnnxValue("input", "x", {"1", "1", "4"}) +
                                    Node("MaxPool", "x", Ints("kernel_shape", {2}), "-i") + out),
                          {{"x", FloatTensor({1, 1, 4}, {3, 9, 1, 7})}}, "i")),
      (Int64s{1, 1, 3}));
  EXPECT_EQ(FloatsOf(RunOnnxBytes(
                OnnxBytes(x + List("k", {1, 3}) + Node("Split", "xk", "", "-i") + out), four, "i")),
            (std::vector<float>{9, 1, 7}));
}

// One step is not joined with others.
TEST(NodeEdgesTest, LinearAttentionMayHaveOneStep) {
  const auto input = [](const char* name) { return OnnxValue("input", name, {"1", "1", "2"}); };
  const std::string graph = input("q") + input("k") + input("v") +
                            Node("LinearAttention", "qkv",
                                 Int("q_num_heads", 1) + Int("kv_num_heads", 1) +
                                     Text("update_rule", "linear") + Float("scale", 0.5f),
                                 "ys") +
                            kNodeY + "output { name: 's' } ";
  const NamedTensors inputs = {{"q", FloatTensor({1, 1, 2}, {2, 4})},
                               {"k", FloatTensor({1, 1, 2}, {1, 3})},
                               {"v", FloatTensor({1, 1, 2}, {5, 7})}};
  // The state is the outer product of key and value; (2 * 1 + 4 * 3) / 2 = 7 times the value.
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(graph, 27), inputs, "y")),
            (std::vector<float>{35, 49}));
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(graph, 27), inputs, "s")),
            (std::vector<float>{5, 7, 15, 21}));
}

TEST(NodeEdgesTest, ListsThatAreTooShortAreErrors) {
  const std::string x = OnnxValue("input", "x", {"5"});
  EXPECT_EQ(OnnxImportError(OnnxBytes(x + List("b", {1}) + List("e", {2}) + List("a", {}) +
                                      Node("Slice", "xbea") + kNodeY)),
            "cannot import \"model\": node \"n\" of type Slice: a list or a shape is shorter than "
            "the operator wants");
  EXPECT_EQ(
      OnnxImportError(OnnxBytes(Constant("x", kInt64, {2, 2}, {1, 2, 3, 4}) + List("b", {0, 1}) +
                                List("e", {1}) + Node("Slice", "xbe") + kNodeY)),
      "cannot import \"model\": node \"n\" of type Slice: a list or a shape is shorter than "
      "the operator wants");
  EXPECT_EQ(OnnxImportError(OnnxBytes(x + List("b", {1}) + List("e", {2}) + List("a", {0}) +
                                      Node("Slice", "xbea") + kNodeY)),
            "");
}

// The bias may have any shape that is broadcast.
TEST(NodeEdgesTest, GemmAddsABiasOfAnyRank) {
  const std::string bytes = OnnxBytes(OnnxValue("input", "x", {"1", "2"}) +
                                      "input { name: 'd' type { tensor_type { elem_type: 1 } } } " +
                                      Constant("w", kFloat, {3, 2}, {1, 0, 0, 1, 1, 1}) +
                                      Node("Gemm", "xwd", Int("transB", 1)) + kNodeY);
  ASSERT_EQ(OnnxImportError(bytes), "");
  const Tensor x = FloatTensor({1, 2}, {2, 3});
  EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, {{"x", x}, {"d", FloatTensor({}, {10})}}, "y")),
            (std::vector<float>{12, 13, 15}));
  EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, {{"x", x}, {"d", FloatTensor({1, 3}, {1, 2, 3})}}, "y")),
            (std::vector<float>{3, 5, 8}));
}

// Doubles stay doubles beside a scale of which no type is stated.
TEST(NodeEdgesTest, AScaleWithoutATypeDoesNotDecideTheType) {
  const std::string bytes = OnnxBytes(
      OnnxValue("input", "x", {"1", "2"}, kDouble) + "input { name: 's' } " +
          Node("RMSNormalization", "xs", Float("epsilon", 0) + Int("stash_type", kDouble)) + kNodeY,
      23);
  const auto doubles = [](const Int64s& dims, const std::vector<double>& values) {
    Tensor tensor(dims, CPU);
    std::copy(values.begin(), values.end(), tensor.mutable_data<double>());
    return tensor;
  };
  ASSERT_EQ(OnnxImportError(bytes), "");
  // The root of the mean of 1 and 49 is 5.
  const Tensor y =
      RunOnnxBytes(bytes, {{"x", doubles({1, 2}, {1, 7})}, {"s", doubles({2}, {10, 100})}}, "y");
  ASSERT_TRUE(y.IsType<double>());
  EXPECT_NEAR(y.data<double>()[0], 2, 1e-12);
  EXPECT_NEAR(y.data<double>()[1], 140, 1e-10);
}

// Of old models: without `broadcast`, the axis is not read.
TEST(NodeEdgesTest, AnAxisWithoutBroadcastIsNotRead) {
  const std::string bytes = OnnxBytes("input { name: 'x' type { tensor_type { elem_type: 1 } } } " +
                                          Node("Add", "xx", Int("axis", 0)) + kNodeY,
                                      6);
  ASSERT_EQ(OnnxImportError(bytes), "");
  EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, {{"x", FloatTensor({2}, {1, 4})}}, "y")),
            (std::vector<float>{2, 8}));
}

TEST(NodeEdgesTest, AxesFromTheStartNeedNoRank) {
  const auto type = [](int64_t axis) {
    const OnnxModel model = ImportOnnxFromMemory(
        OnnxBytes("input { name: 'x' type { tensor_type { elem_type: 1 } } } " + List("a", {axis}) +
                  Node("Unsqueeze", "xa") + kNodeY),
        {});
    return model.predict_net.op(0).type();
  };
  EXPECT_EQ(type(0), "ExpandDims");
  EXPECT_EQ(type(-1), "Unsqueeze");
}

// The operator that counts axes from the end when it runs.
TEST(NodeEdgesTest, TopKOfAnyRankFindsItsAxisInARun) {
  const std::string bytes =
      OnnxBytes("input { name: 'x' type { tensor_type { elem_type: 1 } } } " + List("k", {2}) +
                Node("TopK", "xk", "", "yi") + kNodeY + "output { name: 'i' } ");
  const NamedTensors inputs = {{"x", FloatTensor({2, 3}, {5, 1, 7, 2, 9, 4})}};
  EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, inputs, "y")), (std::vector<float>{7, 5, 9, 4}));
  EXPECT_EQ(IntsOf(RunOnnxBytes(bytes, inputs, "i")), (Int64s{2, 0, 1, 2}));
}

TEST(NodeEdgesTest, SequencesHaveALimit) {
  const auto model = [](int count) {
    std::string node = "node { op_type: 'SequenceConstruct' name: 'n' output: 's' ";
    for (int i = 0; i < count; ++i) node += "input:'x'";
    return OnnxBytes(OnnxValue("input", "x", {"1"}) + node + "} " + Node("SequenceLength", "s") +
                     kNodeY);
  };
  EXPECT_EQ(IntsOf(RunOnnxBytes(model(65536), {{"x", FloatTensor({1}, {1})}}, "y")), Int64s{65536});
  EXPECT_EQ(OnnxImportError(model(65537)),
            "cannot import \"model\": node \"n\" of type SequenceConstruct: tensors in a sequence: "
            "got 65537, want at most 65536");
}

TEST(NodeEdgesTest, ConstantsMayBeTexts) {
  const std::string texts =
      "initializer { name: 's' data_type: 8 dims: 3 string_data: 'a' string_data: '' string_data: "
      "'bc' } ";
  const auto run = [&](const std::string& node) {
    const Tensor y = RunOnnxBytes(OnnxBytes(texts + node + kNodeY), {}, "y");
    EXPECT_TRUE(y.IsType<std::string>());
    return std::vector<std::string>(y.data<std::string>(), y.data<std::string>() + y.numel());
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(run(Node("Identity", "s")), (Texts{"a", "", "bc"}));
  EXPECT_EQ(run(List("i", {2, 0}) + Node("Gather", "si")), (Texts{"bc", "a"}));
  EXPECT_EQ(run(List("d", {1, 3}) + Node("Reshape", "sd")), (Texts{"a", "", "bc"}));
}

// Names that the import makes up avoid those that the model has, also those that come later.
TEST(NodeEdgesTest, NamesOfTheModelStayItsOwn) {
  const auto node = [](const std::string& type, const std::string& inputs,
                       const std::string& output, const std::string& attributes = "") {
    return "node { op_type: '" + type + "' name: 'n' " + inputs + " output: '" + output + "' " +
           attributes + " } ";
  };
  // Widened as x/float, which is an input of its own.
  const std::string wide = OnnxValue("input", "x", {"1"}, 10) +
                           OnnxValue("input", "x/float", {"1"}) +
                           node("Cast", "input: 'x'", "c", Int("to", kFloat)) +
                           node("Add", "input: 'c' input: 'x/float'", "y") + kNodeY;
  Tensor half(Int64s{1}, CPU);
  half.mutable_data<float16>()[0] = float16(1.5f);
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(wide),
                                  {{"x", half}, {"x/float", FloatTensor({1}, {2})}}, "y")),
            std::vector<float>{3.5f});
  // The steps of Swish would be n/mul and n/sigmoid.
  const std::string swish =
      OnnxValue("input", "x", {"1"}) + node("Swish", "input: 'x'", "s", Float("alpha", 2));
  const NamedTensors one = {{"x", FloatTensor({1}, {1})}};
  const float gate = 1 / (1 + std::exp(-2.0f));
  for (const std::string name : {"n/mul", "n/sigmoid"}) {
    SCOPED_TRACE(name);
    const std::string value = swish + node("Neg", "input: 'x'", name) +
                              node("Sub", "input: 's' input: '" + name + "'", "y") + kNodeY;
    Workspace ws;
    RunOnnx(ImportOnnxFromMemory(OnnxBytes(value, 24), {}), one, &ws);
    EXPECT_NEAR(FloatsOf(ws.GetBlob("y")->Get<Tensor>())[0], gate + 1, 1e-6);
    ASSERT_NE(ws.GetBlob(name), nullptr);
    EXPECT_EQ(FloatsOf(ws.GetBlob(name)->Get<Tensor>()), std::vector<float>{-1});
    // As an output, an initializer and another input.
    const std::string output =
        swish + node("Neg", "input: 's'", name) + "output { name: '" + name + "' } ";
    EXPECT_NEAR(FloatsOf(RunOnnxBytes(OnnxBytes(output, 24), one, name))[0], -gate, 1e-6);
    const std::string constant =
        swish + Number(name, 7) + node("Sub", "input: 's' input: '" + name + "'", "y") + kNodeY;
    EXPECT_NEAR(FloatsOf(RunOnnxBytes(OnnxBytes(constant, 24), one, "y"))[0], gate - 7, 1e-6);
    const std::string input = swish + OnnxValue("input", name, {"1"}) +
                              node("Sub", "input: 's' input: '" + name + "'", "y") + kNodeY;
    EXPECT_NEAR(FloatsOf(RunOnnxBytes(OnnxBytes(input, 24),
                                      {{"x", FloatTensor({1}, {1})}, {name, FloatTensor({1}, {5})}},
                                      "y"))[0],
                gate - 5, 1e-6);
  }
}

}  // namespace
}  // namespace caffe2rt::test::node_edges_test
