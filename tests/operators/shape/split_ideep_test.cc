// Split and Flatten on IDEEP, with the axes, sizes and arguments that leave the channels or empty some pieces.
#include <string>
#include <vector>

#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::split_ideep_test {
namespace {

using namespace test;  // used throughout this file

std::string IntArgument(const char* name, int value) {
  return MakeString(" arg { name: '", name, "' i: ", value, " }");
}

class OnednnSplitTest : public OnednnTest {
 protected:
  // Compares both outputs with those of the CPU.
  void ExpectPieces(const std::string& rest) {
    SCOPED_TRACE(rest);
    const std::string text = "type: 'Split' input: 'X' output: 'Y' output: 'Z'" + rest;
    ExpectSameAsCpu(text);
    ExpectSameAsCpu(text, 0, "Z");
  }
  void FeedSmall(const std::vector<int64_t>& dims) { FeedImage("X", dims, GetParam().layout); }
};

TEST_P(OnednnSplitTest, CutsAlongEveryAxis) {
  FeedSmall({4, 32, 6, 2});
  for (const int axis : {0, 1, 2, 3, -1, -2, -3, -4}) ExpectPieces(IntArgument("axis", axis));
}

TEST_P(OnednnSplitTest, CutsPiecesOfOtherSizes) {
  FeedSmall({2, 33, 3, 2});
  ExpectPieces(IntArgument("uneven", 1) + IntArgument("axis", 1));
  ExpectPieces(IntArgument("uneven", 1) + IntArgument("axis", 2));
  ExpectPieces(" arg { name: 'split' ints: 0 ints: 33 }");
  ExpectPieces(" arg { name: 'split' ints: 33 ints: 0 }");
  ExpectPieces(" arg { name: 'split' ints: 17 ints: 16 }");
  ExpectPieces(" arg { name: 'split' ints: 1 ints: 2 }" + IntArgument("axis", 2));
  FeedSmall({2, 2, 3, 2});
  ExpectPieces(IntArgument("axis", 1) + IntArgument("add_axis", 1));
  ExpectPieces(IntArgument("axis", -1) + IntArgument("add_axis", 1));
  FeedSmall({1, 48, 2, 2});
  ExpectPieces(" arg { name: 'split' ints: 16 ints: 32 }");
  ExpectPieces(" arg { name: 'split' ints: 40 ints: 8 }");
}

TEST_P(OnednnSplitTest, RejectsSizesThatDoNotFit) {
  FeedSmall({2, 33, 3, 2});
  const std::string split = "type: 'Split' input: 'X' output: 'Y' output: 'Z'";
  EXPECT_THROW(RunOnednn(split), EnforceNotMet);
  EXPECT_THROW(RunOnednn(split + " arg { name: 'split' ints: 16 ints: 16 }"), EnforceNotMet);
  EXPECT_THROW(RunOnednn(split + " arg { name: 'split' ints: 33 }"), EnforceNotMet);
  EXPECT_THROW(RunOnednn(split + " arg { name: 'split' ints: 34 ints: -1 }"), EnforceNotMet);
  EXPECT_THROW(RunOnednn(split + IntArgument("axis", 4)), EnforceNotMet);
  EXPECT_THROW(RunOnednn(split + IntArgument("axis", 1) + IntArgument("add_axis", 1)),
               EnforceNotMet);
  Feed<int32_t>(&onednn_, "S", {2}, {3, 30});
  ExpectThrows([&] { RunOnednn(split + " input: 'S' arg { name: 'split' ints: 3 ints: 30 }"); },
               "argument split and input 1 are both given: remove one");
}

TEST_P(OnednnSplitTest, FlattensFromEveryAxis) {
  FeedSmall({2, 20, 3, 2});
  for (const int axis : {0, 1, 2, 3, 4}) {
    const std::string flatten = "type: 'Flatten' input: 'X'" + IntArgument("axis", axis);
    ExpectSameAsCpu(flatten + " output: 'Y'");
  }
  for (const int axis : {-1, 5}) {
    ExpectThrows(
        [&] { RunOnednn("type: 'Flatten' input: 'X' output: 'Y'" + IntArgument("axis", axis)); },
        MakeString("argument axis is ", axis, ", want 0 to the rank of input 0"));
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, OnednnSplitTest,
                         testing::Values(OnednnCase{"nchw", 1, 1, 1, 1, 1},
                                         OnednnCase{"nhwc", 1, 1, 1, 1, 1},
                                         OnednnCase{"nChw16c", 1, 1, 1, 1, 1}));

}  // namespace
}  // namespace caffe2rt::split_ideep_test
