// Defaults and arguments that count together with others: lists of one kernel, axes beside a flag,
// lists that loops make.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/export/onnx_graph.h"
#include "caffe2_core/graph/op_schema.h"
#include "tests/caffe2_core/export/exported_graph.h"
#include "tests/caffe2_core/export/operator_text.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::export_choices_test {
namespace {

using namespace operator_text;  // used throughout this file
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInt64 = TensorProto::INT64, kBool = TensorProto::BOOL;

TEST(ExportChoicesTest, OneKernelIsThatOfOneAxis) {
  EXPECT_EQ(GraphText(Export({Op("Reshape", "", "x s", "h o") +
                                  Op("MaxPool", L("kernels", {3}) + L("strides", {2}), "h"),
                              {{"x", {{64}}}, {"s", {{3}, kInt64}}},
                              {},
                              {}})),
            "h = Reshape(x, s)\ny = MaxPool(h) kernel_shape=[3] strides=[2] pads=[0,0]\n");
}

TEST(ExportChoicesTest, TransposedLayersKeepTheAxesBeforeTheirs) {
  EXPECT_EQ(GraphText(Export({Op("FCTransposed", I("axis", 2), "x w b"),
                              {{"x", {{2, 3, 4}}}},
                              {{"w", FloatWeight({4, 5})}, {"b", FloatWeight({5})}}})),
            "y_Flatten = Flatten(x) axis=2\ny_Gemm = Gemm(y_Flatten, w, b) transB=0\n"
            "y = Reshape(y_Gemm, [2, 3, 5])\n");
}

TEST(ExportChoicesTest, GroupsAre32UnlessStated) {
  EXPECT_THAT(GraphText(Export({Op("GroupNorm", "", "x s b", "y m v"),
                                {{"x", {{1, 64, 2, 2}}}},
                                {{"s", FloatWeight({64})}, {"b", FloatWeight({64})}}})),
              HasSubstr("y_Reshape = Reshape(x, [0, 32, -1])\n"));
}

// The flag counts only without axes.
TEST(ExportChoicesTest, ReductionsOfStatedAxesIgnoreTheFlagOfNone) {
  const auto text = [](const std::string& type, const std::string& args) {
    return GraphText(Export({Op(type, args + I("noop_with_empty_axes", 1)), {{"x", {{2, 3}}}}}));
  };
  for (const std::string type : {"ReduceSum", "ReduceMax"}) {
    EXPECT_EQ(text(type, ""), "y = Identity(x)\n");
    EXPECT_EQ(text(type, I("keepdims", 0)), "y = Identity(x)\n");
  }
  EXPECT_EQ(text("ReduceSum", L("axes", {1})), "y = ReduceSum(x, [1]) keepdims=1\n");
  EXPECT_EQ(text("ReduceMax", L("axes", {1}) + I("keepdims", 0)),
            "y = ReduceMax(x) keepdims=0 axes=[1]\n");
  EXPECT_EQ(GraphText(Export({Op("ReduceSum", I("noop_with_empty_axes", 0)), {{"x", {{2, 3}}}}})),
            "y = ReduceSum(x) keepdims=1\n");
}

TEST(ExportChoicesTest, EndsOfMatricesAreTheirFirstAndLastAxis) {
  const struct {
    const char *type, *graph;
    int opset;
  } rows[] = {{"ReduceFrontSum", "y = ReduceSum(x, [0]) keepdims=0\n", 17},
              {"ReduceBackSum", "y = ReduceSum(x, [1]) keepdims=0\n", 17},
              {"ReduceFrontMean", "y = ReduceMean(x) keepdims=0 axes=[0]\n", 17},
              {"ReduceBackMean", "y = ReduceMean(x) keepdims=0 axes=[1]\n", 17},
              {"ReduceFrontMax", "y = ReduceMax(x, [0]) keepdims=0\n", 18},
              {"ReduceBackMax", "y = ReduceMax(x, [1]) keepdims=0\n", 18}};
  for (const auto& row : rows) {
    EXPECT_EQ(GraphText(Export({Op(row.type), {{"x", {{2, 3}}}}, {}, {"y"}, row.opset})),
              row.graph);
  }
}

TEST(ExportChoicesTest, OrdersOfBoolsAreThoseOfIntegers) {
  const std::pair<const char*, const char*> rows[] = {
      {"LT", "Less"}, {"LE", "LessOrEqual"}, {"GT", "Greater"}, {"GE", "GreaterOrEqual"}};
  const ExportedInput bools = {{2}, kBool};
  for (const auto& [type, node] : rows) {
    EXPECT_EQ(GraphText(Export({Op(type, "", "x b"), {{"x", bools}, {"b", bools}}})),
              MakeString("y_Cast = Cast(x) to=6\ny_Cast_1 = Cast(b) to=6\ny = ", node,
                         "(y_Cast, y_Cast_1)\n"));
  }
  EXPECT_EQ(GraphText(Export({Op("EQ", "", "x b"), {{"x", bools}, {"b", bools}}})),
            "y = Equal(x, b)\n");
}

TEST(ExportChoicesTest, AnAxisIsOneLetterOfTheOrder) {
  const auto export_axis = [](const std::string& letters) {
    return GraphText(Export({Op("Add", I("broadcast", 1) + S("axis_str", letters), "x b"),
                             {{"x", {{1, 3, 2, 2}}}, {"b", {{3}}}}}));
  };
  EXPECT_EQ(export_axis("C"), "y_Reshape = Reshape(b, [3, 1, 1])\ny = Add(x, y_Reshape)\n");
  for (const char* letters : {"CW", "c", "D"}) {
    ExpectThrows([&] { export_axis(letters); },
                 MakeString("argument axis_str is \"", letters, "\", want a letter of NCHW"));
  }
}

TEST(ExportChoicesTest, WeightsOfTileCountBeforeArguments) {
  EXPECT_EQ(GraphText(Export({Op("Tile", I("tiles", 5) + I("axis", 0), "x t a"),
                              {{"x", {{4, 5}}}},
                              {{"t", IntWeight({3})}, {"a", IntWeight({1})}}})),
            "y = Tile(x, [1, 3])\n");
}

// Both ends of a slice are weights, or none is stated.
TEST(ExportChoicesTest, AWeightBeforeAComputedInputIsNotStated) {
  for (const bool both : {false, true}) {
    ExportedNet net = {Op("Slice", "", "x s e"), {{"x", {{4}}}}, {{"s", IntWeight({1})}}};
    if (both) {
      net.weights["e"] = IntWeight({3});
      EXPECT_EQ(GraphText(Export(net)), "y = Slice(x, [1], [3])\n");
    } else {
      net.inputs["e"] = {{1}, kInt64};
      ExpectThrows([&] { Export(net); },
                   "inputs 1 and 2 (starts, ends) of Slice are computed by the net, want weights");
    }
  }
}

TEST(ExportChoicesTest, FillsOfFloatsMayHaveIntegers) {
  const std::string shape = L("shape", {2});
  EXPECT_EQ(GraphText(Export({Op("ConstantFill", shape + I("value", 3), ""), {}})),
            "y = Expand(3, [2])\n");
  EXPECT_EQ(
      GraphText(Export(
          {Op("ConstantFill", shape + I("dtype", TensorProto::DOUBLE) + I("value", -3), ""), {}})),
      "y = Expand(-3 (double), [2])\n");
}

// The body carries v, and hands out a list of w; its last operator is not that of the list.
std::string LoopWithList() {
  const std::string names = "external_input: 'i' external_input: 'o' external_input: 'v' ",
                    results = "external_output: 'o' external_output: 'w' external_output: 'l' ";
  const std::string body = names + results + Op("Relu", "", "v", "w") +
                           Op("ExpandDims", L("dims", {0}), "w", "l") + Op("Exp", "", "v", "e");
  return Op("ONNXWhile",
            "arg { name: 'body' n { " + body + " } } " + I("has_trip_count", 1) + I("has_cond", 1),
            "n c x", "y l");
}

TEST(ExportChoicesTest, ListsOfLoopsHaveOneMoreAxisOfUnknownSize) {
  const ExportedNet net = {
      LoopWithList(), {{"n", {{}, kInt64}}, {"c", {{}, kBool}}, {"x", {{2}}}}, {}, {"y", "l"}};
  const OnnxExport exported = Export(net, {{"l", {-1, 2}}});
  const onnx::GraphProto& graph = exported.model.graph();
  ASSERT_EQ(graph.output_size(), 2);
  ASSERT_EQ(graph.output(0).type().tensor_type().shape().dim_size(), 1);
  const auto& list = graph.output(1).type().tensor_type();
  EXPECT_EQ(list.elem_type(), onnx::TensorProto::FLOAT);
  ASSERT_EQ(list.shape().dim_size(), 2);
  EXPECT_FALSE(list.shape().dim(0).has_dim_value());
  EXPECT_EQ(list.shape().dim(1).dim_value(), 2);
  // Without stated dims, the shape of the list is unknown.
  ExpectThrows([&] { Export(net); }, "the shape of output \"l\" is not known");
  const onnx::GraphProto& body = graph.node(0).attribute(0).g();
  ASSERT_EQ(body.output_size(), 3);
  const std::string item = body.output(2).name();
  int writers = 0;
  for (const onnx::NodeProto& node : body.node()) {
    if (node.output(0) != item) continue;
    ++writers;
    EXPECT_THAT(node.input(), ElementsAre(body.node(0).output(0)));
  }
  EXPECT_EQ(writers, 1);
}

// Any number of integers is added one after the other; of floats ONNX has one node.
TEST(ExportChoicesTest, SumsOfIntegersHaveOneNodeForEachInput) {
  const struct {
    const char *inputs, *of_integers, *of_floats;
  } rows[] = {
      {"x", "y = Identity(x)\n", "y = Sum(x)\n"},
      {"x b", "y = Add(x, b)\n", "y = Sum(x, b)\n"},
      {"x b c", "y_Add = Add(x, b)\ny = Add(y_Add, c)\n", "y = Sum(x, b, c)\n"},
      {"x b c d", "y_Add = Add(x, b)\ny_Add_1 = Add(y_Add, c)\ny = Add(y_Add_1, d)\n",
       "y = Sum(x, b, c, d)\n"},
      {"x b c d e",
       "y_Add = Add(x, b)\ny_Add_1 = Add(y_Add, c)\ny_Add_2 = Add(y_Add_1, d)\n"
       "y = Add(y_Add_2, e)\n",
       "y = Sum(x, b, c, d, e)\n"},
  };
  for (const auto& row : rows) {
    for (const auto& [type, graph] : {std::pair(TensorProto::INT32, row.of_integers),
                                      {kInt64, row.of_integers},
                                      {TensorProto::FLOAT, row.of_floats},
                                      {TensorProto::DOUBLE, row.of_floats}}) {
      ExportedNet net = {Op("Sum", "", row.inputs), {}};
      for (const char* name = row.inputs; *name != '\0'; ++name) {
        if (*name != ' ') net.inputs[std::string(1, *name)] = {{2}, type};
      }
      EXPECT_EQ(GraphText(Export(net)), graph) << type;
    }
  }
}

// The operator of opset 20 has both kinds; before, each has nodes of its own.
TEST(ExportChoicesTest, GeluKeepsItsKindInEachOpset) {
  const auto text = [](int fast, int opset) {
    return GraphText(Export({Op("Gelu", I("fast_gelu", fast)), {{"x", {{2}}}}, {}, {"y"}, opset}));
  };
  EXPECT_EQ(text(0, 20), "y = Gelu(x) approximate=none\n");
  EXPECT_EQ(text(1, 20), "y = Gelu(x) approximate=tanh\n");
  EXPECT_EQ(text(0, 24), "y = Gelu(x) approximate=none\n");
  EXPECT_EQ(text(1, 24), "y = Gelu(x) approximate=tanh\n");
  EXPECT_THAT(text(0, 19), HasSubstr("= Erf("));
  EXPECT_THAT(text(1, 19), HasSubstr("= Tanh("));
}

// An axis that counts from the end, of weights with two to four axes: the product of the axes
// before it is the number of outputs.
TEST(ExportChoicesTest, AxesOfWeightsCountFromBothEnds) {
  const struct {
    int64_t axis;
    std::vector<int64_t> weight, matrix;
  } rows[] = {{1, {5, 3}, {5, 3}},         {-1, {5, 3}, {5, 3}},        {2, {2, 3, 4}, {6, 4}},
              {-1, {2, 3, 4}, {6, 4}},     {1, {2, 3, 4}, {2, 12}},     {-2, {2, 3, 4}, {2, 12}},
              {-3, {5, 3, 2, 2}, {5, 12}}, {-2, {5, 3, 2, 2}, {15, 4}}, {-2, {2, 3}, {1, 6}}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.axis);
    const OnnxExport exported =
        Export({Op("FC", I("axis_w", row.axis), "x w b"),
                {{"x", {{2, row.matrix[1]}}}},
                {{"w", FloatWeight(row.weight)}, {"b", FloatWeight({row.matrix[0]})}}});
    EXPECT_EQ(std::vector<int64_t>(exported.model.graph().initializer(0).dims().begin(),
                                   exported.model.graph().initializer(0).dims().end()),
              row.matrix);
    EXPECT_EQ(exported.model.graph().node_size(), 1);
  }
}

