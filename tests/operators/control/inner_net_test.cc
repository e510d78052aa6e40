#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/inspect/net_validation.h"
#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"
#include "tests/support/small_stack.h"

namespace caffe2rt::test::inner_net_test {
namespace {

// An If with nets nested `depth` deep.
OperatorDef Nested(int depth) {
  OperatorDef op = ParseOp(R"(type: "Copy" input: "x" output: "y")");
  for (int i = 0; i < depth; ++i) {
    OperatorDef outer = ParseOp(R"(type: "If" input: "c" input: "x" output: "y")");
    NetDef net;
    *net.add_op() = std::move(op);
    AddArgument("then_net", net, &outer);
    op = std::move(outer);
  }
  return op;
}

TEST(InnerNetTest, LimitsTheNestingDepth) {
  Workspace ws;
  Feed<bool>(&ws, "c", {1}, {true});
  Feed<float>(&ws, "x", {1}, {3});
  RunOp(&ws, Nested(20));
  ExpectTensor<float>(ws, "y", {1}, {3});
  ExpectThrows([&] { (void)ws.RunOperatorOnce(Nested(kMaxNetDepth + 10)); },
               "nesting depth of the nets in argument \"then_net\"");
}

TEST(InnerNetTest, LimitsTheNestingDepthByTheStackOfTheThread) {
  Workspace ws;
  Feed<bool>(&ws, "c", {1}, {true});
  Feed<float>(&ws, "x", {1}, {3});
  const OperatorDef op = Nested(30);
  NetDef net;
  net.set_name("outer");
  *net.add_op() = op;
  RunWithStack(128 << 10, [&] {
    ExpectThrows([&] { (void)ws.RunOperatorOnce(op); },
                 "of stack left; use a thread with a larger stack");
    ExpectThrows([&] { (void)CreateNet(net, &ws); }, "nets are nested 31 deep, want at most ");
  });
  // The thread that runs a net may have a smaller stack than the one that created it.
  const std::unique_ptr<NetBase> created = CreateNet(net, &ws);
  RunWithStack(32 << 10, [&] {
    ExpectThrows([&] { created->Run(); }, "there is no room for a nested net: the thread has ");
  });
  EXPECT_TRUE(created->Run());
}

TEST(InnerNetTest, IsCheckedWithTheBlobsThatOnlyItUses) {
  const NetDef net = ParseNet(R"(
    op { type: "If" input: "c" output: "y" arg { name: "then_net" n { name: "inner"
      op { type: "Add" input: "a" input: "b" output: "y" }
      op { type: "Nonsense" input: "y" output: "z" } } } })");
  std::vector<std::string> texts;
  for (const NetFinding& finding : ValidateNet(net)) texts.push_back(finding.path + finding.text);
  ASSERT_FALSE(texts.empty());
  EXPECT_THAT(texts, testing::Contains(testing::HasSubstr(
                         "argument then_net: operator type \"Nonsense\" is not known")));
  EXPECT_THAT(texts, testing::Not(testing::Contains(testing::HasSubstr("non-existing input"))));
}

TEST(NestedNetsTest, ListsTheBlobsOfAllNets) {
  const OperatorDef op = ParseOp(R"(type: "If" input: "c"
    arg { name: "then_net" n { op { type: "Add" input: "a" input: "b" output: "s" } } }
    arg { name: "else_net" n { op { type: "If" input: "s" output: "t" control_input: "k"
      arg { name: "then_net" n { op { type: "Copy" input: "b" output: "u" } } } } } })");
  EXPECT_TRUE(HasNestedNets(op));
  const NestedBlobs blobs = NestedBlobsOf(op);
  EXPECT_EQ(blobs.read, std::vector<std::string>({"a", "b", "s", "k"}));
  EXPECT_EQ(blobs.written, std::vector<std::string>({"s", "t", "u"}));
  EXPECT_FALSE(HasNestedNets(ParseOp(R"(type: "Copy")")));
}

TEST(NestedNetsTest, RenamesAnOutputInNets) {
  OperatorDef op = ParseOp(R"(type: "If" input: "c" output: "g"
    arg { name: "then_net" n { op { type: "A" output: "g" } op { type: "B" input: "g" output: "g" } } }
    arg { name: "else_net" n { op { type: "C" input: "g" output: "h" } op { type: "D" output: "g" }
                               op { type: "E" input: "g" output: "k" } } })");
  RenameOutput(&op, 0, "new");
  EXPECT_EQ(op.output(0), "new");
  const NetDef& then_net = op.arg(0).n();
  EXPECT_EQ(then_net.op(0).output(0), "new");
  EXPECT_EQ(then_net.op(1).input(0), "new");
  EXPECT_EQ(then_net.op(1).output(0), "new");
  const NetDef& else_net = op.arg(1).n();
  EXPECT_EQ(else_net.op(0).input(0), "g");  // a value from outside
  EXPECT_EQ(else_net.op(1).output(0), "new");
  EXPECT_EQ(else_net.op(2).input(0), "new");
}

TEST(NestedNetsTest, RenamesReadsOfARenamedOutput) {
  OperatorDef op = ParseOp(R"(type: "If" input: "c" output: "g"
    arg { name: "then_net" n { op { type: "A" output: "g" }
      op { type: "If" input: "c" output: "h" arg { name: "then_net" n {
        op { type: "B" input: "g" output: "h" } } } } } })");
  RenameOutput(&op, 0, "new");
  EXPECT_EQ(op.arg(0).n().op(1).arg(0).n().op(0).input(0), "new");
}

TEST(NestedNetsTest, RenamesANameThatAnOperatorListsTwice) {
  OperatorDef op = ParseOp(R"(type: "If" input: "c" output: "g"
    arg { name: "then_net" n { op { type: "A" output: "g" }
                               op { type: "Mul" input: "g" input: "g" output: "h" } } })");
  RenameOutput(&op, 0, "new");
  EXPECT_EQ(op.arg(0).n().op(1).input(0), "new");
  EXPECT_EQ(op.arg(0).n().op(1).input(1), "new");
}

}  // namespace
}  // namespace caffe2rt::test::inner_net_test
