// Names in exported graphs that the net or its weights have already, declarations of inputs and outputs,
// and inputs or arguments that count before others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/export/onnx_graph.h"
#include "caffe2_core/graph/op_schema.h"
#include "tests/caffe2_core/export/exported_graph.h"
#include "tests/caffe2_core/export/operator_text.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::export_names_test {
namespace {

using namespace operator_text;  // used throughout this file
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ExportedInput kTwo = {{2}}, kNumbers = {{2}, TensorProto::INT64};

std::vector<std::string> NamesOf(const auto& infos) {
  std::vector<std::string> names;
  for (const auto& info : infos) names.push_back(info.name());
  return names;
}

TEST(ExportNamesTest, InputsAreDeclaredOnceInTheOrderOfTheNet) {
  const std::string sum = Op("Sum", "", "a b w x"), first = "external_input: 'x' ",
                    second = "external_input: 'b' ", weight = "external_input: 'w' ";
  const auto inputs = [&](const std::string& declared) {
    return NamesOf(
        Export({declared + sum, {{"x", kTwo}, {"b", kTwo}, {"a", kTwo}}, {{"w", FloatWeight({2})}}})
            .model.graph()
            .input());
  };
  EXPECT_THAT(inputs(""), ElementsAre("a", "b", "x"));
  EXPECT_THAT(inputs(first + weight + second), ElementsAre("x", "b", "a"));
  EXPECT_THAT(inputs(first + first + second + first), ElementsAre("x", "b", "a"));
}

// Gelu needs two products: y_Mul, and the next name that no input, weight or blob has.
TEST(ExportNamesTest, NumberedNamesPassOverThoseOfTheNet) {
  const std::string sum =
      "op { type: 'Sum' input: 'y' input: 'y_Mul_1' input: 'y_Mul_2' "
      "input: 'y_Mul_3' output: 'z' }";
  const OnnxExport exported =
      Export({Op("Gelu") + "op { type: 'Relu' input: 'x' output: 'y_Mul_2' } " + sum,
              {{"x", kTwo}, {"y_Mul_3", kTwo}},
              {{"y_Mul_1", FloatWeight({2})}},
              {"z"}});
  EXPECT_EQ(GraphText(exported),
            "y_Mul = Mul(x, 0.707107)\ny_Erf = Erf(y_Mul)\ny_Add = Add(y_Erf, 1)\n"
            "y_Mul_4 = Mul(x, 0.5)\ny = Mul(y_Mul_4, y_Add)\ny_Mul_2 = Relu(x)\n"
            "z = Sum(y, y_Mul_1, y_Mul_2, y_Mul_3)\n");
}

TEST(ExportNamesTest, NodesOfOneNameAreNumbered) {
  const std::string name = "name: 'act' ";
  const OnnxExport exported = Export(
      {Op("Swish", name) + Op("Relu", name, "y", "z") + Op("Relu", "", "z", "y"), {{"x", kTwo}}});
  std::vector<std::string> names = NamesOf(exported.model.graph().node());
  EXPECT_THAT(names, ElementsAre("act", "act/1", "act/2", "y"));
  const OnnxExport unnamed =
      Export({Op("Relu", "name: 'y'", "x", "z") + Op("Relu", "", "z", "y"), {{"x", kTwo}}});
  EXPECT_THAT(NamesOf(unnamed.model.graph().node()), ElementsAre("y", "y/1"));
}

// Written once, however many operators read it, in the main graph or in a branch.
TEST(ExportNamesTest, AWeightIsWrittenOnce) {
  const std::string branch = "arg { name: 'then_net' n { " + Op("Add", "", "x w", "z") +
                             " } } arg { name: 'else_net' n { " + Op("Sub", "", "w w", "z") +
                             " } } ";
  const OnnxExport exported = Export({Op("Add", "", "x w", "a") + Op("Mul", "", "w a", "b") +
                                          Op("If", branch, "c", "z") + Op("Sum", "", "b w z"),
                                      {{"x", kTwo}, {"c", {{}, TensorProto::BOOL}}},
                                      {{"w", FloatWeight({2})}}});
  EXPECT_THAT(NamesOf(exported.model.graph().initializer()), ElementsAre("w"));
  EXPECT_EQ(exported.weights.size(), 1u);
  EXPECT_THAT(exported.model.graph().initializer(0).dims(), ElementsAre(2));
}

// An input, a weight, or a value that an operator computes and another one copies.
TEST(ExportNamesTest, OutputsAreValuesOfTheirOwn) {
  const OnnxExport exported = Export({Op("Relu", "", "x", "y") + Op("Copy", "", "y", "z"),
                                      {{"x", kTwo}},
                                      {{"w", FloatWeight({2})}},
                                      {"x", "w", "y", "z"}});
  EXPECT_EQ(GraphText(exported),
            "y = Relu(x)\nz = Identity(y)\nx_out = Identity(x)\nw_out = Identity(w)\n");
  EXPECT_THAT(NamesOf(exported.model.graph().output()), ElementsAre("x_out", "w_out", "y", "z"));
  EXPECT_THAT(
      exported.notes,
      ElementsAre("output \"x\" is called \"x_out\", because an input or a weight has its name",
                  "output \"w\" is called \"w_out\", because an input or a weight has its name"));
  // The name is free again if only a value before the last one had another.
  const OnnxExport twice =
      Export({Op("Relu", "", "x", "y") + Op("Exp", "", "y", "y"), {{"x", kTwo}}});
  EXPECT_EQ(GraphText(twice), "y_value = Relu(x)\ny = Exp(y_value)\n");
  EXPECT_TRUE(twice.notes.empty());
}

// A parameter is an input of the operator, or else its argument.
TEST(ExportNamesTest, InputsCountBeforeArguments) {
  const struct {
    std::string op;
    const char* graph;
  } rows[] = {
      {Op("ONNXSlice", L("starts", {7}) + L("ends", {8}), "x s e"), "y = Slice(x, s, e)\n"},
      {Op("ONNXSlice", L("starts", {7}) + L("ends", {8}), "x s"), "y = Slice(x, s, [8])\n"},
      {Op("ONNXSlice", L("ends", {8}) + L("steps", {2}), "x s"), "y = Slice(x, s, [8], , [2])\n"},
      {Op("ONNXTile", L("repeats", {7}), "x s"), "y = Tile(x, s)\n"},
      {Op("Trilu", I("k", 7), "x s"), "y = Trilu(x, s)\n"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(
        GraphText(Export({row.op, {{"x", {{4, 4}}}, {"s", kNumbers}, {"e", kNumbers}}, {}, {}})),
        row.graph);
  }
}

// Only for parameters that may be left out, and only a vector without elements.
TEST(ExportNamesTest, EmptyWeightsStandForAbsentParameters) {
  const struct {
    std::string op;
    std::vector<int64_t> dims;
    const char* graph;
  } rows[] = {
      {Op("ONNXSlice", "", "x s e w"), {0}, "y = Slice(x, s, e)\n"},
      {Op("ONNXSlice", "", "x s e w"), {1}, "y = Slice(x, s, e, w)\n"},
      {Op("ONNXSlice", "", "x s e w"), {0, 2}, "y = Slice(x, s, e, w)\n"},
      {Op("ONNXSlice", "", "w s e"), {0}, "y = Slice(w, s, e)\n"},
      {Op("Compress", "", "x w"), {0}, "y = Compress(x, w)\n"},
      {Op("ONNXMax", "", "x w s"), {0}, "y = Max(x, w, s)\n"},
  };
  for (const auto& row : rows) {
    const OnnxExport exported = Export({row.op,
                                        {{"x", {{4, 4}}}, {"s", kNumbers}, {"e", kNumbers}},
                                        {{"w", FloatWeight(row.dims)}},
                                        {}});
    EXPECT_EQ(GraphText(exported), row.graph) << row.op;
  }
}

// Sides count if all four are stated, for images of two axes; height and width likewise.
TEST(ExportNamesTest, SidesAreStatedTogetherForImagesOfTwoAxes) {
  const auto text = [](const std::string& type, const std::string& args,
                       const std::vector<int64_t>& dims) {
    return GraphText(Export({Op(type, I("kernel", 2) + args), {{"x", {dims}}}, {}, {}}));
  };
  std::string four;
  for (const char* side : {"pad_t", "pad_l", "pad_b", "pad_r"}) {
    std::string three;
    for (const char* other : {"pad_t", "pad_l", "pad_b", "pad_r"}) {
      if (std::string(side) != other) three += I(other, 1);
    }
    EXPECT_EQ(text("MaxPool", three, {1, 1, 8, 8}),
              "y = MaxPool(x) kernel_shape=[2,2] strides=[1,1] pads=[0,0,0,0]\n")
        << side;
    four += I(side, 1);
  }
  EXPECT_EQ(text("MaxPool", four, {1, 1, 8, 8}),
            "y = MaxPool(x) kernel_shape=[2,2] strides=[1,1] pads=[1,1,1,1]\n");
  const std::string both = I("stride_h", 2) + I("stride_w", 3) + four;
  EXPECT_EQ(text("MaxPool1D", both, {1, 1, 8}),
            "y = MaxPool(x) kernel_shape=[2] strides=[1] pads=[0,0]\n");
  EXPECT_EQ(text("MaxPool3D", both, {1, 1, 8, 8, 8}),
            "y = MaxPool(x) kernel_shape=[2,2,2] strides=[1,1,1] pads=[0,0,0,0,0,0]\n");
  EXPECT_EQ(text("MaxPool", both, {1, 1, 8, 8}),
            "y = MaxPool(x) kernel_shape=[2,2] strides=[2,3] pads=[1,1,1,1]\n");
}

TEST(ExportNamesTest, FillsHaveTheValueOfTheirType) {
  const std::string shape = L("shape", {2, 3});
  const struct {
    int type;
    std::string value;
    const char* graph;
  } rows[] = {
      {TensorProto::FLOAT, F("value", 0.5f), "y = Expand(0.5, [2, 3])\n"},
      {TensorProto::DOUBLE, "", "y = Expand(0 (double), [2, 3])\n"},
      {TensorProto::INT64, "", "y = Expand(0, [2, 3])\n"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(
        GraphText(Export({Op("ConstantFill", shape + I("dtype", row.type) + row.value, ""), {}})),
        row.graph)
        << row.type << row.value;
  }
  // Doubles, of a constant and of a scalar.
  EXPECT_EQ(GraphText(Export({Op("GivenTensorFill",
                                 L("shape", {1}) + I("dtype", TensorProto::DOUBLE) +
                                     "arg { name: 'values' floats: 0.5 }",
                                 "", "g") +
                                  Op("Scale", F("scale", 0.25f), "g"),
                              {}})),
            "y = Mul(0.5 (double), 0.25 (double))\n");
}

// In the field of their type: integers of 16 bits and bools have that of 32.
TEST(ExportNamesTest, GivenElementsAreThoseOfTheirType) {
  const auto tensor_of = [](int type, const std::string& values) {
    const std::string fill =
        Op("GivenTensorFill",
           L("shape", {2}) + I("dtype", type) + "arg { name: 'values' " + values + " }", "", "g");
    return Export({fill + Op("Copy", "", "g"), {}}).model.graph().initializer(0);
  };
  const auto floats = tensor_of(TensorProto::FLOAT, "floats: 0.5 floats: -2");
  EXPECT_THAT(floats.float_data(), ElementsAre(0.5f, -2.f));
  const auto doubles = tensor_of(TensorProto::DOUBLE, "floats: 0.5 floats: -2");
  EXPECT_THAT(doubles.double_data(), ElementsAre(0.5, -2.));
  const auto longs = tensor_of(TensorProto::INT64, "ints: 5 ints: -4294967296");
  EXPECT_THAT(longs.int64_data(), ElementsAre(5, -4294967296));
  for (const int type : {TensorProto::INT32, TensorProto::INT16}) {
    const auto ints = tensor_of(type, "ints: 7 ints: -3");
    EXPECT_THAT(ints.int32_data(), ElementsAre(7, -3));
    EXPECT_EQ(ints.data_type(), ExportedTypeOf(static_cast<TensorProto_DataType>(type)));
  }
  // Regression: the elements were missing.
  const auto strings = tensor_of(TensorProto::STRING, "strings: 'a' strings: ''");
  EXPECT_THAT(strings.string_data(), ElementsAre("a", ""));
  EXPECT_EQ(strings.data_type(), onnx::TensorProto::STRING);
  EXPECT_THAT(strings.dims(), ElementsAre(2));
}

// The branches have the same dims but other types: the output has no dims.
TEST(ExportNamesTest, BranchesOfOtherTypesHaveNoShape) {
  const auto branches = [](const std::string& first, const std::string& second) {
    const std::string nets = "arg { name: 'then_net' n { " + first +
                             " } } arg { name: 'else_net' n { " + second + " } } ";
    return Export({Op("If", nets, "c"), {{"x", kTwo}, {"c", {{}, TensorProto::BOOL}}}},
                  {{"y", {-1}}})
        .model.graph()
        .output(0)
        .type()
        .tensor_type();
  };
  const std::string copy = Op("Copy"), cast = Op("Cast", I("to", TensorProto::INT64));
  EXPECT_EQ(branches(copy, copy).shape().dim(0).dim_value(), 2);
  for (const auto& [first, second, type] : {std::tuple(copy, cast, onnx::TensorProto::FLOAT),
                                            std::tuple(cast, copy, onnx::TensorProto::INT64)}) {
    const auto mixed = branches(first, second);
    ASSERT_EQ(mixed.shape().dim_size(), 1);
    EXPECT_FALSE(mixed.shape().dim(0).has_dim_value());
    EXPECT_EQ(mixed.elem_type(), type);
  }
}

TEST(ExportNamesTest, AtMostFiveInputsWithoutShapesAreNamed) {
  const auto message = [](const std::string& inputs) {
    return MessageOf([&] { Export({Op("Sum", "", inputs), {}}); });
  };
  EXPECT_THAT(message("a b c d e"),
              HasSubstr("the shapes of inputs \"a\", \"b\", \"c\", \"d\", \"e\" "
                        "are not known"));
  EXPECT_THAT(message("a b a c d e f b"),
              HasSubstr("inputs \"a\", \"b\", \"c\", \"d\", \"e\" and 1 more are not known"));
  EXPECT_THAT(message("a b c d e f g"), HasSubstr("\"e\" and 2 more are not known"));
}

}  // namespace
}  // namespace caffe2rt::test::export_names_test