// Numbers of either type become the bool that a loop begins with.
TEST(ExportChoicesTest, LoopsBeginWithABool) {
  for (const auto& [type, text] :
       {std::pair(TensorProto::INT32, "y_Cast = Cast(c) to=9\ny, l = Loop(n, y_Cast, x)"),
        {kInt64, "y_Cast = Cast(c) to=9\ny, l = Loop(n, y_Cast, x)"},
        {kBool, "y, l = Loop(n, c, x)"}}) {
    const std::string graph = GraphText(Export(
        {LoopWithList(), {{"n", {{}, kInt64}}, {"c", {{}, type}}, {"x", {{2}}}}, {}, {"y"}}));
    EXPECT_EQ(graph.find(text), 0u) << graph;
  }
}

// What a branch wrote does not count as written behind it: the input of a later body is named after
// its blob, and a weight of such a name keeps it.
TEST(ExportChoicesTest, BlobsOfABranchAreUnknownBehindIt) {
  const std::string nets = "arg { name: 'then_net' n { " + Op("Abs", "", "x", "v") +
                           Op("Relu", "", "v", "y") + " } } arg { name: 'else_net' n { " +
                           Op("Relu", "", "x", "y") + " } } ";
  const std::string body =
      "external_input: 'i' external_input: 'o' external_input: 'v' external_output: 'o' "
      "external_output: 'w' " +
      Op("Relu", "", "v", "w");
  const std::string loop =
      Op("ONNXWhile", "arg { name: 'body' n { " + body + " } } " + I("has_trip_count", 1), "n c y",
         "z");
  const OnnxExport exported = Export({Op("If", nets, "c", "y") + loop,
                                      {{"n", {{}, kInt64}}, {"c", {{}, kBool}}, {"x", {{2}}}},
                                      {},
                                      {"z"}});
  const onnx::GraphProto& graph = exported.model.graph();
  ASSERT_EQ(graph.node_size(), 2);
  EXPECT_EQ(graph.node(0).attribute(0).g().node(0).output(0), "v");
  EXPECT_EQ(graph.node(1).attribute(0).g().input(2).name(), "v_1");
}

