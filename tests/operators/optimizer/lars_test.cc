#include "tests/support/operator_test.h"

namespace caffe2rt::test::lars_test {
namespace {

struct Case {
  std::vector<float> x, dx;
  float decay, trust, most;
  const char* arguments;
  float rate;
};

TEST(LarsTest, RescalesByTheRatioOfTheNorms) {
  const Case cases[] = {
      // The norms are 5 and 10: 1.5 / (2 + 0.5 + 0.5).
      {{3, 4}, {6, -8}, 0.5f, 1.5f, 9, "", 0.5f},
      {{3, 4}, {6, -8}, 0.5f, 1.5f, 0.25f, "", 0.25f},
      {{3, 4}, {6, -8}, 0, 0.001f, 9, "", 0.02f},
      {{3, 4}, {6, -8}, 1, 9, 9, R"(arg { name: "offset" f: 0 } arg { name: "lr_min" f: 4 })", 4},
      {{0, 0}, {6, -8}, 1, 9, 0.25f, "", 1},
      {{}, {}, 1, 9, 0.25f, "", 1},
  };
  for (const Case& c : cases) {
    Workspace ws;
    Feed<float>(&ws, "X", {static_cast<int64_t>(c.x.size())}, c.x);
    Feed<float>(&ws, "D", {static_cast<int64_t>(c.dx.size())}, c.dx);
    Feed<float>(&ws, "wd", {1}, {c.decay});
    Feed<float>(&ws, "t", {1}, {c.trust});
    Feed<float>(&ws, "m", {1}, {c.most});
    const std::string op = std::string(R"(type: "Lars" input: "X" input: "D" input: "wd" input: "t"
        input: "m" output: "R" )") +
                           c.arguments;
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "R", {1}, {c.rate}, 1e-6);
    ExpectShapeInferred(&ws, op);
  }
}

// Enough elements for several pieces.
TEST(LarsTest, AddsUpManyElements) {
  Workspace ws;
  const int64_t n = 20000;
  Feed<float>(&ws, "X", {n}, std::vector<float>(n, 2));
  Feed<float>(&ws, "D", {n}, std::vector<float>(n, -3));
  Feed<float>(&ws, "one", {1}, {1});
  RunOp(&ws, R"(type: "Lars" input: "X" input: "D" input: "one" input: "one" input: "one"
                output: "R")");
  ExpectTensor<float>(ws, "R", {1}, {1.0f / 3}, 1e-6);
}

TEST(LarsTest, RejectsOtherSizesAndArguments) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {3, 4});
  Feed<float>(&ws, "D", {1}, {3});
  Feed<float>(&ws, "Z", {0}, {});
  const std::string op =
      R"(type: "Lars" input: "X" input: "D" input: "D" input: "D" input: "D" output: "R")";
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 1 (dX) of shape [1], want as many as");
  ExpectThrows([&] { RunOp(&ws, op + R"( arg { name: "offset" f: -1 })"); },
               "argument \"offset\" is -1, want at least 0");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "Lars" input: "X" input: "X" input: "D" input: "Z" input: "D"
                      output: "R")");
      },
      "elements of input 3 (trust) of shape [0]");
}

}  // namespace
}  // namespace caffe2rt::test::lars_test
