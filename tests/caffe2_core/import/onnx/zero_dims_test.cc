// Nodes on inputs with a dimension of 0, which the model does not state: dims as numpy gives them.
#include <gtest/gtest.h>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::zero_dims_test {
namespace {

std::string Ints(const std::string& name, const std::vector<int64_t>& values) {
  std::string text =
      MakeString("initializer { name: '", name, "' data_type: 7 dims: ", values.size(), " ");
  for (const int64_t value : values) text += MakeString("int64_data: ", value, " ");
  return text + "} ";
}
std::string Int(const std::string& name, int64_t value) {
  return MakeString("attribute { name: '", name, "' type: INT i: ", value, " } ");
}
std::string Node(const std::string& type, const std::string& inputs,
                 const std::string& attributes = "") {
  std::string text = "node { op_type: '" + type + "' output: 'y' ";
  for (const char input : inputs) text += MakeString("input: '", std::string(1, input), "' ");
  return text + attributes + "} ";
}

struct Case {
  const char* name;
  std::string graph;  // reads a and perhaps b
  std::vector<std::vector<int64_t>> inputs;
  std::vector<int64_t> want;  // dims of y
  std::vector<float> values = {};
};

std::vector<Case> AllCases() {
  const std::string axis0 = Ints("s", {0}), axis1 = Ints("s", {1});
  std::vector<Case> cases = {
      {"Flatten", Node("Flatten", "a"), {{0, 3, 4}}, {0, 12}},
      {"FlattenAll", Node("Flatten", "a", Int("axis", 0)), {{0, 3}}, {1, 0}},
      {"ReduceSumOfNothing", axis0 + Node("ReduceSum", "as"), {{0, 3}}, {1, 3}, {0, 0, 0}},
      {"ReduceProdOfNothing", axis0 + Node("ReduceProd", "as"), {{0, 2}}, {1, 2}, {1, 1}},
      {"ReduceMaxOfRows", axis1 + Node("ReduceMax", "as"), {{0, 3}}, {0, 1}},
      {"Softmax", Node("Softmax", "a"), {{0, 3}}, {0, 3}},
      {"GemmOfRows", Node("Gemm", "ab"), {{0, 3}, {3, 4}}, {0, 4}},
      {"GemmOfNothing", Node("Gemm", "ab"), {{1, 0}, {0, 2}}, {1, 2}, {0, 0}},
      {"MatMulOfNothing", Node("MatMul", "ab"), {{2, 0}, {0, 1}}, {2, 1}, {0, 0}},
      {"MatMulOfBatches", Node("MatMul", "ab"), {{0, 2, 3}, {3, 4}}, {0, 2, 4}},
      {"Concat", Node("Concat", "ab", Int("axis", 0)), {{0, 2}, {1, 2}}, {1, 2}, {1, 1}},
      {"Transpose", Node("Transpose", "a"), {{0, 3}}, {3, 0}},
      {"Tile", Ints("s", {0, 2}) + Node("Tile", "as"), {{2, 3}}, {0, 6}},
      {"Pad", Ints("s", {1, 0, 0, 0}) + Node("Pad", "as"), {{0, 2}}, {1, 2}, {0, 0}},
      {"Unsqueeze", axis1 + Node("Unsqueeze", "as"), {{0, 3}}, {0, 1, 3}},
      {"Squeeze", axis0 + Node("Squeeze", "as"), {{1, 0, 3}}, {0, 3}},
      {"ArgMax", Node("ArgMax", "a", Int("axis", 1)), {{0, 3}}, {0, 1}},
      {"CumSum",
       "initializer { name: 's' data_type: 7 int64_data: 1 } " + Node("CumSum", "as"),
       {{2, 0}},
       {2, 0}},
      {"Expand", Ints("s", {0, 3}) + Node("Expand", "as"), {{1, 3}}, {0, 3}},
      {"GlobalAveragePool", Node("GlobalAveragePool", "a"), {{0, 3, 4, 4}}, {0, 3, 1, 1}},
      {"Slice", Ints("s", {2}) + Node("Slice", "ass"), {{4, 3}}, {0, 3}}};
  // With broadcasting.
  for (const char* type : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu"})
    cases.push_back({type, Node(type, "ab"), {{2, 0}, {2, 1}}, {2, 0}});
  return cases;
}

class ZeroDimsTest : public testing::TestWithParam<Case> {};

TEST_P(ZeroDimsTest, HaveTheDimsOfNumpy) {
  const Case& row = GetParam();
  std::string graph = row.graph + "output { name: 'y' }";
  NamedTensors inputs;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    std::vector<std::string> dims;
    int64_t count = 1;
    for (const int64_t dim : row.inputs[i]) {
      // A dim of 0 has no number in the model.
      dims.push_back(dim == 0 ? "n" : MakeString(dim));
      count *= dim;
    }
    graph += OnnxValue("input", name, dims);
    inputs.emplace_back(
        name, FloatTensor(row.inputs[i], std::vector<float>(static_cast<size_t>(count), 1)));
  }
  const Tensor y = RunOnnxBytes(OnnxBytes(graph, 18), inputs, "y");
  EXPECT_EQ(y.dims(), row.want);
  if (!row.values.empty()) {
    EXPECT_EQ(FloatsOf(y), row.values);
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, ZeroDimsTest, testing::ValuesIn(AllCases()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace caffe2rt::test::zero_dims_test
