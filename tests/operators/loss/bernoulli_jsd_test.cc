#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::bernoulli_jsd_test {
namespace {

TEST(BernoulliJsdTest, IsTheDivergenceOfTwoDistributions) {
  ExpectResults({
      // log 2 for opposite certainties; H(3/4) - H(1/2) / 2 = 0.5623351 - 0.3465736; 0 for equal
      // ones.
      {"BernoulliJSD X T -> L", "X f 2,2 = 0,1,0.5,0.3; T f 4 = 1,0,1,0.3",
       "L f 2,2 = 0.6931472,0.6931472,0.2157616,0"},
      // Recorded with Caffe2.
      {"BernoulliJSD X T -> L", "X f 3 = 0.5,0.9,0.3; T f 3 = 0.4,0.2,1",
       "L f 3 = 0.00505936,0.2753961,0.34201446"},
      {"BernoulliJSD X T -> L", "X f 0; T f 0", "L f 0"},
      {"BernoulliJSDGradient G X T -> D",
       "G f 5 = 1; X f 5 = 0.5,0.9,0.3,0,0.5; T f 5 = 0.4,0.2,1,1,0",
       "D f 5 = 0.10033537,0.9982768,-0.7331685,-23.02585,0.54930615"},
      {"BernoulliJSDGradient G X T -> D", "G f 2 = 1; X f 2 = 1; T f 2 = 0,1", "D f 2 = inf,nan"},
  });
  EXPECT_EQ(DescribeGradient(R"(type: "BernoulliJSD" input: "X" input: "T" output: "L")"),
            "BernoulliJSDGradient(L_grad,X,T)->X_grad | X_grad -");
  ExpectInferred({{"BernoulliJSD X T -> L", "X f 2,2; T f 4", "float [2, 2]"},
                  {"BernoulliJSDGradient G X T -> D", "G f 4; X f 2,2; T f 4", "float [2, 2]"}});
}

TEST(BernoulliJsdTest, RejectsOtherSizes) {
  ExpectRejected({
      {"BernoulliJSD X T -> L", "X f 2; T f 3",
       "elements of input 1, want those of input 0 (X) of shape [2] (got 3, want 2)"},
      {"BernoulliJSDGradient G X T -> D", "G f 1; X f 2; T f 2",
       "elements of input 0, want those of input 1 (X) of shape [2] (got 1, want 2)"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::bernoulli_jsd_test
