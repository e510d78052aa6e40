// What follows of the rank and the element type of a node's output when the sizes of its input are
// decided by the run: a Flatten from the end states the rank, a Cast to the same type is left out.
#include <gtest/gtest.h>

#include "caffe2_core/graph/arguments.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::rank_facts_test {
namespace {

constexpr int kFloat = 1, kInt32 = 6, kInt64 = 7, kBool = 9, kDouble = 11;

std::string Int(const std::string& name, int64_t value) {
  return MakeString("attribute { name: '", name, "' type: INT i: ", value, " } ");
}
std::string Ints(const std::string& name, const std::vector<int64_t>& values) {
  std::string text = "attribute { name: '" + name + "' type: INTS ";
  for (const int64_t value : values) text += MakeString("ints: ", value, " ");
  return text + "} ";
}
// Ones.
std::string Ones(const std::string& name, const std::vector<int64_t>& dims, int type = kFloat) {
  std::string text = MakeString("initializer { name: '", name, "' data_type: ", type, " ");
  int64_t count = 1;
  for (const int64_t dim : dims) {
    text += MakeString("dims: ", dim, " ");
    count *= dim;
  }
  const char* const field = type == kFloat    ? "float_data: 1 "
                            : type == kDouble ? "double_data: 1 "
                            : type == kInt64  ? "int64_data: 1 "
                                              : "int32_data: 1 ";
  for (int64_t i = 0; i < count; ++i) text += field;
  return text + "} ";
}
std::string Zeros(const std::string& name, int64_t count) {
  std::string text = MakeString("initializer { name: '", name, "' data_type: 7 dims: ", count, " ");
  for (int64_t i = 0; i < count; ++i) text += "int64_data: 0 ";
  return text + "} ";
}
// Writes z, and others if they are named.
std::string Node(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& attributes = "",
                 const std::vector<std::string>& outputs = {"z"}) {
  std::string text = "node { op_type: '" + type + "' ";
  for (const std::string& input : inputs) text += "input: '" + input + "' ";
  for (const std::string& output : outputs) text += "output: '" + output + "' ";
  return text + attributes + "} ";
}

struct RankCase {
  std::string nodes;  // read r and write z
  int64_t rank;       // of r
  int64_t want;       // of z
  int type = kFloat;  // of r
};

// r has the shape that the run gives, of `rank` numbers.
std::string GraphOf(const std::string& nodes, int64_t rank, int type, const std::string& last) {
  return Node("Reshape", {"x", "shape"}, "", {"r"}) + nodes + last +
         OnnxValue("input", "x", {"n"}, type) +
         OnnxValue("input", "shape", {MakeString(rank)}, kInt64) + "output { name: 'y' } ";
}

// The rank that Flatten counts from; -1 if it is not known.
int64_t KnownRank(const RankCase& row) {
  const std::string graph =
      GraphOf(row.nodes, row.rank, row.type, Node("Flatten", {"z"}, Int("axis", -1), {"y"}));
  const std::string bytes = OnnxBytes(graph, 22);
  const std::string error = OnnxImportError(bytes);
  EXPECT_EQ(error, "");
  if (!error.empty()) return -1;
  const OnnxModel model = ImportOnnxFromMemory(bytes, {});
  for (const OperatorDef& op : model.predict_net.op()) {
    if (op.type() == "Flatten")
      return ArgumentHelper(op).GetSingleArgument<int64_t>("axis", -9) + 1;
  }
  return -1;
}

void ExpectRanks(const std::vector<RankCase>& rows) {
  for (const RankCase& row : rows) {
    SCOPED_TRACE(row.nodes);
    EXPECT_EQ(KnownRank(row), row.want);
  }
}

TEST(RankFactsTest, FunctionsOfOneElementKeepTheRank) {
  for (const char* type :
       {"Abs",   "Ceil",       "Cos",         "Elu",        "Erf",       "Exp",
        "Floor", "Gelu",       "HardSigmoid", "Identity",   "HardSwish", "LeakyRelu",
        "Log",   "LogSoftmax", "Neg",         "Reciprocal", "Relu",      "Round",
        "Selu",  "Sigmoid",    "Sign",        "Sin",        "Softmax",   "Softplus",
        "Sqrt",  "Tanh",       "Dropout",     "Transpose",  "Trilu"}) {
    ExpectRanks({{Node(type, {"r"}), 3, 3}});
  }
  ExpectRanks({{Node("Not", {"r"}), 3, 3, kBool},
               {Node("Cast", {"r"}, Int("to", kInt32)), 3, 3},
               {Ones("l", {}) + Node("Clip", {"r", "l"}), 3, 3},
               {Ones("s", {1, 1}) + Node("PRelu", {"r", "s"}), 3, 3}});
}

TEST(RankFactsTest, LayersKeepTheRank) {
  const std::string vectors = Ones("a", {1}) + Ones("b", {1});
  const std::string unit = Ints("kernel_shape", {1, 1});
  ExpectRanks({{Node("AveragePool", {"r"}, unit), 4, 4},
               {Node("MaxPool", {"r"}, unit), 4, 4},
               {Node("GlobalAveragePool", {"r"}), 4, 4},
               {Node("GlobalMaxPool", {"r"}), 4, 4},
               {Ones("w", {1, 1, 1, 1}) + Node("Conv", {"r", "w"}), 4, 4},
               {Ones("w", {1, 1, 1, 1}) + Node("ConvTranspose", {"r", "w"}), 4, 4},
               {vectors + Node("InstanceNormalization", {"r", "a", "b"}), 4, 4},
               {vectors + Node("LayerNormalization", {"r", "a", "b"}), 4, 4},
               {vectors + Ones("m", {1}) + Ones("v", {1}) +
                    Node("BatchNormalization", {"r", "a", "b", "m", "v"}),
                4, 4}});
}

TEST(RankFactsTest, MovedElementsKeepTheRank) {
  const std::string scattered = Ones("u", {1, 1, 1}) + Ones("i", {1, 1, 1}, kInt64);
  ExpectRanks(
      {{Node("DepthToSpace", {"r"}, Int("blocksize", 1)), 4, 4},
       {Ones("a", {}, kInt64) + Node("CumSum", {"r", "a"}), 3, 3},
       {scattered + Node("GatherElements", {"r", "i"}), 3, 3},
       {scattered + Node("ScatterElements", {"r", "i", "u"}), 3, 3},
       {Ones("i", {1, 1}, kInt64) + Ones("u", {1, 1, 1}) + Node("ScatterND", {"r", "i", "u"}), 3,
        3},
       {Zeros("p", 6) + Node("Pad", {"r", "p"}), 3, 3},
       {Ones("s", {3}) + Node("Resize", {"r", "", "s"}), 3, 3},
       {Zeros("b", 1) + Ones("e", {1}, kInt64) + Node("Slice", {"r", "b", "e"}), 3, 3},
       {Ones("t", {3}, kInt64) + Node("Tile", {"r", "t"}), 3, 3},
       {Ones("k", {1}, kInt64) + Node("TopK", {"r", "k"}, "", {"z", "i"}), 3, 3},
       {Ones("k", {1}, kInt64) + Node("TopK", {"r", "k"}, "", {"v", "z"}), 3, 3},
       {Node("Split", {"r"}, Int("num_outputs", 2), {"v", "z"}), 3, 3},
       {Node("Concat", {"r", "r"}, Int("axis", 0)), 3, 3}});
}

TEST(RankFactsTest, BroadcastInputsHaveTheGreaterRank) {
  for (const char* type : {"Add", "Div", "Equal", "Greater", "GreaterOrEqual", "Less",
                           "LessOrEqual", "Max", "Mean", "Min", "Mul", "Pow", "Sub", "Sum"}) {
    ExpectRanks({{Ones("c", {1, 1, 1}) + Node(type, {"r", "c"}), 2, 3},
                 {Ones("c", {1}) + Node(type, {"c", "r"}), 2, 2}});
  }
  for (const char* type : {"And", "Or", "Xor"}) {
    ExpectRanks({{Ones("c", {1, 1, 1}, kBool) + Node(type, {"r", "c"}), 2, 3, kBool}});
  }
  for (const char* type : {"BitwiseAnd", "BitwiseOr", "BitwiseXor", "Mod"}) {
    ExpectRanks({{Ones("c", {1, 1, 1}, kInt32) + Node(type, {"r", "c"}), 2, 3, kInt32}});
  }
  ExpectRanks(
      {{Ones("c", {1, 1, 1}) + Ones("b", {1}) + Node("Where", {"r", "c", "b"}), 2, 3, kBool}});
}

TEST(RankFactsTest, OtherNodesChangeIt) {
  const std::string axis = Ones("a", {1}, kInt64), two = Ones("a", {2}, kInt64);
  const auto indices = [](const std::vector<int64_t>& dims) { return Ones("i", dims, kInt64); };
  ExpectRanks(
      {{indices({1, 1}) + Node("Gather", {"r", "i"}), 3, 4},
       {indices({}) + Node("Gather", {"r", "i"}), 3, 2},
       // Two numbers of each element of [4, 5] choose a row of three axes.
       {indices({4, 5, 2}) + Node("GatherND", {"r", "i"}), 3, 3},
       {indices({4, 5, 1}) + Node("GatherND", {"r", "i"}, Int("batch_dims", 1)), 3, 3},
       {axis + Node("Squeeze", {"r", "a"}), 3, 2},
       {Zeros("a", 1) + Node("Unsqueeze", {"r", "a"}), 3, 4},
       {Ones("s", {5}, kInt64) + Node("Expand", {"r", "s"}), 3, 5},
       {Ones("s", {1}, kInt64) + Node("Expand", {"r", "s"}), 3, 3},
       {Node("Flatten", {"r"}), 4, 2},
       {Node("NonZero", {"r"}), 4, 2},
       {Ones("w", {1, 1}) + Node("Gemm", {"r", "w"}), 2, 2},
       {axis + Node("ReduceSum", {"r", "a"}), 3, 3},
       {axis + Node("ReduceMax", {"r", "a"}, Int("keepdims", 0)), 3, 2},
       {Ones("a", {1}, kInt64) + Zeros("o", 1) +
            Node("Concat", {"o", "a"}, Int("axis", 0), {"oa"}) +
            Node("ReduceMean", {"r", "oa"}, Int("keepdims", 0)),
        3, 1},
       {Node("ReduceSum", {"r"}, Int("keepdims", 0) + Int("noop_with_empty_axes", 1)), 3, 3},
       {Node("ReduceSum", {"r"}), 3, 3},
       {Node("ArgMax", {"r"}), 3, 3},
       {Node("ArgMin", {"r"}, Int("keepdims", 0)), 3, 2},
       {Node("Shape", {"r"}), 3, 1},
       {Node("Shape", {"r"}, "", {"d"}) + Node("ConstantOfShape", {"d"}), 3, 3},
       {Node("Shape", {"r"}, "", {"d"}) + Node("Reshape", {"x", "d"}), 3, 3}});
}

// As many axes go as x has elements.
TEST(RankFactsTest, ListsOfAnyLengthLeaveTheRankOpen) {
  const std::string axes = Node("Cast", {"x"}, Int("to", kInt64), {"a"});
  for (const std::string& nodes : {axes + Node("Squeeze", {"r", "a"}),
                                   axes + Node("ReduceMax", {"r", "a"}, Int("keepdims", 0))}) {
    const std::string error = OnnxImportError(
        OnnxBytes(GraphOf(nodes, 3, kFloat, Node("Flatten", {"z"}, Int("axis", -1), {"y"})), 22));
    EXPECT_NE(error.find("it needs the rank of blob \"z\", which is not known"), std::string::npos)
        << error;
  }
}

// Whether a Cast to the type is an operator.
bool IsCast(const std::string& nodes, int64_t rank, int type, int to) {
  const std::string bytes =
      OnnxBytes(GraphOf(nodes, rank, type, Node("Cast", {"z"}, Int("to", to), {"y"})), 22);
  const std::string error = OnnxImportError(bytes);
  EXPECT_EQ(error, "");
  if (!error.empty()) return true;
  const OnnxModel model = ImportOnnxFromMemory(bytes, {});
  for (const OperatorDef& op : model.predict_net.op()) {
    if (op.type() == "Cast") return true;
  }
  return false;
}

TEST(RankFactsTest, TypesFollowWithoutShapes) {
  const std::string one = Ones("c", {1}, kInt64), axis = Ones("a", {1}, kInt64);
  const struct {
    std::string nodes;
    int from, to;
  } rows[] = {
      {Node("Abs", {"r"}), kInt64, kInt64},
      {Node("Transpose", {"r"}), kDouble, kDouble},
      {one + Node("Add", {"r", "c"}), kInt64, kInt64},
      {one + Node("Mod", {"r", "c"}), kInt64, kInt64},
      {one + Node("Equal", {"r", "c"}), kInt64, kBool},
      {one + Node("Greater", {"r", "c"}), kInt64, kBool},
      {one + Node("GreaterOrEqual", {"r", "c"}), kInt64, kBool},
      {one + Node("Less", {"r", "c"}), kInt64, kBool},
      {one + Node("LessOrEqual", {"r", "c"}), kInt64, kBool},
      {Node("And", {"r", "r"}), kBool, kBool},
      {Node("Or", {"r", "r"}), kBool, kBool},
      {Node("Xor", {"r", "r"}), kBool, kBool},
      {one + Node("Where", {"r", "c", "c"}), kBool, kInt64},
      {Ones("s", {2}, kInt64) + Node("Expand", {"r", "s"}), kInt32, kInt32},
      {Node("Flatten", {"r"}), kInt32, kInt32},
      {one + Node("Gather", {"r", "c"}), kInt32, kInt32},
      {Ones("i", {1, 1}, kInt64) + Node("GatherND", {"r", "i"}), kInt32, kInt32},
      {axis + Node("Squeeze", {"r", "a"}), kInt32, kInt32},
      {axis + Node("Unsqueeze", {"r", "a"}), kInt32, kInt32},
      {Node("Shape", {"r"}, "", {"d"}) + Node("Reshape", {"r", "d"}), kInt32, kInt32},
      {Node("ReduceSum", {"r"}), kInt64, kInt64},
      {Ones("k", {1}, kInt64) + Node("TopK", {"r", "k"}, "", {"z", "i"}), kInt32, kInt32},
      {Ones("k", {1}, kInt64) + Node("TopK", {"r", "k"}, "", {"v", "z"}), kInt32, kInt64},
      {Node("ArgMax", {"r"}), kInt32, kInt64},
      {Node("Shape", {"r"}), kInt32, kInt64},
      {Node("Size", {"r"}), kInt32, kInt64},
      {Node("NonZero", {"r"}), kInt32, kInt64},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.nodes);
    EXPECT_FALSE(IsCast(row.nodes, 2, row.from, row.to));
    EXPECT_TRUE(IsCast(row.nodes, 2, row.from, row.to == kDouble ? kInt32 : kDouble));
  }
}

}  // namespace
}  // namespace caffe2rt::test::rank_facts_test
