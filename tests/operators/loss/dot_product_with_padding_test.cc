#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::dot_product_with_padding_test {
namespace {

const std::string kForward = R"(type: "DotProductWithPadding" input: "X" input: "Y" output: "Z")";
const std::string kGradient = R"(type: "DotProductWithPaddingGradient" input: "X" input: "Y"
    input: "dZ" output: "dX" output: "dY")";
const std::string kPad = R"( arg { name: "pad_value" f: 10 })";
const std::string kReplicate = R"( arg { name: "replicate" i: 1 })";

TEST(DotProductWithPaddingTest, ExtendsOrRepeatsTheShorterRows) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "Y", {2, 5}, {1, 1, 1, 1, 9, 0, 1, 2, 3, 9});
  RunOp(&ws, kForward);
  ExpectTensor<float>(ws, "Z", {2}, {3, 4});
  ExpectShapeInferred(&ws, kForward);
  RunOp(&ws, kForward + kPad);
  ExpectTensor<float>(ws, "Z", {2}, {3 + 110, 4 + 140});
  RunOp(&ws, kForward + kReplicate);
  ExpectTensor<float>(ws, "Z", {2}, {6, 4 + 6 + 12});
  RunOp(&ws, R"(type: "DotProductWithPadding" input: "Y" input: "X" output: "Z")" + kPad);
  ExpectTensor<float>(ws, "Z", {2}, {3 + 110, 4 + 140});
  Feed<float>(&ws, "X", {0, 2}, {});
  Feed<float>(&ws, "Y", {0, 4}, {});
  RunOp(&ws, kForward + kReplicate);
  ExpectTensor<float>(ws, "Z", {0}, {});
  // As in Caffe2, only rows of X without elements do not count.
  Feed<float>(&ws, "X", {2, 0}, {});
  Feed<float>(&ws, "Y", {2, 2}, {1, 2, 3, 4});
  RunOp(&ws, kForward + kPad);
  ExpectTensor<float>(ws, "Z", {0}, {});
  ExpectShapeInferred(&ws, kForward);
  Feed<float>(&ws, "dZ", {0}, {});
  Feed<float>(&ws, "dY", {2, 2}, {9, 9, 9, 9});
  RunOp(&ws, kGradient + kPad);
  ExpectTensor<float>(ws, "dX", {2, 0}, {});
  ExpectTensor<float>(ws, "dY", {2, 2}, {0, 0, 0, 0});
  RunOp(&ws, R"(type: "DotProductWithPadding" input: "Y" input: "X" output: "Z")" + kPad);
  ExpectTensor<float>(ws, "Z", {2}, {30, 70});
}

TEST(DotProductWithPaddingTest, HasGradientsOfBothInputs) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 4}, {1, 2, 3, 4});
  Feed<float>(&ws, "Y", {1, 2}, {5, 6});
  Feed<float>(&ws, "dZ", {1}, {2});
  RunOp(&ws, kGradient + kPad);
  ExpectTensor<float>(ws, "dX", {1, 4}, {10, 12, 20, 20});
  ExpectTensor<float>(ws, "dY", {1, 2}, {2, 4});
  ExpectShapeInferred(&ws, kGradient);
  RunOp(&ws, kGradient + kReplicate);
  ExpectTensor<float>(ws, "dX", {1, 4}, {10, 12, 10, 12});
  ExpectTensor<float>(ws, "dY", {1, 2}, {8, 12});

  FeedRandom(&ws, "X", {2, 3, 7}, -1, 1, 1);
  FeedRandom(&ws, "Y", {2, 2, 21}, -1, 1, 2);
  for (const std::string& argument : {std::string(), kPad, kReplicate}) {
    ExpectGradientMatches(&ws, kForward + argument);
  }
}

TEST(DotProductWithPaddingTest, StatesItsArgumentsInTheGradient) {
  EXPECT_EQ(DescribeGradient(kForward),
            "DotProductWithPaddingGradient(X,Y,Z_grad)->X_grad,Y_grad pad_value=0 replicate=0 | "
            "X_grad Y_grad");
}

TEST(DotProductWithPaddingTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {3, 4});
  FeedRandom(&ws, "Y", {2, 4});
  ExpectThrows([&] { RunOp(&ws, kForward); },
               "input 1 (Y) has shape [2, 4], want rank 2 and 3 rows as input 0 (X)");
  FeedRandom(&ws, "Y", {3, 6});
  FeedRandom(&ws, "dZ", {3});
  ExpectThrows([&] { RunOp(&ws, kGradient + kReplicate); },
               "have 6 and 4 elements, want a multiple with argument replicate");
  FeedRandom(&ws, "dZ", {2});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "input 2 (dZ) has shape [2], want [3]");
  Feed<float>(&ws, "X", {}, {1});
  ExpectThrows([&] { RunOp(&ws, kForward); }, "input 0 (X) is a scalar");
}

}  // namespace
}  // namespace caffe2rt::test::dot_product_with_padding_test
