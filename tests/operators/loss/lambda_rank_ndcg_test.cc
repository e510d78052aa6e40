#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::lambda_rank_ndcg_test {
namespace {

// Gains 2, 1, 8 and 4, places 2, 3, 1 and 4: IDCG = 8 + 4 / log2(3) + 2 / 2 + 1 / log2(5) =
// 11.9544. Recorded with Caffe2.
TEST(LambdaRankNdcgTest, WeighsPairsByTheChangeOfNdcg) {
  const std::string four = "y f 4 = 0.5,0.2,0.9,0.1; r f 4 = 1,0,3,2; n i 1 = 4";
  const std::string lambdas = "d f 4 = 0.08973559,0.11094172,-0.23054588,0.02986858; l f 1 = ";
  const std::string unscaled = "d f 4 = 1.0727347,1.3262411,-2.7560365,0.3570608; l f 1 = ";
  ExpectResults({
      {"LambdaRankNdcg y r n -> l d", four, lambdas + "0.6667592"},
      {"LambdaRankNdcg y r n -> l d use_exp_gain=0", four, lambdas + "0.6667592"},
      {"LambdaRankNdcg y r n -> l d use_ndcg_as_loss=1", four, lambdas + "0.03930182"},
      {"LambdaRankNdcg y r n -> l d use_idcg_normalization=0", four, unscaled + "7.970703"},
      {"LambdaRankNdcg y r n -> l d use_idcg_normalization=0 use_ndcg_as_loss=1", four,
       unscaled + "0.46982956"},
      {"LambdaRankNdcg y r n -> l d use_exp_gain=0 use_ndcg_as_loss=1", four,
       "d f 4 = 0.07568385,0.13150813,-0.20379603,-0.00339596; l f 1 = 0.05661162"},
      {"LambdaRankNdcg y r n -> l d", "y f 4 = 0.5,0.2,0.9,0.1; r f 2,2 = 1,0,3,2; n i 3 = 2,0,2",
       "d f 4 = -0.05969776,0.05969776,-0.04349078,0.04349078; l f 3 = 0.15553135,0,0.10411698"},
      // Equal scores keep their order.
      {"LambdaRankNdcg y r n -> l d", "y f 4 = 0; r f 4 = 1,0,3,2; n i 1,1 = 4",
       "d f 4 = 0.15766488,0.07889727,-0.17540838,-0.06115377; l f 1 = 0.7308454"},
      {"LambdaRankNdcg y r n -> l d use_exp_gain=0 use_ndcg_as_loss=1",
       "y f 2 = 1,2; r f 2 = 0; n i 1 = 2", "d f 2 = 0; l f 1 = 0"},
      {"LambdaRankNdcg y r n -> l d", "y f 0; r f 0; n i 0", "d f 0; l f 0"},
      {"LambdaRankNdcgGradient y n d g -> D", "y f 4 = 0; n i 2 = 2; d f 4 = 1,2,3,4; g f 2 = 2,3",
       "D f 4 = 2,4,9,12"},
  });
}

TEST(LambdaRankNdcgTest, HasLambdasAsGradient) {
  EXPECT_EQ(DescribeGradient(R"(type: "LambdaRankNdcg" input: "y" input: "r" input: "n"
                                output: "l" output: "d")",
                             {{.dense_ = "l_grad"}, {}}),
            "LambdaRankNdcgGradient(y,n,d,l_grad)->y_grad | y_grad - -");
  ExpectInferred(
      {{"LambdaRankNdcg y r n -> l d", "y f 4; r f 4; n i 2", "float [2]; float [4]"},
       {"LambdaRankNdcg y r n -> l d", "y f 4; r f 4; n i ?", "float ?; float ?"},
       {"LambdaRankNdcgGradient y n d g -> D", "y f 4; n i 2; d f 4; g f 2", "float [4]"}});
}

TEST(LambdaRankNdcgTest, RejectsOtherSizes) {
  ExpectRejected({
      {"LambdaRankNdcg y r n -> l d", "y f 4,1; r f 4; n i 1 = 4",
       "rank of input 0 (y) of shape [4, 1]: got 2, want 1"},
      {"LambdaRankNdcg y r n -> l d", "y f 4; r f 3; n i 1 = 4",
       "elements of input 1 (r), want those of input 0 (y) (got 3, want 4)"},
      {"LambdaRankNdcg y r n -> l d", "y f 4; r f 4; n i 2 = 2,1",
       "sum of input 2 (lengths), want the elements of input 0 (y) (got 3, want 4)"},
      {"LambdaRankNdcgGradient y n d g -> D", "y f 4; n i 1 = 4; d f 3; g f 1",
       "elements of input 2 (dy), want those of input 0 (y) (got 3, want 4)"},
      {"LambdaRankNdcgGradient y n d g -> D", "y f 4; n i 1 = 4; d f 4; g f 2",
       "elements of input 3 (dloss), want those of input 1 (lengths) (got 2, want 1)"},
      {"LambdaRankNdcgGradient y n d g -> D", "y f 4; n i 1 = 5; d f 4; g f 1",
       "sum of input 1 (lengths), want the elements of input 0 (y) (got 5, want 4)"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::lambda_rank_ndcg_test
