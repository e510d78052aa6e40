// What exported graphs share and name: constants, weights of several shapes and types, attributes of every kind;
// shapes behind branches and loops; weights in files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "tests/caffe2_core/export/exported_graph.h"
#include "tests/caffe2_core/export/operator_text.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::exported_values_test {
namespace {

using namespace operator_text;  // used throughout this file
using ::testing::ElementsAre;

constexpr auto kInt64 = TensorProto::INT64, kBool = TensorProto::BOOL;
const ExportedInput kPair = {{2}}, kList = {{2}, kInt64};
const std::string kNhwc = S("order", "NHWC");

std::vector<float> FloatConstants(const OnnxExport& exported) {
  std::vector<float> values;
  for (const onnx::TensorProto& tensor : exported.model.graph().initializer())
    values.insert(values.end(), tensor.float_data().begin(), tensor.float_data().end());
  return values;
}

// --- constants and weights ---

TEST(ExportedValuesTest, FloatsKeepAllOfTheirBits) {
  const float a = 1.0000001f, b = 1.0000004f;
  const std::string net = Op("Scale", "arg { name: 'scale' f: 1.0000001 } ", "x", "h") +
                          Op("Scale", "arg { name: 'scale' f: 1.0000004 } ", "h", "y");
  EXPECT_THAT(FloatConstants(Export({net, {{"x", kPair}}})), ElementsAre(a, b));
  // sqrt(1 / 2), and sqrt(2 / pi) of the approximation.
  EXPECT_THAT(FloatConstants(Export({Op("Gelu"), {{"x", kPair}}})),
              ElementsAre(static_cast<float>(std::sqrt(0.5)), 1, 0.5f));
  EXPECT_THAT(FloatConstants(Export({Op("Gelu", I("fast_gelu", 1)), {{"x", kPair}}})),
              ElementsAre(0.044715f, 1, static_cast<float>(std::sqrt(2 / M_PI)), 1, 0.5f));
}

TEST(ExportedValuesTest, ListsOfIntegersAreSharedAndNumbersAreNotLists) {
  const OnnxExport exported =
      Export({Op("FlattenToVec", "", "x", "a") + Op("Reshape", L("shape", {-1}), "x", "b o") +
                  Op("Add", "", "a b"),
              {{"x", {{2, 3}}}}});
  EXPECT_EQ(GraphText(exported), "a = Reshape(x, [-1])\nb = Reshape(x, [-1])\ny = Add(a, b)\n");
  EXPECT_EQ(exported.model.graph().initializer_size(), 1);
  const OnnxExport kinds = Export({Op("Trilu", I("k", 1)) + Op("ONNXTopK", I("k", 1), "y", "z i"),
                                   {{"x", {{2, 2}}}},
                                   {},
                                   {"z"}});
  EXPECT_EQ(GraphText(kinds), "y = Trilu(x, 1)\nz, i = TopK(y, [1])\n");
  ASSERT_EQ(kinds.model.graph().initializer_size(), 2);
  EXPECT_EQ(kinds.model.graph().initializer(0).dims_size(), 0);
  EXPECT_EQ(kinds.model.graph().initializer(1).dims_size(), 1);
}

// The weight in its own shape, and in that of a broadcast, which two operators share.
TEST(ExportedValuesTest, WeightsOfSeveralShapesHaveSeveralNames) {
  const std::string broadcast = I("broadcast", 1) + I("axis", 0);
  const OnnxExport exported =
      Export({Op("Add", broadcast, "x w", "a") + Op("Mul", broadcast, "a w", "b") +
                  Op("Sub", I("broadcast", 1) + I("axis", 1), "b w", "c") +
                  Op("Mul", "", "w w", "d") + Op("Add", broadcast, "c d", "y"),
              {{"x", {{3, 3, 2}}}},
              {{"w", FloatWeight({3})}}});
  const onnx::GraphProto& graph = exported.model.graph();
  std::vector<std::vector<int64_t>> shapes;
  for (int i = 0; i < graph.initializer_size(); ++i) {
    if (exported.weights[static_cast<size_t>(i)] == nullptr) continue;
    shapes.emplace_back(graph.initializer(i).dims().begin(), graph.initializer(i).dims().end());
  }
  EXPECT_THAT(shapes, ElementsAre(ElementsAre(3, 1, 1), ElementsAre(3, 1), ElementsAre(3)));
  EXPECT_EQ(graph.node(0).input(1), graph.node(1).input(1));
  EXPECT_NE(graph.node(2).input(1), graph.node(1).input(1));
  EXPECT_NE(graph.node(3).input(0), graph.node(2).input(1));
  std::set<std::string> names;
  for (const onnx::TensorProto& tensor : graph.initializer()) names.insert(tensor.name());
  EXPECT_EQ(names.size(), static_cast<size_t>(graph.initializer_size()));
}

template <class T>
Tensor WeightOf() {
  Tensor weight(CPU);
  weight.Resize(std::vector<int64_t>{2});
  weight.mutable_data<T>();
  return weight;
}

TEST(ExportedValuesTest, TypesOfWeightsAndInputsAreThoseOfOnnx) {
  const struct {
    Tensor weight;
    TensorProto_DataType type;
    int32_t want;
  } rows[] = {{WeightOf<float>(), TensorProto::FLOAT, onnx::TensorProto::FLOAT},
              {WeightOf<double>(), TensorProto::DOUBLE, onnx::TensorProto::DOUBLE},
              {WeightOf<int8_t>(), TensorProto::INT8, onnx::TensorProto::INT8},
              {WeightOf<uint8_t>(), TensorProto::UINT8, onnx::TensorProto::UINT8},
              {WeightOf<int16_t>(), TensorProto::INT16, onnx::TensorProto::INT16},
              {WeightOf<uint16_t>(), TensorProto::UINT16, onnx::TensorProto::UINT16},
              {WeightOf<int32_t>(), TensorProto::INT32, onnx::TensorProto::INT32},
              {WeightOf<int64_t>(), TensorProto::INT64, onnx::TensorProto::INT64},
              {WeightOf<uint32_t>(), TensorProto::UINT32, onnx::TensorProto::UINT32},
              {WeightOf<uint64_t>(), TensorProto::UINT64, onnx::TensorProto::UINT64},
              {WeightOf<bool>(), TensorProto::BOOL, onnx::TensorProto::BOOL},
              {WeightOf<float16>(), TensorProto::FLOAT16, onnx::TensorProto::FLOAT16},
              {WeightOf<std::string>(), TensorProto::STRING, onnx::TensorProto::STRING}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.want);
    const OnnxExport exported = Export({Op("Copy", "", "w", "a") + Op("Copy", "", "x", "b"),
                                        {{"x", {{3}, row.type}}},
                                        {{"w", row.weight}},
                                        {"a", "b"}});
    const onnx::GraphProto& graph = exported.model.graph();
    EXPECT_EQ(graph.initializer(0).data_type(), row.want);
    EXPECT_EQ(graph.input(0).type().tensor_type().elem_type(), row.want);
    EXPECT_EQ(graph.output(0).type().tensor_type().elem_type(), row.want);
    EXPECT_EQ(graph.output(1).type().tensor_type().elem_type(), row.want);
    EXPECT_EQ(graph.output(1).type().tensor_type().shape().dim(0).dim_value(), 3);
  }
}

