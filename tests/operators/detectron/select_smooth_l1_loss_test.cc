#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::select_smooth_l1_loss_test {
namespace {

const std::string kLoss =
    R"(type: "SelectSmoothL1Loss" input: "P" input: "Y" input: "L" input: "S" output: "loss" )";
const std::string kLossGradient = R"(type: "SelectSmoothL1LossGradient"
    input: "P" input: "Y" input: "L" input: "S" input: "d" output: "dP" )";
const std::string kScale = R"(arg { name: "scale" f: 3 })";

// Box 0: image 1, channels 1 to 4, row 0, column 1.
TEST(SelectSmoothL1LossTest, ComparesFourChannelsAtALocation) {
  Workspace ws;
  Feed<float>(&ws, "P", {2, 5, 1, 2}, {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 1, 9, 2, 9, 3, 9, 4});
  Feed<float>(&ws, "Y", {1, 4}, {1, 1.5f, 5, 0});
  Feed<float>(&ws, "L", {1, 4}, {1, 1, 0, 1});
  Feed<float>(&ws, "S", {1}, {2});
  // (0 + 1/8 + 1.5 + 3.5) * 3 / 2
  RunOp(&ws, kLoss + kScale);
  ExpectTensor<float>(ws, "loss", {}, {5.125f * 1.5f}, 1e-6);
  ExpectShapeInferred(&ws, kLoss);
  Feed<float>(&ws, "d", {}, {2});
  RunOp(&ws, kLossGradient + kScale);
  ExpectTensor<float>(ws, "dP", {2, 5, 1, 2},
                      {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1.5f, 0, -3, 0, 3}, 1e-6);
  ExpectShapeInferred(&ws, kLossGradient);
  // A normalizer below 1 counts as 1.
  Feed<float>(&ws, "S", {}, {0.25f});
  RunOp(&ws, kLoss);
  ExpectTensor<float>(ws, "loss", {}, {5.125f}, 1e-6);
  Feed<float>(&ws, "S", {}, {-2});
  RunOp(&ws, kLoss);
  ExpectTensor<float>(ws, "loss", {}, {5.125f}, 1e-6);
}

// Boxes whose channels overlap add up.
TEST(SelectSmoothL1LossTest, AddsUpTheGradientsOfEqualLocations) {
  Workspace ws;
  Feed<float>(&ws, "P", {1, 6, 1, 1}, {0, 0, 0, 0, 0, 0});
  Feed<float>(&ws, "Y", {3, 4}, {.5f, .5f, .5f, .5f, 9, 9, 9, 9, -9, -9, -9, -9});
  Feed<float>(&ws, "L", {3, 4}, {0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0});
  Feed<float>(&ws, "S", {1}, {1});
  Feed<float>(&ws, "d", {1}, {1});
  RunOp(&ws, kLoss);
  ExpectTensor<float>(ws, "loss", {}, {4 * 0.125f + 8 * 8.5f}, 1e-6);
  RunOp(&ws, kLossGradient);
  ExpectTensor<float>(ws, "dP", {1, 6, 1, 1}, {-.5f, -.5f, -.5f, -.5f, 0, 0}, 1e-6);
}

TEST(SelectSmoothL1LossTest, OfNoBoxesIsZero) {
  Workspace ws;
  FeedRandom(&ws, "P", {1, 4, 2, 2});
  Feed<float>(&ws, "Y", {0, 4}, {});
  Feed<float>(&ws, "L", {0, 4}, {});
  Feed<float>(&ws, "S", {1}, {0});
  Feed<float>(&ws, "d", {1}, {1});
  RunOp(&ws, kLoss);
  ExpectTensor<float>(ws, "loss", {}, {0});
  RunOp(&ws, kLossGradient);
  ExpectTensor<float>(ws, "dP", {1, 4, 2, 2}, std::vector<float>(16, 0));
  Feed<float>(&ws, "P", {0, 4, 2, 2}, {});
  RunOp(&ws, kLoss);
  ExpectTensor<float>(ws, "loss", {}, {0});
  RunOp(&ws, kLossGradient);
  ExpectTensor<float>(ws, "dP", {0, 4, 2, 2}, {});
}