TEST(ExportChoicesTest, EndsOfImagesAreAnyNumberOfAxes) {
  const std::map<std::string, ExportedInput> x = {{"x", {{2, 3, 4, 5}}}};
  const char* const front[] = {"[0]", "[0, 1]", "[0, 1, 2]", "[0, 1, 2, 3]"};
  const char* const back[] = {"[3]", "[2, 3]", "[1, 2, 3]", "[0, 1, 2, 3]"};
  for (int count = 1; count <= 4; ++count) {
    const std::string args = I("num_reduce_dim", count);
    EXPECT_EQ(GraphText(Export({Op("ReduceFrontSum", args), x})),
              MakeString("y = ReduceSum(x, ", front[count - 1], ") keepdims=0\n"));
    EXPECT_EQ(GraphText(Export({Op("ReduceBackSum", args), x})),
              MakeString("y = ReduceSum(x, ", back[count - 1], ") keepdims=0\n"));
  }
}

// The second output of operators that have one: it is computed if it is read.
TEST(ExportChoicesTest, SecondOutputsAreComputedIfTheyAreRead) {
  const ExportedInput pair = {{2, 3}};
  const struct {
    std::string op;
    const char *graph, *read;
  } rows[] = {
      {Op("Concat", I("axis", 0) + I("add_axis", 1), "x b", "y s"),
       "y_Unsqueeze = Unsqueeze(x, [0])\ny_Unsqueeze_1 = Unsqueeze(b, [0])\n"
       "y = Concat(y_Unsqueeze, y_Unsqueeze_1) axis=0\n",
       "y_Unsqueeze = Unsqueeze(x, [0])\ny_Unsqueeze_1 = Unsqueeze(b, [0])\n"
       "s = Cast([1, 1]) to=6\ny = Concat(y_Unsqueeze, y_Unsqueeze_1) axis=0\n"},
      {Op("Concat", I("axis", 1), "x b", "y s"), "y = Concat(x, b) axis=1\n",
       "s = Cast([3, 3]) to=6\ny = Concat(x, b) axis=1\n"},
      {Op("Reshape", L("shape", {-1}), "x", "y s"), "y = Reshape(x, [-1])\n",
       "s = Shape(x)\ny = Reshape(x, [-1])\n"},
  };
  for (const auto& row : rows) {
    const std::map<std::string, ExportedInput> inputs = {{"x", pair}, {"b", pair}};
    EXPECT_EQ(GraphText(Export({row.op, inputs})), row.graph) << row.op;
    EXPECT_EQ(GraphText(Export({row.op, inputs, {}, {"y", "s"}})), row.read) << row.op;
  }
}

