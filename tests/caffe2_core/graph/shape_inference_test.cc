#include "caffe2_core/graph/shape_inference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/base/logging.h"
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

// One line for each operator: its net and position, the shapes of its inputs and outputs, and why
// nothing was inferred ("!" if inference failed).
std::vector<std::string> Lines(const std::vector<OpShapes>& ops) {
  std::vector<std::string> lines;
  for (const OpShapes& op : ops) {
    std::string line = MakeString(op.net, ".", op.op, ":");
    const auto add = [&line](const TensorShape& shape) {
      line += shape.unknown_shape()
                  ? " ?"
                  : MakeString(" ", std::vector<int64_t>(shape.dims().begin(), shape.dims().end()));
    };
    for (const TensorShape& shape : op.inputs) add(shape);
    line += " ->";
    for (const TensorShape& shape : op.outputs) add(shape);
    if (!op.problem.empty()) line += MakeString(" ", op.failed ? "!" : "", op.problem);
    lines.push_back(line);
  }
  return lines;
}

TEST_F(ShapeInferenceTest, StatesForEachOperatorWhatIsKnownAndWhyNot) {
  const NetDef first = ParseNet(R"(op { type: "Relu" input: "x" output: "y" })");
  const NetDef second = ParseNet(R"(
      op { type: "TestThrows" input: "x" output: "y" }
      op { type: "Relu" input: "y" output: "z" }
      op { type: "Sum" input: "none" input: "nor" output: "s" }
      op { type: "NoSuchType" input: "x" output: "b" }
      op { type: "NoSuchType" input: "none" output: "b" }
      op { type: "EnqueueBlobs" input: "none" input: "x" output: "x" }
      op { type: "Relu" input: "x" output: "b" }
      op { type: "TestTwoShapes" input: "q" output: "t" })");
  ShapeMap shapes = shapes_;
  shapes["q"] = shapes_.at("x");
  EXPECT_THAT(
      Lines(InferOpShapes({&first, &second}, &shapes)),
      ElementsAre("0.0: [2, 3] -> [2, 3]", "1.0: [2, 3] -> ? !no such dimension",
                  "1.1: ? -> ? the shape of input \"y\" is not known",
                  "1.2: ? ? -> ? the shape of input \"none\" is not known",
                  "1.3: [2, 3] -> ? no schema",
                  "1.4: ? -> ? the shape of input \"none\" is not known",
                  "1.5: ? [2, 3] -> ? queue operators have no shape inference",
                  "1.6: ? -> ? the shape of input \"x\" is not known",
                  "1.7: [2, 3] -> ? !Invalid shape inference for operator TestTwoShapes Expected 1 "
                  "outputs, but got 2"));
  EXPECT_FALSE(shapes.contains("y"));  // it had a shape before an operator failed to infer one
}

// Both inputs are unknown where the Sum is, and its output is known only at the end of the net.
TEST_F(ShapeInferenceTest, InputsOfASumTakeTheShapeThatItsOutputGetsLater) {
  const std::string nets = R"(op { type: "TestUnknownShape" input: "x" output: "u" }
      op { type: "TestUnknownShape" input: "x" output: "v" }
      op { type: "Sum" input: "u" input: "v" output: "s" })";
  ShapeMap shapes = shapes_;
  Infer(nets + R"(op { type: "Relu" input: "x" output: "s" })", &shapes);
  EXPECT_THAT(shapes.at("u").dims(), ElementsAre(2, 3));
  EXPECT_THAT(shapes.at("v").dims(), ElementsAre(2, 3));
  shapes = shapes_;
  Infer(nets, &shapes);
  EXPECT_TRUE(shapes.at("u").unknown_shape());
}

TEST_F(ShapeInferenceTest, OnlyUnknownGradientsTakeTheShapeOfTheirVariables) {
  shapes_["y"] = CreateTensorShape(std::vector<int64_t>{7}, TensorProto::FLOAT);
  Infer(R"(op { type: "Relu" input: "x" output: "y_grad" is_gradient_op: true }
           op { type: "TestUnknownShape" input: "x" output: "y_grad_sum" is_gradient_op: true }
           op { type: "TestUnknownShape" input: "x" output: "w_grad" is_gradient_op: true })",
        &shapes_);
  EXPECT_THAT(shapes_.at("y_grad").dims(), ElementsAre(2, 3));
  EXPECT_TRUE(shapes_.at("y_grad_sum").unknown_shape());
  EXPECT_TRUE(shapes_.at("w_grad").unknown_shape());
  shapes_.erase("y_grad");
  Infer(R"(op { type: "TestUnknownShape" input: "x" output: "y_grad" })", &shapes_);
  EXPECT_TRUE(shapes_.at("y_grad").unknown_shape());  // no gradient operator
}

