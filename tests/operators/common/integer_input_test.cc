// Inputs of integers that take the place of arguments.
#include "operators/common/integer_input.h"

#include <gtest/gtest.h>

#include "operators/common/inference.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::integer_input_test {
namespace {

// Only a known input without elements is none.
TEST(IntegerInputTest, MayBeGivenUnlessItIsKnownToBeEmpty) {
  const OperatorDef def = ParseOp(R"(type: "Pad" input: "X" input: "P" output: "Y")");
  const auto of = [](std::vector<int64_t> dims) {
    return CreateTensorShape(dims, TensorProto_DataType_INT64);
  };
  const TensorShape x = of({2, 3});
  EXPECT_TRUE(MayBeGiven(def, {x, of({4})}, 1));
  EXPECT_TRUE(MayBeGiven(def, {x, of({})}, 1));
  EXPECT_TRUE(MayBeGiven(def, {x, UnknownShape()}, 1));
  EXPECT_TRUE(MayBeGiven(def, {x}, 1));
  EXPECT_FALSE(MayBeGiven(def, {x, of({0})}, 1));
  EXPECT_FALSE(MayBeGiven(def, {x, of({3, 0})}, 1));
  EXPECT_FALSE(MayBeGiven(def, {x, of({4})}, 2));
}

TEST(IntegerInputTest, UnknownShapesKeepTheTypeThatIsKnown) {
  const std::vector<int64_t> dims{2};
  const TensorShape like = UnknownShapeLike(CreateTensorShape(dims, TensorProto_DataType_UINT8));
  EXPECT_EQ(like.data_type(), TensorProto_DataType_UINT8);
  EXPECT_TRUE(like.unknown_shape());
}

}  // namespace
}  // namespace caffe2rt::test::integer_input_test
