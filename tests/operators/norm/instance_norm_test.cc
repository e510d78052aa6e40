#include <cmath>
#include <string>

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

}  // namespace
}  // namespace caffe2rt::instance_norm_test
