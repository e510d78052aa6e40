#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::batch_sparse_to_dense_test {
namespace {

TEST(BatchSparseToDenseTest, PutsElementsInTheirColumns) {
  ExpectResults({
      {"BatchSparseToDense L I X -> Y dense_last_dim=3",
       "L l 3 = 2,0,1; I l 3 = 2,0,1; X f 3 = 7,8,9", "Y f 3,3 = 8,0,7,0,0,0,0,9,0"},
      // The last of equal columns counts.
      {"BatchSparseToDense L I X -> Y dense_last_dim=2 default_value=-1.5",
       "L l 2 = 2,0; I l 2 = 1,1; X f 2,1 = 7,8", "Y f 2,2 = -1.5,8,-1.5,-1.5"},
      {"BatchSparseToDense L I X S -> Y", "L l 1 = 1; I l 1 = 3; X f 1 = 7; S i 1,4",
       "Y f 1,4 = 0,0,0,7"},
      {"BatchSparseToDense L I X S -> Y dense_last_dim=2",
       "L l 1 = 1; I l 1 = 0; X f 1 = 7; S f 1,2", "Y f 1,2 = 7,0"},
      {"BatchSparseToDense L I X -> Y dense_last_dim=3", "L l 0; I l 0; X f 0", "Y f 0,3"},
      {"BatchSparseToDense L I X S -> Y", "L l 2 = 0; I l 0; X f 0; S f 2,0", "Y f 2,0"},
  });
}

TEST(BatchDenseToSparseTest, GathersElementsByTheirColumns) {
  ExpectResults({
      {"BatchDenseToSparse L I X -> Y",
       "L l 3 = 2,0,2; I l 4 = 2,0,1,1; X f 3,3 = 1,2,3,4,5,6,7,8,9", "Y f 4 = 3,1,8,8"},
      {"BatchDenseToSparse L I X -> Y", "L l 2 = 0; I l 0; X f 2,0", "Y f 0"},
      {"BatchDenseToSparse L I X -> Y", "L l 0; I l 0; X f 0,3", "Y f 0"},
  });
}

TEST(BatchSparseToDenseTest, IsTheGradientOfBatchDenseToSparse) {
  EXPECT_EQ(DescribeGradient(
                R"(type: "BatchSparseToDense" input: "L" input: "I" input: "X" output: "Y"
                   arg { name: "dense_last_dim" i: 3 } arg { name: "default_value" f: 2 })"),
            "BatchDenseToSparse(L,I,Y_grad)->X_grad dense_last_dim=3 default_value=2 | - - X_grad");
  EXPECT_EQ(DescribeGradient(
                R"(type: "BatchDenseToSparse" input: "L" input: "I" input: "X" output: "Y")"),
            "BatchSparseToDense(L,I,Y_grad,X)->X_grad | - - X_grad");
  ExpectInferred({
      {"BatchSparseToDense L I X -> Y dense_last_dim=3", "L l 4; I l 5; X f 5", "float [4, 3]"},
      {"BatchSparseToDense L I X S -> Y", "L l 4; I l 5; X f 5; S f 4,7", "float [4, 7]"},
      {"BatchSparseToDense L I X S -> Y", "L l 4; I l 5; X f 5; S f ?", "float ?"},
      {"BatchDenseToSparse L I X -> Y", "L l 4; I l 5; X f 4,3", "float [5]"},
  });
}

TEST(BatchSparseToDenseTest, RejectsInvalidCalls) {
  const char* const to_dense = "BatchSparseToDense L I X -> Y dense_last_dim=3";
  const char* const like = "BatchSparseToDense L I X S -> Y dense_last_dim=3";
  const char* const to_sparse = "BatchDenseToSparse L I X -> Y";
  ExpectRejected({
      {"BatchSparseToDense L I X -> Y", "L l 1 = 1; I l 1; X f 1",
       "argument dense_last_dim is missing, want it or input 3"},
      {"BatchSparseToDense L I X -> Y dense_last_dim=0", "L l 1 = 1; I l 1; X f 1",
       "argument \"dense_last_dim\" is 0, want at least 1"},
      {to_dense, "L l 1,1 = 1; I l 1; X f 1",
       "rank of input 0 (lengths) of shape [1, 1]: got 2, want 1"},
      {to_dense, "L l 1 = 1; I l 1,1; X f 1",
       "rank of input 1 (indices) of shape [1, 1]: got 2, want 1"},
      {to_dense, "L i 1 = 1; I l 1; X f 1", "the tensor holds elements of type int32, want int64"},
      {to_dense, "L l 1 = 1; I i 1; X f 1", "the tensor holds elements of type int32, want int64"},
      {to_dense, "L l 1 = 1; I l 1; X d 1", "the tensor holds elements of type double, want float"},
      {to_dense, "L l 1 = 1; I l 1; X f 2",
       "elements of input 2 (values), want those of input 1 (indices) (got 2, want 1)"},
      {to_dense, "L l 2 = 1,1; I l 1; X f 1",
       "sum of the lengths, want the elements of input 1 (indices) (got 2, want 1)"},
      {to_dense, "L l 2 = 2,-1; I l 1; X f 1",
       "element 1 of input 0 (lengths), want at least 0 (got -1, want at least 0)"},
      {to_dense, "L l 1 = 2; I l 2 = 0,3; X f 2",
       "element 1 of input 1 (indices) is 3, want at least 0 and less than 3, the columns of "
       "dense"},
      {to_dense, "L l 1 = 1; I l 1 = -1; X f 1",
       "element 0 of input 1 (indices) is -1, want at least 0 and less than 3, the columns of "
       "dense"},
      {like, "L l 1 = 1; I l 1; X f 1; S f 3",
       "rank of input 3 (output_shape_inference) of shape [3]: got 1, want 2"},
      {like, "L l 1 = 1; I l 1; X f 1; S f 1,4",
       "argument dense_last_dim is 3, want 4, dim 1 of input 3 (output_shape_inference)"},
      {to_sparse, "L l 1 = 1; I l 1; X f 3", "rank of input 2 (dense) of shape [3]: got 1, want 2"},
      {to_sparse, "L l 1 = 1; I l 1; X f 2,3",
       "elements of input 0 (lengths), want the rows of input 2 (dense) of shape [2, 3] (got 1, "
       "want 2)"},
      {to_sparse, "L l 1 = 1; I l 1 = 2; X f 1,2",
       "element 0 of input 1 (indices) is 2, want at least 0 and less than 2, the columns of "
       "dense"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::batch_sparse_to_dense_test
