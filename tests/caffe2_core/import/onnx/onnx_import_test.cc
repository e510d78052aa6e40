// The walk over a model: names, weights, constants, symbols, functions, what is refused.
#include "caffe2_core/import/onnx/onnx_import.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/float16.h"
#include "caffe2_core/graph/stated_inputs.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/predictor.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::onnx_import_test {
namespace {

const char* const kWeight =
    "initializer { name: 'w' data_type: 1 dims: 2 float_data: 10 float_data: 20 } ";

std::string Node(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& output, const std::string& more = "") {
  std::string text =
      "node { op_type: '" + type + "' name: 'n_" + output + "' output: '" + output + "' ";
  for (const std::string& input : inputs) text += "input: '" + input + "' ";
  return text + more + " } ";
}

TEST(OnnxImportTest, InitializersAreWeightsOfTheInitNet) {
  const std::string graph = OnnxValue("input", "x", {"2"}) + kWeight +
                            Node("Add", {"x", "w"}, "y") + OnnxValue("output", "y", {"2"});
  const OnnxModel model = ImportOnnxFromMemory(OnnxBytes(graph), {});
  ASSERT_EQ(model.init_net.op_size(), 1);
  EXPECT_EQ(model.init_net.op(0).output(0), "w");
  ASSERT_EQ(model.weights.size(), 1U);
  EXPECT_EQ(FloatsOf(model.weights[0].values), (std::vector<float>{10, 20}));
  ASSERT_EQ(model.predict_net.op_size(), 1);
  EXPECT_EQ(model.predict_net.op(0).debug_info(), "n_y");
  EXPECT_EQ(model.outputs, std::vector<std::string>{"y"});
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(graph), {{"x", FloatTensor({2}, {1, 2})}}, "y")),
            (std::vector<float>{11, 22}));
}

TEST(OnnxImportTest, OperatorsOnConstantsRunInTheInitNet) {
  const std::string graph = OnnxValue("input", "x", {"2"}) + kWeight + Node("Exp", {"w"}, "e") +
                            Node("Mul", {"x", "e"}, "y") + OnnxValue("output", "y", {"2"});
  const OnnxModel model = ImportOnnxFromMemory(OnnxBytes(graph), {});
  ASSERT_EQ(model.init_net.op_size(), 2);
  EXPECT_EQ(model.init_net.op(1).type(), "Exp");
  ASSERT_EQ(model.predict_net.op_size(), 1);
  EXPECT_EQ(model.predict_net.op(0).type(), "Mul");
}

TEST(OnnxImportTest, RandomOperatorsOnConstantsRunInThePredictNet) {
  const std::string graph = OnnxValue("input", "x", {"2"}) + kWeight +
                            Node("RandomNormalLike", {"w"}, "r") + Node("Add", {"x", "r"}, "y") +
                            OnnxValue("output", "y", {"2"});
  const OnnxModel model = ImportOnnxFromMemory(OnnxBytes(graph), {});
  EXPECT_EQ(model.predict_net.op_size(), 2);
  for (const OperatorDef& op : model.init_net.op()) EXPECT_NE(op.output(0), "r");
}

TEST(OnnxImportTest, OperatorsThatNothingReadsAreLeftOut) {
  const std::string graph = OnnxValue("input", "x", {"2"}) + kWeight +
                            Node("Add", {"x", "w"}, "unread") + Node("Relu", {"x"}, "y") +
                            OnnxValue("output", "y", {"2"});
  const OnnxModel model = ImportOnnxFromMemory(OnnxBytes(graph), {});
  EXPECT_EQ(model.init_net.op_size(), 0);
  EXPECT_TRUE(model.weights.empty());
  ASSERT_EQ(model.predict_net.op_size(), 1);
  EXPECT_EQ(model.predict_net.op(0).type(), "Relu");
}

TEST(OnnxImportTest, AnOutputMayBeAnInitializerOrAnInput) {
  const std::string graph = OnnxValue("input", "x", {"2"}) + kWeight +
                            OnnxValue("output", "w", {"2"}) + Node("Identity", {"x"}, "y") +
                            OnnxValue("output", "y", {"2"});
  const NamedTensors inputs = {{"x", FloatTensor({2}, {1, 2})}};
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(graph), inputs, "w")), (std::vector<float>{10, 20}));
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(graph), inputs, "y")), (std::vector<float>{1, 2}));
}

