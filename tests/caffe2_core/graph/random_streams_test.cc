#include "caffe2_core/graph/random_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::random_streams_test {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> NamesOf(const NetDef& net) {
  RandomStreamNames names;
  std::vector<std::string> found;
  for (const OperatorDef& op : net.op()) found.push_back(names.Next(op));
  return found;
}

NetDef Net(const std::string& text) { return test::ParseNet(text); }

TEST(RandomStreamNamesTest, AreFirstOutputsAndHowOftenTheyWereWritten) {
  EXPECT_THAT(
      NamesOf(Net(R"(op { type: "FC" output: "x" } op { type: "Dropout" output: "x" output: "m" }
                             op { type: "Dropout" output: "x" output: "m" }
                             op { type: "Dropout" output: "m" } op { type: "Print" })")),
      ElementsAre("x", "x#1", "x#2", "m", "Print"));
}

TEST(RandomStreamNamesTest, AreThoseOfTheArgument) {
  EXPECT_THAT(
      NamesOf(Net(R"(op { type: "Dropout" output: "x" arg { name: "random_stream" s: "drop" } }
                             op { type: "Dropout" output: "x" arg { name: "random_stream" i: 3 } }
                             op { type: "Dropout" output: "x" arg { name: "random_stream" s: "" } })")),
      ElementsAre("drop", "x#1", ""));
}

TEST(RandomStreamNamesTest, StayIfBlobsAreRenamed) {
  NetDef net = Net(R"(op { type: "Relu" output: "x" } op { type: "Dropout" input: "x" output: "y" }
                      op { type: "GaussianFill" output: "w" }
                      op { type: "If" output: "y" arg { name: "then_net" n { } } }
                      op { type: "Dropout" output: "z" arg { name: "is_test" i: 1 } })");
  NameRandomStreams(&net);
  net.mutable_op()->DeleteSubrange(0, 1);
  net.mutable_op(0)->set_output(0, "x");
  const NetDef kept = net;
  EXPECT_THAT(NamesOf(net), ElementsAre("y", "w", "y#1", "z"));
  RemoveNeedlessStreamNames(&net);
  EXPECT_THAT(NamesOf(net), ElementsAre("y", "w", "y#1", "z"));
  EXPECT_EQ(GetArgumentPtr(net.op(1), kRandomStream), nullptr) << "GaussianFill still writes w";
  EXPECT_NE(GetArgumentPtr(net.op(0), kRandomStream), nullptr);
  EXPECT_NE(GetArgumentPtr(net.op(2), kRandomStream), nullptr);
  NetDef again = kept;
  NameRandomStreams(&again);
  EXPECT_EQ(again.DebugString(), kept.DebugString());
}

TEST(RandomStreamNamesTest, LeaveAnUnchangedNetAsItWas) {
  NetDef net = Net(R"(op { type: "UniformFill" output: "x" } op { type: "Dropout" output: "x" }
                      op { type: "NoSuchOperator" output: "x" } op { type: "Relu" output: "x" })");
  const std::string before = net.DebugString();
  NameRandomStreams(&net);
  EXPECT_NE(net.DebugString(), before);
  EXPECT_EQ(GetArgumentPtr(net.op(3), kRandomStream), nullptr) << "Relu draws nothing";
  RemoveNeedlessStreamNames(&net);
  EXPECT_EQ(net.DebugString(), before);
}

}  // namespace
}  // namespace caffe2rt::random_streams_test