TEST(ExportedValuesTest, AttributesHaveTheirKind) {
  const OnnxExport exported = Export(
      {Op("TfIdfVectorizer", I("max_gram_length", 1) + S("mode", "TF") + L("pool_int64s", {2, 3}) +
                                 "arg { name: 'weights' floats: 0.5 floats: 2 } "
                                 "arg { name: 'pool_strings' strings: 'a' strings: 'bc' } " +
                                 F("other", 0.25f) + "arg { name: 'empty' } "),
       {{"x", {{4}, kInt64}}},
       {},
       {}});
  std::map<std::string, onnx::AttributeProto> attributes;
  for (const onnx::AttributeProto& attribute : exported.model.graph().node(0).attribute())
    attributes[attribute.name()] = attribute;
  using Attribute = onnx::AttributeProto;
  EXPECT_EQ(attributes["max_gram_length"].type(), Attribute::INT);
  EXPECT_EQ(attributes["mode"].type(), Attribute::STRING);
  EXPECT_EQ(attributes["mode"].s(), "TF");
  EXPECT_EQ(attributes["pool_int64s"].type(), Attribute::INTS);
  EXPECT_THAT(attributes["pool_int64s"].ints(), ElementsAre(2, 3));
  EXPECT_EQ(attributes["weights"].type(), Attribute::FLOATS);
  EXPECT_THAT(attributes["weights"].floats(), ElementsAre(0.5f, 2));
  EXPECT_EQ(attributes["pool_strings"].type(), Attribute::STRINGS);
  EXPECT_THAT(attributes["pool_strings"].strings(), ElementsAre("a", "bc"));
  EXPECT_EQ(attributes["other"].type(), Attribute::FLOAT);
  EXPECT_EQ(attributes["other"].f(), 0.25f);
  EXPECT_FALSE(attributes.contains("empty"));
}

