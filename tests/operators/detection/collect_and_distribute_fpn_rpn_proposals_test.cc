#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::collect_and_distribute_fpn_rpn_proposals_test {
namespace {

const char* const kInputLevels =
    R"(arg { name: "rpn_min_level" i: 3 } arg { name: "rpn_max_level" i: 4 } )";
const char* const kLevels = R"(arg { name: "roi_min_level" i: 3 } arg { name: "roi_max_level" i: 4 }
    arg { name: "roi_canonical_scale" i: 20 } arg { name: "roi_canonical_level" i: 4 } )";

std::string Collect(const std::string& args) {
  return R"(type: "CollectRpnProposals" input: "R3" input: "R4" input: "S3" input: "S4" output: "R" )" +
         args;
}
std::string Distribute(const std::string& args) {
  return R"(type: "DistributeFpnProposals" input: "R" output: "L3" output: "L4" output: "P" )" +
         args;
}
std::string Both(const std::string& args) {
  return R"(type: "CollectAndDistributeFpnRpnProposals" input: "R3" input: "R4" input: "S3" input: "S4"
            output: "R" output: "L3" output: "L4" output: "P" )" +
         args;
}

void FeedLevels(Workspace* ws) {
  Feed<float>(ws, "R3", {2, 5}, {0, 0, 0, 9, 9, 1, 0, 0, 39, 39});
  Feed<float>(ws, "R4", {2, 5}, {0, 5, 5, 24, 24, 0, 7, 7, 8, 8});
  Feed<float>(ws, "S3", {2}, {0.3f, 0.5f});
  Feed<float>(ws, "S4", {2, 1}, {0.5f, 0.9f});
}

TEST(FpnProposalsTest, KeepsTheBestOfAllLevels) {
  Workspace ws;
  FeedLevels(&ws);
  RunOp(&ws, Collect(kInputLevels));
  ExpectTensor<float>(ws, "R", {4, 5},
                      {0, 7, 7, 8, 8, 1, 0, 0, 39, 39, 0, 5, 5, 24, 24, 0, 0, 0, 9, 9});
  ExpectShapeInferred(&ws, Collect(kInputLevels), /*may_be_unknown=*/true);
  RunOp(&ws, Collect(std::string(kInputLevels) + R"(arg { name: "rpn_post_nms_topN" i: 2 })"));
  ExpectTensor<float>(ws, "R", {2, 5}, {0, 7, 7, 8, 8, 1, 0, 0, 39, 39});
}

TEST(FpnProposalsTest, DividesProposalsBySize) {
  Workspace ws;
  // Sizes 20, 10, 40, 19: the level grows with each doubling from 20, which is level 4.
  Feed<float>(&ws, "R", {4, 4}, {0, 0, 19, 19, 0, 0, 9, 9, 0, 0, 39, 39, 0, 0, 18, 18});
  RunOp(&ws, Distribute(kLevels));
  ExpectTensor<float>(ws, "L3", {2, 5}, {0, 0, 0, 9, 9, 0, 0, 0, 18, 18});
  ExpectTensor<float>(ws, "L4", {2, 5}, {0, 0, 0, 19, 19, 0, 0, 0, 39, 39});
  ExpectTensor<int32_t>(ws, "P", {4}, {2, 0, 3, 1});
  RunOp(&ws, Distribute(std::string(kLevels) + R"(arg { name: "legacy_plus_one" i: 0 })"));
  ExpectTensor<int32_t>(ws, "P", {4}, {0, 1, 3, 2});
}

TEST(FpnProposalsTest, CollectsAndDistributes) {
  Workspace ws;
  FeedLevels(&ws);
  RunOp(&ws, Both(std::string(kInputLevels) + kLevels));
  ExpectTensor<float>(ws, "R", {4, 5},
                      {0, 7, 7, 8, 8, 1, 0, 0, 39, 39, 0, 5, 5, 24, 24, 0, 0, 0, 9, 9});
  ExpectTensor<float>(ws, "L3", {2, 5}, {0, 7, 7, 8, 8, 0, 0, 0, 9, 9});
  ExpectTensor<float>(ws, "L4", {2, 5}, {1, 0, 0, 39, 39, 0, 5, 5, 24, 24});
  ExpectTensor<int32_t>(ws, "P", {4}, {0, 2, 3, 1});
}

TEST(FpnProposalsTest, AcceptsNoProposals) {
  Workspace ws;
  for (const char* const name : {"R3", "R4"}) Feed<float>(&ws, name, {0, 5}, {});
  for (const char* const name : {"S3", "S4"}) Feed<float>(&ws, name, {0}, {});
  RunOp(&ws, Both(std::string(kInputLevels) + kLevels));
  for (const char* const name : {"R", "L3", "L4"}) ExpectTensor<float>(ws, name, {0, 5}, {});
  ExpectTensor<int32_t>(ws, "P", {0}, {});
}

TEST(FpnProposalsTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedLevels(&ws);
  ExpectThrows([&] { RunOp(&ws, Collect("")); },
               "number of inputs, want the rois and the scores of each level");
  ExpectThrows([&] { RunOp(&ws, Collect(R"(arg { name: "rpn_min_level" i: 7 })")); },
               "argument rpn_max_level is 6, want at least argument rpn_min_level, which is 7");
  Feed<float>(&ws, "S4", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, Collect(kInputLevels)); },
               "input 3 (scores) has shape [1], want [2], because input 1 (rois) has shape [2, 5]");
  FeedRandom(&ws, "R4", {2, 4});
  ExpectThrows([&] { RunOp(&ws, Collect(kInputLevels)); }, "input 1 (rois) has shape [2, 4]");
  // Two scores, but no elements of rois.
  Feed<float>(&ws, "R4", {2, 0}, {});
  Feed<float>(&ws, "S4", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, Collect(kInputLevels)); }, "input 1 (rois) has shape [2, 0]");
  FeedRandom(&ws, "R", {1, 3});
  ExpectThrows([&] { RunOp(&ws, Distribute(kLevels)); }, "input 0 (rois) has shape [1, 3]");
  ExpectThrows([&] { RunOp(&ws, Distribute("")); }, "number of outputs with the rois of a level");
  Feed<float>(&ws, "R", {1, 4}, {5, 0, 1, 9});
  ExpectThrows([&] { RunOp(&ws, Distribute(kLevels)); }, "row 0 of the rois has area -30");
  Feed<float>(&ws, "R", {1, 4}, {std::numeric_limits<float>::quiet_NaN(), 0, 1, 9});
  ExpectThrows([&] { RunOp(&ws, Distribute(kLevels)); }, "row 0 of the rois has area");
  for (const std::string& text : {Collect(""), Distribute(""), Both("")}) {
    ExpectThrows([&] { DescribeGradient(text); }, "Proposals");
  }
}

}  // namespace
}  // namespace caffe2rt::test::collect_and_distribute_fpn_rpn_proposals_test
