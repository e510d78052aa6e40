// Names that a workspace forwards to blobs of another: which of two meanings a name has, what is
// left of it after copies and removals, and what is said of a name without a blob.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <unordered_map>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::forwarded_blobs_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Names = std::unordered_map<std::string, std::string>;

class ForwardedBlobsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Feed<float>(&parent_, "a", {1}, {1});
    Feed<float>(&parent_, "b", {1}, {2});
  }

  void TearDown() override {
    SetLogSink(nullptr);
    SetLogThreshold(threshold_);
  }

  const int threshold_ = LogThreshold();
  Workspace parent_;
};

TEST_F(ForwardedBlobsTest, SkippedNamesKeepTheirMeaning) {
  Workspace ws(&parent_, Names{{"x", "a"}});
  Feed<float>(&ws, "own", {1}, {3});
  ws.AddBlobMapping(&parent_, {{"x", "b"}, {"own", "b"}, {"y", "b"}}, true);
  EXPECT_EQ(ws.GetBlob("x"), parent_.GetBlob("a"));
  EXPECT_EQ(ws.GetBlob("y"), parent_.GetBlob("b"));
  ExpectTensor<float>(ws, "own", {1}, {3});
  ASSERT_TRUE(ws.RemoveBlob("own"));
  EXPECT_FALSE(ws.HasBlob("own"));
  EXPECT_THAT(ws.Blobs(), ElementsAre("x", "y"));
}

TEST_F(ForwardedBlobsTest, RejectedNamesLeaveTheOthersForwarded) {
  Workspace ws(&parent_, Names{{"x", "a"}});
  EXPECT_THROW(ws.AddBlobMapping(&parent_, {{"x", "b"}}), EnforceNotMet);
  EXPECT_THROW(ws.AddBlobMapping(&parent_, {{"z", "none"}}, true), EnforceNotMet);
  EXPECT_EQ(ws.GetBlob("x"), parent_.GetBlob("a"));
  EXPECT_THAT(ws.Blobs(), ElementsAre("x"));
}

// Otherwise a look-up would never end.
TEST_F(ForwardedBlobsTest, NamesThatWouldForwardToEachOtherAreRejected) {
  Workspace child(&parent_), other;
  other.AddBlobMapping(&child, {{"x", "a"}});
  ExpectThrows(
      [&] {
        child.AddBlobMapping(&other, {{"a", "x"}});
      },
      "cannot forward blob \"a\": \"x\" of the parent workspace is forwarded to it");
  child.AddBlobMapping(&other, {{"y", "x"}});
  EXPECT_EQ(child.GetBlob("y"), parent_.GetBlob("a"));
  // A name of the parent's parent, through a child that sees it.
  Workspace grandchild(&child);
  ExpectThrows([&] { child.AddBlobMapping(&grandchild, {{"b", "b"}}); }, "is forwarded to it");
  EXPECT_EQ(grandchild.GetBlob("b"), parent_.GetBlob("b"));
}

// Each look-up passes its own workspace twice, which therefore must not be locked on the way.
TEST_F(ForwardedBlobsTest, NamesMayComeBackToTheirWorkspaceUnderAnotherName) {
  Workspace child(&parent_), other;
  Feed<float>(&child, "own", {1}, {7});
  const Blob* const own = child.GetBlob("own");
  other.AddBlobMapping(&child, {{"x", "own"}});
  child.AddBlobMapping(&other, {{"y", "x"}, {"z", "x"}});
  EXPECT_EQ(child.CreateBlob("y"), own);
  EXPECT_THROW(child.RenameBlob("own", "y"), EnforceNotMet);
  child.CopyForwardedTensors({"z"});
  ExpectTensor<float>(child, "z", {1}, {7});
  EXPECT_NE(child.GetBlob("z"), own);
  ASSERT_TRUE(child.RemoveBlob("own"));
  EXPECT_THROW(child.CreateBlob("y"), EnforceNotMet);
}

TEST_F(ForwardedBlobsTest, CopiedNamesAreNotForwardedAnyMore) {
  Workspace ws(&parent_, Names{{"x", "a"}, {"y", "b"}});
  ws.CopyForwardedTensors({"x", "none"});
  *ws.GetBlob("x")->GetMutable<Tensor>()->mutable_data<float>() = 5;
  ExpectTensor<float>(parent_, "a", {1}, {1});
  EXPECT_EQ(ws.GetBlob("y"), parent_.GetBlob("b"));
  EXPECT_THAT(ws.Blobs(), ElementsAre("x", "y"));

  ws.CopyForwardedTensors({"x"});  // a name of its own by now
  ExpectTensor<float>(ws, "x", {1}, {5});
  ASSERT_TRUE(ws.RemoveBlob("x"));
  EXPECT_FALSE(ws.HasBlob("x"));
  EXPECT_NE(ws.CreateBlob("x"), parent_.GetBlob("a"));
}

TEST_F(ForwardedBlobsTest, WritesThroughANameReachTheParent) {
  Workspace ws(&parent_, Names{{"x", "a"}});
  Feed<float>(&ws, "x", {2}, {7, 8});
  ExpectTensor<float>(parent_, "a", {2}, {7, 8});
  EXPECT_THAT(ws.LocalBlobs(), IsEmpty());
  EXPECT_FALSE(ws.RemoveBlob("x"));
  EXPECT_TRUE(ws.HasBlob("x"));
}

TEST_F(ForwardedBlobsTest, OnlyMissingBlobsAreLogged) {
  const Workspace ws(&parent_, Names{{"weights", "a"}});
  std::string log;
  SetLogSink([&](const LogEntry& entry) { log += entry.text; });
  SetLogThreshold(1);
  EXPECT_NE(ws.GetBlob("weights"), nullptr);
  EXPECT_EQ(ws.FindBlob("weight"), nullptr);
  EXPECT_EQ(log, "");
  EXPECT_EQ(ws.GetBlob("weight"), nullptr);
  EXPECT_EQ(log, "blob \"weight\" is not in the workspace; close: weights");
}

}  // namespace
}  // namespace caffe2rt::test::forwarded_blobs_test
