// A row for each operator whose form an opset changed: nodes of the older form compute what ONNX says of
// them. Values worked out by hand.
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <cmath>

#include "caffe2_core/base/enforce.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::older_opsets_test {
namespace {

struct Given {
  std::vector<int64_t> dims;
  std::vector<float> values;
};

struct OldCase {
  const char* name;
  int64_t opset;
  std::string nodes;  // they read x and write y
  std::vector<int64_t> dims;
  std::vector<float> want;
  Given x = {{2, 3}, {1, 2, 3, 4, 5, 6}};
};
void PrintTo(const OldCase& c, std::ostream* out) { *out << c.name; }

std::string Int(const std::string& name, int64_t value) {
  return MakeString("attribute { name: '", name, "' type: INT i: ", value, " } ");
}
std::string Ints(const std::string& name, const std::vector<int64_t>& values) {
  std::string text = "attribute { name: '" + name + "' type: INTS ";
  for (const int64_t value : values) absl::StrAppend(&text, "ints: ", value, " ");
  return text + "} ";
}
std::string Floats(const std::string& name, const std::vector<float>& values) {
  std::string text = "attribute { name: '" + name + "' type: FLOATS ";
  for (const float value : values) absl::StrAppend(&text, "floats: ", value, " ");
  return text + "} ";
}
std::string Float(const std::string& name, float value) {
  return MakeString("attribute { name: '", name, "' type: FLOAT f: ", value, " } ");
}
std::string Text(const std::string& name, const std::string& value) {
  return "attribute { name: '" + name + "' type: STRING s: '" + value + "' } ";
}

std::string Node(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& attributes = "",
                 const std::vector<std::string>& outputs = {"y"}) {
  std::string text = "node { op_type: '" + type + "' ";
  for (const std::string& input : inputs) text += "input: '" + input + "' ";
  for (const std::string& output : outputs) text += "output: '" + output + "' ";
  return text + attributes + "} ";
}

std::string Weights(const std::string& name, const std::vector<float>& values) {
  std::string text =
      MakeString("initializer { name: '", name, "' data_type: 1 dims: ", values.size(), " ");
  for (const float value : values) absl::StrAppend(&text, "float_data: ", value, " ");
  return text + "} ";
}
// As a scalar if `dims` is empty.
std::string Whole(const std::string& name, const std::vector<int64_t>& dims,
                  const std::vector<int64_t>& values) {
  std::string text = "initializer { name: '" + name + "' data_type: 7 ";
  for (const int64_t dim : dims) absl::StrAppend(&text, "dims: ", dim, " ");
  for (const int64_t value : values) absl::StrAppend(&text, "int64_data: ", value, " ");
  return text + "} ";
}

// b = [2, 4] belongs to the rows of x.
std::string Rows(const std::string& type) {
  return Weights("b", {2, 4}) + Node(type, {"x", "b"}, Int("broadcast", 1) + Int("axis", 0));
}
std::string ComparedRows(const std::string& type) {
  return Weights("b", {2, 4}) +
         Node(type, {"x", "b"}, Int("broadcast", 1) + Int("axis", 0), {"bits"}) +
         Node("Cast", {"bits"}, Int("to", 1));
}
// The same for truth values; those of b are true and false.
std::string LogicalRows(const std::string& type) {
  return Weights("b", {1, 0}) + Node("Cast", {"x"}, Int("to", 9), {"xs"}) +
         Node("Cast", {"b"}, Int("to", 9), {"bs"}) +
         Node(type, {"xs", "bs"}, Int("broadcast", 1) + Int("axis", 0), {"bits"}) +
         Node("Cast", {"bits"}, Int("to", 1));
}
std::string Reduced(const std::string& type) {
  return Node(type, {"x"}, Ints("axes", {1}) + Int("keepdims", 0));
}

std::vector<OldCase> Broadcasts() {
  const Given bits = {{2, 3}, {0, 1, 1, 0, 0, 1}};
  return {{"Add", 6, Rows("Add"), {2, 3}, {3, 4, 5, 8, 9, 10}},
          {"Sub", 6, Rows("Sub"), {2, 3}, {-1, 0, 1, 0, 1, 2}},
          {"Mul", 6, Rows("Mul"), {2, 3}, {2, 4, 6, 16, 20, 24}},
          {"Div", 6, Rows("Div"), {2, 3}, {0.5f, 1, 1.5f, 1, 1.25f, 1.5f}},
          {"Pow", 6, Rows("Pow"), {2, 3}, {1, 4, 9, 256, 625, 1296}},
          {"Equal", 6, ComparedRows("Equal"), {2, 3}, {0, 1, 0, 1, 0, 0}},
          {"Greater", 6, ComparedRows("Greater"), {2, 3}, {0, 0, 1, 0, 1, 1}},
          {"Less", 6, ComparedRows("Less"), {2, 3}, {1, 0, 0, 0, 0, 0}},
          {"And", 6, LogicalRows("And"), {2, 3}, {0, 1, 1, 0, 0, 0}, bits},
          {"Or", 6, LogicalRows("Or"), {2, 3}, {1, 1, 1, 0, 0, 1}, bits},
          {"Xor", 6, LogicalRows("Xor"), {2, 3}, {1, 0, 0, 0, 0, 1}, bits}};
}

std::vector<OldCase> Reductions() {
  const float log_sum = std::log(std::exp(1.0f) + std::exp(2.0f) + std::exp(3.0f));
  return {{"ReduceL1", 13, Reduced("ReduceL1"), {2}, {6, 15}},
          {"ReduceL2", 13, Reduced("ReduceL2"), {2}, {std::sqrt(14.0f), std::sqrt(77.0f)}},
          {"ReduceLogSum", 13, Reduced("ReduceLogSum"), {2}, {std::log(6.0f), std::log(15.0f)}},
          {"ReduceLogSumExp", 13, Reduced("ReduceLogSumExp"), {2}, {log_sum, log_sum + 3}},
          {"ReduceMax", 13, Reduced("ReduceMax"), {2}, {3, 6}},
          {"ReduceMean", 13, Reduced("ReduceMean"), {2}, {2, 5}},
          {"ReduceMin", 13, Reduced("ReduceMin"), {2}, {1, 4}},
          {"ReduceProd", 13, Reduced("ReduceProd"), {2}, {6, 120}},
          {"ReduceSum", 11, Reduced("ReduceSum"), {2}, {6, 15}},
          {"ReduceSumSquare", 13, Reduced("ReduceSumSquare"), {2}, {14, 77}}};
}

std::vector<OldCase> Attributes() {
  const std::string scatter = Whole("i", {2, 1}, {0, 2}) + Weights("u2", {8, 9}) +
                              Node("Reshape", {"u2", "s"}, "", {"u"}) + Whole("s", {2}, {2, 1});
  return {{"Clip",
           6,
           Node("Clip", {"x"}, Float("min", 2) + Float("max", 4)),
           {2, 3},
           {2, 2, 3, 4, 4, 4}},
          {"ClipBelow", 6, Node("Clip", {"x"}, Float("min", 3)), {2, 3}, {3, 3, 3, 4, 5, 6}},
          {"Pad1",
           1,
           Node("Pad", {"x"}, Ints("paddings", {0, 1, 0, 0}) + Float("value", 9)),
           {2, 4},
           {9, 1, 2, 3, 9, 4, 5, 6}},
          {"Pad2",
           2,
           Node("Pad", {"x"}, Ints("pads", {0, 0, 0, 1}) + Float("value", 9)),
           {2, 4},
           {1, 2, 3, 9, 4, 5, 6, 9}},
          {"Split",
           2,
           Node("Split", {"x"}, Ints("split", {1, 2}) + Int("axis", 1), {"first", "y"}),
           {2, 2},
           {2, 3, 5, 6}},
          {"Tile",
           1,
           Whole("tiles", {}, {2}) + Whole("axis", {}, {1}) + Node("Tile", {"x", "tiles", "axis"}),
           {2, 6},
           {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}},
          {"Squeeze",
           12,
           Node("Squeeze", {"x"}, Ints("axes", {1})),
           {2, 2},
           {1, 2, 3, 4},
           {{2, 1, 2}, {1, 2, 3, 4}}},
          {"Unsqueeze",
           12,
           Node("Unsqueeze", {"x"}, Ints("axes", {0, 2})),
           {1, 2, 1, 3},
           {1, 2, 3, 4, 5, 6}},
          {"Slice",
           9,
           Node("Slice", {"x"}, Ints("axes", {1}) + Ints("starts", {1}) + Ints("ends", {-1})),
           {2, 1},
           {2, 5}},
          {"TopK", 1, Node("TopK", {"x"}, Int("k", 2), {"y", "at"}), {2, 2}, {3, 2, 6, 5}},
          {"Scatter",
           9,
           scatter + Node("Scatter", {"x", "i", "u"}, Int("axis", 1)),
           {2, 3},
           {8, 2, 3, 4, 5, 9}},
          {"Cast",
           5,
           Node("Cast", {"x"}, Text("to", "INT32"), {"whole"}) +
               Node("Cast", {"whole"}, Text("to", "FLOAT")),
           {3},
           {1, -2, 3},
           {{3}, {1.75f, -2.75f, 3}}},
          // Before opset 4, the axis is 1 if it is not given.
          {"Concat", 1, Node("Concat", {"x", "x"}), {2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}},
          {"Reshape", 1, Node("Reshape", {"x"}, Ints("shape", {3, 2})), {3, 2}, {1, 2, 3, 4, 5, 6}},
          {"Dropout", 10, Node("Dropout", {"x"}, Float("ratio", 0.5f)), {2, 3}, {1, 2, 3, 4, 5, 6}},
          {"BatchNormalization",
           9,
           Weights("scale", {2, 3}) + Weights("bias", {10, 20}) + Weights("mean", {1, 2}) +
               Weights("var", {4, 16}) +
               Node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}),
           {1, 2, 1, 1},
           {12, 23},
           {{1, 2, 1, 1}, {3, 6}}}};
}