// The shape is computed from the input's at import, so that one Reshape remains.
TEST(OnnxImportTest, ShapesAreComputedAtImport) {
  const std::string graph =
      OnnxValue("input", "x", {"2", "3", "4"}) + Node("Shape", {"x"}, "shape") +
      "initializer { name: 'zero' data_type: 7 int64_data: 0 } "
      "initializer { name: 'minus' data_type: 7 dims: 1 int64_data: -1 } "
      "initializer { name: 'first' data_type: 7 dims: 1 int64_data: 0 } " +
      Node("Gather", {"shape", "zero"}, "n") + Node("Unsqueeze", {"n", "first"}, "n1") +
      Node("Concat", {"n1", "minus"}, "dims", "attribute { name: 'axis' type: INT i: 0 }") +
      Node("Reshape", {"x", "dims"}, "y") + OnnxValue("output", "y", {"2", "12"});
  const OnnxModel model = ImportOnnxFromMemory(OnnxBytes(graph), {});
  ASSERT_EQ(model.predict_net.op_size(), 1);
  EXPECT_EQ(model.predict_net.op(0).type(), "Reshape");
  EXPECT_EQ(model.init_net.op_size(), 0);
}

// With a symbol for the batch, the dimension is copied when the net runs.
TEST(OnnxImportTest, ASymbolStaysDynamic) {
  const std::string graph =
      OnnxValue("input", "x", {"batch", "3", "4"}) + Node("Shape", {"x"}, "shape") +
      "initializer { name: 'zero' data_type: 7 int64_data: 0 } "
      "initializer { name: 'minus' data_type: 7 dims: 1 int64_data: -1 } "
      "initializer { name: 'first' data_type: 7 dims: 1 int64_data: 0 } " +
      Node("Gather", {"shape", "zero"}, "n") + Node("Unsqueeze", {"n", "first"}, "n1") +
      Node("Concat", {"n1", "minus"}, "dims", "attribute { name: 'axis' type: INT i: 0 }") +
      Node("Reshape", {"x", "dims"}, "y") + OnnxValue("output", "y", {"batch", "12"});
  for (const int64_t batch : {1, 2, 5}) {
    Tensor x({batch, 3, 4}, CPU);
    std::fill_n(x.mutable_data<float>(), x.numel(), 1.0f);
    const Tensor y = RunOnnxBytes(OnnxBytes(graph), {{"x", x}}, "y");
    EXPECT_EQ(y.dims(), (std::vector<int64_t>{batch, 12}));
  }
  const OnnxModel model = ImportOnnxFromMemory(OnnxBytes(graph), {});
  EXPECT_EQ(model.predict_net.op_size(), 1);
  EXPECT_EQ(model.inputs[0].dims, (std::vector<int64_t>{-1, 3, 4}));
  EXPECT_EQ(model.inputs[0].symbols, (std::vector<std::string>{"batch", "", ""}));
  EXPECT_EQ(model.fixed_size_node, "");
}

TEST(OnnxImportTest, AFunctionIsTranslatedInPlace) {
  const std::string function =
      "opset_import { domain: 'own' version: 1 } functions { name: 'Twice' domain: 'own' input: "
      "'a' "
      "output: 'b' attribute: 'alpha' opset_import { version: 17 } "
      "node { op_type: 'Add' input: 'a' input: 'a' output: 't' } "
      "node { op_type: 'LeakyRelu' input: 't' output: 'b' "
      "attribute { name: 'alpha' type: FLOAT ref_attr_name: 'alpha' } } } ";
  const std::string graph =
      OnnxValue("input", "x", {"2"}) +
      "node { op_type: 'Twice' domain: 'own' input: 'x' output: 'y' name: 'call' "
      "attribute { name: 'alpha' type: FLOAT f: 0.5 } } " +
      OnnxValue("output", "y", {"2"});
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(graph, 17, function),
                                  {{"x", FloatTensor({2}, {1, -2})}}, "y")),
            (std::vector<float>{2, -2}));
}

TEST(OnnxImportTest, OneErrorListsAllOperatorsThatAreNotSupported) {
  const std::string graph = OnnxValue("input", "x", {"2"}) + Node("Wonder", {"x"}, "a") +
                            Node("Wonder", {"a"}, "b") + Node("Marvel", {"b"}, "y") +
                            OnnxValue("output", "y", {"2"});
  EXPECT_EQ(OnnxImportError(OnnxBytes(graph)),
            "cannot import \"model\": 2 operators of the model are not supported: "
            "Marvel (node \"n_y\"), Wonder (node \"n_a\" and 1 more)");
}

TEST(OnnxImportTest, HeadsOfAttentionMustFit) {
  const std::string heads =
      "attribute { name: 'q_num_heads' type: INT i: 3 } "
      "attribute { name: 'kv_num_heads' type: INT i: 2 }";
  const std::string graph = OnnxValue("input", "q", {"1", "2", "6"}) +
                            OnnxValue("input", "k", {"1", "2", "4"}) +
                            Node("Attention", {"q", "k", "k"}, "y", heads) + "output { name: 'y' }";
  EXPECT_NE(OnnxImportError(OnnxBytes(graph, 23))
                .find("3 query heads, want a multiple of the 2 of keys and values"),
            std::string::npos);
}

