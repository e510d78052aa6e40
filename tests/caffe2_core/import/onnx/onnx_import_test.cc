// The walk over a model: names, weights, constants, symbols, functions, what is refused.
#include "caffe2_core/import/onnx/onnx_import.h"

#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"
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

TEST(OnnxImportTest, AnOpsetAboveTheKnownIsAnError) {
  const std::string graph =
      OnnxValue("input", "x", {"2"}) + Node("Relu", {"x"}, "y") + OnnxValue("output", "y", {"2"});
  EXPECT_EQ(OnnxImportError(OnnxBytes(graph, 99)),
            "cannot import \"model\": 1 operators of the model are not supported: "
            "Relu of opset 99, known are up to 28 (node \"n_y\")");
  EXPECT_EQ(OnnxImportError(OnnxBytes(graph, 99), {.tolerant = true}), "");
}

TEST(OnnxImportTest, ADimensionThatMustBeKnownIsAskedFor) {
  const std::string graph =
      OnnxValue("input", "x", {"1", "4", "h", "8"}) +
      Node("SpaceToDepth", {"x"}, "y", "attribute { name: 'blocksize' type: INT i: 2 }") +
      OnnxValue("output", "y", {"1", "16", "a", "4"});
  EXPECT_EQ(
      OnnxImportError(OnnxBytes(graph)),
      "cannot import \"model\": node \"n_y\" of type SpaceToDepth: it needs dim 2 of blob \"x\", "
      "which is \"h\"; give it a number");
  EXPECT_EQ(OnnxImportError(OnnxBytes(graph), {.dims = {{"h", 6}}}), "");
  EXPECT_EQ(OnnxImportError(OnnxBytes(graph), {.input_shapes = {{"x", {1, 4, 6, 8}}}}), "");
}

}  // namespace
}  // namespace caffe2rt::test::onnx_import_test
