// What arithmetic, reductions, quantized, recurrent and window nodes become: Caffe2's operators where
// they have the meaning, those with ONNX's where not. The values of the operators are tested with them.
#include <gtest/gtest.h>

#include <cmath>

#include "caffe2_core/import/onnx/onnx_import.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::arithmetic_rows_test {
namespace {

constexpr int kFloat = 1, kUint8 = 2, kInt32 = 6, kInt64 = 7, kDouble = 11;

std::string Ints(const std::string& name, const std::vector<int>& values) {
  std::string text = "attribute { name: '" + name + "' type: INTS ";
  for (const int value : values) text += MakeString("ints: ", value, " ");
  return text + "} ";
}
std::string Int(const std::string& name, int value) {
  return MakeString("attribute { name: '", name, "' type: INT i: ", value, " } ");
}

struct Row {
  const char* type;
  int element_type;
  std::vector<std::vector<std::string>> inputs;  // the dims of each; {"absent"} is left out
  std::string attributes;
  std::string want;  // the types of the predict net's operators
  int outputs = 1;
};

std::string ImportedTypes(const Row& row) {
  std::string node = MakeString("node { op_type: '", row.type, "' name: 'n' "), graph;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const std::string name = MakeString("x", i);
    if (row.inputs[i] == std::vector<std::string>{"absent"}) {
      node += "input: '' ";
      continue;
    }
    node += "input: '" + name + "' ";
    graph += OnnxValue("input", name, row.inputs[i], row.element_type);
  }
  for (int i = 0; i < row.outputs; ++i) node += MakeString("output: 'y", i, "' ");
  graph += node + row.attributes + "} " + OnnxValue("output", "y0", {});
  for (int i = 1; i < row.outputs; ++i) graph += OnnxValue("output", MakeString("y", i), {});
  std::string types;
  const OnnxModel model = ImportOnnxFromMemory(OnnxBytes(graph, 22), {});
  for (const OperatorDef& op : model.predict_net.op()) {
    types += (types.empty() ? "" : " ") + op.type();
  }
  return types;
}

TEST(ArithmeticRowsTest, ChooseTheOperator) {
  const std::vector<std::string> image = {"1", "2", "8", "8"}, filter = {"2", "3", "3", "3"};
  const std::string three = Ints("kernel_shape", {3, 3}), two = Ints("kernel_shape", {2, 2});
  const Row rows[] = {
      // Caffe2's Max neither broadcasts nor has other types, and loses NaN.
      {"Max", kFloat, {{"2", "3"}, {"2", "3"}}, "", "ONNXMax"},
      {"Max", kFloat, {{"2", "3"}, {"3"}}, "", "ONNXMax"},
      {"Min", kInt64, {{"2"}, {"2"}}, "", "ONNXMin"},
      {"Pow", kFloat, {{"2"}, {"2"}}, "", "Pow"},
      {"Pow", kInt32, {{"2"}, {"2"}}, "", "ONNXPow"},
      {"Mod", kInt64, {{"2"}, {"2"}}, "", "ONNXMod"},
      {"Clip", kFloat, {{"2"}, {}, {}}, "", "ONNXClip"},
      {"MatMul", kDouble, {{"2", "3"}, {"3", "2"}}, "", "ONNXMatMul"},
      {"ArgMax", kFloat, {{"2", "3"}}, Int("axis", -1), "ArgMax"},
      {"ArgMax", kFloat, {{"2", "3"}}, Int("select_last_index", 1), "ONNXArgMax"},
      {"ArgMin", kUint8, {{"2", "3"}}, "", "ONNXArgMin"},
      {"ReduceSum", kFloat, {{"2", "3"}}, "", "ReduceSum"},
      {"ReduceProd", kDouble, {{"2", "3"}}, "", "ReduceProd"},
      // Pools whose windows are not dilated and do not reach beyond the padding.
      {"MaxPool", kFloat, {image}, two, "MaxPool"},
      {"MaxPool", kFloat, {image}, two, "ONNXMaxPool", 2},
      {"MaxPool", kUint8, {image}, two, "ONNXMaxPool"},
      {"MaxPool", kFloat, {image}, two + Ints("dilations", {2, 2}), "ONNXMaxPool"},
      {"AveragePool", kFloat, {image}, three + Ints("pads", {1, 1, 1, 1}), "AveragePool"},
      {"AveragePool", kFloat, {image}, three + Int("ceil_mode", 1), "ONNXAveragePool"},
      {"LpPool", kFloat, {{"1", "2", "8"}}, Ints("kernel_shape", {2}), "ONNXLpPool"},
      {"ConvTranspose", kFloat, {image, filter}, "", "ConvTranspose"},
      {"ConvTranspose", kFloat, {image, filter}, Ints("dilations", {2, 2}), "ONNXConvTranspose"},
      {"ConvTranspose", kFloat, {image, filter}, Ints("output_shape", {9, 9}), "ONNXConvTranspose"},
      {"ConvTranspose", kFloat, {{"1", "2", "8"}, {"2", "1", "3"}}, "", "ONNXConvTranspose"},
      {"LSTM",
       kFloat,
       {{"5", "1", "3"}, {"1", "8", "3"}, {"1", "8", "2"}},
       Int("hidden_size", 2),
       "LSTM",
       3},
      {"DynamicQuantizeLinear", kFloat, {{"2", "3"}}, "", "DynamicQuantizeLinear", 3},
      {"MatMulInteger", kUint8, {{"2", "3"}, {"3", "2"}, {"absent"}, {}}, "", "MatMulInteger"},
      {"Einsum",
       kFloat,
       {{"2", "3"}},
       "attribute { name: 'equation' type: STRING s: 'ij->ji' }",
       "Einsum"},
      {"DFT", kFloat, {{"1", "6", "1"}}, "", "DFT"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(MakeString(row.type, " ", row.attributes));
    EXPECT_EQ(ImportedTypes(row), row.want);
  }
}

// An absent input is listed, so that those after it keep their meaning.
TEST(ArithmeticRowsTest, OmittedInputsAreListed) {
  const std::string graph =
      OnnxValue("input", "x", {"2"}, kInt64) + OnnxValue("input", "high", {}, kInt64) +
      "node { op_type: 'Clip' name: 'n' input: 'x' input: '' input: 'high' output: 'y' } " +
      OnnxValue("output", "y", {"2"}, kInt64);
  const Tensor y = RunOnnxBytes(
      OnnxBytes(graph), {{"x", IntTensor({2}, {-5, 9})}, {"high", IntTensor({}, {4})}}, "y");
  EXPECT_EQ(IntsOf(y), (std::vector<int64_t>{-5, 4}));
}

TEST(ArithmeticRowsTest, AxesMayArriveAtRunTime) {
  const std::string graph =
      OnnxValue("input", "x", {"2", "3"}) + OnnxValue("input", "axes", {"1"}, kInt64) +
      "node { op_type: 'ReduceSum' name: 'n' input: 'x' input: 'axes' output: 'y' " +
      Int("keepdims", 0) + "} " + OnnxValue("output", "y", {"2"});
  const NamedTensors inputs = {{"x", FloatTensor({2, 3}, {1, 2, 3, 4, 5, 6})},
                               {"axes", IntTensor({1}, {-1})}};
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(graph), inputs, "y")), (std::vector<float>{6, 15}));
}

