#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::fc_ideep_test {
namespace {

using namespace test;  // used throughout this file

class OnednnFCTest : public OnednnTest {};

TEST_P(OnednnFCTest, ReadsImagesInAnyLayout) {
  const OnednnCase& c = GetParam();
  const int64_t k = c.channels * c.height * c.width;
  FeedImage("X");
  FeedWeights("W", {10, k});
  FeedWeights("b", {10});
  ExpectSameAsCpu(R"(type: "FC" input: "X" input: "W" input: "b" output: "Y")", 1e-5);
  FeedWeights("W", {k, 10});
  ExpectSameAsCpu(R"(type: "FCTransposed" input: "X" input: "W" input: "b" output: "Y")", 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Layouts, OnednnFCTest, testing::ValuesIn(OnednnCases()));

}  // namespace
}  // namespace caffe2rt::fc_ideep_test