TEST_F(ShapeInferenceTest, AGradientOfReshapeNeedsTheReshape) {
  const NetDef net = ParseNet(R"(op { type: "Reshape" input: "x" input: "old" output: "dx"
                                      output: "dims" is_gradient_op: true })");
  ShapeMap shapes = shapes_;
  shapes["old"] = CreateTensorShape(std::vector<int64_t>{1}, TensorProto::INT64);
  ShapeMap alone = shapes;
  EXPECT_EQ(InferBlobShapesAndTypes({&net}, &alone).shapes_size(), 0);
  EXPECT_THAT(Lines(InferOpShapes({&net}, &shapes)), ElementsAre("0.0: [2, 3] [1] -> ? [2]"));
}

TEST_F(ShapeInferenceTest, StartsFromAMapOfTypes) {
  NetDef net = ParseNet(R"(op { type: "Relu" input: "a" output: "b" })");
  const TensorShapes shapes = InferBlobShapesAndTypesFromMap({{"a", {4}}, {"c", {5}}},
                                                             {{"a", TensorProto::DOUBLE}}, {&net});
  ASSERT_EQ(shapes.shapes_size(), 3);
  EXPECT_EQ(shapes.shapes(0).data_type(), TensorProto::DOUBLE);
  EXPECT_EQ(shapes.shapes(1).data_type(), TensorProto::DOUBLE);
  EXPECT_EQ(shapes.shapes(2).data_type(), TensorProto::FLOAT);
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

// An operator that returns no shapes at all states why; another number of shapes is a failure.
TEST_F(ShapeInferenceTest, AStatedReasonIsNoFailure) {
  const auto shapes_of = [](const OperatorDef& def, const std::vector<TensorShape>& in) {
    return std::vector<TensorShape>(def.name().size(), in[0]);
  };
  RegisterSchema("TestStatedReason", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Traits({.no_shape_reason = "it depends on values"})
      .TensorInferenceFunction(shapes_of);
  RegisterSchema("TestNoReason", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .TensorInferenceFunction(shapes_of);
  const auto lines = [&](const std::string& type, const std::string& name) {
    const NetDef net =
        ParseNet("op { type: \"" + type + "\" name: \"" + name + R"(" input: "x" output: "y" })");
    ShapeMap shapes = shapes_;
    shapes["y"] = shapes_.at("x");
    const std::vector<std::string> found = Lines(InferOpShapes({&net}, &shapes));
    EXPECT_EQ(shapes.contains("y"), name.size() == 1);
    return found.at(0);
  };
  const std::string wrong = "0.0: [2, 3] -> ? !Invalid shape inference for operator Test";
  EXPECT_EQ(lines("TestStatedReason", "a"), "0.0: [2, 3] -> [2, 3]");
  EXPECT_EQ(lines("TestStatedReason", ""), "0.0: [2, 3] -> ? it depends on values");
  EXPECT_EQ(lines("TestStatedReason", "ab"), wrong + "StatedReason Expected 1 outputs, but got 2");
  EXPECT_EQ(lines("TestNoReason", ""), wrong + "NoReason Expected 1 outputs, but got 0");
  EXPECT_EQ(lines("TestNoReason", "ab"), wrong + "NoReason Expected 1 outputs, but got 2");
  // The operators behind it go on.
  const NetDef net = ParseNet(R"(op { type: "TestStatedReason" input: "x" output: "y" }
                                 op { type: "Relu" input: "x" output: "z" })");
  ShapeMap shapes = shapes_;
  InferBlobShapesAndTypes({&net}, &shapes);
  EXPECT_FALSE(shapes.contains("y"));
  EXPECT_THAT(shapes.at("z").dims(), ElementsAre(2, 3));
}

// By Caffe2's rules, the caller only gets no shapes; the log names the operator.
TEST_F(ShapeInferenceTest, LogsWhatItSkips) {
  const int threshold = LogThreshold();
  SetLogThreshold(1);
  const auto log = [](const std::string& op) {
    const NetDef net = ParseNet("op { " + op + " }");
    ShapeMap shapes = {{"x", CreateTensorShape(std::vector<int64_t>{2}, TensorProto::FLOAT)}};
    testing::internal::CaptureStderr();
    InferBlobShapesAndTypes({&net}, &shapes);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(log(R"(type: "NoSuchType" input: "x" output: "y")"),
              HasSubstr("shape inference skips operator NoSuchType: it has no schema"));
  EXPECT_THAT(
      log(R"(type: "Relu" input: "z" output: "y")"),
      HasSubstr("shape inference skips operator Relu: the shape of input \"z\" is not known"));
  EXPECT_THAT(log(R"(type: "TestThrows" input: "x" output: "y")"),
              HasSubstr("shape inference of operator TestThrows failed"));
  EXPECT_EQ(log(R"(type: "Relu" input: "x" output: "y")"), "");
  SetLogThreshold(threshold);
}

}  // namespace
}  // namespace caffe2rt::test::shape_inference_test
