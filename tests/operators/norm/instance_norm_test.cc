#include <cmath>
#include <string>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::instance_norm_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRandom;
using test::FeedRange;
using test::Fetch;
using test::RunOp;

constexpr char kNorm[] = R"(type: "InstanceNorm" input: "X" input: "s" input: "b"
                            output: "Y" output: "mean" output: "inv"
                            arg { name: "epsilon" f: 1 })";

TEST(InstanceNormTest, NormalizesEachChannelOfEachImage) {
  Workspace ws;
  // The means are 2 and 10. {1, 3} has variance 1, and {7, 13} has variance 9.
  Feed<float>(&ws, "X", {1, 2, 2}, {1, 3, 7, 13});
  Feed<float>(&ws, "s", {2}, {1, 2});
  Feed<float>(&ws, "b", {2}, {0, 5});
  RunOp(&ws, kNorm);
  const float a = 1 / std::sqrt(2.0f), c = 1 / std::sqrt(10.0f);
  ExpectTensor<float>(ws, "Y", {1, 2, 2}, {-a, a, 5 - 6 * c, 5 + 6 * c}, 1e-6);
  ExpectTensor<float>(ws, "mean", {1, 2}, {2, 10}, 1e-6);
  ExpectTensor<float>(ws, "inv", {1, 2}, {a, c}, 1e-6);
  ExpectShapeInferred(&ws, kNorm);
}

TEST(InstanceNormTest, NhwcEqualsNchwAndInPlaceEqualsNeither) {
  constexpr int kN = 2, kC = 19, kPositions = 35;
  Workspace nchw, nhwc;
  FeedRandom(&nchw, "X", {kN, kC, 5, 7}, -3, 5);
  const std::vector<float> x = Fetch<float>(nchw, "X");
  std::vector<float> turned(x.size());
  const auto turn = [](const std::vector<float>& from, std::vector<float>* to) {
    for (int n = 0; n < kN; ++n) {
      for (int c = 0; c < kC; ++c) {
        for (int p = 0; p < kPositions; ++p) {
          (*to)[(n * kPositions + p) * kC + c] = from[(n * kC + c) * kPositions + p];
        }
      }
    }
  };
  turn(x, &turned);
  Feed<float>(&nhwc, "X", {kN, 5, 7, kC}, turned);
  for (Workspace* ws : {&nchw, &nhwc}) {
    FeedRandom(ws, "s", {kC}, 0, 2, 7);
    FeedRandom(ws, "b", {kC}, -1, 1, 8);
  }
  RunOp(&nchw, kNorm);
  RunOp(&nhwc, R"(type: "InstanceNorm" input: "X" input: "s" input: "b" output: "X"
                  arg { name: "epsilon" f: 1 } arg { name: "order" s: "NHWC" })");
  turn(Fetch<float>(nchw, "Y"), &turned);
  ExpectTensor<float>(nhwc, "X", {kN, 5, 7, kC}, turned, 1e-5);
}

TEST(InstanceNormTest, EmptyInputsGiveTheStatisticsOfNothing) {
  Workspace ws;
  Feed<float>(&ws, "s", {2}, {1, 1});
  Feed<float>(&ws, "b", {2}, {0, 0});
  Feed<float>(&ws, "X", {0, 2, 3}, {});
  RunOp(&ws, kNorm);
  ExpectTensor<float>(ws, "Y", {0, 2, 3}, {});
  ExpectTensor<float>(ws, "mean", {0, 2}, {});
  Feed<float>(&ws, "X", {1, 2, 0}, {});
  RunOp(&ws, kNorm);
  ExpectTensor<float>(ws, "inv", {1, 2}, {1, 1});
}

TEST(InstanceNormTest, NamesWhatDoesNotFit) {
  Workspace ws;
  Feed<float>(&ws, "s", {2}, {1, 1});
  Feed<float>(&ws, "b", {3}, {0, 0, 0});
  FeedRange<float>(&ws, "X", {1, 2, 2});
  ExpectThrows([&] { RunOp(&ws, kNorm); }, "input 2 (bias) of shape [3]");
  FeedRange<float>(&ws, "X", {2});
  ExpectThrows([&] { RunOp(&ws, kNorm); }, "rank of input 0 (X) of shape [2]");
  FeedRange<double>(&ws, "X", {1, 2, 2});
  ExpectThrows([&] { RunOp(&ws, kNorm); }, "double");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "InstanceNorm" input: "X" input: "s" input: "b" output: "Y"
                      arg { name: "epsilon" f: -1 })");
      },
      R"(argument "epsilon" is -1, want at least 0)");
}

constexpr char kGradient[] = R"(type: "InstanceNormGradient" input: "X" input: "s" input: "b"
                                input: "dY" input: "m" input: "i"
                                output: "dX" output: "ds" output: "db")";

