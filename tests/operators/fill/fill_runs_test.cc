// Fills that run again: shapes, bounds and values are those of the inputs of each run.
#include <algorithm>

#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::fill_runs_test {
namespace {

NetBase* NetOf(Workspace* ws, const std::string& op) {
  return ws->CreateNet(ParseNet("name: 'n' op { " + op + " }"));
}

TEST(FillRunsTest, ShapesFollowTheInputOfEachRun) {
  Workspace ws;
  Feed<int64_t>(&ws, "s", {2}, {2, 1});
  NetBase* const net =
      NetOf(&ws,
            "type: 'ConstantFill' input: 's' output: 'y' arg { name: 'input_as_shape' i: 1 } "
            "arg { name: 'extra_shape' ints: 2 } arg { name: 'value' f: 3 }");
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "y", {2, 1, 2}, {3, 3, 3, 3});
  Feed<int64_t>(&ws, "s", {1}, {1});
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "y", {1, 2}, {3, 3});
  Feed<int64_t>(&ws, "s", {2}, {0, 4});
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "y", {0, 4, 2}, {});
}

TEST(FillRunsTest, ValuesFollowTheSecondInputOfEachRun) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {7, 7});
  Feed<int64_t>(&ws, "v", {}, {5});
  NetBase* const net = NetOf(
      &ws, "type: 'ConstantFill' input: 'x' input: 'v' output: 'y' arg { name: 'dtype' i: 10 }");
  ASSERT_TRUE(net->Run());
  ExpectTensor<int64_t>(ws, "y", {2}, {5, 5});
  Feed<int64_t>(&ws, "v", {1}, {-6});
  Feed<float>(&ws, "x", {1, 3}, {0, 0, 0});
  ASSERT_TRUE(net->Run());
  ExpectTensor<int64_t>(ws, "y", {1, 3}, {-6, -6, -6});
}

TEST(FillRunsTest, BoundsFollowTheInputsOfEachRun) {
  Workspace ws;
  Feed<float>(&ws, "x", {2, 3}, {0, 0, 0, 0, 0, 0});
  Feed<float>(&ws, "low", {}, {5});
  Feed<float>(&ws, "high", {}, {1});
  NetBase* const net =
      NetOf(&ws, "type: 'UniformFill' input: 'x' input: 'low' input: 'high' output: 'y'");
  // No number is at least 5 and at most 1.
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "y", {0, 3}, {});
  EXPECT_TRUE(ws.GetBlob("y")->Get<Tensor>().IsType<float>());
  Feed<float>(&ws, "high", {}, {5});
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "y", {2, 3}, {5, 5, 5, 5, 5, 5});
  Feed<float>(&ws, "low", {1}, {-2});
  Feed<float>(&ws, "high", {1}, {-2});
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "y", {2, 3}, {-2, -2, -2, -2, -2, -2});
}

TEST(FillRunsTest, IntegersOfReversedBoundsAreNone) {
  Workspace ws;
  Feed<int64_t>(&ws, "s", {1}, {4});
  Feed<int32_t>(&ws, "low", {}, {3});
  Feed<int32_t>(&ws, "high", {}, {2});
  const char* const op =
      "type: 'UniformIntFill' input: 's' input: 'low' input: 'high' output: 'y' "
      "arg { name: 'input_as_shape' i: 1 }";
  RunOp(&ws, op);
  ExpectTensor<int32_t>(ws, "y", {0}, {});
  Feed<int32_t>(&ws, "high", {}, {3});
  RunOp(&ws, op);
  ExpectTensor<int32_t>(ws, "y", {4}, {3, 3, 3, 3});
  // A scalar has no dim to shorten.
  Feed<float>(&ws, "x", {}, {0});
  Feed<int32_t>(&ws, "high", {}, {2});
  ExpectThrows(
      [&] {
        RunOp(&ws, "type: 'UniformIntFill' input: 'x' input: 'low' input: 'high' output: 'y'");
      },
      "min is above max, so the output is empty: its rank");
}

TEST(FillRunsTest, BoundsAreTwoOrNone) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {0, 0});
  Feed<float>(&ws, "low", {}, {3});
  Feed<int32_t>(&ws, "whole", {}, {3});
  for (const char* const type : {"UniformFill", "UniformIntFill"}) {
    ExpectThrows(
        [&] { RunOp(&ws, MakeString("type: '", type, "' input: 'x' input: 'low' output: 'y'")); },
        "2 inputs");
  }
  ExpectThrows(
      [&] { RunOp(&ws, "type: 'UniformFill' input: 'x' input: 'low' input: 'whole' output: 'y'"); },
      "int");
  ExpectThrows(
      [&] {
        RunOp(&ws,
              "type: 'UniformFill' input: 'x' input: 'low' input: 'low' output: 'y' "
              "arg { name: 'max' f: 9 }");
      },
      "argument max is set and input 2 gives it too: remove one");
  ExpectThrows([&] { RunOp(&ws, "type: 'Float16UniformFill' input: 'x' output: 'y'"); },
               "1 input,");
  ExpectThrows(
      [&] { RunOp(&ws, "type: 'Float16UniformFill' output: 'y' arg { name: 'min' f: 1 }"); },
      "argument min, want less than argument max");
}