// --- rows ---

TEST(ExportedValuesTest, RowsThatOtherTestsLeaveOut) {
  const struct {
    ExportedNet net;
    const char* graph;
  } rows[] = {
      {{Op("Sum"), {{"x", kPair}}}, "y = Sum(x)\n"},
      {{Op("Sum", "", "x b c"), {{"x", kPair}, {"b", kPair}, {"c", kPair}}}, "y = Sum(x, b, c)\n"},
      {{Op("Pow"), {{"x", kPair}}}, "y = Pow(x, 0)\n"},
      {{Op("Clip"), {{"x", kPair}}}, "y = Clip(x, -3.40282e+38, 3.40282e+38)\n"},
      // A vector has no columns: ONNX drops the axis that Caffe2 keeps.
      {{Op("BatchMatMul", "", "x b"), {{"x", {{3}}}, {"b", {{3, 2}}}}},
       "y_MatMul = MatMul(x, b)\ny = Reshape(y_MatMul, [2])\n"},
      {{Op("GroupNorm", kNhwc + I("group", 2), "x s b", "y m v"),
        {{"x", {{1, 2, 2, 4}}}},
        {{"s", FloatWeight({4})}, {"b", FloatWeight({4})}}},
       "y_Transpose = Transpose(x) perm=[0,3,1,2]\n"
       "y_Reshape = Reshape(y_Transpose, [0, 2, -1])\n"
       "y_InstanceNormalization = InstanceNormalization(y_Reshape, [1, 1], [0, 0]) epsilon=1e-05\n"
       "y_Shape = Shape(y_Transpose)\n"
       "y_Reshape_1 = Reshape(y_InstanceNormalization, y_Shape)\n"
       "y_Reshape_2 = Reshape(s, [4, 1, 1])\ny_Mul = Mul(y_Reshape_1, y_Reshape_2)\n"
       "y_Reshape_3 = Reshape(b, [4, 1, 1])\ny_Add = Add(y_Mul, y_Reshape_3)\n"
       "y = Transpose(y_Add) perm=[0,2,3,1]\n"},
      {{Op("DepthConcat", kNhwc, "x b", "y s"),
        {{"x", {{1, 2, 2, 3}}}, {"b", {{1, 2, 2, 1}}}},
        {},
        {"y", "s"}},
       "s = Cast([3, 1]) to=6\ny = Concat(x, b) axis=3\n"},
      {{Op("Concat", "", "x b", "y s"), {{"x", {{1, 2}}}, {"b", {{1, 5}}}}, {}, {"y", "s"}},
       "s = Cast([2, 5]) to=6\ny = Concat(x, b) axis=1\n"},
      {{Op("Split", I("axis", -1) + I("uneven", 1), "x", "y z w"),
        {{"x", {{2, 7}}}},
        {},
        {"y", "z", "w"}},
       "y, z, w = Split(x, [3, 3, 1]) axis=1\n"},
      {{Op("Slice", L("starts", {-3, 0}) + L("ends", {-2, 4})), {{"x", {{4, 5}}}}, {}, {}},
       "y = Slice(x, [-2, 0], [-1, 4])\n"},
      {{Op("NHWC2NCHW"), {{"x", {{1, 5, 3}}}}}, "y = Transpose(x) perm=[0,2,1]\n"},
      {{Op("NCHW2NHWC"), {{"x", {{1, 3, 2, 2, 2}}}}}, "y = Transpose(x) perm=[0,2,3,4,1]\n"},
      {{Op("ConstantFill", L("extra_shape", {2}) + I("input_as_shape", 1) + I("value", 3)),
        {{"x", kList}},
        {},
        {}},
       "y_Concat = Concat(x, [2]) axis=0\ny = Expand(3, y_Concat)\n"},
      {{Op("ReduceBackMean", I("num_reduce_dim", 0)), {{"x", {{2, 3}}}}}, "y = Identity(x)\n"},
      {{Op("ReduceFrontSum", I("num_reduce_dim", 0)), {{"x", {{2, 3}}}}}, "y = Identity(x)\n"},
      {{Op("ReduceMean", L("axes", {-1}) + I("keepdims", 0)), {{"x", {{2, 3}}}}},
       "y = ReduceMean(x) keepdims=0 axes=[-1]\n"},
      {{Op("ReduceSum", I("noop_with_empty_axes", 1)), {{"x", {{2, 3}}}}}, "y = Identity(x)\n"},
      {{Op("LRN", I("size", 3) + F("alpha", 2), "x", "y s"), {{"x", {{1, 4, 2, 2}}}}},
       "y = LRN(x) size=3 alpha=2 beta=0 bias=1\n"},
      {{Op("Softmax", I("axis", 0)), {{"x", {{2, 3}}}}},
       "y_Shape = Shape(x)\ny_Flatten = Flatten(x) axis=0\n"
       "y_Softmax = Softmax(y_Flatten) axis=-1\ny = Reshape(y_Softmax, y_Shape)\n"},
      {{Op("PRelu", "", "x w"), {{"x", {{4, 3}}}}, {{"w", FloatWeight({3})}}}, "y = PRelu(x, w)\n"},
      {{Op("GE", "", "x b"), {{"x", {{2}, kBool}}, {"b", {{2}, kBool}}}},
       "y_Cast = Cast(x) to=6\ny_Cast_1 = Cast(b) to=6\ny = GreaterOrEqual(y_Cast, y_Cast_1)\n"},
      // A list of pads, kernels and strides for each axis; dilation of one axis.
      {{Op("MaxPool", L("kernels", {2, 3}) + L("strides", {1, 2}) + L("pads", {0, 1, 1, 2}) +
                          I("dilation_h", 2) + I("dilation_w", 1)),
        {{"x", {{1, 1, 8, 8}}}},
        {},
        {}},
       "y = MaxPool(x) kernel_shape=[2,3] strides=[1,2] pads=[0,1,1,2] dilations=[2,1]\n"},
      // Padding SAME in NHWC: 5 rows at a distance of 2 are 3 windows, (3 - 1) * 2 + 2 - 5 = 1.
      {{Op("MaxPool", kNhwc + I("kernel", 2) + I("stride", 2) + I("legacy_pad", 2)),
        {{"x", {{1, 5, 5, 1}}}}},
       "y_Transpose = Transpose(x) perm=[0,3,1,2]\n"
       "y_MaxPool = MaxPool(y_Transpose) kernel_shape=[2,2] strides=[2,2] pads=[0,0,1,1]\n"
       "y = Transpose(y_MaxPool) perm=[0,2,3,1]\n"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.net.net);
    try {
      EXPECT_EQ(GraphText(Export(row.net)), row.graph);
    } catch (const EnforceNotMet& error) {
      ADD_FAILURE() << error.message();
    }
  }
}