std::vector<OldCase> Images() {
  const Given two = {{1, 1, 1, 2}, {1, 3}};
  const std::vector<int64_t> wide = {1, 1, 1, 4};
  const std::vector<float> nearest = {1, 1, 3, 3}, linear = {1, 2, 3, 3};
  const std::string scales = Weights("scales", {1, 1, 1, 2});
  return {
      {"Upsample1", 1, Node("Upsample", {"x"}, Float("height_scale", 1) + Float("width_scale", 2)),
       wide, nearest, two},
      {"Upsample7", 7, Node("Upsample", {"x"}, Floats("scales", {1, 1, 1, 2})), wide, nearest, two},
      {"Upsample7Bilinear", 7,
       Node("Upsample", {"x"}, Floats("scales", {1, 1, 1, 2}) + Text("mode", "linear")), wide,
       linear, two},
      {"Upsample1Bilinear", 1,
       Node("Upsample", {"x"},
            Float("height_scale", 1) + Float("width_scale", 2) + Text("mode", "bilinear")),
       wide, linear, two},
      {"Upsample9", 9, scales + Node("Upsample", {"x", "scales"}), wide, nearest, two},
      {"Resize10", 10, scales + Node("Resize", {"x", "scales"}), wide, nearest, two},
      {"Resize10Linear", 10, scales + Node("Resize", {"x", "scales"}, Text("mode", "linear")), wide,
       linear, two}};
}

std::vector<OldCase> AllCases() {
  std::vector<OldCase> all;
  for (const auto& cases : {Broadcasts(), Reductions(), Attributes(), Images()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

class OlderOpsetsTest : public testing::TestWithParam<OldCase> {};

TEST_P(OlderOpsetsTest, ComputeTheirDefinition) {
  const OldCase& c = GetParam();
  std::vector<std::string> dims;
  for (const int64_t dim : c.x.dims) dims.push_back(MakeString(dim));
  const std::string graph = c.nodes + OnnxValue("input", "x", dims) + "output { name: 'y' }";
  const Tensor y =
      RunOnnxBytes(OnnxBytes(graph, c.opset), {{"x", FloatTensor(c.x.dims, c.x.values)}}, "y");
  EXPECT_EQ(y.dims(), c.dims);
  const std::vector<float> got = FloatsOf(y);
  ASSERT_EQ(got.size(), c.want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], c.want[i], 1e-4) << "element " << i;
}

INSTANTIATE_TEST_SUITE_P(Operators, OlderOpsetsTest, testing::ValuesIn(AllCases()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace caffe2rt::test::older_opsets_test
