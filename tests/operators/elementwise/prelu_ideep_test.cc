#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::prelu_ideep_test {
namespace {

using namespace test;  // used throughout this file

class OnednnPReluTest : public OnednnTest {};

TEST_P(OnednnPReluTest, MultipliesNegativeValuesByTheSlopeOfTheChannel) {
  FeedImage("X");
  FeedWeights("W", {GetParam().channels});
  ExpectSameAsCpu(R"(type: "PRelu" input: "X" input: "W" output: "Y")");
  ExpectSameAsCpu(R"(type: "PRelu" input: "X" input: "W" output: "X")", 0, "X");
  FeedWeights("W", {1});
  ExpectSameAsCpu(R"(type: "PRelu" input: "X" input: "W" output: "Y")");
}

TEST_P(OnednnPReluTest, DropoutCopiesTheInputInTestMode) {
  FeedImage("X");
  ExpectSameAsCpu(R"(type: "Dropout" input: "X" output: "Y" arg { name: "is_test" i: 1 })");
  ExpectThrows(
      [&] {
        RunOnednn(R"(type: "Dropout" input: "X" output: "Y" output: "mask"
                     arg { name: "is_test" i: 0 })");
      },
      "argument is_test is 0, want 1");
}

TEST_P(OnednnPReluTest, RejectsChannelsLast) {
  FeedImage("X");
  FeedWeights("W", {GetParam().channels});
  ExpectThrows(
      [&] {
        RunOnednn(R"(type: "PRelu" input: "X" input: "W" output: "Y"
                     arg { name: "order" s: "NHWC" })");
      },
      "argument order is NHWC, want NCHW");
}

INSTANTIATE_TEST_SUITE_P(Layouts, OnednnPReluTest, testing::ValuesIn(OnednnCases()));

}  // namespace
}  // namespace caffe2rt::prelu_ideep_test