TEST(FillRunsTest, AvoidedNumbersAreThoseOfTheRun) {
  Workspace ws;
  Feed<float>(&ws, "x", {3}, {0, 0, 0});
  Feed<int32_t>(&ws, "avoid", {2}, {1, 2});
  NetBase* const net = NetOf(&ws,
                             "type: 'UniqueUniformFill' input: 'x' input: 'avoid' output: 'y' "
                             "arg { name: 'min' i: 1 } arg { name: 'max' i: 5 }");
  const auto sorted = [&] {
    std::vector<int32_t> numbers = Fetch<int32_t>(ws, "y");
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  };
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(sorted(), (std::vector<int32_t>{3, 4, 5}));
  Feed<int32_t>(&ws, "avoid", {2}, {4, 3});
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(sorted(), (std::vector<int32_t>{1, 2, 5}));
}

// The numbers of Caffe2's sequences for these seeds (uniform_fill_test.cc), a part in each run.
TEST(FillRunsTest, RandomNumbersContinueInEachRun) {
  Workspace ws;
  NetBase* const floats = NetOf(&ws,
                                "type: 'UniformFill' output: 'y' arg { name: 'shape' ints: 2 } "
                                "device_option { random_seed: 1 }");
  ASSERT_TRUE(floats->Run());
  ExpectTensor<float>(ws, "y", {2}, {0.7576316f, 0.27931088f}, 1e-7);
  ASSERT_TRUE(floats->Run());
  ExpectTensor<float>(ws, "y", {2}, {0.40306926f, 0.73468447f}, 1e-7);
  Workspace other;
  NetBase* const whole =
      NetOf(&other,
            "type: 'UniformIntFill' output: 'y' arg { name: 'shape' ints: 3 } "
            "arg { name: 'min' i: -3 } arg { name: 'max' i: 4 } device_option { random_seed: 1 }");
  ASSERT_TRUE(whole->Run());
  ExpectTensor<int32_t>(other, "y", {3}, {2, 0, 1});
  ASSERT_TRUE(whole->Run());
  ExpectTensor<int32_t>(other, "y", {3}, {-3, 4, -2});
}

TEST(FillRunsTest, UniqueNumbersAreAllDifferentInEveryRun) {
  Workspace ws;
  NetBase* const net = NetOf(&ws,
                             "type: 'UniqueUniformFill' output: 'y' arg { name: 'shape' ints: 30 } "
                             "arg { name: 'min' i: 1 } arg { name: 'max' i: 31 }");
  std::vector<int32_t> last;
  for (int run = 0; run < 6; ++run) {
    ASSERT_TRUE(net->Run());
    std::vector<int32_t> numbers = Fetch<int32_t>(ws, "y");
    EXPECT_NE(numbers, last);
    last = numbers;
    std::sort(numbers.begin(), numbers.end());
    EXPECT_EQ(std::adjacent_find(numbers.begin(), numbers.end()), numbers.end());
    EXPECT_GE(numbers.front(), 1);
    EXPECT_LE(numbers.back(), 31);
  }
}

TEST(FillRunsTest, RangesFollowTheInputsOfEachRun) {
  Workspace ws;
  Feed<int64_t>(&ws, "stop", {}, {3});
  NetBase* const net = NetOf(&ws, "type: 'Range' input: 'stop' output: 'y'");
  ASSERT_TRUE(net->Run());
  ExpectTensor<int64_t>(ws, "y", {3}, {0, 1, 2});
  Feed<float>(&ws, "stop", {1}, {1.5f});
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "y", {2}, {0, 1});
  Feed<int32_t>(&ws, "stop", {}, {-1});
  ASSERT_TRUE(net->Run());
  ExpectTensor<int32_t>(ws, "y", {0}, {});
}

TEST(FillRunsTest, TheDiagonalOfAWideMatrixEndsAtItsLastRow) {
  Workspace ws;
  FeedRange<float>(&ws, "x", {2, 5});
  RunOp(&ws, "type: 'EyeLike' input: 'x' output: 'y' arg { name: 'k' i: 3 }");
  ExpectTensor<float>(ws, "y", {2, 5}, {0, 0, 0, 1, 0, 0, 0, 0, 0, 1});
  RunOp(&ws, "type: 'EyeLike' input: 'x' output: 'y' arg { name: 'k' i: 4 }");
  ExpectTensor<float>(ws, "y", {2, 5}, {0, 0, 0, 0, 1, 0, 0, 0, 0, 0});
  RunOp(&ws, "type: 'EyeLike' input: 'x' output: 'y' arg { name: 'k' i: -1 }");
  ExpectTensor<float>(ws, "y", {2, 5}, {0, 0, 0, 0, 0, 1, 0, 0, 0, 0});
  FeedRange<float>(&ws, "x", {5, 2});
  RunOp(&ws, "type: 'EyeLike' input: 'x' output: 'y' arg { name: 'k' i: -3 }");
  ExpectTensor<float>(ws, "y", {5, 2}, {0, 0, 0, 0, 0, 0, 1, 0, 0, 1});
}

}  // namespace
}  // namespace caffe2rt::test::fill_runs_test