// Queries of 0 weigh all keys alike: the mean of the values, of which one is from the past.
TEST(OnnxImportTest, AttentionSeesThePast) {
  std::string graph;
  NamedTensors inputs;
  for (const auto& [name, value] :
       {std::pair("q", 0.0f), {"k", 1.0f}, {"v", 4.0f}, {"pk", 3.0f}, {"pv", 2.0f}}) {
    graph += OnnxValue("input", name, {"1", "1", "1", "1"});
    inputs.emplace_back(name, FloatTensor({1, 1, 1, 1}, {value}));
  }
  graph +=
      "node { op_type: 'Attention' input: 'q' input: 'k' input: 'v' input: '' input: 'pk' input: "
      "'pv' "
      "output: 'y' output: 'keys' output: 'values' } output { name: 'y' } output { name: 'keys' } "
      "output { name: 'values' }";
  const std::string bytes = OnnxBytes(graph, 23);
  EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, inputs, "y")), (std::vector<float>{3}));
  EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, inputs, "keys")), (std::vector<float>{3, 1}));
  EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, inputs, "values")), (std::vector<float>{2, 4}));
}

TEST(OnnxImportTest, AnOpsetAboveTheKnownIsAnError) {
  const std::string graph =
      OnnxValue("input", "x", {"2"}) + Node("Relu", {"x"}, "y") + OnnxValue("output", "y", {"2"});
  EXPECT_EQ(OnnxImportError(OnnxBytes(graph, 99)),
            "cannot import \"model\": 1 operator of the model is not supported: "
            "Relu of opset 99, known are up to 28 (node \"n_y\")");
  EXPECT_EQ(OnnxImportError(OnnxBytes(graph, 99), {.tolerant = true}), "");
}

TEST(OnnxImportTest, TheNetStatesItsInputs) {
  const std::string graph = OnnxValue("input", "x", {"n", "3"}, 7) + Node("Identity", {"x"}, "y") +
                            OnnxValue("output", "y", {"n", "3"}, 7);
  const OnnxModel model = ImportOnnxFromMemory(OnnxBytes(graph), {});
  const std::map<std::string, StatedInput> inputs = StatedInputs(model.predict_net);
  ASSERT_EQ(inputs.count("x"), 1U);
  EXPECT_EQ(inputs.at("x").type, TensorProto::INT64);
  EXPECT_EQ(inputs.at("x").dims, (std::vector<int64_t>{-1, 3}));
  EXPECT_EQ(StatedOutputs(model.predict_net).at("y"), (std::vector<int64_t>{-1, 3}));
}

TEST(OnnxImportTest, ASequenceIsNoTensor) {
  const std::string sequence =
      OnnxValue("input", "x", {"2"}) + Node("SequenceConstruct", {"x", "x"}, "s");
  const auto error = [&](const std::string& more) {
    return OnnxImportError(OnnxBytes(sequence + more));
  };
  EXPECT_NE(error(OnnxValue("output", "s", {"2"}))
                .find("output \"s\" is a sequence, which is not supported"),
            std::string::npos);
  EXPECT_NE(error(Node("Relu", {"s"}, "y") + OnnxValue("output", "y", {"2"}))
                .find("input \"s\" is a sequence, want a tensor"),
            std::string::npos);
  EXPECT_NE(error("initializer { name: 'i' data_type: 7 int64_data: 2 } " +
                  Node("SequenceAt", {"s", "i"}, "y") + OnnxValue("output", "y", {"2"}))
                .find("position 2 is out of range for a sequence of 2 tensors"),
            std::string::npos);
  EXPECT_NE(error(Node("SequenceLength", {"x"}, "y") + OnnxValue("output", "y", {}))
                .find("input 0 is no sequence"),
            std::string::npos);
}

TEST(OnnxImportTest, ADimensionThatMustBeKnownIsAskedFor) {
  const std::string graph = OnnxValue("input", "x", {"1", "c", "2"}) + kWeight +
                            Node("GroupNormalization", {"x", "w", "w"}, "y",
                                 "attribute { name: 'num_groups' type: INT i: 2 }") +
                            OnnxValue("output", "y", {"1", "c", "2"});
  EXPECT_EQ(
      OnnxImportError(OnnxBytes(graph, 18)),
      "cannot import \"model\": node \"n_y\" of type GroupNormalization: it needs dim 1 of blob "
      "\"x\", which is \"c\"; give it a number");
  EXPECT_EQ(OnnxImportError(OnnxBytes(graph, 18), {.dims = {{"c", 6}}}), "");
  EXPECT_EQ(OnnxImportError(OnnxBytes(graph, 18), {.input_shapes = {{"x", {1, 6, 2}}}}), "");
}

// --- control flow ---

std::string Graph(const std::string& attribute, const std::string& content) {
  return "attribute { name: '" + attribute + "' type: GRAPH g { name: '" + attribute + "' " +
         content + " } } ";
}

