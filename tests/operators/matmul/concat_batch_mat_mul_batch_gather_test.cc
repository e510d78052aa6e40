#include <string>

#include "caffe2_core/runtime/net.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::concat_batch_mat_mul_batch_gather_test {
namespace {

const std::string kThree = "ConcatBatchMatMulBatchGatherOp I X Y Z -> P";
const std::string kInputs = "X f 2,2 = 1,2,3,4; Y f 2,2 = 5,6,7,8; Z f 2,2 = -1,2,0,1; ";

// The scalar products of the first example are [[5, 17, 3], [17, 61, 7], [3, 7, 5]], those of the
// second one [[25, 53, 4], [53, 113, 8], [4, 8, 1]].
TEST(ConcatBatchMatMulBatchGatherTest, ReturnsScalarProductsOfPairs) {
  ExpectResults({
      {kThree, kInputs + "I i 9 = 0,1,2,3,4,5,6,7,8",
       "P f 2,9 = 5,17,3,17,61,7,3,7,5,25,53,4,53,113,8,4,8,1"},
      {kThree, kInputs + "I i 3 = 8,3,8", "P f 2,3 = 5,17,5,1,53,1"},
      {kThree, kInputs + "I i 0", "P f 2,0"},
      {"ConcatBatchMatMulBatchGatherOp I X -> P", "I i 1 = 0; X f 2,3 = 1,2,3,4,5,6",
       "P f 2,1 = 14,77"},
      {"ConcatBatchMatMulBatchGatherOp I X Y -> P", "I i 1 = 1; X f 0,3; Y f 0,3", "P f 0,1"},
      {"ConcatBatchMatMulBatchGatherOp I X Y -> P", "I i 2 = 1,0; X f 2,0; Y f 2,0", "P f 2,2 = 0"},
      {"ConcatBatchMatMulBatchGatherOp I X Y -> P", "I i 1 = 1; X f 2 = 3,4; Y f 2 = 5,6",
       "P f 2,1 = 15,24"},
  });
  ExpectInferred({{kThree, "I i 4; X f 7,2; Y f 7,2; Z f 7,2", "float [7, 4]"},
                  {kThree, "I i ?; X f 7,2; Y f 7,2; Z f 7,2", "float ?"}});
}

TEST(ConcatBatchMatMulBatchGatherTest, RejectsInvalidCalls) {
  const std::string range = ", want at least 0 and below 9, the square of the number of tensors";
  ExpectRejected({
      {kThree, kInputs + "I i 2 = 0,9", "element 1 of input 0 (indices) is 9" + range},
      {kThree, kInputs + "I i 1 = -1", "element 0 of input 0 (indices) is -1" + range},
      {kThree, kInputs + "I i 1,2 = 0", "rank of input 0 (indices): got 2, want 1"},
      {kThree, "X f 2,2; Y f 2,3; Z f 2,2; I i 1 = 0",
       "input 2 has shape [2, 3], want [2, 2] as input 1"},
      {"ConcatBatchMatMulBatchGatherOp I -> P", "I i 1 = 0",
       "inputs, want the indices and one tensor or more (got 1, want at least 2)"},
  });
}

TEST(ConcatBatchMatMulBatchGatherTest, AllocatesNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  FeedRandom(&ws, "X", {3, 4});
  FeedRandom(&ws, "Y", {3, 4});
  Feed<int32_t>(&ws, "I", {2}, {3, 1});
  NetBase* const net = ws.CreateNet(ParseNet(R"(name: "n" op {
    type: "ConcatBatchMatMulBatchGatherOp" input: "I" input: "X" input: "Y" output: "P" })"));
  ASSERT_TRUE(net->Run());
  AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
}

}  // namespace
}  // namespace caffe2rt::test::concat_batch_mat_mul_batch_gather_test
