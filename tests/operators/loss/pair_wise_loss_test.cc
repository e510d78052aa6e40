#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::pair_wise_loss_test {
namespace {

// Recorded with Caffe2: log(1 + exp(-2)) = 0.126928 for one pair in its order.
TEST(PairWiseLossTest, IsTheMeanOverPairsOfAGroup) {
  const std::string four = "X f 4 = 1,3,0.5,2; Y f 4 = 0,1,1,0";
  ExpectResults({
      {"PairWiseLoss X Y -> L", "X f 2 = 1,3; Y f 2 = 0,1", "L f 1 = 0.12692805"},
      {"PairWiseLoss X Y -> L", four, "L f 1 = 0.77892"},
      {"PairWiseLoss X Y -> L", "X f 4,1 = 1,3,0.5,2; Y f 4 = 2,1,1,0", "L f 1 = 1.1857883"},
      {"PairWiseLoss X Y N -> L", four + "; N i 3 = 2,0,2", "L f 3 = 0.12692805,0,1.7014133"},
      {"PairWiseLoss X Y -> L", "X f 2 = 1000,-1000; Y f 2,1 = 0,1", "L f 1 = 2000"},
      {"PairWiseLoss X Y -> L", "X f 3 = 1,2,3; Y f 3 = 1", "L f 1 = 0"},
      {"PairWiseLoss X Y N -> L", "X f 0; Y f 0; N i 2 = 0", "L f 0"},
      {"PairWiseLossGradient X Y G -> D", four + "; G f 1 = 2",
       "D f 4 = 0.37083113,-0.19407217,-0.7200169,0.54325795"},
      {"PairWiseLossGradient X Y G N -> D",
       "X f 4,1 = 1,3,0.5,2; Y f 4 = 0,1,1,0; G f 2 = 1,2; N i 2 = 2",
       "D f 4,1 = 0.11920292,-0.11920292,-1.6351491,1.6351491"},
      {"PairWiseLossGradient X Y G -> D", "X f 1 = 1; Y f 1 = 1; G f 1 = 1", "D f 1 = 0"},
      {"PairWiseLossGradient X Y G -> D", "X f 0; Y f 0; G f 1 = 1", "D f 0"},
  });
  ExpectInferred({{"PairWiseLoss X Y -> L", "X f 4; Y f 4", "float [1]"},
                  {"PairWiseLoss X Y N -> L", "X f 4; Y f 4; N i 3", "float [3]"},
                  {"PairWiseLoss X Y N -> L", "X f 0; Y f 0; N i 3", "float [0]"},
                  {"PairWiseLoss X Y N -> L", "X f 4; Y f 4; N i ?", "float ?"}});
  const std::string op = R"(type: "PairWiseLoss" input: "X" input: "Y" output: "L")";
  EXPECT_EQ(DescribeGradient(op), "PairWiseLossGradient(X,Y,L_grad)->X_grad | X_grad -");
  EXPECT_EQ(DescribeGradient(op + R"( input: "N")"),
            "PairWiseLossGradient(X,Y,L_grad,N)->X_grad | X_grad - -");
}

TEST(PairWiseLossTest, RejectsOtherShapes) {
  ExpectRejected({
      {"PairWiseLoss X Y -> L", "X f 2,2; Y f 2",
       "input 0 (X) has shape [2, 2], want [N] or [N, 1]"},
      {"PairWiseLoss X Y -> L", "X f 2; Y f -", "input 1 (label) has shape [], want [N] or [N, 1]"},
      {"PairWiseLoss X Y -> L", "X f 2; Y f 3",
       "elements of input 1 (label), want those of input 0 (X) (got 3, want 2)"},
      {"PairWiseLoss X Y N -> L", "X f 4; Y f 4; N i 1,2 = 2",
       "input 2 (lengths) has shape [1, 2], want a vector"},
      {"PairWiseLoss X Y N -> L", "X f 4; Y f 4; N i 2 = 2,3",
       "sum of the lengths, want the elements of input 0 (X) (got 5, want 4)"},
      {"PairWiseLoss X Y N -> L", "X f 4; Y f 4; N i 2 = -1,5",
       "element 0 of input 2 (lengths), want at least 0 (got -1, want at least 0)"},
      {"PairWiseLossGradient X Y G N -> D", "X f 4; Y f 4; G f 1; N i 2 = 2",
       "input 2 (dY) has shape [1], want [2]"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::pair_wise_loss_test
