#include "caffe2_core/graph/element_types.h"

#include <gtest/gtest.h>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::element_types_test {
namespace {

using Types = std::vector<TensorProto::DataType>;

Types TypesOf(const std::string& op, const std::vector<TensorShape>& inputs) {
  return InferElementTypes(ParseOp(op), inputs);
}

TensorShape OfType(TensorProto::DataType type) {
  TensorShape shape = UnknownShape();
  shape.set_data_type(type);
  return shape;
}

TEST(ElementTypesTest, TypesOfInputsOfUnknownShapeSuffice) {
  EXPECT_EQ(TypesOf("type: 'ONNXTile' input: 'x' output: 'y' arg { name: 'repeats' ints: 2 }",
                    {OfType(TensorProto::INT16)}),
            (Types{TensorProto::INT16}));
}

TEST(ElementTypesTest, TypesThatDependOnNoInputAreKnownWithoutTheirs) {
  EXPECT_EQ(
      TypesOf("type: 'Cast' input: 'x' output: 'y' arg { name: 'to' i: 2 }", {UnknownShape()}),
      (Types{TensorProto::INT32}));
  EXPECT_EQ(TypesOf("type: 'Shape' input: 'x' output: 'y'", {UnknownShape()}),
            (Types{TensorProto::INT64}));
  const Types relu = TypesOf("type: 'Negative' input: 'x' output: 'y'", {UnknownShape()});
  EXPECT_TRUE(relu.empty() || relu[0] == TensorProto::UNDEFINED);
}

OPERATOR_SCHEMA(ElementTypesTestThird).NumInputs(3).NumOutputs(1).IdenticalTypeAndShapeOfInput(2);
OPERATOR_SCHEMA(ElementTypesTestSecond).NumInputs(3).NumOutputs(1).IdenticalTypeAndShapeOfInput(1);

// The types that operators state of blobs of unknown shape reach each input of later operators.
TEST(ElementTypesTest, TypesOfAnyInputGoOn) {
  const NetDef net = test::ParseNet(R"(
      op { type: "Cast" input: "u" output: "t" arg { name: "to" i: 2 } }
      op { type: "ElementTypesTestSecond" input: "u" input: "t" input: "u" output: "second" }
      op { type: "ElementTypesTestThird" input: "u" input: "u" input: "second" output: "third" }
      op { type: "ElementTypesTestThird" input: "t" input: "t" input: "u" output: "none" }
      op { type: "ElementTypesTestSecond" input: "u" input: "u" input: "t" output: "second" })");
  std::vector<OpShapes> of_operators(5);
  ShapeMap shapes;
  StateElementTypes(net, &of_operators, &shapes);
  EXPECT_EQ(shapes["t"].data_type(), TensorProto::INT32);
  EXPECT_EQ(of_operators[1].outputs[0].data_type(), TensorProto::INT32);
  EXPECT_EQ(of_operators[2].inputs[2].data_type(), TensorProto::INT32);
  EXPECT_EQ(shapes["third"].data_type(), TensorProto::INT32);
  // Nothing is known of `none`, and of `second` since it was overwritten.
  EXPECT_EQ(shapes.count("none"), 0u);
  EXPECT_EQ(shapes.count("second"), 0u);
}

OPERATOR_SCHEMA(ElementTypesTestPair)
    .NumInputs(1)
    .NumOutputs(3)
    .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& inputs) {
      std::vector<TensorShape> outputs(3, UnknownShape());
      outputs[0] = CreateTensorShape(std::vector<int64_t>{2}, TensorProto::INT64);
      outputs[1] = inputs[0];
      return outputs;
    });

// One output has a type of its own, one that of the input, and the last one any.
TEST(ElementTypesTest, EachOutputHasItsOwnType) {
  const char* const op =
      "type: 'ElementTypesTestPair' input: 'x' output: 'a' output: 'b' output: 'c'";
  EXPECT_EQ(TypesOf(op, {UnknownShape()}),
            (Types{TensorProto::INT64, TensorProto::UNDEFINED, TensorProto::UNDEFINED}));
  EXPECT_EQ(TypesOf(op, {OfType(TensorProto::INT8)}),
            (Types{TensorProto::INT64, TensorProto::INT8, TensorProto::UNDEFINED}));
  // An operator of which inference knows nothing, because it failed, has types all the same.
  const NetDef net = test::ParseNet(R"(
      op { type: "Cast" input: "u" output: "t" arg { name: "to" i: 2 } }
      op { type: "ElementTypesTestPair" input: "t" output: "a" output: "b" output: "c" })");
  std::vector<OpShapes> of_operators(2);
  for (OpShapes& each : of_operators) each.failed = true;
  ShapeMap shapes;
  StateElementTypes(net, &of_operators, &shapes);
  EXPECT_EQ(of_operators[1].outputs.size(), 3u);
  EXPECT_EQ(shapes.at("a").data_type(), TensorProto::INT64);
  EXPECT_EQ(shapes.at("b").data_type(), TensorProto::INT32);
  EXPECT_EQ(shapes.count("c"), 0u);
}

TEST(ElementTypesTest, UnknownOperatorsHaveNone) {
  EXPECT_TRUE(TypesOf("type: 'NoSuchOperator' input: 'x' output: 'y'", {UnknownShape()}).empty());
}

}  // namespace
}  // namespace caffe2rt::test::element_types_test
