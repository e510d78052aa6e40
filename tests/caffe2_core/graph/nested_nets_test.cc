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

}  // namespace
}  // namespace caffe2rt::nested_nets_test