TEST(SelectSmoothL1LossTest, HasTheDerivativeAsGradient) {
  Workspace ws;
  FeedRange<float>(&ws, "P", {2, 6, 2, 1}, -2.9, 0.25);
  FeedRange<float>(&ws, "Y", {3, 4}, 0, 0);
  Feed<float>(&ws, "L", {3, 4}, {1, 2, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0});
  Feed<float>(&ws, "S", {1}, {2.5f});
  for (const char* beta : {"0.01", "50"}) {
    ExpectGradientMatches(&ws, kLoss + kScale + R"(arg { name: "beta" f: )" + beta + " }");
  }
  EXPECT_EQ(DescribeGradient(kLoss),
            "SelectSmoothL1LossGradient(P,Y,L,S,loss_grad)->P_grad | P_grad - - -");
}

TEST(SelectSmoothL1LossTest, RejectsLocationsOutOfRange) {
  const float nan = std::nanf("");
  Workspace ws;
  FeedRandom(&ws, "P", {2, 5, 3, 4});
  FeedRandom(&ws, "Y", {2, 4});
  Feed<float>(&ws, "S", {1}, {1});
  Feed<float>(&ws, "d", {1}, {1});
  for (const std::vector<float>& at : std::vector<std::vector<float>>{{2, 0, 0, 0},
                                                                      {0, 2, 0, 0},
                                                                      {0, 0, 3, 0},
                                                                      {0, 0, 0, 4},
                                                                      {-1, 0, 0, 0},
                                                                      {0, 0, -1, 0},
                                                                      {nan, 0, 0, 0},
                                                                      {0, 1e30f, 0, 0},
                                                                      {0, 0, 0, INFINITY}}) {
    Feed<float>(&ws, "L", {2, 4}, {1, 1, 2, 3, at[0], at[1], at[2], at[3]});
    ExpectThrows([&] { RunOp(&ws, kLoss); }, "row 1 of input 2 (locations) is ");
    ExpectThrows([&] { RunOp(&ws, kLossGradient); }, "want an image below 2");
  }
}

TEST(SelectSmoothL1LossTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "P", {2, 5, 3, 4});
  FeedRandom(&ws, "Y", {2, 4});
  Feed<float>(&ws, "L", {1, 4}, {0, 0, 0, 0});
  Feed<float>(&ws, "S", {1}, {1});
  Feed<float>(&ws, "d", {2}, {1, 1});
  ExpectThrows([&] { RunOp(&ws, kLoss); }, "input 2 (locations) has shape [1, 4], want [2, 4]");
  FeedRange<float>(&ws, "L", {2, 3}, 0, 0);
  ExpectThrows([&] { RunOp(&ws, kLoss); }, "input 2 (locations) has shape [2, 3], want [2, 4]");
  FeedRange<float>(&ws, "L", {2, 4}, 0, 0);
  ExpectThrows([&] { RunOp(&ws, kLossGradient); }, "elements of input 4 (d_loss) of shape [2]");
  ExpectThrows([&] { RunOp(&ws, kLoss + R"(arg { name: "beta" f: -1 })"); },
               "argument \"beta\" is -1, want above 0");
  ExpectThrows([&] { RunOp(&ws, kLoss + R"(arg { name: "scale" f: -1 })"); },
               "argument \"scale\" is -1, want at least 0");
  Feed<float>(&ws, "S", {0}, {});
  ExpectThrows([&] { RunOp(&ws, kLoss); }, "elements of input 3 (normalizer) of shape [0]");
  FeedRandom(&ws, "Y", {2, 3});
  ExpectThrows([&] { RunOp(&ws, kLoss); }, "input 1 (Y) has shape [2, 3], want [M, 4]");
  FeedRandom(&ws, "P", {5, 3, 4});
  ExpectThrows([&] { RunOp(&ws, kLoss); }, "rank of input 0 (Y_hat) of shape [5, 3, 4]");
}

}  // namespace
}  // namespace caffe2rt::test::select_smooth_l1_loss_test