// The mean and variance of each channel are 2 and 1; the running ones move by a tenth.
TEST(ArithmeticRowsTest, BatchNormalizationTrains) {
  std::string graph = OnnxValue("input", "x", {"2", "1", "1"});
  for (const char* name : {"scale", "bias", "mean", "variance"})
    graph += OnnxValue("input", name, {"1"});
  graph +=
      "node { op_type: 'BatchNormalization' name: 'n' input: 'x' input: 'scale' input: 'bias' "
      "input: 'mean' "
      "input: 'variance' output: 'y' output: 'm' output: 'v' attribute { name: 'epsilon' type: "
      "FLOAT f: 0 } " +
      Int("training_mode", 1) + "} ";
  for (const char* name : {"y", "m", "v"}) graph += OnnxValue("output", name, {});
  const NamedTensors inputs = {{"x", FloatTensor({2, 1, 1}, {1, 3})},
                               {"scale", FloatTensor({1}, {4})},
                               {"bias", FloatTensor({1}, {0.5f})},
                               {"mean", FloatTensor({1}, {10})},
                               {"variance", FloatTensor({1}, {11})}};
  const std::string bytes = OnnxBytes(graph);
  EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, inputs, "y")), (std::vector<float>{-3.5f, 4.5f}));
  EXPECT_FLOAT_EQ(FloatsOf(RunOnnxBytes(bytes, inputs, "m"))[0], 9.2f);
  EXPECT_FLOAT_EQ(FloatsOf(RunOnnxBytes(bytes, inputs, "v"))[0], 10.0f);
}

// numpy.maximum and numpy.minimum: NaN in any input gives NaN.
TEST(ArithmeticRowsTest, MaxAndMinKeepNaNOfEveryInput) {
  const std::vector<std::pair<std::string, std::vector<float>>> inputs = {
      {"a", {NAN, 1, 2, 5}}, {"b", {0, NAN, 3, 4}}, {"c", {1, 1, NAN, 6}}};
  for (const auto& [type, last] : {std::pair("Max", 6.0f), std::pair("Min", 4.0f)}) {
    std::string graph = MakeString("node { op_type: '", type, "' output: 'y' ");
    NamedTensors fed;
    for (const auto& [name, values] : inputs) {
      graph += "input: '" + name + "' ";
      fed.push_back({name, FloatTensor({4}, values)});
    }
    graph += "} " + OnnxValue("output", "y", {"4"});
    for (const auto& [name, values] : inputs) graph += OnnxValue("input", name, {"4"});
    const std::vector<float> y = FloatsOf(RunOnnxBytes(OnnxBytes(graph), fed, "y"));
    ASSERT_EQ(y.size(), 4u);
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(y[i])) << type << " " << i;
    EXPECT_EQ(y[3], last);
  }
}

}  // namespace
}  // namespace caffe2rt::test::arithmetic_rows_test
