#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::prelu_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

std::string Op(const std::string& order = "NCHW", const std::string& output = "Y") {
  return R"(type: "PRelu" input: "X" input: "W" output: ")" + output +
         R"(" arg { name: "order" s: ")" + order + "\" }";
}

TEST(PReluTest, HasASlopeForEachChannel) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2, 2}, {-1, 2, -3, 4, -5, 6, -7, 8});
  Feed<float>(&ws, "W", {2}, {0.5f, 10});
  RunOp(&ws, Op());
  ExpectTensor<float>(ws, "Y", {2, 2, 2}, {-0.5f, 2, -30, 4, -2.5f, 6, -70, 8});
  ExpectShapeInferred(&ws, Op());
  RunOp(&ws, Op("NHWC"));
  ExpectTensor<float>(ws, "Y", {2, 2, 2}, {-0.5f, 2, -1.5f, 4, -2.5f, 6, -3.5f, 8});
  RunOp(&ws, Op("NCHW", "X"));
  ExpectTensor<float>(ws, "X", {2, 2, 2}, {-0.5f, 2, -30, 4, -2.5f, 6, -70, 8});
}

TEST(PReluTest, AcceptsOrdersInSmallLetters) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 2}, {-1, -2, -3, -4});
  Feed<float>(&ws, "W", {2}, {10, 100});
  RunOp(&ws, Op("nchw"));
  ExpectTensor<float>(ws, "Y", {1, 2, 2}, {-10, -20, -300, -400});
  RunOp(&ws, Op("nhwc"));
  ExpectTensor<float>(ws, "Y", {1, 2, 2}, {-10, -200, -30, -400});
  for (const char* order : {"", "abc", "Nhwc"})
    ExpectThrows([&] { RunOp(&ws, Op(order)); }, "want NCHW or NHWC");
}

TEST(PReluTest, SharesOneSlope) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 3}, {-1, 2, -3});
  Feed<float>(&ws, "W", {1, 1}, {2});
  RunOp(&ws, Op());
  ExpectTensor<float>(ws, "Y", {1, 3}, {-2, 2, -6});
}

TEST(PReluTest, AcceptsARowOfChannelsInNHWC) {
  Workspace ws;
  Feed<float>(&ws, "X", {3}, {-1, -2, -3});
  Feed<float>(&ws, "W", {3}, {1, 2, 3});
  RunOp(&ws, Op("NHWC"));
  ExpectTensor<float>(ws, "Y", {3}, {-1, -4, -9});
  ExpectThrows([&] { RunOp(&ws, Op()); }, "rank of input 0 (X) of shape [3]");
}

TEST(PReluTest, KeepsEmptyShapes) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 3}, {});
  FeedRange<float>(&ws, "W", {3});
  RunOp(&ws, Op());
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
}

TEST(PReluTest, NamesSlopesThatDoNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  FeedRange<float>(&ws, "W", {2});
  ExpectThrows([&] { RunOp(&ws, Op()); },
               "input 1 (W) has shape [2], want 3 slopes, one for each channel of input 0 (X)");
  FeedRange<double>(&ws, "W", {3});
  ExpectThrows([&] { RunOp(&ws, Op()); }, "double");
}

TEST(PReluGradientTest, HasTheGradientsOfInputAndSlopes) {
  const std::string op =
      R"(type: "PReluGradient" input: "Y" input: "dY" input: "X" input: "W" output: "dX" output: "dW")";
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2, 2}, {1, -2, -3, 4, -5, 6, 0, -8});
  Feed<float>(&ws, "Y", {1}, {0});
  Feed<float>(&ws, "dY", {2, 2, 2}, {1, 10, 2, 20, 3, 30, 4, 40});
  Feed<float>(&ws, "W", {2}, {0.5f, 3});
  ExpectShapeInferred(&ws, op);
  ExpectTensor<float>(ws, "dX", {2, 2, 2}, {1, 5, 6, 20, 1.5f, 30, 12, 120});
  ExpectTensor<float>(ws, "dW", {2}, {-20 - 15, -6 - 320});
  RunOp(&ws, op + R"( arg { name: "order" s: "NHWC" })");
  ExpectTensor<float>(ws, "dX", {2, 2, 2}, {1, 30, 1, 20, 1.5f, 30, 2, 120});
  ExpectTensor<float>(ws, "dW", {2}, {-6 - 15, -20 - 320});
  RunOp(&ws, op + R"( arg { name: "order" s: "nhwc" })");
  ExpectTensor<float>(ws, "dW", {2}, {-6 - 15, -20 - 320});
  Feed<float>(&ws, "W", {1}, {2});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {2, 2, 2}, {1, 20, 4, 20, 6, 30, 8, 80});
  ExpectTensor<float>(ws, "dW", {1}, {-20 - 6 - 15 - 320});
  Feed<float>(&ws, "X", {0, 2}, {});
  Feed<float>(&ws, "dY", {0, 2}, {});
  Feed<float>(&ws, "W", {2}, {1, 2});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {0, 2}, {});
  ExpectTensor<float>(ws, "dW", {2}, {0, 0});
  Feed<float>(&ws, "W", {3}, {1, 2, 3});
  ExpectThrows([&] { RunOp(&ws, op); }, "input 3 (W) has shape [3], want 2 slopes");
  Feed<float>(&ws, "dY", {1, 2}, {1, 2});
  Feed<float>(&ws, "W", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 1 (dY) of shape [1, 2]");
}

TEST(PReluGradientTest, SumsMoreElementsThanVectorsHave) {
  const std::string op =
      R"(type: "PReluGradient" input: "Y" input: "dY" input: "X" input: "W" output: "dX" output: "dW")";
  std::vector<float> x, dy;
  for (int i = 0; i < 120; ++i) {
    x.push_back(i % 3 == 0 ? -2.0f : 5.0f);
    dy.push_back(static_cast<float>(i % 2 + 1));
  }
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 120}, x);
  Feed<float>(&ws, "Y", {1}, {0});
  Feed<float>(&ws, "dY", {1, 1, 120}, dy);
  Feed<float>(&ws, "W", {1}, {3});
  RunOp(&ws, op);
  // Of the 40 negative elements every other one has dY 1, the others 2.
  ExpectTensor<float>(ws, "dW", {1}, {-2.0f * (20 * 1 + 20 * 2)});
}

TEST(PReluGradientTest, AgreesWithDifferences) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 3, 2}, {1, -1, 2, -2, 0.5f, -0.5f, -3, 3, -0.25f, 0.75f, 4, -4});
  Feed<float>(&ws, "W", {3}, {0.5f, -1, 2});
  const std::string op = R"(type: "PRelu" input: "X" input: "W" output: "Y")";
  test::ExpectGradientMatches(&ws, op);
  EXPECT_EQ(test::DescribeGradient(op),
            "PReluGradient(Y,Y_grad,X,W)->X_grad,W_grad | X_grad W_grad");
  Feed<float>(&ws, "W", {1}, {0.5f});
  test::ExpectGradientMatches(&ws, op);
}

}  // namespace
}  // namespace caffe2rt::prelu_test
