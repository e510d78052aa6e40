#include <utility>

#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::channel_shuffle_ideep_test {
namespace {

using namespace test;  // used throughout this file

class OnednnImageTest : public OnednnTest {};

TEST_P(OnednnImageTest, ShufflesChannels) {
  const int64_t channels = GetParam().channels;
  FeedImage("X");
  for (const int64_t group : {1, 2, 3, 4, 5, 8, 11, 37, 64}) {
    if (channels % group != 0) continue;
    ExpectSameAsCpu(MakeString(
        R"(type: "ChannelShuffle" input: "X" output: "Y" arg { name: "group" i: )", group, " }"));
  }
  // 240 channels in 3 groups, as in ShuffleNet, groups that are not multiples of a vector, and so many
  // groups that a vector collects channels of more than 8 others.
  constexpr std::pair<int64_t, int64_t> kChannelsAndGroups[] = {
      {240, 3}, {51, 3}, {18, 3}, {256, 16}, {216, 12}};
  for (const auto& [count, group] : kChannelsAndGroups) {
    FeedImage("X", {GetParam().batch, count, 5, 3}, GetParam().layout);
    ExpectSameAsCpu(MakeString(
        R"(type: "ChannelShuffle" input: "X" output: "Y" arg { name: "group" i: )", group, " }"));
  }
}

TEST_P(OnednnImageTest, RejectsGroupsThatDoNotDivideTheChannels) {
  FeedImage("X", {1, 10, 2, 2}, GetParam().layout);
  ExpectThrows(
      [&] {
        RunOnednn(R"(type: "ChannelShuffle" input: "X" output: "Y" arg { name: "group" i: 3 })");
      },
      "divided by argument group 3, want 0");
}

TEST_P(OnednnImageTest, RejectsChannelsLast) {
  FeedImage("X");
  for (const char* type : {"ChannelShuffle", "ResizeNearest"}) {
    SCOPED_TRACE(type);
    ExpectThrows(
        [&] {
          RunOnednn(MakeString("type: \"", type, R"(" input: "X" output: "Y"
                               arg { name: "group" i: 1 } arg { name: "order" s: "NHWC" })"));
        },
        "argument order is NHWC, want NCHW");
  }
}

TEST_P(OnednnImageTest, RepeatsPixels) {
  FeedImage("X");
  ExpectSameAsCpu(R"(type: "UpsampleNearest" input: "X" output: "Y" arg { name: "scale" i: 2 })");
  ExpectSameAsCpu(R"(type: "ResizeNearest" input: "X" output: "Y"
                     arg { name: "width_scale" f: 1.5 } arg { name: "height_scale" f: 2.7 })");
}

INSTANTIATE_TEST_SUITE_P(Layouts, OnednnImageTest, testing::ValuesIn(OnednnCases()));

}  // namespace
}  // namespace caffe2rt::channel_shuffle_ideep_test