// Without the shape of its input, an operator's name says how many axes its windows have.
TEST(ExportedValuesTest, WindowsOfUnknownShapesHaveTheAxesOfTheirName) {
  const struct {
    const char *type, *kernel;
  } rows[] = {{"MaxPool1D", "kernel_shape=[2]"},
              {"MaxPool", "kernel_shape=[2,2]"},
              {"MaxPool2D", "kernel_shape=[2,2]"},
              {"AveragePool3D", "kernel_shape=[2,2,2]"}};
  for (const auto& row : rows) {
    const OnnxExport exported =
        Export({Op("Reshape", "", "x s", "h o") + Op(row.type, I("kernel", 2), "h"),
                {{"x", {{1, 1, 64}}}, {"s", {{5}, kInt64}}},
                {},
                {}});
    EXPECT_THAT(GraphText(exported), ::testing::HasSubstr(row.kernel)) << row.type;
  }
}

Tensor Int32Weight(int32_t value) {
  Tensor weight(CPU);
  weight.Resize(std::vector<int64_t>{1});
  *weight.mutable_data<int32_t>() = value;
  return weight;
}

// Parameters that are weights become arguments, if nothing writes them and they are integers.
TEST(ExportedValuesTest, WeightsOfParametersBecomeArguments) {
  const auto text = [](const ExportedNet& net) { return GraphText(Export(net)); };
  EXPECT_EQ(text({Op("Tile", "", "x t a"),
                  {{"x", {{4, 5}}}},
                  {{"t", Int32Weight(3)}, {"a", Int32Weight(-1)}}}),
            "y = Tile(x, [1, 3])\n");
  EXPECT_EQ(text({Op("Tile", I("axis", 1), "x t"), {{"x", {{4, 5}}}}, {{"t", Int32Weight(3)}}}),
            "y = Tile(x, [1, 3])\n");
  EXPECT_EQ(text({Op("DepthSplit", "", "x s", "y z"),
                  {{"x", {{1, 3, 2, 2}}}},
                  {{"s", IntWeight({1, 2})}},
                  {"y", "z"}}),
            "y, z = Split(x, [1, 2]) axis=1\n");
  Tensor scales = FloatWeight({2});
  scales.mutable_data<float>()[0] = 2;
  EXPECT_EQ(text({Op("UpsampleBilinear", "", "x s"), {{"x", {{1, 1, 2, 3}}}}, {{"s", scales}}}),
            "y = Resize(x, , , [1, 1, 4, 3]) mode=linear "
            "coordinate_transformation_mode=align_corners\n");
  scales.mutable_data<float>()[1] = 3;
  EXPECT_EQ(text({Op("ResizeNearest", "", "x s"), {{"x", {{1, 1, 2, 3}}}}, {{"s", scales}}}),
            "y = Resize(x, , [1, 1, 2, 3]) mode=nearest coordinate_transformation_mode=asymmetric "
            "nearest_mode=floor\n");
  EXPECT_EQ(text({Op("UpsampleBilinear", "", "x s"), {{"x", {{1, 1, 2, 3}}}}, {{"s", scales}}}),
            "y = Resize(x, , , [1, 1, 4, 9]) mode=linear "
            "coordinate_transformation_mode=align_corners\n");
  EXPECT_EQ(text({Op("Slice", "", "x s e"),
                  {{"x", {{9}}}},
                  {{"s", Int32Weight(2)}, {"e", Int32Weight(-1)}}}),
            "y = Slice(x, [2], [9223372036854775807])\n");
  EXPECT_EQ(text({Op("Reshape", "", "x s", "y o"), {{"x", {{2, 3}}}}, {{"s", Int32Weight(-1)}}}),
            "y = Reshape(x, [-1])\n");
  // Weights that say nothing: of another number of elements, or of another type.
  const struct {
    std::string type;
    Tensor weight;
  } others[] = {{"ResizeNearest", FloatWeight({3})},
                                                   {"ResizeNearest", IntWeight({2, 2})},
                                                   {"UpsampleBilinear", FloatWeight({1})},
                                                   {"Tile", FloatWeight({1})},
                                                   {"Tile", IntWeight({})}};
  for (const auto& row : others) {
    ExpectThrows(
        [&] {
          Export({Op(row.type, "", "x s"), {{"x", {{1, 1, 2, 3}}}}, {{"s", row.weight}}});
        },
        row.type == "Tile"
            ? "inputs 1 and 2 of Tile are computed by the net, want weights or arguments"
            : "input 1 (scales) of " + row.type + " is computed by the net, want a weight");
  }
  // Another operator writes the weight first.
  ExpectThrows(
      [&] {
        Export({Op("Add", "", "t t", "t") + Op("Tile", "", "x t"),
                {{"x", {{4, 5}}}},
                {{"t", IntWeight({3})}}});
      },
      "inputs 1 and 2 of Tile are computed by the net");
}

