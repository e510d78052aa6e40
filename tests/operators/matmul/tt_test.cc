#include <string>

#include "caffe2_core/runtime/net.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::tt_test {
namespace {

const std::string kTwoCores = "TT X B C -> Y inp_sizes=2,2 out_sizes=2,2 tt_ranks=1,1,1";

TEST(TTTest, MultipliesByTheProductOfTheCores) {
  ExpectResults({
      // With one core of 1, the other one is the weights: [1, 2] * [[1, 2, 3], [4, 5, 6]].
      {"TT X B C -> Y inp_sizes=1,2 out_sizes=1,3 tt_ranks=1,1,1",
       "X f 1,2 = 1,2; B f 3 = 10,20,30; C f 7 = 1,2,3,4,5,6,1", "Y f 1,3 = 19,32,45"},
      // The weights are the Kronecker product of [[5, 6], [7, 8]], of the first factor, and
      // [[1, 2], [3, 4]], whose column sums are 12, 14 and 4, 6.
      {kTwoCores, "X f 1,4 = 1; B f 4 = 0; C f 8 = 1,2,3,4,5,6,7,8", "Y f 1,4 = 48,72,56,84"},
      {kTwoCores, "X f 0,2,2; B f 4; C f 8", "Y f 0,4"},
  });
  ExpectInferred({{kTwoCores, "X f 3,4; B f 4; C f 8", "float [3, 4]"},
                  {kTwoCores, "X f ?; B f 4; C f 8", "float ?"}});
}

// Recorded from Caffe2.
TEST(TTTest, OrdersTheResultsOfSeveralRowsAsCaffe2) {
  ExpectResults({{kTwoCores, "X f 3,4 = 1; B f 4 = 0; C f 8 = 1,2,3,4,5,6,7,8",
                  "Y f 3,4 = 48,72,56,48,72,84,48,56,84,72,56,84"}});
}

TEST(TTTest, RejectsInvalidCalls) {
  ExpectRejected({
      {kTwoCores, "X f 4; B f 4; C f 8",
       "rank of input 0 (X) of shape [4]: got 1, want at least 2"},
      {kTwoCores, "X f 1,5; B f 4; C f 8",
       "elements of a row of input 0 (X) of shape [1, 5], want the product of inp_sizes (got 5, "
       "want 4)"},
      {kTwoCores, "X f 1,4; B f 5; C f 8",
       "input 1 (b) has shape [5], want [4], the product of out_sizes"},
      {kTwoCores, "X f 1,4; B f 4; C f 2,4",
       "rank of input 2 (cores) of shape [2, 4]: got 2, want 1"},
      {kTwoCores, "X f 1,4; B f 4; C f 7", "elements of input 2 (cores): got 7, want at least 8"},
      {"TT X B C -> Y inp_sizes=2,1 out_sizes=2,2,2 tt_ranks=1,1,1", "X f 1,2; B f 4; C f 8",
       "elements of argument out_sizes: got 3, want 2"},
      {"TT X B C -> Y inp_sizes=2,1 out_sizes=2,1 tt_ranks=1,1", "X f 1,2; B f 2; C f 4",
       "elements of argument tt_ranks: got 2, want 3"},
      {"TT X B C -> Y inp_sizes=2,1 out_sizes=2,1 tt_ranks=2,1,1", "X f 1,2; B f 2; C f 8",
       "argument tt_ranks is [2, 1, 1], want 1 at both ends"},
      {"TT X B C -> Y inp_sizes=0,2 out_sizes=2,1 tt_ranks=1,1,1", "X f 1,2; B f 2; C f 8",
       "argument inp_sizes: got 0, want at least 1"},
  });
}

TEST(TTTest, AllocatesNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 2}, 1);
  FeedRange<float>(&ws, "B", {3});
  FeedRange<float>(&ws, "C", {7}, 1);
  NetBase* const net = ws.CreateNet(ParseNet(R"(
      name: "n"
      op { type: "TT" input: "X" input: "B" input: "C" output: "Y" arg { name: "inp_sizes" ints: 1 ints: 2 }
           arg { name: "out_sizes" ints: 1 ints: 3 } arg { name: "tt_ranks" ints: 1 ints: 1 ints: 1 } })"));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  const AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  // [1, 2] * [[1, 2, 3], [4, 5, 6]] * 7 + [0, 1, 2]
  ExpectTensor<float>(ws, "Y", {1, 3}, {63, 85, 107});
}

}  // namespace
}  // namespace caffe2rt::test::tt_test
