// What nodes that move and select elements become, with parameters that are constants, computed from
// symbols, or given when the model runs. The values of the operators are tested with them.
#include <gtest/gtest.h>

#include "caffe2_core/import/onnx/onnx_import.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::movement_rows_test {
namespace {

constexpr int kFloat = 1, kInt64 = 7;

std::string Node(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& attributes = "", const std::string& output = "y") {
  std::string text = "node { op_type: '" + type + "' name: 'n' ";
  for (const std::string& input : inputs) text += "input: '" + input + "' ";
  return text + "output: '" + output + "' " + attributes + "} ";
}
std::string List(const std::string& name, const std::vector<int64_t>& values) {
  std::string text =
      MakeString("initializer { name: '", name, "' data_type: 7 dims: ", values.size(), " ");
  for (const int64_t value : values) text += MakeString("int64_data: ", value, " ");
  return text + "} ";
}
std::string Graph(const std::string& nodes, const std::vector<std::string>& x_dims,
                  int type = kFloat) {
  return nodes + OnnxValue("input", "x", x_dims, type) + OnnxValue("output", "y", {}, type);
}
std::string TypesOf(const std::string& graph) {
  std::string types;
  const OnnxModel model = ImportOnnxFromMemory(OnnxBytes(graph, 22), {});
  for (const OperatorDef& op : model.predict_net.op())
    types += (types.empty() ? "" : " ") + op.type();
  return types;
}

// [a, b, n, 3]: merged, transposed and divided again, as PyTorch's exporter swaps two axes.
TEST(MovementRowsTest, SwapsTheLastTwoAxesByOneTranspose) {
  const auto swap = [](const std::string& divided) {
    return "node { op_type: 'Shape' input: 'x' output: 'dims' } " + List("minus", {-1}) +
           List("i", {2}) + List("j", {3}) + List("ab", {0, 1}) +
           Node("Gather", {"dims", "i"}, "", "rows") +
           Node("Gather", {"dims", "j"}, "", "columns") +
           Node("Gather", {"dims", "ab"}, "", "first") +
           Node("Concat", {"minus", "rows", "columns"},
                "attribute { name: 'axis' type: INT i: 0 } ", "merged") +
           Node("Concat", {"first", divided, divided == "rows" ? "columns" : "rows"},
                "attribute { name: 'axis' type: INT i: 0 } ", "swapped") +
           Node("Reshape", {"x", "merged"}, "", "flat") +
           Node("Transpose", {"flat"},
                "attribute { name: 'perm' type: INTS ints: 0 ints: 2 ints: 1 } ", "moved") +
           Node("Reshape", {"moved", "swapped"});
  };
  EXPECT_EQ(TypesOf(Graph(swap("columns"), {"a", "2", "n", "3"})), "Transpose");
  EXPECT_EQ(TypesOf(Graph(swap("rows"), {"1", "2", "4", "3"})), "Reshape Transpose Reshape");
  const Tensor y =
      RunOnnxBytes(OnnxBytes(Graph(swap("columns"), {"a", "2", "n", "3"}), 22),
                   {{"x", FloatTensor({1, 2, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})}}, "y");
  EXPECT_EQ(y.dims(), (std::vector<int64_t>{1, 2, 3, 2}));
  EXPECT_EQ(FloatsOf(y), (std::vector<float>{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
}

TEST(MovementRowsTest, DropReshapesToTheSameShape) {
  const std::string graph =
      List("dims", {0, -1}) + Node("Reshape", {"x", "dims"}, "", "z") + Node("Relu", {"z"});
  EXPECT_EQ(TypesOf(Graph(graph, {"a", "2"})), "Relu");
  EXPECT_EQ(TypesOf(Graph(List("dims", {-1, 1}) + Node("Reshape", {"x", "dims"}), {"a", "2"})),
            "Reshape");
}

TEST(MovementRowsTest, ChooseTheOperator) {
  struct {
    std::string nodes;
    std::vector<std::string> dims;
    std::string want;
    int type = kFloat;
  } const rows[] = {
      {List("s", {1}) + List("e", {3}) + Node("Slice", {"x", "s", "e"}), {"4", "2"}, "Slice"},
      {List("s", {1, 0}) + List("e", {3, 1}) + Node("Slice", {"x", "s", "e"}),
       {"4", "2"},
       "ONNXSlice"},
      {List("s", {1}) + List("e", {3}) + Node("Slice", {"x", "s", "e"}), {"n", "2"}, "ONNXSlice"},
      {List("k", {1}) + Node("TopK", {"x", "k"}, "output: 'i' "), {"4"}, "TopK"},
      {List("k", {1}) +
           Node("TopK", {"x", "k"}, "output: 'i' attribute { name: 'largest' type: INT i: 0 } "),
       {"4"},
       "ONNXTopK"},
      {List("k", {1}) + Node("TopK", {"x", "k"}, "output: 'i' "), {"4"}, "ONNXTopK", kInt64},
      {List("a", {-1}) + Node("Unsqueeze", {"x", "a"}), {"4"}, "ExpandDims"},
      {List("a", {-1}) + Node("Squeeze", {"x", "a"}), {"4", "1"}, "Squeeze"},
      {List("p", {0, 1}) + Node("Pad", {"x", "p"}), {"4"}, "Pad"},
      {List("r", {2, 1}) + Node("Tile", {"x", "r"}), {"4", "2"}, "ONNXTile"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.nodes);
    EXPECT_EQ(TypesOf(Graph(row.nodes, row.dims, row.type)), row.want);
  }
}

TEST(MovementRowsTest, TakeParametersWhenTheyRun) {
  const std::string graph =
      Node("Slice", {"x", "s", "e", "", "t"}) + OnnxValue("input", "x", {"5"}) +
      OnnxValue("input", "s", {"1"}, kInt64) + OnnxValue("input", "e", {"1"}, kInt64) +
      OnnxValue("input", "t", {"1"}, kInt64) + OnnxValue("output", "y", {});
  const Tensor y = RunOnnxBytes(OnnxBytes(graph, 22),
                                {{"x", FloatTensor({5}, {1, 2, 3, 4, 5})},
                                 {"s", IntTensor({1}, {-1})},
                                 {"e", IntTensor({1}, {0})},
                                 {"t", IntTensor({1}, {-2})}},
                                "y");
  EXPECT_EQ(FloatsOf(y), (std::vector<float>{5, 3}));
}

TEST(MovementRowsTest, KeepAbsentInputsInTheirPlace) {
  const std::string graph =
      List("p", {0, 1}) + List("a", {0}) + "initializer { name: 'v' data_type: 1 float_data: 7 } " +
      Node("Pad", {"x", "p", "v", "a"}) + Node("Pad", {"y", "p", "", "a"}, "", "z") +
      OnnxValue("input", "x", {"2"}) + OnnxValue("output", "z", {});
  const Tensor z = RunOnnxBytes(OnnxBytes(graph, 22), {{"x", FloatTensor({2}, {1, 2})}}, "z");
  EXPECT_EQ(FloatsOf(z), (std::vector<float>{1, 2, 7, 0}));
}

// The shape of Expand depends on a symbol; Flatten has to know its rank.
TEST(MovementRowsTest, KnowRanksOfShapesThatSymbolsDecide) {
  const std::string graph =
      List("two", {2}) + Node("Shape", {"x"}, "", "shape") +
      Node("Concat", {"two", "shape"}, "attribute { name: 'axis' type: INT i: 0 } ", "wanted") +
      Node("Expand", {"x", "wanted"}, "", "wide") +
      Node("Flatten", {"wide"}, "attribute { name: 'axis' type: INT i: -1 } ") +
      OnnxValue("input", "x", {"n", "m"}) + OnnxValue("output", "y", {});
  const Tensor y = RunOnnxBytes(OnnxBytes(graph, 22), {{"x", FloatTensor({1, 2}, {3, 4})}}, "y");
  EXPECT_EQ(y.dims(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(FloatsOf(y), (std::vector<float>{3, 4, 3, 4}));
}

TEST(MovementRowsTest, EnlargeImagesByWholeFactors) {
  const auto resize = [](const std::string& attributes, const std::string& scales) {
    return TypesOf(Graph("initializer { name: 's' data_type: 1 dims: 4 " + scales + "} " +
                             Node("Resize", {"x", "", "s"}, attributes),
                         {"1", "1", "h", "w"}));
  };
  const std::string whole = "float_data: 1 float_data: 1 float_data: 2 float_data: 3 ";
  const std::string broken = "float_data: 1 float_data: 1 float_data: 1.5 float_data: 2 ";
  const auto text = [](const std::string& name, const std::string& value) {
    return "attribute { name: '" + name + "' type: STRING s: '" + value + "' } ";
  };
  const std::string linear = text("mode", "linear");
  EXPECT_EQ(resize("", whole), "ResizeNearest");
  EXPECT_EQ(resize("", broken), "Resize");
  EXPECT_EQ(resize(text("nearest_mode", "ceil"), whole), "Resize");
  EXPECT_EQ(resize(linear, whole), "Resize");
  EXPECT_EQ(resize(linear + text("coordinate_transformation_mode", "align_corners"), whole),
            "UpsampleBilinear");
}

}  // namespace
}  // namespace caffe2rt::test::movement_rows_test