TEST(ExportChoicesTest, AllOfSeveralAxesAreListed) {
  const ExportedInput ones = {{1, 3, 1, 2, 1}};
  const struct {
    const char *type, *graph;
    std::vector<int64_t> dims;
  } rows[] = {{"Squeeze", "y = Squeeze(x, [0])\n", {0}},
              {"Squeeze", "y = Squeeze(x, [0, 2])\n", {2, 0}},
              {"Squeeze", "y = Squeeze(x, [0, 2, 4])\n", {4, 0, 2}},
              {"Squeeze", "y = Squeeze(x, [0, 2, 4])\n", {2, 4, 0, 4}},
              {"ExpandDims", "y = Unsqueeze(x, [0, 3, 7])\n", {7, 0, 3}}};
  for (const auto& row : rows)
    EXPECT_EQ(GraphText(Export({Op(row.type, L("dims", row.dims)), {{"x", ones}}})), row.graph);
}

// Pads may be 0, and not less; each of them counts.
TEST(ExportChoicesTest, PoolsDoNotCrop) {
  const auto text = [](const std::string& type, const std::vector<int64_t>& pads) {
    return GraphText(
        Export({Op(type, I("kernel", 3) + L("pads", pads)), {{"x", {{1, 1, 8, 8}}}}, {}, {}}));
  };
  EXPECT_THAT(text("MaxPool", {0, 1, 0, 0}), HasSubstr("pads=[0,1,0,0]"));
  for (const char* type : {"MaxPool", "AveragePool"}) {
    for (const std::vector<int64_t>& pads :
         {std::vector<int64_t>{-1, 0, 0, 0}, {0, 0, 0, -1}, {1, -2, 1, 1}})
      ExpectThrows([&] { text(type, pads); },
                   MakeString(type, " with negative pads has no counterpart in ONNX"));
  }
}