// --- branches and loops ---

std::string If(const std::string& then_net, const std::string& else_net) {
  return Op("If",
            "arg { name: 'then_net' n { " + then_net + " } } arg { name: 'else_net' n { " +
                else_net + " } } ",
            "c x", "h");
}
std::string Pool(const std::string& type) {
  return Op(type, I("kernel", 2) + I("legacy_pad", 3) + I("stride", 2), "h");
}

TEST(ExportedValuesTest, OperatorsBehindABranchKnowItsShape) {
  const std::map<std::string, ExportedInput> inputs = {{"c", {{}, kBool}}, {"x", {{1, 1, 5, 5}}}};
  const std::string same = If(Op("Relu", "", "x", "h"), Op("Abs", "", "x", "h"));
  // 5 rows make 3 windows at a distance of 2, of which the last ends one row behind.
  const OnnxExport exported = Export({same + Pool("MaxPool"), inputs});
  EXPECT_THAT(GraphText(exported),
              ::testing::HasSubstr("y = MaxPool(h) kernel_shape=[2,2] strides=[2,2] "
                                   "pads=[0,0,1,1]\n"));
  EXPECT_EQ(exported.model.graph().output(0).type().tensor_type().shape().dim(3).dim_value(), 3);
  // Branches of different shapes have none, but they have the type.
  const std::string other = If(Op("Relu", "", "x", "h"), Op("FlattenToVec", "", "x", "h"));
  ExpectThrows(
      [&] {
        Export({other + Pool("MaxPool"), inputs});
      },
      "the shape of blob \"h\" is not known");
  const OnnxExport open = Export({other, inputs, {}, {"h"}}, {{"h", {-1}}});
  EXPECT_EQ(open.model.graph().output(0).type().tensor_type().elem_type(),
            onnx::TensorProto::FLOAT);
}

