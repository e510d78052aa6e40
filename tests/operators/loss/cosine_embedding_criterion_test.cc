#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::cosine_embedding_criterion_test {
namespace {

TEST(CosineEmbeddingCriterionTest, SeparatesPairs) {
  ExpectResults({
      {"CosineEmbeddingCriterion S Y -> L margin=0.25",
       "S f 2,2 = 0.5,-0.25,0.125,1; Y i 4 = 1,-1,2,0", "L f 2,2 = 0.5,0,0,0.75"},
      {"CosineEmbeddingCriterion S Y -> L", "S f - = 0.5; Y i - = -1", "L f - = 0.5"},
      {"CosineEmbeddingCriterion S Y -> L", "S f 0; Y i 0", "L f 0"},
      // At the margin, the loss begins to grow, as in Caffe2.
      {"CosineEmbeddingCriterionGradient S Y G -> D margin=0.25",
       "S f 4 = 0.5,-0.25,0.25,1; Y i 4 = 1,-1,-1,0; G f 4 = 1,2,3,4", "D f 4 = -1,0,3,4"},
  });
  EXPECT_EQ(
      DescribeGradient(R"(type: "CosineEmbeddingCriterion" input: "S" input: "Y" output: "L")"),
      "CosineEmbeddingCriterionGradient(S,Y,L_grad)->S_grad | S_grad -");
  ExpectInferred({{"CosineEmbeddingCriterion S Y -> L", "S f 2,2; Y i 4", "float [2, 2]"}});
}

TEST(CosineEmbeddingCriterionTest, RejectsOtherSizes) {
  ExpectRejected({
      {"CosineEmbeddingCriterion S Y -> L", "S f 2,2; Y i 3",
       "elements of input 1, want those of input 0 (S) of shape [2, 2] (got 3, want 4)"},
      {"CosineEmbeddingCriterionGradient S Y G -> D", "S f 4; Y i 4; G f 3",
       "elements of input 2, want those of input 0 (S) of shape [4] (got 3, want 4)"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::cosine_embedding_criterion_test