TEST(ExportChoicesTest, AbsentInputsAtTheEndAreLeftOut) {
  const auto text = [](const std::string& inputs) {
    return GraphText(Export({Op("ONNXSlice", "", inputs),
                             {{"x", {{4, 4}}}, {"s", {{2}, kInt64}}, {"e", {{2}, kInt64}}},
                             {{"w", IntWeight({})}, {"v", IntWeight({})}},
                             {}}));
  };
  EXPECT_EQ(text("x s e"), "y = Slice(x, s, e)\n");
  EXPECT_EQ(text("x s e w"), "y = Slice(x, s, e)\n");
  EXPECT_EQ(text("x s e w v"), "y = Slice(x, s, e)\n");
  EXPECT_EQ(text("x s e w s"), "y = Slice(x, s, e, , s)\n");
}

TEST(ExportChoicesTest, AGraphHasTheNameOfItsNet) {
  EXPECT_EQ(Export({Op("Relu"), {{"x", {{2}}}}}).model.graph().name(), "net");
  EXPECT_EQ(Export({"name: 'lenet' " + Op("Relu"), {{"x", {{2}}}}}).model.graph().name(), "lenet");
}

// Moments have one dim for their row; ONNX has one for each of its axes.
TEST(ExportChoicesTest, MomentsLoseTheAxesOfTheirRowButOne) {
  const std::pair<int, const char*> rows[] = {{1, "[2, 3]"}, {2, "[3]"}, {-2, "[3]"}};
  for (const auto& [axis, axes] : rows) {
    const std::string graph = GraphText(Export(
        {Op("LayerNorm", I("axis", axis), "x", "y m d"), {{"x", {{2, 3, 4, 5}}}}, {}, {"y", "m"}}));
    EXPECT_THAT(graph, HasSubstr(MakeString("m = Squeeze(m_rows, ", axes, ")\n"))) << axis;
    EXPECT_EQ(graph.find("Reciprocal"), std::string::npos);
    // The deviation alone: the inverse of what ONNX computes.
    EXPECT_THAT(GraphText(Export({Op("LayerNorm", I("axis", axis), "x", "y m d"),
                                  {{"x", {{2, 3, 4, 5}}}},
                                  {},
                                  {"y", "d"}})),
                HasSubstr(MakeString("y_Reciprocal = Reciprocal(d_inverse)\n"
                                     "d = Squeeze(y_Reciprocal, ",
                                     axes, ")\n")))
        << axis;
  }
  // Of the last axis, nothing is left over.
  EXPECT_THAT(
      GraphText(Export(
          {Op("LayerNorm", I("axis", 3), "x", "y m d"), {{"x", {{2, 3, 4, 5}}}}, {}, {"y", "m"}})),
      HasSubstr("m = Identity(m_rows)\n"));
}

