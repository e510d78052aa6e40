// Whole messages of the operators of this folder, axes and shapes next to the bounds, and inferred shapes.
#include <gtest/gtest.h>

#include "tests/operators/common/call_tables.h"

namespace caffe2rt::test::matmul_calls_test {
namespace {

TEST(MatMulRefusalsTest, NameTheShapesOfBothOperands) {
  ExpectRejected({
      {"MatMul A B -> Y", "A f 2,3; B f 4,5",
       "columns of input 0 (A) of shape [2, 3], want the rows of input 1 (B) of shape [4, 5] (got "
       "3, want 4)"},
      {"MatMul A B -> Y trans_a=1", "A f 2,3; B f 4,5",
       "columns of input 0 (A) of shape [2, 3] transposed, want the rows of input 1 (B) of shape "
       "[4, "
       "5] (got 2, want 4)"},
      {"MatMul A B -> Y trans_b=1", "A f 2,3; B f 4,5",
       "columns of input 0 (A) of shape [2, 3], want the rows of input 1 (B) of shape [4, 5] "
       "transposed (got 3, want 5)"},
      {"MatMul A B L -> Y", "A f 2,3; B f 3,5; L f 3,3",
       "elements of input 2 of shape [3, 3], want those of the product [2, 5] (got 9, want 10)"},
      {"BatchMatMul A B -> Y", "A f -; B f 2",
       "inputs have shapes [] and [2], want at least rank 1"},
      {"BatchMatMul A B -> Y", "A f 2; B f -",
       "inputs have shapes [2] and [], want at least rank 1"},
      {"BatchMatMul A B -> Y", "A f 2,3; B f 4,5",
       "rows of input 1 (B) of shape [4, 5], want the columns of input 0 (A) of shape [2, 3] (got "
       "4, "
       "want 3)"},
      {"BatchMatMul A B -> Y trans_a=1 trans_b=1", "A f 2,3; B f 4,5",
       "rows of input 1 (B) of shape [4, 5] transposed, want the columns of input 0 (A) of shape "
       "[2, "
       "3] transposed (got 5, want 2)"},
      // A vector is not transposed.
      {"BatchMatMul A B -> Y trans_a=1 trans_b=1", "A f 3; B f 2",
       "rows of input 1 (B) of shape [2], want the columns of input 0 (A) of shape [3] (got 2, "
       "want "
       "3)"},
      {"BatchMatMul A B -> Y", "A f 2,2,3; B f 3,3,1",
       "batch axes [2] of input 0 (A) and [3] of input 1 (B), want the same number of matrices, or "
       "the argument broadcast"},
      {"BatchMatMul A B -> Y broadcast=1", "A f 4,2,2,3; B f 3,3,1",
       "batch axes [4, 2] of input 0 (A) and [3] of input 1 (B), want axes that are equal or 1"},
      {"BatchMatMul A B -> Y", "A f 2,3,2,3; B f 3,2,3,1",
       "batch axes [2, 3] of input 0 (A) and [3, 2] of input 1 (B), want axes that are equal or 1"},
      {"BatchMatMulGradient A B G -> d broadcast=1", "A f 4,2,3; B f 3,5; G f 2,5",
       "elements of input 2 (dY) of shape [2, 5], want those of the product of input 0 (A) of "
       "shape "
       "[4, 2, 3] and input 1 (B) of shape [3, 5] (got 10, want 40)"},
      {"BatchMatMulGradient A B G -> d operand=2", "A f 2,3; B f 3,5; G f 2,5",
       "argument \"operand\" is 2, want 0 or 1"},
      {"MatMul A B -> Y axis_a=2", "A f 1,2; B f 2,1",
       "axis 2 of a tensor of rank 2, want -2 to 1"},
      {"MatMul A B -> Y axis_b=-3", "A f 1,2; B f 2,1",
       "axis -3 of a tensor of rank 2, want -2 to 1"},
      {"RowMul X w -> Y", "X f -; w f 1",
       "rank of input 0 (mat), want at least 1 (got 0, want at least 1)"},
      {"RowMul X w -> Y", "X f 2,3; w f 3",
       "elements of input 1 (w), want the rows of input 0 (mat) (got 3, want 2)"},
      {"RowMul X w -> Y", "X d 2,3; w f 2", "the tensor holds elements of type double, want float"},
      {"RowMul X w -> Y", "X f 2,3; w d 2", "the tensor holds elements of type double, want float"},
  });
}

TEST(FcRefusalsTest, NameTheRowsThatDoNotFit) {
  ExpectRejected({
      {"FC X W b -> Y axis=2", "X f 2,3,4; W f 5,6; b f 5",
       "input 0 (X) of shape [2, 3, 4] has rows of 4 at axis 2, but input 1 (W) of shape [5, 6] "
       "needs "
       "rows of 6: got 4, want 6"},
      {"FCTransposed X W b -> Y axis=-2", "X f 2,3,4; W f 5,6; b f 6",
       "input 0 (X) of shape [2, 3, 4] has rows of 12 at axis 1, but input 1 (W) of shape [5, 6] "
       "needs "
       "rows of 5: got 12, want 5"},
      {"FC X W b -> Y", "X f 2,3; W f 5,3; b f 3",
       "input 2 (b) has shape [3], want [5]: one value for each output of input 1 (W) of shape [5, "
       "3]"},
      {"FCTransposed X W b -> Y", "X f 2,3; W f 3,5; b f 5,1",
       "input 2 (b) has shape [5, 1], want [5]: one value for each output of input 1 (W) of shape "
       "[3, "
       "5]"},
      {"FCFusion X W b -> Y transposed=1", "X f 2,3; W f 3,5; b f 3",
       "input 2 (b) has shape [3], want [5]: one value for each output of input 1 (W) of shape [3, "
       "5]"},
      {"FCFusion X W -> Y", "X f 2,3; W f 3,5",
       "input 0 (X) of shape [2, 3] has rows of 3 at axis 1, but input 1 (W) of shape [3, 5] needs "
       "rows "
       "of 5: got 3, want 5"},
      {"FCFusion X W -> Y axis=2 one_matrix=1", "X f 2,1,3; W f 5,3",
       "matrices in input 0 (X) of shape [2, 1, 3], want one, or the argument broadcast of "
       "BatchMatMul (got 2, want 1)"},
      {"FCFusion X W -> Y axis=2 one_matrix=1", "X f 0,4,3; W f 5,3",
       "matrices in input 0 (X) of shape [0, 4, 3], want one, or the argument broadcast of "
       "BatchMatMul (got 0, want 1)"},
      {"FCFusion X W -> Y precision=f16", "X f 2,3; W f 5,3",
       "argument \"precision\" is \"f16\", want f32, bf16 or int8"},
      {"FCGradient X W G -> dW db", "X f 2,3; W f 5,3; G f 2,4",
       "elements of input 2 (dY) of shape [2, 4], want 2 * 5 for input 0 (X) of shape [2, 3] and "
       "input "
       "1 (W) of shape [5, 3] (got 8, want 10)"},
      {"FCTransposedGradient X W G -> dW db", "X f 2,3; W f 3,5; G f 3,5",
       "elements of input 2 (dY) of shape [3, 5], want 2 * 5 for input 0 (X) of shape [2, 3] and "
       "input "
       "1 (W) of shape [3, 5] (got 15, want 10)"},
      {"FCGradient X W G -> dW db", "X f 2,3; W f 5,4; G f 2,5",
       "input 0 (X) of shape [2, 3] has rows of 3 at axis 1, but input 1 (W) of shape [5, 4] needs "
       "rows "
       "of 4: got 3, want 4"},
  });
}

TEST(MatMulCallsTest, CutsOperandsAtEachAxis) {
  ExpectResults({
      // All of A is one row, then one column.
      {"MatMul A B -> Y axis_a=0 axis_b=2", "A f 1,2 = 1,2; B f 1,2,1 = 3,4", "Y f 1,1 = 11"},
      {"MatMul A B -> Y axis_a=2 axis_b=0", "A f 1,2,1 = 1,2; B f 1,2 = 3,4", "Y f 2,2 = 3,4,6,8"},
      {"MatMul A B -> Y axis_a=-2 trans_b=1", "A f 2,1 = 1,2; B f 1,2 = 3,4", "Y f 1,1 = 11"},
      {"MatMul A B L -> Y", "A f 2,1 = 1,2; B f 1,2 = 3,4; L f 4,1", "Y f 4,1 = 3,4,6,8"},
      {"MatMul A B -> Y trans_a=1", "A f 0,2; B f 0,3", "Y f 2,3 = 0"},
      {"BatchMatMul A B -> Y trans_a=1 trans_b=1", "A f 2 = 1,2; B f 2 = 3,4", "Y f 1 = 11"},
      {"BatchMatMul A B -> Y scalar=1", "A f 2 = 1,2; B f 2 = 3,4", "Y f - = 11"},
      {"BatchMatMul A B -> Y scalar=1", "A f 2 = 1,2; B f 2,1 = 3,4", "Y f 1 = 11"},
      {"BatchMatMul A B -> Y trans_a=1", "A f 2,2,1 = 1,2,3,4; B f 2 = 5,6", "Y f 2,1 = 17,39"},
      {"BatchMatMul A B -> Y broadcast=1", "A f 0,1,2; B f 1,2,3", "Y f 0,1,3"},
      // As in Caffe2, no matrix is broadcast with several.
      {"BatchMatMul A B -> Y broadcast=1", "A f 0,1,2; B f 5,2,3", "Y f 0,1,3"},
      {"BatchMatMul A B -> Y broadcast=1", "A f 5,1,2; B f 0,2,3", "Y f 0,1,3"},
      {"BatchMatMul A B -> Y", "A f 1,1,1,2 = 1,2; B f 1,2,1 = 3,4", "Y f 1,1,1,1 = 11"},
      // The two matrices of A meet one B as one tall matrix; then each its own.
      {"BatchMatMul A B -> Y broadcast=1", "A f 2,2,1,1 = 1,2,3,4; B f 2,1,1,1 = 10,100",
       "Y f 2,2,1,1 = 10,20,300,400"},
      {"BatchMatMul A B -> Y broadcast=1", "A f 2,2,1,1 = 1,2,3,4; B f 2,1,1 = 10,100",
       "Y f 2,2,1,1 = 10,200,30,400"},
      {"BatchMatMul A B -> Y broadcast=1", "A f 2,1,1,1 = 1,2; B f 3,1,1 = 1,10,100",
       "Y f 2,3,1,1 = 1,10,100,2,20,200"},
      {"RowMul X w -> Y", "X f 3 = 1,2,3; w f 3 = 2,3,4", "Y f 3 = 2,6,12"},
      {"FC X W b -> Y axis=0", "X f 2,1 = 1,2; W f 1,1,2 = 3,4; b f 1 = 5", "Y f 1 = 16"},
      {"FC X W b -> Y axis=2 axis_w=-1", "X f 1,2,1 = 1,2; W f 2,1,1 = 3,4; b f 2 = 5,6",
       "Y f 1,2,2 = 8,10,11,14"},
      {"FCFusion X W b -> Y axis=0 axis_w=0 transposed=1 activation=Relu",
       "X f 1 = 2; W f 2 = 3,-4; b f 2 = 1,1", "Y f 2 = 7,0"},
      {"FCGradient X W G -> dW db dX axis=2", "X f 1,2,1 = 1,2; W f 1,1 = 3; G f 2 = 10,100",
       "dW f 1,1 = 210; db f 1 = 110; dX f 1,2,1 = 30,300"},
      {"FCTransposedGradient X W G -> dW db",
       "X f 2,1 = 1,2; W f 1,2 = 3,4; G f 2,2 = 1,10,100,1000",
       "dW f 1,2 = 201,2010; db f 2 = 101,1010"},
  });
}

TEST(MatMulCallsTest, InfersShapesAndTypes) {
  ExpectInferred({
      {"MatMul A B -> Y axis_a=0 axis_b=2", "A f 1,2; B f 1,2,3", "float [1, 3]"},
      {"MatMul A B L -> Y", "A f 2,1; B f 1,2; L i 4,1", "float [4, 1]"},
      {"MatMul A B L -> Y", "A f 2,1; B f 1,2; L i ?", "? ?"},
      {"MatMul A B -> Y", "A f 2,1; B f ?", "? ?"},
      {"BatchMatMul A B -> Y", "A f 2; B f 2", "float [1]"},
      {"BatchMatMul A B -> Y", "A f 7,2; B f 2", "float [7]"},
      {"BatchMatMul A B -> Y", "A f 2; B f 3,2,5", "float [3, 5]"},
      {"BatchMatMul A B -> Y broadcast=1", "A f 3,1,4,2; B f 5,2,6", "float [3, 5, 4, 6]"},
      {"BatchMatMul A B -> Y broadcast=1", "A f 0,4,2; B f 1,2,6", "float [0, 4, 6]"},
      {"FC X W b -> Y axis=2", "X f 2,3,4; W f 5,4; b f 5", "float [2, 3, 5]"},
      {"FCTransposed X W b -> Y axis=-3", "X f 2,3,4; W f 24,5; b f 5", "float [5]"},
      {"FC X W b -> Y", "X f 2,3; W f 5,3; b f ?", "? ?"},
      {"FCFusion X W -> Y transposed=1", "X f 2,3; W f 3,5", "float [2, 5]"},
      {"FCFusion X W b -> Y", "X f 2,3; W f 5,3; b f ?", "? ?"},
      {"FCGradient X W G -> dW db", "X f 2,3; W f 5,3; G f ?", "float [5, 3]; float [5]"},
      {"FCTransposedGradient X W G -> dW db dX", "X f 2,3; W f 3,5; G f ?",
       "float [3, 5]; float [5]; float [2, 3]"},
      {"RowMul X w -> Y", "X f 2,3; w f 2", "float [2, 3]"},
  });
  ExpectShapesRejected({
      {"FC X W b -> Y", "X f 2,3; W f 5,3; b f 3",
       "input 2 (b) has shape [3], want [5]: one value for each output of input 1 (W) of shape [5, "
       "3]"},
      {"MatMul A B -> Y", "A f 2,3; B f 4,5",
       "columns of input 0 (A) of shape [2, 3], want the rows of input 1 (B) of shape [4, 5] (got "
       "3, want 4)"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::matmul_calls_test