TEST(ExportedValuesTest, BranchesAreAttributesOfGraphs) {
  const OnnxExport exported = Export({If(Op("Relu", "", "x", "h"), Op("Abs", "", "x", "h")),
                                      {{"c", {{}, kBool}}, {"x", kPair}},
                                      {},
                                      {"h"}});
  const onnx::NodeProto& node = exported.model.graph().node(0);
  ASSERT_EQ(node.attribute_size(), 2);
  std::map<std::string, std::string> types;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    EXPECT_EQ(attribute.type(), onnx::AttributeProto::GRAPH);
    types[attribute.name()] = attribute.g().node(0).op_type();
  }
  EXPECT_EQ(types["then_branch"], "Relu");
  EXPECT_EQ(types["else_branch"], "Abs");
}

TEST(ExportedValuesTest, BlobsOfBranchesEndWithThem) {
  const std::map<std::string, ExportedInput> inputs = {{"c", {{}, kBool}}, {"x", kPair}};
  // Both branches and the net around them write a blob t.
  const OnnxExport exported = Export({If(Op("Relu", "", "x", "t") + Op("Abs", "", "t", "h"),
                                         Op("Sqr", "", "x", "t") + Op("Abs", "", "t", "h")) +
                                          Op("Exp", "", "h", "t") + Op("Negative", "", "t"),
                                      inputs});
  const onnx::GraphProto& graph = exported.model.graph();
  ASSERT_EQ(graph.node_size(), 3);
  EXPECT_EQ(graph.node(2).input(0), graph.node(1).output(0));
  std::set<std::string> written;
  const std::function<void(const onnx::GraphProto&)> add = [&](const onnx::GraphProto& inner) {
    for (const onnx::NodeProto& node : inner.node()) {
      for (const std::string& output : node.output())
        EXPECT_TRUE(written.insert(output).second) << output;
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (attribute.has_g()) add(attribute.g());
      }
    }
  };
  add(graph);
}