TEST(ExportChoicesTest, SoftmaxOfImagesIsThatOfTheirRows) {
  const auto text = [](const std::string& args, const std::vector<int64_t>& dims) {
    return GraphText(Export({Op("Softmax", args), {{"x", {dims}}}}));
  };
  const auto rows = [](int axis) {
    return MakeString(
        "y_Shape = Shape(x)\ny_Flatten = Flatten(x) axis=", axis,
        "\ny_Softmax = Softmax(y_Flatten) axis=-1\ny = Reshape(y_Softmax, y_Shape)\n");
  };
  EXPECT_EQ(text("", {2, 3, 4}), rows(1));
  EXPECT_EQ(text("", {2, 3}), "y = Softmax(x) axis=-1\n");
  EXPECT_EQ(text(I("axis", 2), {2, 3, 4, 5}), rows(2));
  EXPECT_EQ(text(I("axis", -2), {2, 3, 4, 5}), rows(2));
  EXPECT_EQ(text(I("axis", 3), {2, 3, 4, 5}), "y = Softmax(x) axis=-1\n");
}

// Regression: the last of 5 pieces of 6 elements had a negative size.
TEST(ExportChoicesTest, UnevenPiecesOfShortAxesAreEmptyAtTheEnd) {
  const struct {
    int64_t size;
    const char* pieces;
  } rows[] = {{5, "[1, 1, 1, 1, 1]"}, {6, "[2, 2, 2, 0, 0]"}, {7, "[2, 2, 2, 1, 0]"},
              {9, "[2, 2, 2, 2, 1]"}, {3, "[1, 1, 1, 0, 0]"}, {11, "[3, 3, 3, 2, 0]"}};
  for (const auto& row : rows) {
    EXPECT_EQ(GraphText(Export({Op("Split", I("axis", 0) + I("uneven", 1), "x", "a b c d y"),
                                {{"x", {{row.size}}}}})),
              MakeString("a, b, c, d, y = Split(x, ", row.pieces, ") axis=0\n"));
  }
}

