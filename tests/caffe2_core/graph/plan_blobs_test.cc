#include "caffe2_core/graph/plan_blobs.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test::plan_blobs_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Each flow as "blob: from -> to".
std::vector<std::string> Follow(const std::string& text) {
  PlanDef plan;
  CAFFE_ENFORCE(google::protobuf::TextFormat::ParseFromString(text, &plan), "the plan is no text");
  std::vector<std::string> flows;
  for (const BlobFlow& flow : FollowBlobs(plan)) {
    flows.push_back(MakeString(flow.blob, ": ", flow.from, " -> ", flow.to_step ? "step " : "",
                               flow.to, flow.next_iteration ? ", next iteration" : ""));
  }
  return flows;
}

constexpr char kNets[] = R"(
network { name: "init" op { type: "ConstantFill" output: "w" } op { type: "ConstantFill" output: "n" } }
network { name: "train" op { type: "Mul" input: "x" input: "w" output: "y" }
                        op { type: "Add" input: "w" input: "y" output: "w" } }
network { name: "test" op { type: "Mul" input: "w" input: "n" output: "done" } } )";

TEST(PlanBlobsTest, FollowsBlobsFromNetToNet) {
  EXPECT_THAT(
      Follow(MakeString(kNets, R"(
      execution_step { name: "a" network: "init" }
      execution_step { name: "b" substep { network: "train" } substep { network: "test" } })")),
      ElementsAre("x:  -> train", "w: init -> train", "w: train -> test", "n: init -> test"));
}

TEST(PlanBlobsTest, FollowsBlobsToTheNextIteration) {
  EXPECT_THAT(Follow(MakeString(kNets, R"(
      execution_step { network: "init" }
      execution_step { num_iter: 5 network: "train" })")),
              ElementsAre("x:  -> train", "w: init -> train", "w: train -> train, next iteration"));
}

TEST(PlanBlobsTest, FollowsTheBlobThatStopsAStep) {
  EXPECT_THAT(Follow(MakeString(kNets, R"(
      execution_step { network: "init" }
      execution_step { name: "loop" should_stop_blob: "done" network: "test" })")),
              ElementsAre("w: init -> test", "n: init -> test", "done: test -> step loop"));
}

TEST(PlanBlobsTest, LeavesOutNetsThatThePlanDoesNotContain) {
  EXPECT_THAT(Follow(R"(execution_step { network: "other" })"), IsEmpty());
}

TEST(PlanBlobsTest, NeedsLinearTimeForNestedLoops) {
  std::string steps;
  for (int i = 0; i < 60; ++i) steps += "num_iter: 2 substep { ";
  steps += "num_iter: 2 network: 'train'";
  for (int i = 0; i < 60; ++i) steps += " }";
  EXPECT_THAT(Follow(MakeString(kNets, "execution_step { ", steps, " }")),
              ElementsAre("x:  -> train", "w:  -> train", "w: train -> train, next iteration"));
}

}  // namespace
}  // namespace caffe2rt::test::plan_blobs_test