std::string While(const std::string& body_ops) {
  return "op { type: 'ONNXWhile' input: 'n' input: 'c' input: 'x' output: 'h' "
         "arg { name: 'has_trip_count' i: 1 } arg { name: 'has_cond' i: 0 } arg { name: 'body' n { "
         "external_input: 'i' external_input: 'on' external_input: 'v' " +
         body_ops + " external_output: 'on' external_output: 'w' } } } ";
}

TEST(ExportedValuesTest, CarriedValuesKeepAShapeThatTheBodyKeeps) {
  const std::map<std::string, ExportedInput> inputs = {
      {"n", {{}, kInt64}}, {"c", {{}, kBool}}, {"x", {{1, 1, 5, 5}}}};
  EXPECT_THAT(GraphText(Export({While(Op("Relu", "", "v", "w")) + Pool("MaxPool"), inputs})),
              ::testing::HasSubstr("pads=[0,0,1,1]"));
  // An iteration doubles the rows.
  ExpectThrows(
      [&] {
        Export({While(Op("Concat", I("axis", 2), "v v", "w s")) + Pool("MaxPool"), inputs});
      },
      "the shape of blob \"h\" is not known");
}

// --- files ---

TEST(ExportedValuesTest, WeightsOfTheLimitStayInTheModel) {
  TempDir dir;
  const ExportedNet net = {Op("Add", "", "x w"), {{"x", kPair}}, {{"w", FloatWeight({2})}}};
  for (const int64_t limit : {7, 8}) {
    const std::string path = dir.path(MakeString("m", limit));
    EXPECT_EQ(WriteOnnx(Export(net), path, limit).size(), limit == 8 ? 1u : 2u);
  }
}

// Strings have no bytes to place in a file: they stay in the model, and so do weights without elements.
TEST(ExportedValuesTest, StringsAndEmptyWeightsStayInTheModel) {
  TempDir dir;
  const std::string path = dir.path("m.onnx");
  Tensor texts = WeightOf<std::string>();
  texts.mutable_data<std::string>()[0] = "first";
  texts.mutable_data<std::string>()[1] = "second";
  const ExportedNet net = {
      Op("Copy", "", "t", "a") + Op("Add", "", "x w", "b") + Op("Copy", "", "e", "d"),
      {{"x", kPair}},
      {{"t", texts}, {"w", FloatWeight({2})}, {"e", FloatWeight({0, 3})}},
      {"a", "b", "d"}};
  EXPECT_THAT(WriteOnnx(Export(net), path, 0), ElementsAre(path + ".data", path));
  std::ifstream file(path, std::ios::binary);
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString({std::istreambuf_iterator<char>(file), {}}));
  ASSERT_EQ(model.graph().initializer_size(), 3);
  for (const onnx::TensorProto& tensor : model.graph().initializer()) {
    const bool is_external = tensor.data_location() == onnx::TensorProto::EXTERNAL;
    EXPECT_EQ(is_external, tensor.name() == "w") << tensor.name();
    if (tensor.name() == "t") {
      EXPECT_THAT(tensor.string_data(), ElementsAre("first", "second"));
      EXPECT_EQ(tensor.raw_data(), "");
    }
    if (tensor.name() == "e") {
      EXPECT_TRUE(tensor.raw_data().empty());
      EXPECT_THAT(tensor.dims(), ElementsAre(0, 3));
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::exported_values_test
