// Nodes compute what ONNX says, for values worked out by hand: the rows of the table, older opsets, and
// what is computed at import.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::onnx_rows_test {
namespace {

struct Given {
  std::string name;
  std::vector<int64_t> dims;
  std::vector<float> values;
};

struct RowCase {
  const char* name;
  int64_t opset;
  std::string nodes;  // in text; they read the inputs and write y
  std::vector<Given> inputs;
  std::vector<int64_t> dims;  // of y
  std::vector<float> want;
};

std::string Ints(const std::string& name, const std::vector<int64_t>& values, bool scalar = false) {
  std::string text = "initializer { name: '" + name + "' data_type: 7 ";
  if (!scalar) text += "dims: " + std::to_string(values.size()) + " ";
  for (const int64_t value : values) text += "int64_data: " + std::to_string(value) + " ";
  return text + "} ";
}

std::string Node(const std::string& type, const std::string& inputs,
                 const std::string& attributes = "", const std::string& output = "y") {
  std::string text = "node { op_type: '" + type + "' output: '" + output + "' ";
  for (size_t begin = 0; begin < inputs.size();) {
    const size_t end = std::min(inputs.find(' ', begin), inputs.size());
    const std::string input = inputs.substr(begin, end - begin);
    text += "input: '" + (input == "-" ? "" : input) + "' ";
    begin = end + 1;
  }
  return text + attributes + "} ";
}

std::string Int(const std::string& name, int64_t value) {
  return "attribute { name: '" + name + "' type: INT i: " + std::to_string(value) + " } ";
}
std::string Float(const std::string& name, float value) {
  return "attribute { name: '" + name + "' type: FLOAT f: " + std::to_string(value) + " } ";
}
std::string IntList(const std::string& name, const std::vector<int64_t>& values) {
  std::string text = "attribute { name: '" + name + "' type: INTS ";
  for (const int64_t value : values) text += "ints: " + std::to_string(value) + " ";
  return text + "} ";
}
std::string Text(const std::string& name, const std::string& value) {
  return "attribute { name: '" + name + "' type: STRING s: '" + value + "' } ";
}

std::vector<RowCase> Elementwise() {
  const Given x = {"x", {3}, {-2, 0, 4}};
  return {
      {"Relu", 14, Node("Relu", "x"), {x}, {3}, {0, 0, 4}},
      {"LeakyRelu", 16, Node("LeakyRelu", "x", Float("alpha", 0.5f)), {x}, {3}, {-1, 0, 4}},
      {"ThresholdedRelu", 10, Node("ThresholdedRelu", "x", Float("alpha", 1)), {x}, {3}, {0, 0, 4}},
      {"HardSwish", 14, Node("HardSwish", "x"), {x}, {3}, {-2.0f / 6, 0, 4}},
      {"Neg", 13, Node("Neg", "x"), {x}, {3}, {2, 0, -4}},
      {"Clip6", 6, Node("Clip", "x", Float("min", -1) + Float("max", 2)), {x}, {3}, {-1, 0, 2}},
      {"SumBroadcasts", 13, Node("Sum", "x b"), {x, {"b", {1}, {1}}}, {3}, {-1, 1, 5}},
      {"MeanOfTwo", 13, Node("Mean", "x b"), {x, {"b", {3}, {2, 2, 2}}}, {3}, {0, 1, 3}},
      {"PReluBroadcasts", 16, Node("PRelu", "x s"), {x, {"s", {1}, {0.25f}}}, {3}, {-0.5f, 0, 4}},
      {"Shrink",
       9,
       Node("Shrink", "x", Float("lambd", 1) + Float("bias", 0.5f)),
       {x},
       {3},
       {-1.5f, 0, 3.5f}},
      {"CeluAlpha",
       12,
       Node("Celu", "x", Float("alpha", 2)),
       {x},
       {3},
       {2 * (std::exp(-1.0f) - 1), 0, 4}}};
}

std::vector<RowCase> OlderOpsets() {
  const Given x = {"x", {1, 2, 2}, {1, 2, 3, 4}};
  const Given b = {"b", {2}, {10, 20}};
  return {{"AddAxis1",
           6,
           Node("Add", "x b", Int("broadcast", 1) + Int("axis", 1)),
           {x, b},
           {1, 2, 2},
           {11, 12, 23, 24}},
          {"AddLastAxis",
           6,
           Node("Add", "x b", Int("broadcast", 1)),
           {x, b},
           {1, 2, 2},
           {11, 22, 13, 24}},
          {"ReshapeAttribute",
           1,
           Node("Reshape", "x", IntList("shape", {0, -1})),
           {x},
           {1, 4},
           {1, 2, 3, 4}},
          {"SqueezeAttribute",
           11,
           Node("Squeeze", "x", IntList("axes", {0})),
           {x},
           {2, 2},
           {1, 2, 3, 4}},
          {"UnsqueezeAttribute",
           11,
           Node("Unsqueeze", "b", IntList("axes", {0, 2})),
           {b},
           {1, 2, 1},
           {10, 20}},
          {"SliceAttributes",
           9,
           Node("Slice", "x", IntList("starts", {1}) + IntList("ends", {9}) + IntList("axes", {2})),
           {x},
           {1, 2, 1},
           {2, 4}},
          {"ReduceSumAttribute",
           11,
           Node("ReduceSum", "x", IntList("axes", {2}) + Int("keepdims", 0)),
           {x},
           {1, 2},
           {3, 7}},
          {"SoftmaxFlattens",
           11,
           Node("Softmax", "z"),
           {{"z", {1, 2, 2}, {0, 0, 0, 0}}},
           {1, 2, 2},
           {0.25f, 0.25f, 0.25f, 0.25f}},
          {"SoftmaxLastAxis",
           13,
           Node("Softmax", "z"),
           {{"z", {1, 2, 2}, {0, 0, 0, 0}}},
           {1, 2, 2},
           {0.5f, 0.5f, 0.5f, 0.5f}},
          {"ConcatDefaultAxis", 1, Node("Concat", "x x"), {x}, {1, 4, 2}, {1, 2, 3, 4, 1, 2, 3, 4}},
          {"DropoutIsIdentity",
           6,
           Node("Dropout", "b", Int("is_test", 1), "d") + Node("Relu", "d"),
           {b},
           {2},
           {10, 20}},
          {"ImageScaler",
           1,
           Node("ImageScaler", "i",
                Float("scale", 2) + "attribute { name: 'bias' type: FLOATS floats: 1 floats: 2 } "),
           {{"i", {1, 2, 1, 1}, {5, 6}}},
           {1, 2, 1, 1},
           {11, 14}}};
}

std::vector<RowCase> Products() {
  const Given a = {"a", {2, 2}, {1, 2, 3, 4}}, v = {"v", {2}, {1, 1}};
  return {
      {"MatMul", 13, Node("MatMul", "a a"), {a}, {2, 2}, {7, 10, 15, 22}},
      {"MatMulOfVectors", 13, Node("MatMul", "v v"), {v}, {}, {2}},
      {"GemmIsFC", 13, Node("Gemm", "a a v", Int("transB", 1)), {a, v}, {2, 2}, {6, 12, 12, 26}},
      {"GemmScales",
       13,
       Node("Gemm", "a a v", Float("alpha", 2) + Float("beta", 3) + Int("transA", 1)),
       {a, v},
       {2, 2},
       {23, 31, 31, 43}},
      {"FusedMatMul",
       13,
       "node { op_type: 'FusedMatMul' domain: 'com.microsoft' input: 'a' input: 'a' output: 'y' " +
           Int("transA", 1) + Float("alpha", 0.5f) + "}",
       {a},
       {2, 2},
       {5, 7, 7, 10}},
      {"FusedMatMulOfVectors",  // which are not transposed
       13,
       "node { op_type: 'FusedMatMul' domain: 'com.microsoft' input: 'v' input: 'v' output: 'y' " +
           Int("transB", 1) + Float("alpha", 0.5f) + "}",
       {v},
       {},
       {1}}};
}

std::vector<RowCase> Windows() {
  const Given x = {"x", {1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  const Given w = {"w", {1, 1, 2, 2}, {1, 1, 1, 1}};
  return {{"ConvSameUpper",
           11,
           Node("Conv", "x w", Text("auto_pad", "SAME_UPPER")),
           {x, w},
           {1, 1, 3, 3},
           {12, 16, 9, 24, 28, 15, 15, 17, 9}},
          {"ConvSameLower",
           11,
           Node("Conv", "x w", Text("auto_pad", "SAME_LOWER")),
           {x, w},
           {1, 1, 3, 3},
           {1, 3, 5, 5, 12, 16, 11, 24, 28}},
          {"MaxPoolCeil",
           12,
           Node("MaxPool", "x",
                IntList("kernel_shape", {2, 2}) + IntList("strides", {2, 2}) + Int("ceil_mode", 1)),
           {x},
           {1, 1, 2, 2},
           {5, 6, 8, 9}},
          {"GlobalAveragePool", 1, Node("GlobalAveragePool", "x"), {x}, {1, 1, 1, 1}, {5}}};
}

std::vector<RowCase> Shapes() {
  const Given x = {"x", {2, 3}, {1, 2, 3, 4, 5, 6}};
  return {{"GatherNegative",
           13,
           Ints("i", {-1}) + Node("Gather", "x i", Int("axis", 1)),
           {x},
           {2, 1},
           {3, 6}},
          {"TransposeReverses", 13, Node("Transpose", "x"), {x}, {3, 2}, {1, 4, 2, 5, 3, 6}},
          {"SplitUneven",
           18,
           "node { op_type: 'Split' input: 'x' output: 'p' output: 'y' " + Int("axis", 1) +
               Int("num_outputs", 2) + "} ",
           {x},
           {2, 1},
           {3, 6}},
          {"Expand",
           13,
           Ints("s", {2, 2, 3}) + Node("Expand", "x s"),
           {x},
           {2, 2, 3},
           {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}},
          {"SliceFromTheEnd",
           13,
           Ints("b", {-2}) + Ints("e", {9223372036854775807}) + Ints("a", {-1}) +
               Node("Slice", "x b e a"),
           {x},
           {2, 2},
           {2, 3, 5, 6}},
          {"ShapeAsValue",
           15,
           Node("Shape", "x", "", "s") + Node("Cast", "s", Int("to", 1)),
           {x},
           {2},
           {2, 3}},
          {"WhereOfShapes",
           15,
           Node("Shape", "x", "", "s") + Ints("two", {2}) + Node("Equal", "s two", "", "q") +
               Ints("m", {-1}) + Node("Where", "q m s", "", "d") + Node("Reshape", "x d"),
           {x},
           {2, 3},
           {1, 2, 3, 4, 5, 6}},
          {"RangeOfSize",
           13,
           Node("Size", "x", "", "n") + Ints("zero", {0}, true) + Ints("step", {2}, true) +
               Node("Range", "zero n step", "", "r") + Node("Cast", "r", Int("to", 1)),
           {x},
           {3},
           {0, 2, 4}}};
}

std::vector<RowCase> Sequences() {
  const Given x = {"x", {2, 3}, {1, 2, 3, 4, 5, 6}};
  const std::string rows = Node("SplitToSequence", "x", Int("keepdims", 0), "s");
  const auto position = [](int64_t i) { return Ints("i", {i}, true); };
  const auto pairs = [&](const std::string& sizes) {
    return sizes + Node("SplitToSequence", "x n", Int("axis", 1), "s");
  };
  return {
      {"LastRow", 13, rows + position(-1) + Node("SequenceAt", "s i"), {x}, {3}, {4, 5, 6}},
      {"RowsThatKeepTheirAxis",
       13,
       Node("SplitToSequence", "x", "", "s") + position(0) + Node("SequenceAt", "s i"),
       {x},
       {1, 3},
       {1, 2, 3}},
      {"PartsOfOneSize",
       13,
       pairs(Ints("n", {2}, true)) + position(1) + Node("SequenceAt", "s i"),
       {x},
       {2, 1},
       {3, 6}},
      {"PartsOfSizes",
       13,
       pairs(Ints("n", {1, 2})) + position(1) + Node("SequenceAt", "s i"),
       {x},
       {2, 2},
       {2, 3, 5, 6}},
      {"InsertedAndErased",
       13,
       Node("SequenceEmpty", "", "", "e") + Node("SequenceInsert", "e x", "", "f") + position(0) +
           Node("SequenceInsert", "f b i", "", "g") + Node("SequenceInsert", "g x", "", "h") +
           Node("SequenceErase", "h", "", "k") + Node("ConcatFromSequence", "k", Int("axis", 0)),
       {x, {"b", {1, 3}, {7, 8, 9}}},
       {3, 3},
       {7, 8, 9, 1, 2, 3, 4, 5, 6}},
      {"StackedOnANewAxis",
       13,
       rows + Node("ConcatFromSequence", "s", Int("axis", 1) + Int("new_axis", 1)),
       {x},
       {3, 2},
       {1, 4, 2, 5, 3, 6}},
      {"Length",
       13,
       Node("SequenceConstruct", "x x", "", "s") + Node("SequenceLength", "s", "", "n") +
           Node("Cast", "n", Int("to", 1)),
       {x},
       {},
       {2}}};
}

std::vector<RowCase> AllCases() {
  std::vector<RowCase> all;
  for (auto& rows : {Elementwise(), OlderOpsets(), Products(), Windows(), Shapes(), Sequences()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

// `stated` has -1 where it does not know.
void ExpectDimsAre(const std::vector<int64_t>& stated, const std::vector<int64_t>& dims) {
  ASSERT_EQ(stated.size(), dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (stated[i] != -1) EXPECT_EQ(stated[i], dims[i]) << "dim " << i;
  }
}

class OnnxRowsTest : public ::testing::TestWithParam<RowCase> {};

TEST_P(OnnxRowsTest, ComputesItsDefinition) {
  const RowCase& row = GetParam();
  std::string graph = row.nodes;
  NamedTensors inputs;
  for (const Given& given : row.inputs) {
    std::vector<std::string> dims;
    for (const int64_t dim : given.dims) dims.push_back(std::to_string(dim));
    graph += OnnxValue("input", given.name, dims);
    inputs.emplace_back(given.name, FloatTensor(given.dims, given.values));
  }
  graph += "output { name: 'y' }";
  const std::string domain = "opset_import { domain: 'com.microsoft' version: 1 } ";
  const OnnxModel model = ImportOnnxFromMemory(OnnxBytes(graph, row.opset, domain), {});
  Workspace ws;
  RunOnnx(model, inputs, &ws);
  const Tensor& y = ws.GetBlob("y")->Get<Tensor>();
  EXPECT_EQ(y.dims(), row.dims);
  // What the translation says of y holds.
  const auto stated = model.output_dims.find("y");
  if (stated != model.output_dims.end()) ExpectDimsAre(stated->second, row.dims);
  const std::vector<float> got = FloatsOf(y);
  ASSERT_EQ(got.size(), row.want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], row.want[i], 1e-5) << "element " << i;
}

INSTANTIATE_TEST_SUITE_P(Rows, OnnxRowsTest, ::testing::ValuesIn(AllCases()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace caffe2rt::test::onnx_rows_test
