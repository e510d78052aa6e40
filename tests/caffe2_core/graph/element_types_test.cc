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

TEST(ElementTypesTest, UnknownOperatorsHaveNone) {
  EXPECT_TRUE(TypesOf("type: 'NoSuchOperator' input: 'x' output: 'y'", {UnknownShape()}).empty());
}

}  // namespace
}  // namespace caffe2rt::test::element_types_test