// Regression: the factors of doubles were floats, which ONNX does not mix.
TEST(ExportChoicesTest, RowsOfDoublesHaveFactorsOfDoubles) {
  for (const auto type : {TensorProto::FLOAT, TensorProto::DOUBLE}) {
    const OnnxExport exported =
        Export({Op("LayerNorm", "", "x", "y m s"), {{"x", {{2, 3}, type}}}});
    ASSERT_EQ(exported.model.graph().initializer_size(), 1);
    const onnx::TensorProto& factors = exported.model.graph().initializer(0);
    EXPECT_EQ(factors.data_type(), ExportedTypeOf(type));
    EXPECT_THAT(factors.dims(), ElementsAre(3));
    if (type == TensorProto::FLOAT) {
      EXPECT_THAT(factors.float_data(), ElementsAre(1, 1, 1));
    } else {
      EXPECT_THAT(factors.double_data(), ElementsAre(1, 1, 1));
    }
  }
}

// A weight that is the matrix already has one initializer, with all of its readers.
TEST(ExportChoicesTest, WeightsThatAreTheirMatrixAreWrittenOnce) {
  const struct {
    int64_t axis;
    std::vector<int64_t> dims;
  } rows[] = {{0, {1, 6}}, {-2, {1, 6}}, {1, {6, 1}}};
  for (const auto& row : rows) {
    const bool one_row = row.dims[0] == 1;
    const OnnxExport exported =
        Export({Op("FC", I("axis_w", row.axis), "x w b", "h") + Op("Relu", "", "w", "y"),
                {{"x", {{2, one_row ? 6 : 1}}}},
                {{"w", FloatWeight(row.dims)}, {"b", FloatWeight({row.dims[0]})}},
                {"h", "y"}});
    EXPECT_EQ(GraphText(exported), "h = Gemm(x, w, b) transB=1\ny = Relu(w)\n") << row.axis;
    ASSERT_EQ(exported.model.graph().initializer_size(), 2) << row.axis;
    EXPECT_EQ(exported.model.graph().initializer(0).dims(0), row.dims[0]);
  }
}

}  // namespace
}  // namespace caffe2rt::test::export_choices_test
