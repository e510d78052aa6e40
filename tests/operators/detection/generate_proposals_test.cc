#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::generate_proposals_test {
namespace {

std::string Generate(const std::string& type, const std::string& args) {
  return "type: \"" + type +
         R"(" input: "S" input: "D" input: "I" input: "A" output: "R" output: "P" )" + args;
}
const char* const kStride =
    R"(arg { name: "spatial_scale" f: 0.1 } arg { name: "min_size" f: 3 } )";

// A map of 1 x 3 positions, 10 pixels apart, with two anchors: 5 x 5 and 7 x 3.
class GenerateProposalsTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Feed<float>(&ws_, "S", {1, 2, 1, 3}, {0.1f, 0.6f, 0.3f, 0.2f, 0.5f, 0.4f});
    Feed<float>(&ws_, "D", {1, 8, 1, 3}, std::vector<float>(24, 0));
    Feed<float>(&ws_, "I", {1, 3}, {20, 24, 1});
    Feed<float>(&ws_, "A", {2, 4}, {0, 0, 4, 4, -1, 1, 5, 3});
  }
  Workspace ws_;
};
INSTANTIATE_TEST_SUITE_P(Types, GenerateProposalsTest,
                         testing::Values("GenerateProposals", "GenerateProposalsCPP"));

