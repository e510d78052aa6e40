// Ranks and element types where sizes are known only when the model runs: the shape of the first node's
// output is an input of the model. The values are worked out by hand.
#include <gtest/gtest.h>

#include "caffe2_core/import/onnx/onnx_import.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::node_facts_test {
namespace {

constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

std::string Node(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& output, const std::string& attributes = "") {
  std::string text = "node { op_type: '" + type + "' ";
  for (const std::string& input : inputs) text += "input: '" + input + "' ";
  return text + "output: '" + output + "' " + attributes + "} ";
}

std::string Int(const std::string& name, int64_t value) {
  return MakeString("attribute { name: '", name, "' type: INT i: ", value, " } ");
}

// A list of one element that is known.
std::string List(const std::string& name, int64_t value) {
  return MakeString("initializer { name: '", name, "' data_type: 7 dims: 1 int64_data: ", value,
                    " } ");
}

// x has a length that is not known, and r the shape that is given when the model runs.
std::string Graph(const std::string& nodes, int out_type) {
  return Node("Reshape", {"x", "shape"}, "r") + nodes + OnnxValue("input", "x", {"n"}, kInt64) +
         OnnxValue("input", "shape", {"2"}, kInt64) + OnnxValue("output", "y", {}, out_type);
}

Tensor RunGraph(const std::string& nodes, int out_type) {
  return RunOnnxBytes(
      OnnxBytes(Graph(nodes, out_type), 22),
      {{"x", IntTensor({6}, {0, 1, 2, 3, 4, 5})}, {"shape", IntTensor({2}, {2, 3})}}, "y");
}

TEST(NodeFactsTest, ConvertIntegersOfUnknownShape) {
  const Tensor y = RunGraph(Node("Cast", {"r"}, "y", Int("to", kFloat)), kFloat);
  EXPECT_EQ(y.dims(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(FloatsOf(y), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST(NodeFactsTest, CompareIntegersOfUnknownShape) {
  const Tensor y = RunGraph(
      List("two", 2) + Node("Less", {"r", "two"}, "less") + Node("Not", {"less"}, "y"), kBool);
  ASSERT_TRUE(y.IsType<bool>());
  const bool* bits = y.data<bool>();
  EXPECT_EQ(std::vector<bool>(bits, bits + 6), (std::vector<bool>{0, 0, 1, 1, 1, 1}));
}

TEST(NodeFactsTest, CountAxesFromTheEnd) {
  struct {
    std::string nodes;
    std::vector<int64_t> dims, values;
  } const rows[] = {
      {Node("Flatten", {"r"}, "y", Int("axis", -1)), {2, 3}, {0, 1, 2, 3, 4, 5}},
      {List("a", -1) + Node("Unsqueeze", {"r", "a"}, "y"), {2, 3, 1}, {0, 1, 2, 3, 4, 5}},
      {List("a", -1) + List("b", 0) + Node("Unsqueeze", {"r", "b"}, "u") +
           Node("Transpose", {"u"}, "t") + Node("Squeeze", {"t", "a"}, "y"),
       {3, 2},
       {0, 3, 1, 4, 2, 5}},
      {List("i", 2) + Node("Gather", {"r", "i"}, "y", Int("axis", -1)), {2, 1}, {2, 5}},
      {Node("Shape", {"r"}, "s") + Node("Reshape", {"x", "s"}, "q") +
           Node("Flatten", {"q"}, "y", Int("axis", -2)),
       {1, 6},
       {0, 1, 2, 3, 4, 5}},
      {List("a", -1) + Node("ReduceSum", {"r", "a"}, "m", Int("keepdims", 0)) +
           Node("Unsqueeze", {"m", "a"}, "y"),
       {2, 1},
       {3, 12}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.nodes);
    const Tensor y = RunGraph(row.nodes, kInt64);
    EXPECT_EQ(y.dims(), row.dims);
    EXPECT_EQ(IntsOf(y), row.values);
  }
}

// r = [[0, 1, 2], [3, 4, 5]].
TEST(NodeFactsTest, CountAxesOfProducts) {
  const std::string ones = "initializer { name: 'v' data_type: 7 dims: 3 int64_data: [1, 1, 1] } ";
  const std::string transposed = Node("Transpose", {"r"}, "t");
  const std::string flat = Node("Flatten", {"p"}, "y", Int("axis", -1));
  struct {
    std::string nodes;
    std::vector<int64_t> dims, values;
  } const rows[] = {
      {transposed + Node("MatMul", {"r", "t"}, "p") + flat, {2, 2}, {5, 14, 14, 50}},
      {ones + List("a", -1) + Node("MatMul", {"r", "v"}, "p") + Node("Unsqueeze", {"p", "a"}, "y"),
       {2, 1},
       {3, 12}},
      {ones + transposed + List("a", -1) + Node("MatMul", {"v", "t"}, "p") +
           Node("Unsqueeze", {"p", "a"}, "y"),
       {2, 1},
       {3, 12}},
      {ones + List("a", -1) + Node("MatMul", {"v", "v"}, "p") + Node("Unsqueeze", {"p", "a"}, "y"),
       {1},
       {3}},
      {List("a", 0) + transposed + Node("Unsqueeze", {"r", "a"}, "u") +
           Node("MatMul", {"u", "t"}, "p") + flat,
       {2, 2},
       {5, 14, 14, 50}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.nodes);
    const Tensor y = RunGraph(row.nodes, kInt64);
    EXPECT_EQ(y.dims(), row.dims);
    EXPECT_EQ(IntsOf(y), row.values);
  }
  // Rounded to half.
  const Tensor half =
      RunGraph(Node("Cast", {"r"}, "h", Int("to", 10)) + Node("Transpose", {"h"}, "t") +
                   Node("MatMul", {"h", "t"}, "p") + Node("Cast", {"p"}, "f", Int("to", kFloat)) +
                   Node("Flatten", {"f"}, "y", Int("axis", -1)),
               kFloat);
  EXPECT_EQ(half.dims(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(FloatsOf(half), (std::vector<float>{5, 14, 14, 50}));
  // Two vectors of floats.
  const Tensor scalar =
      RunGraph(List("a", -1) + Node("ReduceSum", {"r", "a"}, "m", Int("keepdims", 0)) +
                   Node("Cast", {"m"}, "f", Int("to", kFloat)) + Node("MatMul", {"f", "f"}, "y"),
               kFloat);
  EXPECT_EQ(scalar.dims(), std::vector<int64_t>());
  EXPECT_EQ(FloatsOf(scalar), std::vector<float>{153});
}

TEST(NodeFactsTest, AskForTheRankWhereItDoesNotFollow) {
  // Squeeze without axes removes what has size 1: the rank is open.
  const std::string nodes =
      Node("Squeeze", {"r"}, "s") + Node("Flatten", {"s"}, "y", Int("axis", -1));
  EXPECT_NE(OnnxImportError(OnnxBytes(Graph(nodes, kInt64), 22)).find("it needs the rank of blob"),
            std::string::npos);
}

}  // namespace
}  // namespace caffe2rt::test::node_facts_test
