// Domains and opsets of ONNX nodes, and functions of many nodes. Values worked out by hand.
#include <gtest/gtest.h>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"

namespace caffe2rt::test::odd_domains_test {
namespace {

using node_forms::Constant;
using node_forms::Float;
using node_forms::Int;
using node_forms::Ints;
using node_forms::kFloat;
using node_forms::kUint8;
using node_forms::Node;
using node_forms::Text;
using Numbers = std::vector<int64_t>;

// Two rows of two zeros have four equal parts before opset 13, and two in each row from then on.
TEST(OddDomainsTest, OpsetsAreThoseThatAreImported) {
  const auto part = [](const char* domain, int64_t opset, const char* of_node) {
    onnx::ModelProto model;
    const std::string node = Node("Softmax", "x");
    EXPECT_TRUE(model.ParseFromString(OnnxBytes(
        OnnxValue("input", "x", {"1", "2", "2"}) + node + "output { name: 'y' } ", opset)));
    if (domain == nullptr) {
      model.clear_opset_import();
    } else {
      model.mutable_opset_import(0)->set_domain(domain);
    }
    model.mutable_graph()->mutable_node(0)->set_domain(of_node);
    const std::string bytes = model.SerializeAsString();
    EXPECT_EQ(OnnxImportError(bytes), "");
    return FloatsOf(RunOnnxBytes(bytes, {{"x", FloatTensor({1, 2, 2}, {0, 0, 0, 0})}}, "y")).at(0);
  };
  for (const char* const of_node : {"", "ai.onnx"}) {
    for (const char* const domain : {"", "ai.onnx"}) {
      EXPECT_EQ(part(domain, 12, of_node), 0.25f) << domain << " " << of_node;
      EXPECT_EQ(part(domain, 13, of_node), 0.5f) << domain << " " << of_node;
    }
    EXPECT_EQ(part(nullptr, 13, of_node), 0.25f) << of_node;
  }
}

// Nodes of com.microsoft of any opset, on the bytes of x and scales of 1 and 1 / 256.
TEST(OddDomainsTest, NodesOfOtherDomainsHaveTheirAttributes) {
  const std::string scales = Constant("s", kFloat, {}, {1}) + Constant("z", kUint8, {}, {0}) +
                             Constant("t", kFloat, {}, {0.00390625});
  const auto run = [&](std::string node, const Numbers& dims, const std::vector<float>& x,
                       bool bytes) {
    node.insert(node.find("op_type"), "domain: 'com.microsoft' ");
    std::vector<std::string> texts;
    for (const int64_t dim : dims) texts.push_back(MakeString(dim));
    const std::string model =
        OnnxBytes(OnnxValue("input", "x", texts) + scales + Constant("w", kFloat, {1, 1}, {1}) +
                      (bytes ? Node("Cast", "x", Int("to", kUint8), "q") : std::string()) + node +
                      Node("Cast", "p", Int("to", kFloat)) + "output { name: 'y' } ",
                  18, "opset_import { domain: 'com.microsoft' version: 1000 } ");
    EXPECT_EQ(OnnxImportError(model), "");
    return FloatsOf(RunOnnxBytes(model, {{"x", FloatTensor(dims, x)}}, "y"));
  };
  using Values = std::vector<float>;
  const auto softmax = [&](const std::string& more) {
    return run(Node("QLinearSoftmax", "qsztz", more, "p"), {2, 2}, {5, 0, 5, 0}, true);
  };
  EXPECT_EQ(softmax(Int("axis", 0)), Values({128, 128, 128, 128}));
  EXPECT_EQ(softmax(Int("axis", 1)), Values({254, 2, 254, 2}));
  EXPECT_EQ(softmax(""), Values({254, 2, 254, 2}));
  const auto average = [&](const std::string& more) {
    return run(Node("QLinearAveragePool", "qszsz",
                    Ints("kernel_shape", {1, 3}) + Ints("pads", {0, 1, 0, 1}) + more, "p"),
               {1, 1, 1, 2}, {6, 6}, true);
  };
  EXPECT_EQ(average(Int("count_include_pad", 1)), Values({4, 4}));
  EXPECT_EQ(average(Int("count_include_pad", 0)), Values({6, 6}));
  EXPECT_EQ(average(""), Values({6, 6}));
  const auto gemm = [&](const char* activation, const std::string& more) {
    return run(Node("FusedGemm", "xw", Text("activation", activation) + more, "p"), {3, 1},
               {-4, 1, 9}, false);
  };
  const std::string alpha = Float("activation_alpha", 0.25), beta = Float("activation_beta", 0.125);
  EXPECT_EQ(gemm("HardSigmoid", alpha + beta), Values({0, 0.375f, 1}));
  EXPECT_EQ(gemm("HardSigmoid", alpha), Values({0, 0.25f, 1}));
  EXPECT_EQ(gemm("LeakyRelu", alpha + beta), Values({-1, 1, 9}));
  EXPECT_EQ(gemm("Clip", Float("activation_alpha", -2) + Float("activation_beta", 8)),
            Values({-2, 1, 8}));
}

// 65536 nodes of functions, and one more.
TEST(OddDomainsTest, NodesOfFunctionsAreLimited) {
  const auto error = [](int nodes, int calls) {
    std::string function =
        "opset_import { domain: 'own' version: 1 } functions { name: 'F' domain: 'own' "
        "input: 't0' opset_import { version: 17 } ";
    for (int i = 0; i < nodes; ++i)
      function +=
          MakeString("node { op_type: 'Identity' input: 't", i, "' output: 't", i + 1, "' } ");
    function += MakeString("output: 't", nodes, "' } ");
    std::string graph = OnnxValue("input", "c0", {"2"});
    for (int i = 0; i < calls; ++i)
      graph += MakeString("node { op_type: 'F' domain: 'own' input: 'c", i, "' output: 'c", i + 1,
                          "' } ");
    return OnnxImportError(
        OnnxBytes(graph + MakeString("output { name: 'c", calls, "' } "), 17, function));
  };
  EXPECT_EQ(error(16, 256), "");
  EXPECT_NE(error(257, 256).find("nodes after the calls of functions"), std::string::npos);
}

}  // namespace
}  // namespace caffe2rt::test::odd_domains_test