std::string IfGraph(const std::string& condition) {
  return OnnxValue("input", "x", {"2"}) + condition + kWeight +
         Node("If", {"c"}, "y",
              Graph("then_branch", Node("Add", {"x", "w"}, "t") + "output { name: 't' }") +
                  Graph("else_branch", Node("Mul", {"x", "w"}, "e") + "output { name: 'e' }")) +
         OnnxValue("output", "y", {"2"});
}

Tensor BoolTensor(bool value) {
  Tensor tensor(std::vector<int64_t>{}, CPU);
  *tensor.mutable_data<bool>() = value;
  return tensor;
}

TEST(OnnxImportTest, IfRunsOneOfItsBranches) {
  const std::string bytes = OnnxBytes(IfGraph(OnnxValue("input", "c", {}, 9)));
  const Tensor x = FloatTensor({2}, {1, 2});
  EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, {{"x", x}, {"c", BoolTensor(true)}}, "y")),
            (std::vector<float>{11, 22}));
  EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, {{"x", x}, {"c", BoolTensor(false)}}, "y")),
            (std::vector<float>{10, 40}));
}

TEST(OnnxImportTest, ABranchThatIsKnownIsInlined) {
  const std::string bytes =
      OnnxBytes(IfGraph("initializer { name: 'c' data_type: 9 int32_data: 0 } "));
  const OnnxModel model = ImportOnnxFromMemory(bytes, {});
  ASSERT_EQ(model.predict_net.op_size(), 2);  // Mul, and Copy to the name of the output
  EXPECT_EQ(model.predict_net.op(0).type(), "Mul");
  EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, {{"x", FloatTensor({2}, {1, 2})}}, "y")),
            (std::vector<float>{10, 40}));
}

// v starts as x and grows by w, which is outside of the body; the items are its values.
TEST(OnnxImportTest, LoopCarriesValuesAndListsItems) {
  const std::string body =
      "input { name: 'i' } input { name: 'k' } input { name: 'v' } " +
      Node("Add", {"v", "w"}, "next") + Node("Identity", {"k"}, "again") +
      Node("Identity", {"next"}, "item") +
      "output { name: 'again' } output { name: 'next' } output { name: 'item' }";
  const std::string graph =
      OnnxValue("input", "x", {"2"}) + OnnxValue("input", "n", {}, 7) + kWeight +
      "node { op_type: 'Loop' name: 'loop' input: 'n' input: '' input: 'x' output: 'y' "
      "output: 'all' " +
      Graph("body", body) + "} " + OnnxValue("output", "y", {"2"}) +
      OnnxValue("output", "all", {"m", "2"});
  const NamedTensors inputs = {{"x", FloatTensor({2}, {1, 2})}, {"n", IntTensor({}, {3})}};
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(graph), inputs, "y")), (std::vector<float>{31, 62}));
  const Tensor all = RunOnnxBytes(OnnxBytes(graph), inputs, "all");
  EXPECT_EQ(all.dims(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(FloatsOf(all), (std::vector<float>{11, 22, 21, 42, 31, 62}));
}

TEST(OnnxImportTest, HalfPrecisionIsRoundedAfterEachOperator) {
  const std::string graph = OnnxValue("input", "x", {"1"}, 10) + Node("Add", {"x", "x"}, "s") +
                            Node("Mul", {"s", "s"}, "y") + OnnxValue("output", "y", {"1"}, 10);
  Tensor x({1}, CPU);
  *x.mutable_data<float16>() = float16(1.0009765625f);  // 1 + 2^-10
  const Tensor y = RunOnnxBytes(OnnxBytes(graph), {{"x", x}}, "y");
  ASSERT_TRUE(y.IsType<float16>());
  EXPECT_EQ(static_cast<float>(*y.data<float16>()), 4.0078125f);  // of 4.0078163
}

TEST(OnnxImportTest, AModelInMemoryIsAModel) {
  const std::string graph = OnnxValue("input", "x", {"batch", "2"}) + kWeight +
                            Node("Add", {"x", "w"}, "y") + OnnxValue("output", "y", {"batch", "2"});
  Predictor predictor(LoadModelFromMemory({}, OnnxBytes(graph)));
  for (const int64_t batch : {1, 3}) {
    Tensor x({batch, 2}, CPU);
    std::fill_n(x.mutable_data<float>(), x.numel(), 1.0f);
    Predictor::TensorMap outputs;
    ASSERT_TRUE(predictor({{"x", x}}, &outputs));
    EXPECT_EQ(outputs.at("y").dims(), (std::vector<int64_t>{batch, 2}));
    EXPECT_EQ(FloatsOf(outputs.at("y"))[1], 21);
  }
}

}  // namespace
}  // namespace caffe2rt::test::onnx_import_test
