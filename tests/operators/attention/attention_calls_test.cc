// Whole messages of MultiHeadAttention, shapes next to the bounds, and inferred shapes.
#include <gtest/gtest.h>

#include "operators/attention/attention_kernel.h"
#include "tests/operators/common/call_tables.h"
#include "tests/operators/common/run_rows.h"

namespace caffe2rt::test::attention_calls_test {
namespace {

TEST(AttentionRefusalsTest, NameShapesAndWhatTheyMustAgreeWith) {
  const std::string operand = ", want [batch, rows, columns] with columns that are a multiple of ";
  const char* const qkv = "MultiHeadAttention Q K V -> Y heads=2";
  const char* const masked = "MultiHeadAttention Q K V M -> Y heads=2";
  ExpectRejected({
      {qkv, "Q f 2,4; K f 1,3,4; V f 1,3,4", "input 0 (Q) has shape [2, 4]" + operand + "2 heads"},
      {qkv, "Q f 1,2,4; K f 1,3,5; V f 1,3,4",
       "input 1 (K) has shape [1, 3, 5]" + operand + "2 heads"},
      {qkv, "Q f 1,2,4; K f 1,3,4; V f 1,1,3,4",
       "input 2 (V) has shape [1, 1, 3, 4]" + operand + "2 heads"},
      {qkv, "Q f 1,2,4; K f 1,3,6; V f 1,3,4",
       "input 1 (K) has heads of size 3, want 2 as input 0 (Q)"},
      {qkv, "Q f 1,2,4; K f 1,3,4; V f 1,5,4",
       "input 2 (V) has heads of 5 rows, want 3 as input 1 (K)"},
      {qkv, "Q f 2,2,4; K f 3,3,4; V f 1,3,4",
       "input 1 (K) has batch size 3, want 2 as the other inputs, or 1"},
      {qkv, "Q f 1,2,4; K f 2,3,4; V f 3,3,4",
       "input 2 (V) has batch size 3, want 2 as the other inputs, or 1"},
      {masked, "Q f 2,2,4; K f 2,3,4; V f 2,3,4; M f 1,1,1,1,1",
       "rank of input 3 (mask) of shape [1, 1, 1, 1, 1], want at most 4 (got 5, want at most 4)"},
      {masked, "Q f 2,2,4; K f 2,3,4; V f 2,3,4; M f 3,1,1,1",
       "input 3 (mask) has batch size 3, want 2 as the other inputs, or 1"},
      {masked, "Q f 2,2,4; K f 2,3,4; V f 2,3,4; M f 3,1,1",
       "input 3 (mask) has shape [3, 1, 1], want one that can be broadcast to [2, 2, 2, 3]: batch, "
       "heads, queries, keys"},
      {masked, "Q f 2,2,4; K f 2,3,4; V f 2,3,4; M f 3,3",
       "input 3 (mask) has shape [3, 3], want one that can be broadcast to [2, 2, 2, 3]: batch, "
       "heads, queries, keys"},
      {masked, "Q f 2,2,4; K f 2,3,4; V f 2,3,4; M f 2",
       "input 3 (mask) has shape [2], want one that can be broadcast to [2, 2, 2, 3]: batch, "
       "heads, "
       "queries, keys"},
      {masked + std::string(" mask_rank=3"), "Q f 2,2,4; K f 2,3,4; V f 2,3,4; M f 1,1,1,3",
       "rank of input 3 (mask) of shape [1, 1, 1, 3], want at most 3 (got 4, want at most 3)"},
      {"MultiHeadAttention Q K V M -> Y mask_rank=5", "Q f 2,2,4; K f 2,3,4; V f 2,3,4; M f 1",
       "argument \"mask_rank\" is 5, want 0 to 4"},
      {qkv + std::string(" equal_keys=1"), "Q f 2,2,4; K f 1,3,4; V f 1,3,4",
       "heads of all batches of input 1 (K), want as many as those that they are multiplied by "
       "(got 2, want 4)"},
      {qkv + std::string(" equal_values=1"), "Q f 1,2,4; K f 1,3,4; V f 2,3,4",
       "heads of all batches of input 2 (V), want as many as those that they are multiplied by "
       "(got 4, want 2)"},
      {masked, "Q f 1,2,4; K f 1,1,4; V f 1,1,4; M f 3",
       "input 2 (V) has heads of 1 rows, want 3 as input 1 (K) with the mask"},
      {"MultiHeadAttention Q K V -> Y heads=0", "Q f 2,2,4; K f 2,3,4; V f 2,3,4",
       "argument \"heads\" is 0, want above 0"},
      {"MultiHeadAttention Q K V -> Y precision=int8", "Q f 2,2,4; K f 2,3,4; V f 2,3,4",
       "argument \"precision\" is \"int8\", want f32 or bf16"},
  });
}

TEST(AttentionRefusalsTest, NameShapesOfArguments) {
  ExpectRejected({
      {"MultiHeadAttention Q K V -> Y query_shape=0,0,0 key_shape=0,0,0 value_shape=0,0,0",
       "Q f 2,4; K f 3,1,4; V f 3,1,4", "rank of input 0 (Q) of shape [2, 4]: got 2, want 3"},
      {"MultiHeadAttention Q K V -> Y query_shape=0,0,2,2 key_shape=0,0,3,-1 value_shape=0,0,2,2",
       "Q f 1,2,4; K f 1,3,6; V f 1,3,4",
       "input 1 (K) has heads 3, want 2 as the other inputs, or 1"},
      {"MultiHeadAttention Q K V -> Y query_shape=0,0,1,4 key_shape=0,0,2,4 value_shape=0,0,3,4",
       "Q f 1,2,4; K f 1,3,8; V f 1,3,12",
       "input 2 (V) has heads 3, want 2 as the other inputs, or 1"},
      {"MultiHeadAttention Q K V -> Y output_shape=5,-1", "Q f 1,2,4; K f 1,3,4; V f 1,3,4",
       "input 0 has shape [1, 2, 1, 4], 8 elements, which cannot be divided into shape [5, -1]"},
      {"MultiHeadAttention Q K V -> Y output_shape=0,0,0", "Q f 1,2,4; K f 1,3,4; V f 1,3,4",
       "rank of the result of shape [1, 2, 1, 4]: got 4, want 3"},
      {"MultiHeadAttention Q K V -> Y query_shape=1,2", "Q f 1,2,4; K f 1,3,4; V f 1,3,4",
       "argument \"query_shape\" is [1, 2], want 3 or 4 dimensions"},
      {"MultiHeadAttention Q K V -> Y key_shape=1,2,3,4,5", "Q f 1,2,4; K f 1,3,4; V f 1,3,4",
       "argument \"key_shape\" is [1, 2, 3, 4, 5], want 3 or 4 dimensions"},
      {"MultiHeadAttention Q K V -> Y value_shape=1,", "Q f 1,2,4; K f 1,3,4; V f 1,3,4",
       "argument \"value_shape\" is [1], want 3 or 4 dimensions"},
  });
}

// With equal scores the result is the mean of the values.
TEST(AttentionCallsTest, KeepsTheShapesThatZerosState) {
  ExpectResults({
      // A mask of more rows than Q gives each of them a result.
      {"MultiHeadAttention Q K V M -> Y",
       "Q f 1,1,1 = 0; K f 1,2,1 = 1; V f 1,2,1 = 10,20; M f 2,2 = 0,-1000,-1000,0",
       "Y f 1,2,1 = 10,20"},
      {"MultiHeadAttention Q K V M -> Y",
       "Q f 1,1,1 = 0; K f 1,2,1 = 1; V f 1,2,1 = 10,20; M f 1,2,1 = 3,5", "Y f 1,2,1 = 15"},
      // One head and no batch: the result has none either, unless another operand has one.
      {"MultiHeadAttention Q K V -> Y query_shape=0,0,0 key_shape=0,0,0 value_shape=0,0,0",
       "Q f 1,2,1 = 0; K f 2,2,1 = 1; V f 2,2,1 = 1,2,3,4", "Y f 1,2 = 2,3"},
      {"MultiHeadAttention Q K V -> Y query_shape=0,0,0 key_shape=0,0,0,0 value_shape=0,0,0",
       "Q f 1,2,1 = 0; K f 1,2,2,1 = 1; V f 2,2,1 = 1,2,3,4", "Y f 1,1,2 = 2,3"},
      {"MultiHeadAttention Q K V -> Y query_shape=0,0,0 key_shape=0,0,0 value_shape=0,0,0,0",
       "Q f 1,2,1 = 0; K f 2,2,1 = 1; V f 1,2,2,1 = 1,2,3,4", "Y f 1,1,2 = 2,3"},
      {"MultiHeadAttention Q K V -> Y query_shape=0,0,0,0 key_shape=0,0,0 value_shape=0,0,0",
       "Q f 1,1,2,1 = 0; K f 2,2,1 = 1; V f 2,2,1 = 1,2,3,4", "Y f 1,1,2 = 2,3"},
      {"MultiHeadAttention Q K V M -> Y query_shape=0,0,0 key_shape=0,0,0 value_shape=0,0,0",
       "Q f 1,2,1 = 0; K f 2,2,1 = 1; V f 2,2,1 = 1,2,3,4; M f 2,1,1,1 = 0,5", "Y f 2,1,2 = 2,3"},
      {"MultiHeadAttention Q K V -> Y query_shape=0,0,0 key_shape=0,0,0 value_shape=0,0,0 "
       "output_shape=0,0,0",
       "Q f 1,2,1 = 0; K f 2,2,1 = 1; V f 2,2,1 = 1,2,3,4", "Y f 1,2,1 = 2,3"},
      // With one key the result of each head is its value.
      {"MultiHeadAttention Q K V -> Y heads=2",
       "Q f 2,1,2 = 5,-7; K f 2,1,2 = 3,1; V f 2,1,4 = 1,2,3,4,5,6,7,8",
       "Y f 2,1,4 = 1,2,3,4,5,6,7,8"},
      {"MultiHeadAttention Q K V -> Y heads=3",
       "Q f 1,2,3 = 5,-7,2; K f 1,1,3 = 3,1,9; V f 1,1,3 = 1,2,3", "Y f 1,2,3 = 1,2,3"},
      // A mask of two images and one head, and of two images and all heads.
      {"MultiHeadAttention Q K V M -> Y heads=2",
       "Q f 2,1,2 = 0; K f 2,2,2 = 1; V f 2,2,2 = 1,2,3,4,5,6,7,8; M f 2,1,1,2 = 0,-inf,-inf,0",
       "Y f 2,1,2 = 1,2,7,8"},
      {"MultiHeadAttention Q K V M -> Y heads=2",
       "Q f 2,1,2 = 0; K f 2,2,2 = 1; V f 2,2,2 = 1,2,3,4,5,6,7,8; M f 2,2,1,2 = 0,-inf,-inf,0",
       "Y f 2,1,2 = 1,4,5,8"},
      // One key is repeated for each number of the mask. Heads may be equal only in all.
      {"MultiHeadAttention Q K V M -> Y equal_keys=1 equal_values=1",
       "Q f 1,1,1 = 0; K f 1,1,1 = 1; V f 1,2,1 = 10,30; M f 2 = 0", "Y f 1,1,1 = 20"},
      {"MultiHeadAttention Q K V -> Y equal_keys=1 query_shape=2,1,1,1 key_shape=1,1,2,1 "
       "value_shape=1,1,1,1",
       "Q f 2 = 0; K f 2 = 1; V f 1 = 5", "Y f 2,1,2 = 5"},
      // Without keys the product with no values is 0, whatever the mask is.
      {"MultiHeadAttention Q K V -> Y heads=1", "Q f 1,2,1; K f 1,0,1; V f 1,0,2", "Y f 1,2,2 = 0"},
  });
}

// Every operand may be the one whose batch the others follow, also one without images.
TEST(AttentionCallsTest, ABatchOfOneFollowsAnyOther) {
  for (const int batch : {0, 1, 3}) {
    for (int wide = 0; wide < 16; ++wide) {  // which of Q, K, V and M have the batch
      const auto size = [&](int operand) { return (wide >> operand & 1) != 0 ? batch : 1; };
      // Values of 5 have a mean of 5.
      ExpectResults({{"MultiHeadAttention Q K V M -> Y heads=2",
                      MakeString("Q f ", size(0), ",2,4; K f ", size(1), ",3,4; V f ", size(2),
                                 ",3,4 = 5; M f ", size(3), ",1,2,3"),
                      MakeString("Y f ", wide == 0 ? 1 : batch, ",2,4 = 5")}});
    }
  }
}

TEST(AttentionCallsTest, InfersTheShapeOfTheResult) {
  ExpectInferred({
      {"MultiHeadAttention Q K V -> Y heads=2", "Q f 1,5,4; K f 3,7,4; V f 1,7,6",
       "float [3, 5, 6]"},
      {"MultiHeadAttention Q K V M -> Y", "Q f 1,1,4; K f 1,7,4; V f 1,7,6; M f 2,3,5,7",
       "float [2, 5, 18]"},
      {"MultiHeadAttention Q K V M -> Y", "Q f 1,1,4; K f 1,7,4; V f 1,7,6; M f ?", "? ?"},
      {"MultiHeadAttention Q K V -> Y", "Q f 1,1,4; K f 1,7,4; V f ?", "? ?"},
  });
}

TEST(AttentionRunsTest, FollowTheirInputsAndRecoverFromErrors) {
  ExpectRuns(
      "MultiHeadAttention Q K V M -> Y",
      {{"Q f 1,2,1 = 0; K f 1,2,1 = 1; V f 1,2,1 = 10,20; M f 2 = 0,-inf", "Y f 1,2,1 = 10,10"},
       {"M f 2,2 = 0,-inf,-inf,0", "Y f 1,2,1 = 10,20"},
       {"M f 2,1 = 0,5", "Y f 1,2,1 = 15,15"},
       {"M f 1 = 7", "Y f 1,2,1 = 15,15"},
       {"M f 1,2 = -inf,0", "Y f 1,2,1 = 20,20"},
       {"M f 2,1,2 = 0,-inf,-inf,0", "Y f 1,2,2 = 10,20,10,20"},
       {"M f 2,1,1,2 = 0,-inf,-inf,0", "Y f 2,2,1 = 10,10,20,20"},
       {"M f 3", "", "input 3 (mask) has shape [3]"},
       {"M f 2 = -inf,0", "Y f 1,2,1 = 20,20"},
       {"V f 1,2,2 = 1,2,3,4", "Y f 1,2,2 = 3,4,3,4"},
       {"Q f 1,1,1 = 0", "Y f 1,1,2 = 3,4"},
       {"K f 1,1,1 = 2; V f 1,1,2 = 5,6", "", "input 2 (V) has heads of 1 rows, want 2"},
       {"M f 1 = 0", "Y f 1,1,2 = 5,6"}});
  ExpectRuns("MultiHeadAttention Q K V -> Y heads=2",
             {{"Q f 1,1,2 = 0; K f 1,2,2 = 1; V f 1,2,2 = 1,2,3,4", "Y f 1,1,2 = 2,3"},
              {"V f 3,2,2 = 1,2,3,4,5,6,7,8,9,10,11,12", "Y f 3,1,2 = 2,3,6,7,10,11"},
              {"K f 3,2,4 = 1", "", "input 1 (K) has heads of size 2, want 1"},
              {"Q f 3,2,4 = 0", "Y f 3,2,2 = 2,3,2,3,6,7,6,7,10,11,10,11"},
              {"V f 1,2,4 = 1,2,3,4,5,6,7,8", "Y f 3,2,4 = 3,4,5,6"}});
}

// Few heads that do not divide among the threads are cut, by at most one part for each tile of 12
// queries.
TEST(AttentionItemsTest, AreCutWhereTheHeadsDoNotDivide) {
  const auto items = [](int64_t batch, int64_t heads, int64_t queries, int threads) {
    AttentionShape shape;
    shape.batch = batch;
    shape.heads = heads;
    shape.queries = queries;
    const AttentionItems items = DivideAttention(shape, threads);
    return std::pair(items.parts, items.count);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(items(1, 3, 100, 4), Pair(4, 12));
  EXPECT_EQ(items(2, 2, 100, 4), Pair(1, 4));
  EXPECT_EQ(items(3, 5, 100, 4), Pair(4, 60));   // 15 heads, fewer than 4 for each thread
  EXPECT_EQ(items(1, 17, 100, 4), Pair(1, 17));  // more
  EXPECT_EQ(items(1, 3, 24, 4), Pair(2, 6));
  EXPECT_EQ(items(1, 3, 25, 4), Pair(3, 9));
  EXPECT_EQ(items(1, 3, 0, 4), Pair(1, 3));
  EXPECT_EQ(items(0, 3, 100, 4), Pair(1, 0));
  EXPECT_EQ(items(1, 3, 100, 1), Pair(1, 3));
}

}  // namespace
}  // namespace caffe2rt::test::attention_calls_test
