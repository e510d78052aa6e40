#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::spatial_bn_ideep_test {
namespace {

using namespace test;  // used throughout this file

class OnednnNormTest : public OnednnTest {};

TEST_P(OnednnNormTest, SpatialBNScalesAndShiftsEachChannel) {
  FeedImage("X");
  const std::vector<int64_t> channels = {GetParam().channels};
  FeedWeights("scale", channels, -2, 2, 3);
  FeedWeights("bias", channels, -1, 1, 4);
  FeedWeights("mean", channels, -1, 1, 5);
  FeedWeights("var", channels, 0.1f, 2, 6);
  const std::string start = R"(type: "SpatialBN" input: "X" input: "scale" input: "bias"
      input: "mean" input: "var" arg { name: "is_test" i: 1 } output: )";
  ExpectSameAsCpu(start + "\"Y\"", 2e-6);
  FeedWeights("scale", channels, -2, 2, 13);  // new values in the same memory
  ExpectSameAsCpu(start + "\"Y\"", 2e-6);
  ExpectSameAsCpu(start + "\"X\"", 2e-6, "X");
}

TEST_P(OnednnNormTest, SpatialBNRejectsTraining) {
  FeedImage("X");
  for (const char* name : {"s", "b", "m", "v"}) FeedWeights(name, {GetParam().channels});
  ExpectThrows(
      [&] {
        RunOnednn(R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v"
                     output: "Y" output: "m" output: "v" output: "sm" output: "sv"
                     arg { name: "is_test" i: 0 })");
      },
      "argument is_test is 0, want 1");
}

TEST_P(OnednnNormTest, SpatialBNRejectsChannelsLast) {
  FeedImage("X");
  for (const char* name : {"s", "b", "m", "v"}) FeedWeights(name, {GetParam().channels});
  ExpectThrows(
      [&] {
        RunOnednn(R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v"
                     output: "Y" arg { name: "is_test" i: 1 } arg { name: "order" s: "NHWC" })");
      },
      "argument order is NHWC");
}

TEST_P(OnednnNormTest, SoftmaxAddsUpToOneInEachRow) {
  FeedImage("X");
  for (const int axis : {0, 1, 2, -1}) {
    if (axis == 0 && GetParam().batch == 0) continue;
    ExpectSameAsCpu(
        MakeString(R"(type: "Softmax" input: "X" output: "Y" arg { name: "axis" i: )", axis, " }"),
        1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, OnednnNormTest, testing::ValuesIn(OnednnCases()));

}  // namespace
}  // namespace caffe2rt::spatial_bn_ideep_test
