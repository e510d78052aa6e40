#include "caffe2_core/graph/shape_inference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::shape_inference_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ShapeInferenceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EnsureBuiltinOperators();
    static const bool registered = [] {
      RegisterSchema("TestUnknownShape", __FILE__).NumInputs(1).NumOutputs(1);
      RegisterSchema("TestTwoShapes", __FILE__)
          .NumInputs(1)
          .NumOutputs(1)
          .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
            return std::vector<TensorShape>{in[0], in[0]};
          });
      RegisterSchema("TestThrows", __FILE__)
          .NumInputs(1)
          .NumOutputs(1)
          .TensorInferenceFunction(
              [](const OperatorDef&, const std::vector<TensorShape>&) -> std::vector<TensorShape> {
                throw std::out_of_range("no such dimension");
              });
      return true;
    }();
    ASSERT_TRUE(registered);
  }
  TensorShapes Infer(const std::string& net, ShapeMap* shapes) {
    const NetDef def = ParseNet(net);
    return InferBlobShapesAndTypes({&def}, shapes);
  }
  ShapeMap shapes_ = {{"x", CreateTensorShape(std::vector<int64_t>{2, 3}, TensorProto::FLOAT)}};
};

TEST_F(ShapeInferenceTest, GoesThroughTheNet) {
  Infer(
      R"(op { type: "Relu" input: "x" output: "y" } op { type: "Transpose" input: "y" output: "z" })",
      &shapes_);
  EXPECT_THAT(shapes_.at("z").dims(), ElementsAre(3, 2));
}

TEST_F(ShapeInferenceTest, ListsAllEntriesByName) {
  const TensorShapes all = Infer(R"(op { type: "Relu" input: "x" output: "y" })", &shapes_);
  ASSERT_EQ(all.shapes_size(), 2);
  EXPECT_EQ(all.shapes(0).name(), "x");
  EXPECT_EQ(all.shapes(1).name(), "y");
}

TEST_F(ShapeInferenceTest, PassesOverWhatItCannotKnow) {
  Infer(
      R"(op { type: "Relu" input: "missing" output: "a" } op { type: "NoSuchType" input: "x" output: "b" }
           op { type: "SafeEnqueueBlobs" input: "x" output: "c" })",
      &shapes_);
  EXPECT_EQ(shapes_.size(), 1u);
}

TEST_F(ShapeInferenceTest, GivesNothingWhenAnOperatorCannotWork) {
  EXPECT_EQ(
      Infer(
          R"(op { type: "Reshape" input: "x" output: "y" output: "old" arg { name: "shape" ints: 7 } })",
          &shapes_)
          .shapes_size(),
      0);
  EXPECT_EQ(Infer(R"(op { type: "TestThrows" input: "x" output: "y" })", &shapes_).shapes_size(),
            0);
}

TEST_F(ShapeInferenceTest, ThrowsOnTheWrongNumberOfShapes) {
  ExpectThrows([&] { Infer(R"(op { type: "TestTwoShapes" input: "x" output: "y" })", &shapes_); },
               "Invalid shape inference for operator TestTwoShapes Expected 1 outputs, but got 2");
}

TEST_F(ShapeInferenceTest, SumGivesItsUnknownInputsTheKnownShape) {
  Infer(
      R"(op { type: "TestUnknownShape" input: "x" output: "u" } op { type: "Sum" input: "u" input: "x" output: "s" })",
      &shapes_);
  EXPECT_THAT(shapes_.at("u").dims(), ElementsAre(2, 3));
}

TEST_F(ShapeInferenceTest, GradientHasTheShapeOfItsVariable) {
  Infer(R"(op { type: "TestUnknownShape" input: "x" output: "x_grad" is_gradient_op: true })",
        &shapes_);
  EXPECT_THAT(shapes_.at("x_grad").dims(), ElementsAre(2, 3));
}

TEST_F(ShapeInferenceTest, GradientOfReshapeHasTheOldShape) {
  Infer(R"(op { type: "Reshape" input: "x" output: "y" output: "old" arg { name: "shape" ints: 6 } }
           op { type: "Reshape" input: "y" input: "old" output: "dx" is_gradient_op: true })",
        &shapes_);
  EXPECT_THAT(shapes_.at("dx").dims(), ElementsAre(2, 3));
}

TEST_F(ShapeInferenceTest, OperatorByOperatorTheOthersGoOn) {
  const NetDef net = ParseNet(R"(
      op { type: "TestThrows" input: "x" output: "bad" } op { type: "Relu" input: "bad" output: "worse" }
      op { type: "Relu" input: "x" output: "good" } op { type: "Relu" output: "no_input" }
      op { type: "AddPadding" input: "x" arg { name: "padding_width" i: 1 } })");
  const std::vector<OpShapes> ops = InferOpShapes({&net}, &shapes_);
  ASSERT_EQ(ops.size(), 5u);
  EXPECT_TRUE(ops[0].failed);
  EXPECT_THAT(ops[0].problem, HasSubstr("no such dimension"));
  EXPECT_THAT(ops[1].problem, HasSubstr("input \"bad\" is not known"));
  EXPECT_THAT(ops[2].outputs[0].dims(), ElementsAre(2, 3));
  EXPECT_TRUE(ops[3].failed);
  EXPECT_THAT(ops[4].problem, HasSubstr("0 outputs"));
}

TEST_F(ShapeInferenceTest, StartsFromAMapOfDimensions) {
  NetDef net = ParseNet(R"(op { type: "Relu" input: "a" output: "b" })");
  const TensorShapes shapes = InferBlobShapesAndTypesFromMap({{"a", {4, 0}}}, {&net});
  EXPECT_THAT(shapes.shapes(1).dims(), ElementsAre(4, 0));
  ExpectThrows(
      [&] {
        InferBlobShapesAndTypesFromMap({{"a", {-1}}}, {&net});
      },
      "dimension of blob \"a\"");
}

}  // namespace
}  // namespace caffe2rt::test::shape_inference_test
