#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::reduce_front_weighted_sum_test {
namespace {

TEST(ReduceFrontWeightedSumTest, WeighsTheFirstDimensions) {
  ExpectResults({
      {"ReduceFrontWeightedSum X W -> Y", "X f 2,3,2 = 0,1,2,3,4,5,6,7,8,9,10,11; W f 2 = 2,0.5",
       "Y f 3,2 = 3,5.5,8,10.5,13,15.5"},
      {"ReduceFrontWeightedSum X W -> Y num_reduce_dim=2",
       "X f 2,3,2 = 0,1,2,3,4,5,6,7,8,9,10,11; W f 2,3 = 1,2,3,4,5,6", "Y f 2 = 140,161"},
      {"ReduceFrontWeightedSum X W -> Y num_reduce_dim=0", "X f 2 = 1,2; W f - = 3", "Y f 2 = 3,6"},
      {"ReduceFrontWeightedSum X W -> Y", "X f 2 = 1,2; W f 2 = 3,4", "Y f - = 11"},
      {"ReduceFrontWeightedSum X W -> Y", "X f 0,2; W f 0", "Y f 2 = 0"},
      {"ReduceFrontWeightedSum X W -> Y", "X f 2,0; W f 2", "Y f 0"},
      {"ReduceFrontWeightedSumGradient W G S -> D", "W f 2 = 2,0.5; G f 3 = 1,2,3; S l 2 = 2,3",
       "D f 2,3 = 2,4,6,0.5,1,1.5"},
      {"ReduceFrontWeightedSumGradient W G S -> D num_reduce_dim=2",
       "W f 2,1 = 1,2; G f 2 = 1,2; S l 3 = 2,1,2", "D f 2,1,2 = 1,2,2,4"},
  });
  ExpectInferred(
      {{"ReduceFrontWeightedSum X W -> Y num_reduce_dim=2", "X f 2,3,4; W f 2,3", "float [4]"},
       {"ReduceFrontWeightedSumGradient W G S -> D", "W f 2; G f 3; S l 2", "float ?"}});
}

TEST(ReduceFrontWeightedSumTest, HasTheGradientOfData) {
  const std::string op =
      R"(type: "ReduceFrontWeightedSum" input: "X" input: "W" output: "Y" arg { name: )";
  for (const char* const argument : {"num_reduce_dim", "grad_on_weights"}) {
    const std::string given = MakeString(" ", argument, "=1");
    EXPECT_EQ(DescribeGradient(MakeString(op, "\"", argument, "\" i: 1 }")),
              MakeString("Shape(X)->_Y_dims", given,
                         "; ReduceFrontWeightedSumGradient(W,Y_grad,_Y_dims)->X_grad", given,
                         " | X_grad -"));
  }
}

TEST(ReduceFrontWeightedSumTest, RejectsOtherShapes) {
  ExpectRejected({
      {"ReduceFrontWeightedSum X W -> Y", "X f 2,3; W f 3",
       "input 1 (SCALARS) has shape [3], want the first 1 dimensions of input 0 (DATA) of shape "
       "[2, 3]"},
      {"ReduceFrontWeightedSum X W -> Y num_reduce_dim=3", "X f 2,3; W f 3",
       "argument num_reduce_dim is 3, want 0 to 2, the rank of input 0 (X)"},
      {"ReduceFrontWeightedSum X W -> Y num_reduce_dim=-1", "X f 2,3; W f 3",
       "argument num_reduce_dim is -1, want 0 to 2, the rank of input 0 (X)"},
      {"ReduceFrontWeightedSumGradient W G S -> D", "W f 2; G f 3; S l 2 = 3,3",
       "input 2 (SOURCE_SHAPE) is [3, 3], want the shape of 2 elements of input 0 (SCALARS) times "
       "3 "
       "of input 1 (REDUCTION_GRAD)"},
      {"ReduceFrontWeightedSumGradient W G S -> D", "W f 2; G f 3; S l 2 = 2,-3",
       "dimension of a shape, want at least 0 (got -3, want at least 0)"},
      {"ReduceFrontWeightedSumGradient W G S -> D", "W f 2; G f 3; S l 1,2 = 2,3",
       "rank of input 2 (SOURCE_SHAPE) of shape [1, 2]: got 2, want 1"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::reduce_front_weighted_sum_test
