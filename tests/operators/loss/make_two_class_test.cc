#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::make_two_class_test {
namespace {

const char* const kForward = R"(type: "MakeTwoClass" input: "X" output: "Y")";
const char* const kGradient = R"(type: "MakeTwoClassGradient" input: "dY" output: "dX")";

TEST(MakeTwoClassTest, AppendsADimensionOfTwoProbabilities) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 3}, {0.25f, 1, 0.5f});
  RunOp(&ws, kForward);
  ExpectTensor<float>(ws, "Y", {1, 3, 2}, {0.75f, 0.25f, 0, 1, 0.5f, 0.5f});
  ExpectShapeInferred(&ws, kForward);
  Feed<float>(&ws, "X", {}, {0.25f});
  RunOp(&ws, kForward);
  ExpectTensor<float>(ws, "Y", {2}, {0.75f, 0.25f});
  Feed<float>(&ws, "X", {0, 3}, {});
  RunOp(&ws, kForward);
  ExpectTensor<float>(ws, "Y", {0, 3, 2}, {});
}

TEST(MakeTwoClassTest, HasADifferenceAsGradient) {
  Workspace ws;
  Feed<float>(&ws, "dY", {1, 2, 2}, {1, 3, 5, 4});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {1, 2}, {2, -1});
  ExpectShapeInferred(&ws, kGradient);
  FeedRandom(&ws, "X", {2, 3});
  ExpectGradientMatches(&ws, kForward);
  EXPECT_EQ(DescribeGradient(kForward), "MakeTwoClassGradient(Y_grad)->X_grad | X_grad");
}

TEST(MakeTwoClassTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "dY", {2, 3});
  ExpectThrows([&] { RunOp(&ws, kGradient); },
               "input 0 (dY) has shape [2, 3], want 2 as the last dimension");
  Feed<float>(&ws, "dY", {}, {1});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "want 2 as the last dimension");
  FeedRange<int32_t>(&ws, "X", {2});
  ExpectThrows([&] { RunOp(&ws, kForward); }, "int");
}

TEST(MakeTwoClassTest, InferenceRejectsWhatTheGradientRejects) {
  const OpSchema& schema = *OpSchemaRegistry::Schema("MakeTwoClassGradient");
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{{2, 3}, {2, 1}, {}}) {
    ExpectThrows(
        [&] {
          (void)schema.InferTensor(ParseOp(kGradient),
                                   {CreateTensorShape(dims, TensorProto::FLOAT)});
        },
        "want 2 as the last dimension");
  }
}

}  // namespace
}  // namespace caffe2rt::test::make_two_class_test
