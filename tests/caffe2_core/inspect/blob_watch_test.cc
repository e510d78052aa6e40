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

// A net that is watched runs its operators one after the other, and not as a graph of a device. All else stays.
TEST(BlobWatchTest, NetsToWatchRunInTheirOrder) {
  NetDef net = ParseNet(R"(name: "n" type: "dag" num_workers: 3 external_input: "x"
      arg { name: "cuda_graph" i: 1 } arg { name: "inject_copies" i: 0 } arg { name: "cuda_graph" i: 1 }
      op { type: "Abs" input: "x" output: "y" } op { type: "Relu" input: "y" output: "z" name: "r" })");
  const NetDef watched = NetToWatch(net);
  EXPECT_EQ(watched.type(), "simple");
  ASSERT_EQ(watched.arg_size(), 1);
  EXPECT_EQ(watched.arg(0).name(), "inject_copies");
  ASSERT_EQ(watched.op_size(), 2);
  for (int i = 0; i < 2; ++i) {
    const std::vector<UserOperator> users = UserOperatorsOf(watched.op(i));
    ASSERT_EQ(users.size(), 1u);
    EXPECT_EQ(users[0].position, i);
    EXPECT_EQ(users[0].text, i == 0 ? "Abs" : "Relu \"r\"");
  }
  NetDef rest = watched;
  RemoveUserOperators(&rest);
  net.set_type("simple");
  net.mutable_arg()->DeleteSubrange(2, 1);
  net.mutable_arg()->DeleteSubrange(0, 1);
  EXPECT_EQ(rest.SerializeAsString(), net.SerializeAsString());
}

// Of an operator with several outputs each is shown, in order.
TEST(BlobWatchTest, ShowsEachOutput) {
  Workspace ws;
  Feed<float>(&ws, "x", {4}, {1, 2, 3, 4});
  const NetDef def = NetToWatch(ParseNet(
      R"(name: "n" op { type: "Split" input: "x" output: "b" output: "a" arg { name: "axis" i: 0 } })"));
  NetBase* const net = ws.CreateNet(def);
  std::vector<std::string> seen;
  const BlobWatch watch(def, net, [&](const BlobWrite& write) {
    seen.push_back(MakeString(write.name, write.blob.Get<Tensor>().data<float>()[1]));
  });
  EXPECT_TRUE(net->Run());
  EXPECT_THAT(seen, ElementsAre("b2", "a4"));
}

TEST(BlobWatchTest, RejectsNullArguments) {
  const NetDef def;
  ExpectThrows([&] { BlobWatch(def, nullptr, [](const BlobWrite&) {}); }, "BlobWatch is null");
}

}  // namespace
}  // namespace caffe2rt::test::blob_watch_test
