#include "caffe2_core/inspect/blob_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::blob_watch_test {
namespace {

using ::testing::ElementsAre;

// y = |x| + x in two steps, the second in place.
constexpr char kInPlace[] = R"(
name: "n" type: "dag"
op { type: "Abs" input: "x" output: "y" }
op { type: "Add" input: "y" input: "x" output: "y" name: "add" })";

TEST(BlobWatchTest, ShowsEachValueOfABlobThatIsOverwritten) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  const NetDef def = NetToWatch(ParseNet(kInPlace));
  NetBase* const net = ws.CreateNet(def);
  std::vector<std::string> seen;
  {
    const BlobWatch watch(def, net, [&](const BlobWrite& write) {
      const float* const data = write.blob.Get<Tensor>().data<float>();
      seen.push_back(MakeString(write.position, " ", OperatorText(write.op), " ", write.name, " ",
                                data[0], " ", data[1]));
    });
    EXPECT_TRUE(net->Run());
    EXPECT_THAT(seen, ElementsAre("0 Abs y 1 2", "1 Add \"add\" y 0 4"));
  }
  EXPECT_TRUE(net->Run());
  EXPECT_EQ(seen.size(), 2u);  // the watch has ended
}

TEST(BlobWatchTest, EndsTheRunAtAnExceptionThatNamesTheOperator) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {1});
  const NetDef def = NetToWatch(ParseNet(kInPlace));
  NetBase* const net = ws.CreateNet(def);
  int calls = 0;
  const BlobWatch watch(def, net, [&](const BlobWrite&) {
    ++calls;
    CAFFE_THROW("seen enough");
  });
  ExpectThrows([&] { net->Run(); }, "operator 0 (Abs");
  EXPECT_EQ(calls, 1);
}

TEST(BlobWatchTest, CountsPositionsInTheNetAsItIs) {
  NetDef net = ParseNet(kInPlace);
  MarkUserOperators(&net);
  net.mutable_op()->DeleteSubrange(0, 1);  // the marks of a longer net
  const NetDef def = NetToWatch(net);
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {1});
  Feed<float>(&ws, "y", {1}, {1});
  NetBase* const created = ws.CreateNet(def);
  int position = -1;
  const BlobWatch watch(def, created, [&](const BlobWrite& write) { position = write.position; });
  EXPECT_TRUE(created->Run());
  EXPECT_EQ(position, 0);
}

TEST(BlobWatchTest, RejectsNullArguments) {
  const NetDef def;
  ExpectThrows([&] { BlobWatch(def, nullptr, [](const BlobWrite&) {}); }, "BlobWatch is null");
}

}  // namespace
}  // namespace caffe2rt::test::blob_watch_test
