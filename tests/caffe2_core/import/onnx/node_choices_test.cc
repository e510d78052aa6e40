// Which operator a node becomes when one of its arguments is not plain, the element types of outputs whose
// shape the run decides, and errors of nodes that do not fit.
#include <gtest/gtest.h>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"

namespace caffe2rt::test::node_choices_test {
namespace {

using namespace node_forms;  // used throughout this file

constexpr int kInt8 = 3, kInt16 = 5, kDouble = 11;

const std::string kY = "output { name: 'y' } ";

// The types of the predict net's operators; the error if there is one.
std::string TypesOf(const std::string& graph, int64_t opset) {
  const std::string bytes =
      OnnxBytes(graph + kY, opset, "opset_import { domain: 'com.microsoft' version: 1 } ");
  const std::string error = OnnxImportError(bytes);
  if (!error.empty()) return error;
  std::string types;
  const OnnxModel model = ImportOnnxFromMemory(bytes, {});
  for (const OperatorDef& op : model.predict_net.op())
    types += (types.empty() ? "" : " ") + op.type();
  return types;
}

struct Choice {
  std::string nodes;
  std::string want;  // the types of its operators
  std::vector<std::string> x = {"1", "2", "4", "6"};
  int type = kFloat;
  int64_t opset = 22;
};
void CheckChoices(const std::vector<Choice>& choices) {
  for (const Choice& row : choices) {
    SCOPED_TRACE(row.nodes);
    EXPECT_EQ(TypesOf(row.nodes + OnnxValue("input", "x", row.x, row.type), row.opset), row.want);
  }
}

TEST(NodeChoicesTest, ImagesAreEnlargedByWholeFactors) {
  const auto by = [](const std::vector<double>& factors, const std::string& more = "") {
    return Constant("s", kFloat, {static_cast<int64_t>(factors.size())}, factors) +
           Node("Resize", "x-s", more);
  };
  const auto to = [](const std::vector<int64_t>& sizes) {
    return List("s", sizes) + Node("Resize", "x--s");
  };
  const std::vector<double> whole = {1, 1, 2, 3};
  const auto place = [](const std::string& value) {
    return Text("coordinate_transformation_mode", value);
  };
  const auto rounded = [](const std::string& value) { return Text("nearest_mode", value); };
  const std::string linear = Text("mode", "linear");
  CheckChoices({{by(whole, rounded("round_prefer_ceil")), "ResizeNearest"},
                {by(whole, place("asymmetric") + rounded("floor")), "ResizeNearest"},
                {by(whole, Text("keep_aspect_ratio_policy", "stretch")), "ResizeNearest"},
                {by({1, 1, 1024, 1}), "ResizeNearest"},
                {by(whole, linear + place("align_corners")), "UpsampleBilinear"},
                {by(whole, place("asymmetric")), "Resize"},
                {by(whole, rounded("floor")), "Resize"},
                {by(whole, place("align_corners")), "Resize"},
                {by(whole, place("pytorch_half_pixel")), "Resize"},
                {by(whole, linear + place("asymmetric") + rounded("floor")), "Resize"},
                {by(whole, Text("mode", "cubic") + place("align_corners")), "Resize"},
                {by({1, 1, 1025, 1}), "Resize"},
                {by({1, 1, 2, 0.5}), "Resize"},
                {by({1, 1, 0.5, 2}), "Resize"},
                {by({1, 2, 2, 3}), "Resize"},
                {by({2, 1, 2, 3}), "Resize"},
                {by({1, 1, 2.5, 3}), "Resize"},
                {by(whole, Ints("axes", {0, 1, 2, 3})), "Resize"},
                {by({1, 1, 2}), "Resize", {"1", "2", "4"}},
                {by(whole), "Resize", {"1", "2", "4", "6"}, kInt32},
                {by(whole), "ResizeNearest", {"n", "2", "h", "w"}},
                {to({1, 2, 8, 6}), "ResizeNearest"},
                {to({1, 2, 9, 6}), "Resize"},
                {to({1, 2, 8, 3}), "Resize"},
                {to({1, 4, 8, 6}), "Resize"},
                {to({1, 2, 8, 6}), "Resize", {"1", "2", "h", "6"}}});
}

TEST(NodeChoicesTest, WindowsArePlainOrOnnxs) {
  const std::string two = Ints("kernel_shape", {2, 2});
  const auto filter = [](const std::string& more) {
    return Constant("w", kFloat, {2, 1, 2, 2}, std::vector<double>(8, 1)) +
           Node("ConvTranspose", "xw", more);
  };
  CheckChoices(
      {{filter(Ints("dilations", {1, 1}) + Ints("pads", {1, 0, 0, 1})), "ConvTranspose"},
       {filter(Text("auto_pad", "VALID")), "ConvTranspose"},
       {filter(Ints("strides", {2, 2}) + Ints("output_padding", {1, 1})), "ConvTranspose"},
       {filter(Ints("strides", {2, 2}) + Ints("output_padding", {0, 2})), "ONNXConvTranspose"},
       {filter(Ints("strides", {2, 1}) + Ints("output_padding", {0, 1})), "ONNXConvTranspose"},
       {filter(Ints("pads", {0, 0, 0, -1})), "ONNXConvTranspose"},
       {filter(Ints("pads", {-1, 0, 0, 0})), "ONNXConvTranspose"},
       {filter(Text("auto_pad", "SAME_UPPER")), "ONNXConvTranspose"},
       {filter(Ints("dilations", {1, 2})), "ONNXConvTranspose"},
       {Node("MaxPool", "x", two + Text("auto_pad", "VALID")), "MaxPool"},
       {Node("MaxPool", "x", two + Ints("dilations", {1, 1})), "MaxPool"},
       {Node("MaxPool", "x", Ints("kernel_shape", {2})), "MaxPool", {"1", "2", "8"}},
       {Node("MaxPool", "x", two + Int("ceil_mode", 1)), "ONNXMaxPool"},
       {Node("MaxPool", "x", two + Text("auto_pad", "SAME_LOWER")), "ONNXMaxPool"},
       {Node("MaxPool", "x", two), "ONNXMaxPool", {"1", "2", "4", "6"}, kDouble},
       {Node("MaxPool", "x", two + Ints("pads", {0, 0, 0, 2})), "ONNXMaxPool"},
       {Node("AveragePool", "x", two + Text("auto_pad", "VALID")), "AveragePool"},
       {Node("AveragePool", "x", two + Text("auto_pad", "SAME_UPPER")), "ONNXAveragePool"},
       {Node("AveragePool", "x", two + Ints("dilations", {1, 2})), "ONNXAveragePool"},
       {Node("LpPool", "x", two + Text("auto_pad", "VALID")), "LpPool"},
       {Node("LpPool", "x", two + Int("ceil_mode", 1)), "ONNXLpPool"},
       {Node("LpPool", "x", Ints("kernel_shape", {1, 1, 1})),
        "ONNXLpPool",
        {"1", "2", "4", "6", "3"}}});
}

TEST(NodeChoicesTest, ProductsPowersAndSelections) {
  const auto exponent = [](const std::vector<int64_t>& dims) {
    return Constant("e", kFloat, dims, {3}) + Node("Pow", "xe");
  };
  const std::string matrix = Constant("b", kFloat, {4, 3}, std::vector<double>(12, 1)) +
                             Constant("d", kFloat, {4}, {1, 2, 3, 4});
  const auto gemm = [&](const std::string& more) { return matrix + Node("Gemm", "xbd", more); };
  const std::string b = Int("transB", 1);
  CheckChoices(
      {{exponent({}), "Pow"},
       {exponent({1}), "ONNXPow"},
       {exponent({1}), "Pow", {"1"}},
       {exponent({}), "ONNXPow", {"2"}, kInt32},
       {List("e", {2}, true) + Node("Pow", "xe"), "Pow"},
       {gemm(b), "FC", {"2", "3"}},
       {gemm(b + Float("alpha", 2)), "MatMul Mul Add", {"2", "3"}},
       {gemm(b + Float("beta", 2)), "MatMul Add", {"2", "3"}},
       {gemm(b + Int("transA", 1)), "MatMul Add", {"3", "2"}},
       {Node("MatMul", "xx"), "BatchMatMul Reshape", {"3"}},
       {Node("MatMul", "xx"), "ONNXMatMul", {"3"}, kInt32},
       {List("k", {1}) + Node("TopK", "xk", "", "yi"), "TopK"},
       {List("k", {0}) + Node("TopK", "xk", "", "yi"), "ONNXTopK"},
       {Node("Where", "cxx") + OnnxValue("input", "c", {"2"}, kBool), "Where", {"2"}},
       {Node("Where", "cxx") + OnnxValue("input", "c", {"1"}, kBool), "ONNXWhere", {"2"}},
       {Node("Where", "cxx") + OnnxValue("input", "c", {"2"}, kBool), "Where", {"2"}, kInt32},
       {Node("Where", "cxx") + OnnxValue("input", "c", {"2"}, kBool), "ONNXWhere", {"2"}, kInt8},
       {Node("Relu"), "Relu"},
       {Node("Relu"), "ONNXMax", {"2"}, kInt64},
       {Node("Relu"), "ONNXMax", {"2"}, kDouble}});
}

TEST(NodeChoicesTest, RandomNumbersHaveTheirType) {
  const std::string shape = Ints("shape", {2, 3});
  node_forms::Check({{Node("RandomNormal", "", shape + Int("dtype", kDouble)),
                      "GaussianFill() mean=0 std=1 shape=[2,3] -> %1\nCast(%1) to=13 -> %2\n"
                      "Copy(%2) -> y\n",
                      {}},
                     {Node("RandomUniform", "", shape + Int("dtype", kDouble)),
                      "UniformFill() min=0 max=1 shape=[2,3] -> %1\nCast(%1) to=13 -> %2\n"
                      "Copy(%2) -> y\n",
                      {}},
                     {Node("RandomNormalLike", "x", Float("mean", 2) + Int("dtype", kDouble)),
                      "GaussianFill(x) mean=2 std=1 -> %1\nCast(%1) to=13 -> %2\nCopy(%2) -> y\n"},
                     {Node("RandomUniformLike", "x", Float("high", 2) + Int("dtype", kDouble)),
                      "UniformFill(x) min=0 max=2 -> %1\nCast(%1) to=13 -> %2\nCopy(%2) -> y\n"},
                     {Node("Bernoulli", "x", Int("dtype", kInt64)),
                      "UniformFill(x) -> %1\nLT(%1, x) -> %2\nCast(%2) to=10 -> %3\n"
                      "Copy(%3) -> y\n"}});
}

// --- types and shapes ---

// Whether a Cast of z to the type is an operator. r has a shape that the run gives, of `rank` numbers.
bool IsCast(const std::string& nodes, int64_t rank, int from, int to) {
  const std::string types =
      TypesOf(Node("Reshape", "xs", "", "r") + nodes + Node("Cast", "z", Int("to", to)) +
                  OnnxValue("input", "x", {"n"}, from) +
                  OnnxValue("input", "s", {MakeString(rank)}, kInt64),
              26);
  EXPECT_EQ(types.find("cannot import"), std::string::npos) << types;
  // Nodes on narrow integers have casts of their own; that of the end is the last operator.
  return types.ends_with("Cast");
}

TEST(NodeChoicesTest, TypesOfOutputsWithoutAShape) {
  const std::string bits = Constant("c", kBool, {1}, {1}), one = Constant("o", kInt8, {1}, {1});
  const std::string depth = List("d", {3}, true), pair = Constant("v", kInt32, {2}, {0, 1});
  const std::string value =
      "attribute { name: 'value' type: TENSOR t { dims: 1 data_type: 6 "
      "int32_data: 1 } } ";
  const struct {
    std::string nodes;
    int from, to;
    int64_t rank = 2;
  } rows[] = {
      {bits + Node("Compress", "rc", "", "z"), kInt32, kInt32},
      {bits + Node("Compress", "rc", Int("axis", 0), "z"), kInt32, kInt32},
      {Node("Unique", "r", "", "z"), kInt32, kInt32},
      {Node("Unique", "r", "", "vz"), kInt32, kInt64},
      {Node("Unique", "r", "", "vabz"), kInt32, kInt64},
      {Node("NonMaxSuppression", "rr", "", "z"), kFloat, kInt64, 3},
      {Node("NonZero", "r", "", "z"), kFloat, kInt64},
      {Node("Range", "rrr", "", "z"), kInt32, kInt32, 0},
      {Node("Range", "rrr", "", "z"), kFloat, kFloat, 0},
      {depth + pair + Node("OneHot", "rdv", "", "z"), kInt64, kInt32},
      {Node("ConstantOfShape", "r", "", "z"), kInt64, kFloat, 1},
      {Node("ConstantOfShape", "r", value, "z"), kInt64, kInt32, 1},
      {Node("EyeLike", "r", "", "z"), kInt32, kInt32},
      {Node("EyeLike", "r", Int("dtype", kInt64), "z"), kInt32, kInt64},
      {Node("BitCast", "r", Int("to", kInt32), "z"), kFloat, kInt32},
      {Node("CastLike", "ro", "", "z") + one, kFloat, kInt8},
      {Node("ReduceSum", "r", "", "z"), kInt8, kInt8},
      {Node("ReduceMax", "r", "", "z"), kInt16, kInt16},
      {one + Node("Add", "ro", "", "z"), kInt8, kInt8},
      {one + Node("Less", "ro", "", "z"), kInt8, kBool},
      {Node("Shape", "r", "", "d") + Node("Split", "rd", "", "zv"), kInt32, kInt32},
      {Node("Shape", "r", "", "d") + Node("Split", "rd", "", "vz"), kInt32, kInt32},
      {Node("TopK", "rk", "", "zv") + List("k", {1}), kDouble, kDouble},
      {Node("GatherElements", "ri", "", "z") + Constant("i", kInt64, {1, 1}, {0}), kInt16, kInt16}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.nodes);
    EXPECT_FALSE(IsCast(row.nodes, row.rank, row.from, row.to));
    EXPECT_TRUE(IsCast(row.nodes, row.rank, row.from, row.to == kDouble ? kFloat : kDouble));
  }
}

TEST(NodeChoicesTest, ShapesThatFollowFromConstants) {
  const auto dims = [](const std::string& graph) {
    const std::string bytes = OnnxBytes(graph + kY, 18);
    EXPECT_EQ(OnnxImportError(bytes), "");
    if (!OnnxImportError(bytes).empty()) return std::vector<int64_t>{-9};
    const OnnxModel model = ImportOnnxFromMemory(bytes, {});
    const auto found = model.output_dims.find("y");
    return found == model.output_dims.end() ? std::vector<int64_t>{-9} : found->second;
  };
  using Dims = std::vector<int64_t>;
  const std::string x = OnnxValue("input", "x", {"n", "2"}, kInt64),
                    pair = Constant("v", kFloat, {2}, {0, 1}), five = List("d", {5}, true);
  EXPECT_EQ(dims(x + pair + five + Node("OneHot", "xdv")), (Dims{-1, 2, 5}));
  EXPECT_EQ(dims(x + pair + five + Node("OneHot", "xdv", Int("axis", 0))), (Dims{5, -1, 2}));
  EXPECT_EQ(dims(x + pair + five + Node("OneHot", "xdv", Int("axis", 1))), (Dims{-1, 5, 2}));
  EXPECT_EQ(dims(x + pair + five + Node("OneHot", "xdv", Int("axis", -2))), (Dims{-1, 5, 2}));
  EXPECT_EQ(dims(x + pair + Constant("d", kFloat, {}, {4}) + Node("OneHot", "xdv")),
            (Dims{-1, 2, 4}));
  // x has no shape at all.
  const std::string open = "input { name: 'x' type { tensor_type { elem_type: 1 } } } ";
  EXPECT_EQ(dims(open + List("s", {0, 3}) + Node("Reshape", "xs", Int("allowzero", 1))),
            (Dims{0, 3}));
  EXPECT_EQ(dims(open + List("s", {0, 3}) + Node("Reshape", "xs")), (Dims{-1, -1}));
  EXPECT_EQ(dims(open + List("s", {0, -1}) + Node("Reshape", "xs", Int("allowzero", 1))),
            (Dims{-1, -1}));
  // The length of a shape is the rank, but not that of a part of it, of which no dims are stated.
  const std::string ranked = OnnxValue("input", "x", {"n"}) +
                             OnnxValue("input", "s", {"3"}, kInt64) +
                             Node("Reshape", "xs", "", "r");
  EXPECT_EQ(dims(ranked + Node("Shape", "r")), (Dims{3}));
  EXPECT_EQ(dims(ranked + Node("Shape", "r", Int("start", 1))), (Dims{-9}));
  EXPECT_EQ(dims(ranked + Node("Shape", "r", Int("end", 2))), (Dims{-9}));
  // One dim may be computed.
  node_forms::Check({{List("s", {3, 2, -1}) + Node("Reshape", "xs"),
                      "Reshape(x) shape=[3,2,-1] -> y, %1\n",
                      {{"x", {"n", "6"}}}},
                     {List("s", {0, -1, 2}) + Node("Reshape", "xs"),
                      "Reshape(x) shape=[0,-1,2] -> y, %1\n",
                      {{"x", {"n", "6"}}}}});
}

// --- errors ---

TEST(NodeChoicesTest, ErrorsOfNodes) {
  const auto linear = [](int64_t size) {
    return Node("LinearAttention", "xxx",
                Int("q_num_heads", 1) + Int("kv_num_heads", 1) + Text("update_rule", "linear")) +
           OnnxValue("input", "x", {"1", "1", MakeString(size)});
  };
  std::string rotary = Node("MultiHeadAttention", "xxx", Int("num_heads", 1) + Int("do_rotary", 1));
  rotary.insert(rotary.find("op_type"), "domain: 'com.microsoft' ");
  const std::string x = OnnxValue("input", "x", {"1", "2", "4"});
  const struct {
    std::string graph;
    const char* message;
    int64_t opset = 22;
  } rows[] = {
      {linear(4097), "elements of a state: got 16785409, want at most 16777216", 28},
      {rotary + x, "do_rotary is 1, which is not supported"},
      {x + Node("Cast", "x", Int("to", 99)), "element type 99 is not supported"},
      {x + Node("Cast", "x"), "element type UNDEFINED is not supported"},
      // Six elements are not 6 x 0.
      {List("a", {1, 2, 3, 4, 5, 6}) + List("s", {6, 0}) + Node("Reshape", "as"), "node \"n\""},
      {List("a", {1, 2, 3, 4, 5, 6}) + List("s", {4, -1}) + Node("Reshape", "as"), "node \"n\""}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.graph);
    const std::string got = TypesOf(row.graph, row.opset);
    EXPECT_NE(got.find(row.message), std::string::npos) << got;
    EXPECT_NE(got.find("cannot import"), std::string::npos) << got;
  }
}

// Names of types that are not supported are listed up to a hundred.
TEST(NodeChoicesTest, ListsOfMissingOperatorsEnd) {
  const auto error = [](int count) {
    std::string graph = OnnxValue("input", "x", {"2"});
    for (int i = 0; i < count; ++i)
      graph += MakeString("node { op_type: 'Wonder", 100 + i, "' input: 'x' output: 'o", i, "' } ");
    return TypesOf(graph, 18);
  };
  const std::string most = error(100), more = error(101);
  EXPECT_NE(most.find("100 operators of the model are not supported: Wonder100 (node \"o0\"), "),
            std::string::npos);
  EXPECT_TRUE(most.ends_with("Wonder199 (node \"o99\")")) << most;
  EXPECT_NE(more.find("101 operators of the model are not supported: Wonder100 "),
            std::string::npos);
  EXPECT_TRUE(more.ends_with("Wonder199 (node \"o99\"), ...")) << more;
}

}  // namespace
}  // namespace caffe2rt::test::node_choices_test
