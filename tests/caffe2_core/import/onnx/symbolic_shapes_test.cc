// Shapes that depend on a symbol: what the import states of an output holds in each run, and the dims
// of a run are those of ONNX's definitions.
#include <gtest/gtest.h>

#include <functional>
#include <tuple>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"

namespace caffe2rt::test::symbolic_shapes_test {
namespace {

using namespace node_forms;  // used throughout this file

// x is [n, 4]. Of a dim below 0, -1 stands for n, -2 for 2 n, and so on.
struct SymbolCase {
  std::string nodes;  // read x and write y
  std::vector<int64_t> dims;
};

void ExpectShapes(const std::vector<SymbolCase>& rows) {
  for (const SymbolCase& row : rows) {
    SCOPED_TRACE(row.nodes);
    const std::string bytes =
        OnnxBytes(row.nodes + OnnxValue("input", "x", {"n", "4"}) + "output { name: 'y' }", 18);
    ASSERT_EQ(OnnxImportError(bytes), "");
    std::vector<int64_t> stated = row.dims;
    for (int64_t& dim : stated) dim = std::max<int64_t>(dim, -1);
    EXPECT_EQ(ImportOnnxFromMemory(bytes, {}).output_dims.at("y"), stated);
    for (const int64_t n : {2, 5}) {
      std::vector<int64_t> dims = row.dims;
      for (int64_t& dim : dims) dim = dim < 0 ? -dim * n : dim;
      const NamedTensors inputs = {
          {"x", FloatTensor({n, 4}, std::vector<float>(static_cast<size_t>(4 * n), 1))}};
      EXPECT_EQ(RunOnnxBytes(bytes, inputs, "y").dims(), dims);
    }
  }
}

// The shape of x in s, and its first number in p (a list) and q.
const std::string kShape = Node("Shape", "x", "", "s") + List("z", {0}) + List("o", {0}, true) +
                           Node("Gather", "sz", "", "p") + Node("Gather", "so", "", "q");

TEST(SymbolicShapesTest, OfParametersThatDependOnTheSymbol) {
  const std::string first = Int("axis", 0);
  ExpectShapes(
      {{kShape + Node("Slice", "xzpz"), {-1, 4}},
       {kShape + List("t", {2}) + Node("Concat", "ts", first, "e") + Node("Expand", "xe"),
        {2, -1, 4}},
       {kShape + List("t", {1}) + Node("Concat", "tp", first, "e") + Node("Tile", "xe"), {-1, -4}},
       {kShape + Node("ConstantOfShape", "s"), {-1, 4}},
       {kShape + List("u", {1}, true) + Node("Range", "oqu"), {-1}},
       {kShape + List("t", {2}) + Node("Mul", "pt", "", "e") + Node("Concat", "et", first, "f") +
            Node("Reshape", "xf"),
        {-2, 2}},
       {kShape + Node("TopK", "xp", first, "yi"), {-1, 4}},
       // The value is computed when the net runs, the pads are not.
       {kShape + Node("ReduceMax", "x", Int("keepdims", 0), "v") +
            Node("Concat", "pzzz", first, "e") + Node("Pad", "xev"),
        {-2, 4}},
       // A column of n elements as a matrix: its second axis is none of the column.
       {Node("Transpose", "x", "", "a") + List("i", {1}, true) + Node("Gather", "ai", "", "b") +
            Node("Shape", "b", "", "c") + List("t", {1}) + Node("Concat", "tc", first, "e") +
            Node("Reshape", "be"),
        {1, -1}},
       {kShape + Node("Cast", "x", Int("to", kInt64), "c") +
            "initializer { name: 'v' data_type: 1 "
            "dims: 2 float_data: 0 float_data: 1 } " +
            Node("OneHot", "cqv", ""),
        {-1, 4, -1}}});
}

TEST(SymbolicShapesTest, OfConstantParameters) {
  const std::string two = List("t", {2});
  const std::string values =
      "initializer { name: 'v' data_type: 1 dims: 2 float_data: 0 float_data: 1 } ";
  const std::string whole = Node("Cast", "x", Int("to", kInt64), "c");
  ExpectShapes(
      {{List("r", {1, 2}) + Node("Tile", "xr"), {-1, 8}},
       {List("r", {2, 1}) + Node("Tile", "xr"), {-2, 4}},
       {List("r", {0, 1, 0, 2}) + Node("Pad", "xr"), {-1, 7}},
       {List("r", {3, 1, 1}) + Node("Expand", "xr"), {3, -1, 4}},
       {List("r", {-1}) + Node("Reshape", "xr"), {-4}},
       {List("r", {0, 2, 2}) + Node("Reshape", "xr"), {-1, 2, 2}},
       {List("r", {-1, 2}) + Node("Reshape", "xr"), {-2, 2}},
       {Node("Flatten", "x"), {-1, 4}},
       {Node("Flatten", "x", Int("axis", 0)), {1, -4}},
       {Node("Transpose", "x"), {4, -1}},
       {Node("Concat", "xx", Int("axis", 0)), {-2, 4}},
       {Node("Concat", "xx", Int("axis", -1)), {-1, 8}},
       {two + Node("TopK", "xt", "", "yi"), {-1, 2}},
       {two + Node("TopK", "xt", Int("largest", 0), "yi"), {-1, 2}},
       {List("d", {3}, true) + values + whole + Node("OneHot", "cdv"), {-1, 4, 3}},
       {List("d", {3}, true) + values + whole + Node("OneHot", "cdv", Int("axis", 0)), {3, -1, 4}},
       {List("d", {3}, true) + values + whole + Node("OneHot", "cdv", Int("axis", -2)), {-1, 3, 4}},
       {List("i", {1}) + Node("Gather", "xi"), {1, 4}},
       {List("i", {1}, true) + Node("Gather", "xi", Int("axis", 1)), {-1}},
       {List("l", {1, 3}) + Node("Split", "xl", Int("axis", 1), "ky"), {-1, 3}},
       {List("a", {1}) + Node("Unsqueeze", "xa"), {-1, 1, 4}},
       {List("a", {1}) + Node("ReduceSum", "xa", Int("keepdims", 0)), {-1}},
       {List("a", {0}) + Node("ReduceMax", "xa"), {1, 4}},
       {Node("ArgMax", "x", Int("axis", 1)), {-1, 1}},
       {Node("ArgMin", "x", Int("keepdims", 0)), {4}},
       {Node("EyeLike", "x"), {-1, 4}},
       {List("b", {1}) + List("e", {3}) + List("a", {-1}) + Node("Slice", "xbea"), {-1, 2}},
       {Node("Size", "x"), {}},
       {Node("Softmax", "x", Int("axis", 0)), {-1, 4}},
       {Node("LogSoftmax", "x"), {-1, 4}}});
}

// Other numbers of the symbol, and two symbols that are one.
TEST(SymbolicShapesTest, SumsOfInputsWithOneSymbolHaveIt) {
  const std::string graph = OnnxValue("input", "x", {"n", "2"}) +
                            OnnxValue("input", "b", {"n", "2"}) +
                            OnnxValue("input", "d", {"m", "2"});
  const auto stated = [&](const std::string& nodes) {
    return ImportOnnxFromMemory(OnnxBytes(graph + nodes + "output { name: 'y' }", 18), {})
        .output_dims.at("y");
  };
  using Dims = std::vector<int64_t>;
  EXPECT_EQ(stated(Node("Add", "xb")), (Dims{-1, 2}));
  EXPECT_EQ(stated(Node("Concat", "xd", Int("axis", 0))), (Dims{-1, 2}));
  EXPECT_EQ(stated(Node("Concat", "xb", Int("axis", 1))), (Dims{-1, 4}));
  EXPECT_EQ(stated(Node("Shape", "x", "", "s") + Node("Expand", "xs")), (Dims{-1, 2}));
}

TEST(SymbolicShapesTest, NumbersForDimensionsMakeShapesFixed) {
  const std::string bytes = OnnxBytes(
      OnnxValue("input", "x", {"n", "m"}) + Node("Transpose", "x") + "output { name: 'y' }", 18);
  const OnnxModel model = ImportOnnxFromMemory(bytes, {.dims = {{"n", 3}}});
  EXPECT_EQ(model.output_dims.at("y"), (std::vector<int64_t>{-1, 3}));
  EXPECT_EQ(model.inputs[0].dims, (std::vector<int64_t>{3, -1}));
  EXPECT_EQ(model.inputs[0].symbols, (std::vector<std::string>{"n", "m"}));
}

// Dims that stay in their place, beside others that are known: all of them may be open.
TEST(SymbolicShapesTest, SeveralOpenDimsStayInTheirPlace) {
  const std::string parts = List("i", {0}) + List("j", {2, 3}) + List("k", {1}) + List("t", {2}) +
                            Node("Shape", "x", "", "s") + Node("Gather", "si", "", "a") +
                            Node("Gather", "sj", "", "b") + Node("Gather", "sk", "", "c");
  using Dims = std::vector<int64_t>;
  const struct {
    std::string wanted;  // the parts of the new shape
    std::function<Dims(int64_t n, int64_t h, int64_t w)> dims;
  } rows[] = {
      {"atbt",
       [](int64_t n, int64_t h, int64_t w) {
         return Dims{n, 2, h, w, 2};
       }},
      {"acb",
       [](int64_t n, int64_t h, int64_t w) {
         return Dims{n, 4, h, w};
       }},
      {"attb",
       [](int64_t n, int64_t h, int64_t w) {
         return Dims{n, 2, 2, h, w};
       }},
      {"bca",
       [](int64_t n, int64_t h, int64_t w) {
         return Dims{h, w, 4, n};
       }},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.wanted);
    const std::string bytes = OnnxBytes(OnnxValue("input", "x", {"n", "4", "h", "w"}) + parts +
                                            Node("Concat", row.wanted, Int("axis", 0), "e") +
                                            Node("Reshape", "xe") + "output { name: 'y' }",
                                        18);
    ASSERT_EQ(OnnxImportError(bytes), "");
    for (const auto& [n, h, w] : {std::tuple<int64_t, int64_t, int64_t>(2, 3, 5), {1, 1, 1}}) {
      const std::vector<float> x(static_cast<size_t>(4 * n * h * w), 1);
      EXPECT_EQ(RunOnnxBytes(bytes, {{"x", FloatTensor({n, 4, h, w}, x)}}, "y").dims(),
                row.dims(n, h, w));
    }
  }
}

// A node that needs the sizes of an image keeps the model from other sizes, but not from other batches.
TEST(SymbolicShapesTest, NodesAreNamedThatNeedFixedSizes) {
  const std::string w =
      "initializer { name: 'w' data_type: 1 dims: 1 dims: 1 dims: 2 dims: 2 "
      "float_data: 1 float_data: 1 float_data: 1 float_data: 1 } ";
  const std::string same = Text("auto_pad", "SAME_UPPER");
  const auto bytes = [&](const std::vector<std::string>& dims) {
    return OnnxBytes(
        w + OnnxValue("input", "x", dims) + Node("Conv", "xw", same) + "output { name: 'y' }", 18);
  };
  // The batch is open.
  const OnnxModel model = ImportOnnxFromMemory(bytes({"n", "1", "3", "3"}), {});
  EXPECT_EQ(model.output_dims.at("y"), (std::vector<int64_t>{-1, 1, 3, 3}));
  EXPECT_EQ(model.fixed_size_node, "");
  EXPECT_NE(OnnxImportError(bytes({"1", "1", "h", "3"}))
                .find("it needs dim 2 of blob \"x\", which is \"h\""),
            std::string::npos);
  EXPECT_NE(OnnxImportError(bytes({"n", "1", "3", "h"})).find("it needs dim"), std::string::npos);
}

// The factors of an image are those of its sizes: the first node that computes them is named.
TEST(SymbolicShapesTest, TheFirstNodeThatFitsOneSizeIsNamed) {
  std::string first = Node("Resize", "x--a", "", "p"), second = Node("Resize", "p--b");
  first.replace(first.find("name: 'n'"), 9, "name: 'first'");
  second.replace(second.find("name: 'n'"), 9, "name: 'second'");
  const std::string sizes = List("a", {1, 1, 4, 6}) + List("b", {1, 1, 8, 6});
  const std::string input = OnnxValue("input", "x", {"1", "1", "2", "3"});
  const auto node = [&](const std::string& nodes) {
    return ImportOnnxFromMemory(OnnxBytes(input + sizes + nodes + "output { name: 'y' }", 18), {})
        .fixed_size_node;
  };
  EXPECT_EQ(node(first + second), "first");
  EXPECT_EQ(node(Node("Relu", "x", "", "p") + second), "second");
  EXPECT_EQ(node(Node("Relu", "x")), "");
}

}  // namespace
}  // namespace caffe2rt::test::symbolic_shapes_test
