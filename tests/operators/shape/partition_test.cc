#include <cstdint>
#include <limits>
#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::partition_test {
namespace {

TEST(PartitionTest, DistributesByTheRemainder) {
  ExpectResults({
      // -1 and -2 divided by 3 leave 2 and 1.
      {"Partition K X -> A P B Q C R", "K i 5 = 4,-1,3,-2,7; X f 5,2 = 1,2,3,4,5,6,7,8,9,10",
       "A i 1 = 3; P f 1,2 = 5,6; B i 3 = 4,-2,7; Q f 3,2 = 1,2,7,8,9,10; C i 1 = -1; "
       "R f 1,2 = 3,4"},
      // The keys are 2 * packed + shard.
      {"Partition K -> A B pack_first_input=1", "K l 6 = 0,1,5,-1,-2,-3",
       "A l 2 = 0,-1; B l 4 = 0,2,-1,-2"},
      {"Partition K X -> A P", "K l 2,1 = 9,8; X b 2,1 = 1,0", "A l 2 = 9,8; P b 2 = 1,0"},
      {"Partition K X -> A P B Q", "K l - = 1; X f 2 = 5,6",
       "A l 0; P f 0,2; B l 1 = 1; Q f 1,2 = 5,6"},
      {"Partition K X -> A P B Q", "K l 0; X f 0", "A l 0; P f 0; B l 0; Q f 0"},
      {"Partition K X -> A P B Q", "K l 2 = 1; X d 2,0", "A l 0; P d 0,0; B l 2 = 1; Q d 2,0"},
  });
  Workspace ws;
  Feed<int64_t>(&ws, "K", {3}, {0, 1, 2});
  Feed<std::string>(&ws, "X", {3}, {"a", "b", "c"});
  RunOp(&ws, R"(type: "Partition" input: "K" input: "X" output: "A" output: "P" output: "B"
                output: "Q")");
  ExpectTensor<std::string>(ws, "P", {2}, {"a", "c"});
  ExpectTensor<std::string>(ws, "Q", {1}, {"b"});
  // -2^63 = 3 * -3074457345618258603 + 1, and 2^63 - 1 leaves 1, too.
  using Limits = std::numeric_limits<int64_t>;
  Feed<int64_t>(&ws, "K", {2}, {Limits::min(), Limits::max()});
  RunOp(&ws, R"(type: "Partition" input: "K" output: "A" output: "B" output: "C"
                arg { name: "pack_first_input" i: 1 })");
  ExpectTensor<int64_t>(ws, "B", {2}, {-3074457345618258603, 3074457345618258602});
}

TEST(LengthsPartitionTest, CountsTheKeysOfEachShard) {
  ExpectResults({
      {"LengthsPartition L K X -> M A P N B Q", "L i 3 = 1,0,3; K l 4 = 0,1,2,3; X f 4 = 5,6,7,8",
       "M i 3 = 1,0,1; A l 2 = 0,2; P f 2 = 5,7; N i 3 = 0,0,2; B l 2 = 1,3; Q f 2 = 6,8"},
      {"LengthsPartition L K -> M A N B pack_first_input=1", "L i 2,1 = 1,2; K i 3 = -3,4,5",
       "M i 2 = 0,1; A i 1 = 2; N i 2 = 1,1; B i 2 = -2,2"},
      {"LengthsPartition L K -> M A N B", "L i 2 = 0; K l 0", "M i 2 = 0; A l 0; N i 2 = 0; B l 0"},
  });
}

TEST(GatherByKeyTest, PutsShardsTogether) {
  ExpectResults({
      {"GatherByKey K A B C -> Y",
       "K i 4 = 4,-1,3,-2; A f 1,2 = 1,2; B f 2,2 = 3,4,5,6; "
       "C f 1,2 = 7,8",
       "Y f 4,2 = 3,4,7,8,1,2,5,6"},
      {"GatherByKey K A -> Y", "K l 3 = 5,0,-1; A b 3 = 1,0,1", "Y b 3 = 1,0,1"},
      {"GatherByKey K A B -> Y", "K l 2 = 0; A l 2 = 8,9; B l 0", "Y l 2 = 8,9"},
      {"GatherByKey K A B -> Y", "K l 0; A d 0,2; B d 0,2", "Y d 0,2"},
      {"GatherByKey K A B -> Y", "K l 2 = 1; A f 0,0; B f 2,0", "Y f 2,0"},
  });
  EXPECT_EQ(DescribeGradient(R"(type: "GatherByKey" input: "K" input: "A" input: "B" output: "Y")"),
            "Partition(K,Y_grad)->_A_grad_keys,A_grad,_B_grad_keys,B_grad pack_first_input=0 | - "
            "A_grad B_grad");
  EXPECT_EQ(DescribeGradient(R"(type: "Partition" input: "K" input: "X" output: "A" output: "B")"),
            " | - -");
  EXPECT_EQ(
      DescribeGradient(R"(type: "LengthsPartition" input: "L" input: "K" output: "A" output: "B")"),
      " | - -");
}

TEST(PartitionTest, InfersTypes) {
  ExpectInferred({
      {"Partition K X -> A P B Q", "K l 3; X d 3,2", "int64 ?; double ?; int64 ?; double ?"},
      {"LengthsPartition L K -> M A N B", "L i 2,2; K l 3",
       "int32 [4]; int64 ?; int32 [4]; "
       "int64 ?"},
      {"LengthsPartition L K -> M A N B", "L i ?; K l 3", "int32 ?; int64 ?; int32 ?; int64 ?"},
      {"GatherByKey K A B -> Y", "K l 5; A d 3,2; B d 2,2", "double [5, 2]"},
      {"GatherByKey K A B -> Y", "K l ?; A d 3,2; B d 2,2", "double ?"},
  });
}

TEST(PartitionTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"Partition K -> A B", "K f 1",
       "Unsupported type of tensor: input 0 (keys) has elements of type float, want int32, int64"},
      {"Partition K X -> A P B Q", "K l 2; X f 3",
       "input 1 has shape [3], want that of input 0 (keys), [2], or with more dimensions behind"},
      {"Partition K X -> A P B Q", "K l 2,2; X f 2",
       "input 1 has shape [2], want that of input 0 (keys), [2, 2], or with more dimensions "
       "behind"},
      {"LengthsPartition L K -> M A N B", "L i 1 = 1; K l 1,1",
       "rank of input 1 (keys): got 2, want 1"},
      {"LengthsPartition L K -> M A N B", "L l 1 = 1; K l 1",
       "the tensor holds elements of type int64, want int32"},
      {"LengthsPartition L K -> M A N B", "L i 1 = 1; K u 1",
       "Unsupported type of tensor: input 1 (keys) has elements of type uint8, want int32, int64"},
      {"LengthsPartition L K -> M A N B", "L i 2 = 1,1; K l 3",
       "sum of the lengths, want the elements of input 1 (keys) (got 2, want 3)"},
      {"LengthsPartition L K -> M A N B", "L i 2 = 4,-1; K l 3",
       "element 1 of input 0 (lengths), want at least 0 (got -1, want at least 0)"},
      {"LengthsPartition L K X -> M A P N B Q", "L i 1 = 2; K l 2; X f 1,2",
       "input 2 has shape [1, 2], want that of input 1 (keys), [2], or with more dimensions "
       "behind"},
      {"GatherByKey K A -> Y", "K l 1,1; A f 1",
       "rank of input 0 (keys) of shape [1, 1]: got 2, want 1"},
      {"GatherByKey K A -> Y", "K l 1; A f -", "rank of input 1 (values): got 0, want at least 1"},
      {"GatherByKey K A B -> Y", "K l 1; A f 1; B d 0",
       "input 2 has elements of type double, want that of input 1, float"},
      {"GatherByKey K A B -> Y", "K l 1; A f 1,2; B f 0,3",
       "input 2 has shape [0, 3], want that of input 1, [1, 2], except in dimension 0"},
      {"GatherByKey K A B -> Y", "K l 1; A f 1; B f 0,3",
       "input 2 has shape [0, 3], want that of input 1, [1], except in dimension 0"},
      // As many rows as keys, but not in each shard.
      {"GatherByKey K A B -> Y", "K l 3 = 0,1,1; A f 2; B f 1",
       "dim 0 of input 1 (values), want the number of keys of the shard (got 2, want 1)"},
      {"GatherByKey K A -> Y", "K f 1; A f 1",
       "Unsupported type of tensor: input 0 (keys) has elements of type float, want int32, int64"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::partition_test