// The normal values of {1, 3} are -0.5 and 0.5, those of {7, 11} -1 and 1.
TEST(InstanceNormGradientTest, SubtractsTheMeansOfTheGradient) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 1, 2}, {1, 3, 7, 11});
  Feed<float>(&ws, "s", {1}, {2});
  Feed<float>(&ws, "b", {1}, {0});
  Feed<float>(&ws, "dY", {2, 1, 2}, {1, 2, 4, 0});
  Feed<float>(&ws, "m", {2, 1}, {2, 9});
  Feed<float>(&ws, "i", {2, 1}, {0.5f, 0.5f});
  ExpectShapeInferred(&ws, kGradient);
  ExpectTensor<float>(ws, "ds", {1}, {0.5f - 4}, 1e-6);
  ExpectTensor<float>(ws, "db", {1}, {7}, 1e-6);
  // inverse * (2 * dY - mean - normal * slope), with the means 3 and 4 and the slopes 0.5 and -4
  ExpectTensor<float>(ws, "dX", {2, 1, 2}, {-0.375f, 0.375f, 0, 0}, 1e-5);
  Feed<float>(&ws, "X", {0, 1, 2}, {});
  Feed<float>(&ws, "dY", {0, 1, 2}, {});
  Feed<float>(&ws, "m", {0, 1}, {});
  Feed<float>(&ws, "i", {0, 1}, {});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {0, 1, 2}, {});
  ExpectTensor<float>(ws, "ds", {1}, {0});
}

TEST(InstanceNormGradientTest, AgreesWithDifferencesWithAndWithoutSavedStatistics) {
  for (const std::string order : {"NCHW", "NHWC"}) {
    Workspace ws;
    const std::vector<int64_t> dims =
        order == "NCHW" ? std::vector<int64_t>{1, 2, 9} : std::vector<int64_t>{1, 3, 17};
    const int64_t channels = order == "NCHW" ? 2 : 17;
    FeedRandom(&ws, "X", dims, -2, 3);
    FeedRandom(&ws, "s", {channels}, 0.5f, 2, 2);
    FeedRandom(&ws, "b", {channels}, -1, 1, 3);
    const std::string arg = R"( arg { name: "order" s: ")" + order + "\" }";
    test::ExpectGradientMatches(&ws, kNorm + arg, {.outputs_without_gradient = {"mean", "inv"}});
    const std::string plain =
        R"(type: "InstanceNorm" input: "X" input: "s" input: "b" output: "Y")" + arg;
    test::ExpectGradientMatches(&ws, plain);
    test::ExpectGradientMatches(&ws, plain + R"(output: "mean")",
                                {.outputs_without_gradient = {"mean"}});
  }
  EXPECT_EQ(test::DescribeGradient(kNorm),
            "InstanceNormGradient(X,s,b,Y_grad,mean,inv)->X_grad,s_grad,b_grad epsilon=1 | "
            "X_grad s_grad b_grad");
}

// The mean square minus the square of the mean would lose all digits.
TEST(InstanceNormGradientTest, IsAccurateFarFromZero) {
  const char* const op = R"(type: "InstanceNormGradient" input: "X" input: "s" input: "b"
                            input: "dY" output: "dX" output: "ds" output: "db"
                            arg { name: "epsilon" f: 0.75 } arg { name: "order" s: ")";
  for (const std::string order : {"NCHW", "NHWC"}) {
    Workspace ws;
    // The mean is 4097, the variance 1, the inverse deviation 1 / sqrt(1.75).
    Feed<float>(&ws, "X",
                order == "NCHW" ? std::vector<int64_t>{1, 1, 2} : std::vector<int64_t>{1, 2, 1},
                {4096, 4098});
    Feed<float>(&ws, "s", {1}, {1});
    Feed<float>(&ws, "b", {1}, {0});
    Feed<float>(&ws, "dY", {2}, {1, 3});
    RunOp(&ws, op + order + "\" }");
    ExpectTensor<float>(ws, "ds", {1}, {2 / std::sqrt(1.75f)}, 1e-6);
    // Deviations of 1 and 2 in the channels of image 0, of 3 and 4 in those of image 1.
    const bool first = order == "NCHW";
    Feed<float>(&ws, "X", {2, 2, 2},
                first ? std::vector<float>{4096, 4098, 8190, 8194, 4093, 4099, 4096, 4104}
                      : std::vector<float>{4096, 8190, 4098, 8194, 4093, 4096, 4099, 4104});
    Feed<float>(&ws, "dY", {2, 2, 2},
                first ? std::vector<float>{1, 3, 2, 5, -1, 1, 0, 4}
                      : std::vector<float>{1, 2, 3, 5, -1, 0, 1, 4});
    Feed<float>(&ws, "s", {2}, {1, 1});
    Feed<float>(&ws, "b", {2}, {0, 0});
    RunOp(&ws, op + order + "\" }");
    ExpectTensor<float>(ws, "ds", {2},
                        {2 / std::sqrt(1.75f) + 6 / std::sqrt(9.75f),
                         6 / std::sqrt(4.75f) + 16 / std::sqrt(16.75f)},
                        1e-6);
    ExpectTensor<float>(ws, "db", {2}, {4, 11});
  }
}

TEST(InstanceNormGradientTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 1, 2});
  FeedRange<float>(&ws, "dY", {2, 1, 2});
  FeedRange<float>(&ws, "s", {1});
  FeedRange<float>(&ws, "b", {1});
  FeedRange<float>(&ws, "m", {2, 1});
  FeedRange<float>(&ws, "i", {3});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "elements of input 5 (saved_inv_stdev)");
  FeedRange<float>(&ws, "dY", {2});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "elements of input 3 (dY) of shape [2]");
}

}  // namespace
}  // namespace caffe2rt::instance_norm_test
