#include "caffe2_core/graph/nested_nets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/operator_test.h"

namespace caffe2rt::nested_nets_test {
namespace {

using test::ParseOp;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr char kBindings[] = R"(arg { name: "inner_blobs" strings: "ix" strings: "iy" }
  arg { name: "outer_blobs_idx" ints: 0 ints: 1 })";

OperatorDef Do(const std::string& ops, const std::string& bindings = kBindings) {
  return ParseOp(R"(type: "Do" input: "x" input: "S" output: "y" output: "S" )" + bindings +
                 "arg { name: \"net\" n { name: \"inner\" " + ops + " } }");
}

TEST(NestedNetsTest, NamesInIfAreThoseAround) {
  const NestedBlobs blobs = NestedBlobsOf(ParseOp(R"(type: "If" input: "c"
    arg { name: "then_net" n { op { type: "Add" input: "x" input: "z" output: "y" }
                               op { type: "CountUp" input: "n" output: "y" } } })"));
  EXPECT_THAT(blobs.read, ElementsAre("x", "z", "n"));
  EXPECT_THAT(blobs.written, ElementsAre("y", "n"));  // CountUp modifies its input
  EXPECT_THAT(blobs.same_memory, IsEmpty());
}

// Regression: the inner names counted as names of the net around, so that nothing knew that x is
// written.
TEST(NestedNetsTest, TranslatesTheNamesInDo) {
  const NestedBlobs blobs = NestedBlobsOf(Do(R"(op { type: "Relu" input: "ix" output: "ix" }
    op { type: "Copy" input: "ix" output: "t" } op { type: "Copy" input: "t" output: "iy" })"));
  EXPECT_THAT(blobs.read, ElementsAre("x"));
  EXPECT_THAT(blobs.written, ElementsAre("x", "y"));
  EXPECT_THAT(blobs.same_memory, IsEmpty());
}

TEST(NestedNetsTest, TranslatesThroughSeveralNets) {
  const NestedBlobs blobs = NestedBlobsOf(Do(R"(op { type: "CreateScope" output: "T" }
    op { type: "If" input: "c" arg { name: "then_net" n {
      op { type: "Do" input: "ix" input: "t" input: "T" output: "T"
        arg { name: "inner_blobs" strings: "p" strings: "q" }
        arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
        arg { name: "net" n { op { type: "Copy" input: "q" output: "p" }
                              op { type: "Copy" input: "x" output: "q" } } } } } } })"));
  EXPECT_THAT(blobs.read, ElementsAre("x"));
  EXPECT_THAT(blobs.written, ElementsAre("x"));
}

TEST(NestedNetsTest, AScopeSharesTheMemoryOfItsAliases) {
  const NestedBlobs blobs = NestedBlobsOf(Do(R"(op { type: "Alias" input: "ix" output: "t" }
    op { type: "Alias" input: "ix" output: "iy" } op { type: "Alias" input: "t" output: "u" })"));
  EXPECT_THAT(blobs.same_memory, ElementsAre(Pair("x", "S"), Pair("x", "y")));
}

TEST(NestedNetsTest, KnowsOperatorsThatMayWait) {
  EXPECT_TRUE(MayWait(ParseOp(R"(type: "DequeueBlobs")")));
  EXPECT_FALSE(MayWait(ParseOp(R"(type: "CloseBlobsQueue")")));
  EXPECT_FALSE(MayWait(Do(R"(op { type: "Relu" input: "ix" output: "ix" })")));
  EXPECT_TRUE(MayWait(Do(R"(op { type: "If" arg { name: "else_net" n {
      op { type: "EnqueueBlobs" input: "ix" input: "t" output: "t" } } } })")));
}

// A queue that is also replaced is written like any other blob.
TEST(NestedNetsTest, KnowsQueuesThatAreOnlyUsed) {
  const NestedBlobs blobs = NestedBlobsOf(Do(R"(
      op { type: "DequeueBlobs" input: "ix" output: "t" }
      op { type: "DequeueBlobs" input: "ix" output: "t" }
      op { type: "CreateBlobsQueue" output: "iy" } op { type: "CloseBlobsQueue" input: "iy" })"));
  EXPECT_THAT(blobs.written, ElementsAre("x", "y"));
  EXPECT_THAT(blobs.queues, ElementsAre(Pair("x", QueueUse::kTakes)));
}

// Each use of a queue counts, whichever queue was used first.
TEST(NestedNetsTest, KnowsAllUsesOfEachQueue) {
  const NestedBlobs blobs = NestedBlobsOf(Do(R"(
      op { type: "DequeueBlobs" input: "ix" output: "t" }
      op { type: "EnqueueBlobs" input: "iy" input: "t" output: "t" }
      op { type: "EnqueueBlobs" input: "ix" input: "t" output: "t" }
      op { type: "CloseBlobsQueue" input: "ix" } op { type: "CloseBlobsQueue" input: "iy" }
      op { type: "EnqueueBlobs" input: "ix" input: "t" output: "t" })"));
  EXPECT_THAT(blobs.queues, ElementsAre(Pair("x", QueueUse::kTakes), Pair("y", QueueUse::kPuts),
                                        Pair("x", QueueUse::kPuts), Pair("x", QueueUse::kCloses),
                                        Pair("y", QueueUse::kCloses)));
}

OPERATOR_SCHEMA(NestedNetsTestModifies).NumInputs(4).NumOutputs(1).ModifiesInputs({0, 2, 3});

TEST(NestedNetsTest, AllModifiedInputsAreWritten) {
  const NestedBlobs blobs = BlobsOf(test::ParseNet(R"(
      op { type: "NestedNetsTestModifies" input: "a" input: "b" input: "c" input: "d" output: "y" })"));
  EXPECT_THAT(blobs.read, ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(blobs.written, ElementsAre("y", "a", "c", "d"));
}

// Queues of the operator's own workspace are nobody else's.
TEST(NestedNetsTest, QueuesInsideDoAreNotUsedOutside) {
  const NestedBlobs blobs = NestedBlobsOf(Do(R"(
      op { type: "CloseBlobsQueue" input: "own" }
      op { type: "DequeueBlobs" input: "ix" output: "iy" })"));
  EXPECT_THAT(blobs.queues, ElementsAre(Pair("x", QueueUse::kTakes)));
  EXPECT_THAT(blobs.written, ElementsAre("y", "x"));
}

// The nets of an operator in a net count for the net as its own operators do.
TEST(NestedNetsTest, BlobsOfANetIncludeThoseOfItsNestedNets) {
  const NestedBlobs blobs = BlobsOf(test::ParseNet(R"(
      op { type: "Relu" input: "a" output: "b" control_input: "k" }
      op { type: "EnqueueBlobs" input: "q" input: "b" output: "b" }
      op { type: "If" input: "c" arg { name: "nets" nets { op { type: "CreateBlobsQueue" output: "q" } }
                                       nets { op { type: "CountUp" input: "n" output: "b" } } } }
      op { type: "DequeueBlobs" input: "p" output: "d" }
      op { type: "EnqueueBlobs" input: "p" input: "d" output: "d" }
      op { type: "EnqueueBlobs" input: "p" input: "d" output: "d" } )"));
  EXPECT_THAT(blobs.read, ElementsAre("a", "k", "q", "b", "c", "n", "p", "d"));
  EXPECT_THAT(blobs.written, ElementsAre("b", "q", "n", "d", "p"));
  EXPECT_THAT(blobs.queues, ElementsAre(Pair("p", QueueUse::kTakes), Pair("p", QueueUse::kPuts)));
}

// An index counts the inputs and then the outputs, both without the scope.
TEST(NestedNetsTest, BindingsMayNameOutputsAndTheSameBlobTwice) {
  const OperatorDef op =
      ParseOp(R"(type: "Do" input: "x" input: "w" input: "S" output: "y" output: "S"
      arg { name: "inner_blobs" strings: "a" strings: "b" strings: "c" strings: "d" }
      arg { name: "outer_blobs_idx" ints: 2 ints: 0 ints: 0 ints: 3 } )");
  const NestedNames names(op, NestedNames());
  EXPECT_EQ(names.Find("a").name, "y");
  EXPECT_EQ(names.Find("b").name, "x");
  EXPECT_EQ(names.Find("c").name, "x");
  for (const char* held : {"d", "x", "S"}) {  // there is no blob 3, and names outside do not count
    EXPECT_EQ(names.Find(held).name, "S") << held;
    EXPECT_TRUE(names.Find(held).is_held) << held;
  }
  EXPECT_FALSE(names.Find("a").is_held);
  EXPECT_EQ(NestedNames().Find("v").name, "v");
  EXPECT_FALSE(NestedNames().Find("v").is_held);
  // An operator that is no Do denotes what the net around it does.
  const NestedNames inside(ParseOp(R"(type: "If" input: "S")"), names);
  EXPECT_EQ(inside.Find("a").name, "y");
  EXPECT_TRUE(inside.Find("x").is_held);
}

TEST(NestedNetsTest, CountsTheDepthUpToALimit) {
  const auto net = [](int depth) {
    std::string text;
    for (int i = 1; i < depth; ++i) text += "op { } op { arg { name: \"n\" n { ";
    for (int i = 1; i < depth; ++i) text += " } } }";
    return test::ParseNet(text);
  };
  EXPECT_EQ(NestingDepthOf(net(1), 10), 1);
  EXPECT_EQ(NestingDepthOf(net(2), 10), 2);
  EXPECT_EQ(NestingDepthOf(net(5), 10), 5);
  EXPECT_EQ(NestingDepthOf(net(5), 3), 3);
  EXPECT_EQ(NestingDepthOf(net(5), 1), 1);
  EXPECT_EQ(NestingDepthOf(test::ParseNet(R"(op { arg { name: "a" i: 1 } arg { name: "n" nets { }
                                                nets { op { arg { name: "n" n { } } } } } })"),
                           10),
            3);
}

std::string NetText(const OperatorDef& op, int arg = 0) {
  std::string text;
  for (const OperatorDef& inner : op.arg(arg).n().op()) {
    for (const std::string& input : inner.input()) text += input + " ";
    text += ">";
    for (const std::string& output : inner.output()) text += " " + output;
    text += "; ";
  }
  for (const std::string& output : op.arg(arg).n().external_output()) text += output + " ";
  return text;
}

TEST(NestedNetsTest, RenamesWhatANetWritesButNotWhatItReadsBefore) {
  const auto renamed = [](const std::string& type, const std::string& ops) {
    OperatorDef op = ParseOp("type: \"" + type + R"(" output: "x" output: "y"
        arg { name: "then_net" n { external_output: "y" )" +
                             ops + " } }");
    RenameOutput(&op, 1, "z");
    EXPECT_EQ(op.output(0), "x");
    EXPECT_EQ(op.output(1), "z");
    return NetText(op);
  };
  const std::string read = R"(op { input: "y" output: "t" } )", write = R"(op { output: "y" } )";
  EXPECT_EQ(renamed("If", write + read), "> z; z > t; z ");
  // The last write and what follows, because the net reads the value from outside first.
  EXPECT_EQ(renamed("If", read + write + read + write + read), "y > t; > y; y > t; > z; z > t; z ");
  EXPECT_EQ(renamed("If", read), "y > t; z ");
  EXPECT_EQ(renamed("If", R"(op { input: "y" output: "y" } )" + read), "y > z; z > t; z ");
  // The net of a Do has names of its own.
  EXPECT_EQ(renamed("Do", write + read), "> y; y > t; y ");
}

TEST(NestedNetsTest, RenamesInNetsOfNets) {
  OperatorDef op = ParseOp(R"(type: "If" output: "y" arg { name: "then_net" n {
      op { type: "If" output: "y" arg { name: "then_net" n { op { output: "y" } } } }
      op { type: "Do" input: "y" arg { name: "net" n { op { output: "y" } } } } } })");
  RenameOutput(&op, 0, "y");
  EXPECT_EQ(NetText(op), "> y; y >; ");
  RenameOutput(&op, 0, "z");
  EXPECT_EQ(NetText(op), "> z; z >; ");
  EXPECT_EQ(NetText(op.arg(0).n().op(0)), "> z; ");
  EXPECT_EQ(NetText(op.arg(0).n().op(1)), "> y; ");
}

TEST(NestedNetsTest, IgnoresBindingsThatTheOperatorRejects) {
  for (const char* bindings :
       {"", R"(arg { name: "inner_blobs" strings: "ix" })",
        R"(arg { name: "inner_blobs" strings: "ix" } arg { name: "outer_blobs_idx" ints: 2 })",
        R"(arg { name: "inner_blobs" strings: "ix" } arg { name: "outer_blobs_idx" ints: -1 })"}) {
    EXPECT_THAT(NestedBlobsOf(Do(R"(op { type: "Relu" input: "ix" output: "ix" })", bindings)).read,
                IsEmpty())
        << bindings;
  }
}

// Of a list of nets too, no more levels than the limit are visited.
TEST(NestedNetsTest, DepthsOfListsOfNetsEndAtTheLimit) {
  std::string text = R"(op { type: "Relu" })";
  for (int i = 0; i < 6; ++i) {
    text =
        R"(op { type: "T" arg { name: "n" nets { op { type: "Relu" } } nets { )" + text + " } } }";
    const NetDef net = test::ParseNet(text);
    for (int limit = 1; limit <= 9; ++limit) {
      EXPECT_EQ(NestingDepthOf(net, limit), std::min(i + 2, limit)) << i << " " << limit;
    }
  }
}

// What a net reads after it wrote it is not read from outside, whatever comes before.
TEST(NestedNetsTest, RenamesAllThatANetWritesFirst) {
  const auto renamed = [](const std::string& ops) {
    OperatorDef op =
        ParseOp(R"(type: "If" output: "y" arg { name: "then_net" n { )" + ops + " } }");
    RenameOutput(&op, 0, "z");
    return NetText(op);
  };
  const std::string other = R"(op { input: "a" output: "b" } )", write = R"(op { output: "y" } )",
                    read = R"(op { input: "y" output: "t" } )";
  EXPECT_EQ(renamed(other + write + read + write), "a > b; > z; z > t; > z; ");
  EXPECT_EQ(renamed(other + read + write + read + write), "a > b; y > t; > y; y > t; > z; ");
}

// Names that the Do around binds are no names in the net of a Do inside.
TEST(NestedNetsTest, BindingsEndInTheNextScope) {
  const auto inside = [](const std::string& bindings) {
    return NestedBlobsOf(Do(R"(op { type: "CreateScope" output: "T" }
        op { type: "Do" input: "ix" input: "T" output: "T" )" +
                            bindings + R"(
             arg { name: "net" n { op { type: "Relu" input: "ix" output: "iy" } } } })"));
  };
  const NestedBlobs other =
      inside(R"(arg { name: "inner_blobs" strings: "p" } arg { name: "outer_blobs_idx" ints: 0 })");
  EXPECT_THAT(other.read, ElementsAre("x"));  // as an input of the Do
  EXPECT_THAT(other.written, IsEmpty());
  const NestedBlobs bound = inside(
      R"(arg { name: "inner_blobs" strings: "iy" } arg { name: "outer_blobs_idx" ints: 0 })");
  EXPECT_THAT(bound.read, ElementsAre("x"));
  EXPECT_THAT(bound.written, ElementsAre("x"));
}

TEST(NestedNetsTest, BindingsCountAllOutputs) {
  const OperatorDef op =
      ParseOp(R"(type: "Do" input: "x" input: "S" output: "y" output: "z" output: "S"
      arg { name: "inner_blobs" strings: "a" strings: "b" strings: "c" }
      arg { name: "outer_blobs_idx" ints: 1 ints: 2 ints: 0 } )");
  const NestedNames names(op, NestedNames());
  EXPECT_EQ(names.Find("a").name, "y");
  EXPECT_EQ(names.Find("b").name, "z");
  EXPECT_EQ(names.Find("c").name, "x");
}

}  // namespace
}  // namespace caffe2rt::nested_nets_test