TEST_P(GenerateProposalsTest, ShiftsClipsAndSelectsAnchors) {
  // The anchors of a position overlap by 15 / 31. Those at 20 are clipped to 23.
  RunOp(&ws_, Generate(GetParam(), kStride));
  ExpectTensor<float>(ws_, "P", {6}, {0.6f, 0.5f, 0.4f, 0.3f, 0.2f, 0.1f});
  ExpectTensor<float>(ws_, "R", {6, 5}, {0, 10, 0, 14, 4, 0, 9, 1, 15, 3, 0, 19, 1, 23, 3,
                                         0, 20, 0, 23, 4, 0, 0, 1, 5,  3, 0, 0,  0, 4,  4});
  ExpectShapeInferred(&ws_, Generate(GetParam(), kStride), /*may_be_unknown=*/true);
  RunOp(&ws_, Generate(GetParam(), std::string(kStride) + R"(arg { name: "nms_thresh" f: 0.4 })"));
  ExpectTensor<float>(ws_, "P", {3}, {0.6f, 0.4f, 0.2f});
  RunOp(&ws_, Generate(GetParam(), std::string(kStride) + R"(arg { name: "post_nms_topN" i: 2 })"));
  ExpectTensor<float>(ws_, "P", {2}, {0.6f, 0.5f});
  RunOp(&ws_, Generate(GetParam(), std::string(kStride) + R"(arg { name: "pre_nms_topN" i: 4 }
                                                            arg { name: "nms_thresh" f: 0.4 })"));
  ExpectTensor<float>(ws_, "P", {2}, {0.6f, 0.4f});
}

TEST_P(GenerateProposalsTest, DropsSmallBoxes) {
  // 3 pixels of the scaled image count as 1.5; the box at 20 is 4 wide, 5 high.
  Feed<float>(&ws_, "I", {1, 3}, {20, 24, 1.5f});
  RunOp(&ws_, Generate(GetParam(), kStride));
  ExpectTensor<float>(ws_, "P", {2}, {0.6f, 0.1f});
}

TEST_P(GenerateProposalsTest, AppliesTheDeltas) {
  Feed<float>(&ws_, "S", {2, 1, 1, 1}, {0.5f, 0.25f});
  Feed<float>(&ws_, "D", {2, 4, 1, 1}, {0.2f, 0, 0, 0, 0, -0.2f, 0, 0});
  Feed<float>(&ws_, "I", {2, 3}, {20, 24, 1, 20, 24, 1});
  Feed<float>(&ws_, "A", {1, 4}, {2, 2, 6, 6});
  RunOp(&ws_, Generate(GetParam(), kStride));
  ExpectTensor<float>(ws_, "R", {2, 5}, {0, 3, 2, 7, 6, 1, 2, 1, 6, 5}, 1e-5);
  ExpectTensor<float>(ws_, "P", {2}, {0.5f, 0.25f});
  RunOp(&ws_,
        Generate(GetParam(), std::string(kStride) + R"(arg { name: "legacy_plus_one" i: 0 })"));
  ExpectTensor<float>(ws_, "R", {2, 5}, {0, 2.8f, 2, 6.8f, 6, 1, 2, 1.2f, 6, 5.2f}, 1e-5);
}

TEST_P(GenerateProposalsTest, AcceptsRotatedAnchors) {
  Feed<float>(&ws_, "S", {1, 1, 1, 2}, {0.5f, 0.25f});
  Feed<float>(&ws_, "D", {1, 5, 1, 2}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  Feed<float>(&ws_, "A", {1, 5}, {2, 5, 4, 8, 60});
  RunOp(&ws_, Generate(GetParam(), kStride));
  ExpectTensor<float>(ws_, "R", {2, 6}, {0, 2, 5, 4, 8, 60, 0, 12, 5, 4, 8, 60 + 57.29578f - 180},
                      1e-5);
  ExpectThrows([&] { RunOp(&ws_, Generate(GetParam(), R"(arg { name: "angle_bound_hi" i: 0 })")); },
               "want a difference that is a positive multiple of 180");
}

TEST_P(GenerateProposalsTest, AcceptsNoImagesAndNaN) {
  Feed<float>(&ws_, "S", {0, 2, 1, 3}, {});
  Feed<float>(&ws_, "D", {0, 8, 1, 3}, {});
  Feed<float>(&ws_, "I", {0, 3}, {});
  RunOp(&ws_, Generate(GetParam(), kStride));
  ExpectTensor<float>(ws_, "R", {0, 5}, {});
  ExpectTensor<float>(ws_, "P", {0}, {});
  SetUp();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Feed<float>(&ws_, "S", {1, 2, 1, 3}, {nan, nan, 0.5f, nan, nan, nan});
  std::vector<float> deltas(24, 0);
  deltas[1] = nan;
  Feed<float>(&ws_, "D", {1, 8, 1, 3}, deltas);
  RunOp(&ws_, Generate(GetParam(), kStride));
  EXPECT_EQ(Fetch<float>(ws_, "P").size(), 5u);
  EXPECT_EQ(Fetch<float>(ws_, "P")[0], 0.5f);
}

TEST_P(GenerateProposalsTest, NamesWhatDoesNotFit) {
  const auto expect = [&](const std::string& name, const std::vector<int64_t>& dims,
                          const std::string& part) {
    SetUp();
    FeedRandom(&ws_, name, dims);
    ExpectThrows([&] { RunOp(&ws_, Generate(GetParam(), kStride)); }, part);
  };
  expect("S", {2, 1, 3}, "rank of input 0 (scores)");
  expect("D", {1, 8, 1, 2}, "input 1 (bbox_deltas) has shape [1, 8, 1, 2]");
  expect("D", {1, 4, 1, 3}, "want 4 times the channels of input 0 (scores)");
  expect("I", {2, 3}, "input 2 (im_info) has shape [2, 3], want [1, 3]");
  expect("A", {3, 4}, "input 3 (anchors) has shape [3, 4], want [2, 4], or [2, 5]");
  expect("A", {2, 6}, "input 3 (anchors) has shape [2, 6]");
  SetUp();
  Feed<float>(&ws_, "S", {1, 2, 0, 3}, {});
  Feed<float>(&ws_, "D", {1, 8, 0, 3}, {});
  ExpectThrows([&] { RunOp(&ws_, Generate(GetParam(), kStride)); }, "want at least one score");
  ExpectThrows([&] { DescribeGradient(Generate(GetParam(), "")); }, GetParam());
}

}  // namespace
}  // namespace caffe2rt::test::generate_proposals_test
