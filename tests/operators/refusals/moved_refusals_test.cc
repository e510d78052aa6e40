// Errors of the operators of shapes, with the whole message of each.
#include <gtest/gtest.h>

#include "tests/operators/refusals/refusal.h"

namespace caffe2rt::test::moved_refusals_test {
namespace {

// Gather, scatter, and conversions from sparse tensors.
constexpr char kGather[] = "type: 'Gather' input: 'X' input: 'I' output: 'Y' ";
constexpr char kGatherAxis1[] =
    "type: 'Gather' input: 'X' input: 'I' output: 'Y' arg { name: 'axis' i: 1 } "
    "arg { name: 'match_outer' i: 1 }";
constexpr char kBatchGatherGradient[] =
    "type: 'BatchGatherGradient' input: 'X' input: 'I' input: 'dY' output: 'dX'";
constexpr char kGatherElements[] =
    "type: 'GatherElements' input: 'X' input: 'I' output: 'Y' arg { name: 'axis' i: 1 }";
constexpr char kScatterElements[] =
    "type: 'ScatterElements' input: 'X' input: 'I' input: 'U' output: 'Y' ";
constexpr char kGatherNd[] = "type: 'GatherND' input: 'X' input: 'I' output: 'Y'";
constexpr char kGatherNdBatch[] =
    "type: 'GatherND' input: 'X' input: 'I' output: 'Y' arg { name: 'batch_dims' i: 1 }";
constexpr char kScatterNd[] = "type: 'ScatterND' input: 'X' input: 'I' input: 'U' output: 'Y'";
constexpr char kScatterAssign[] =
    "type: 'ScatterAssign' input: 'X' input: 'I' input: 'S' output: 'X'";
constexpr char kWeightedSum[] =
    "type: 'ScatterWeightedSum' input: 'X' input: 'W' input: 'I' "
    "input: 'X1' input: 'W1' output: 'X'";
constexpr char kSparseToDense[] = "type: 'SparseToDense' input: 'I' input: 'V' output: 'Y'";
constexpr char kSparseToDenseLike[] =
    "type: 'SparseToDense' input: 'I' input: 'V' input: 'D' output: 'Y'";
constexpr char kCopyRows[] =
    "type: 'CopyRowsToTensor' input: 'X' input: 'I' input: 'R' output: 'X'";
constexpr char kTensorScatter[] =
    "type: 'TensorScatter' input: 'X' input: 'U' input: 'S' "
    "output: 'Y' arg { name: 'axis' i: 1 }";
constexpr char kMask[] =
    "type: 'SparseToDenseMask' input: 'I' input: 'V' input: 'D' input: 'L' "
    "output: 'Y' arg { name: 'mask' ints: 9 ints: 2 ints: 6 }";

constexpr Refusal kIndexed[] = {
    {kGather, "X f 2; I l 1 = 2", "INDICES element is out of DATA bounds, id=2 axis_dim=2"},
    // The position after the negative index was counted from the end.
    {kGather, "X f 3; I i 1 = -4", "INDICES element is out of DATA bounds, id=-1 axis_dim=3"},
    {kGather, "X f -; I i 1", "input 0 (DATA) is a scalar, want rank 1 or more"},
    {kGather, "X f 2; I f 1",
     "Unsupported type of tensor: input 1 (INDICES) has elements of type float, want int32, int64"},
    {"type: 'Gather' input: 'X' input: 'I' output: 'Y' arg { name: 'axis' i: 2 }", "X f 2,3; I i 1",
     "axis 2 of a tensor of rank 2, want -2 to 1"},
    {"type: 'Gather' input: 'X' input: 'I' output: 'Y' arg { name: 'axis' i: -3 }",
     "X f 2,3; I i 1", "axis -3 of a tensor of rank 2, want -2 to 1"},
    {kGatherAxis1, "X f 2,3; I i 3,1",
     "input 1 (INDICES) has shape [3, 1], want its first dimensions to be [2], the dimensions of "
     "input 0 (DATA) before axis 1"},
    {kGatherAxis1, "X f 2,3; I i - = 0",
     "input 1 (INDICES) has shape [], want its first dimensions to be [2], the dimensions of "
     "input 0 (DATA) before axis 1"},
    {"type: 'Gather' input: 'X' input: 'I' output: 'Y' arg { name: 'match_outer' i: 1 }",
     "X f 2,3; I i 2", "axis with match_outer: got 0, want at least 1"},
    {kBatchGatherGradient, "X f 2,3; I i 2 = 0,1; dY f 3,2",
     "input 2 (the gradient) has shape [3, 2], want its first dimensions to be [2], the dimensions "
     "of input 0 (DATA) before axis 1"},
    {kBatchGatherGradient, "X f 2,3; I i 2 = 0,1; dY f 2,3",
     "elements of input 2 (the gradient) of shape [2, 3], want 2 slices of 1 for each outer index "
     "of "
     "input 0 (DATA) of shape [2, 3] (got 6, want 4)"},
    {kBatchGatherGradient, "X f 2,3; I i 2 = 0,3; dY f 2,2",
     "index 3 is out of range, want at least 0 and below 3"},
    {kBatchGatherGradient, "X f 2,3; I i 2 = 0,-1; dY f 2,2",
     "index -1 is out of range, want at least 0 and below 3"},
    {kBatchGatherGradient, "X i 2,3; I i 2 = 0,1; dY f 2,2",
     "input 0 (DATA) has elements of type int32, want float"},
    {kBatchGatherGradient, "X f 3; I i 2 = 0,1; dY f 2",
     "rank of input 0 (DATA): got 1, want at least 2"},
    {kGatherElements, "X f 2,3; I l 3,1 = 0,0,0",
     "input 1 (indices) has shape [3, 1], want the rank of input 0 (data) of shape [2, 3] and no "
     "larger sizes except for dim 1"},
    {kGatherElements, "X f 2,3; I l 1 = 0",
     "input 1 (indices) has shape [1], want the rank of input 0 (data) of shape [2, 3] and no "
     "larger sizes except for dim 1"},
    {kGatherElements, "X f 2,3; I l 1,1 = -4",
     "element 0 of input 1 (indices) is -4, want at least -3 and below 3"},
    {kGatherElements, "X f 2,3; I l 1,2 = 0,3",
     "element 1 of input 1 (indices) is 3, want at least -3 and below 3"},
    {kGatherElements, "X f 2; I l 1", "axis is 1, want at least -1 and below the rank 1"},
    {kScatterElements, "X f 3; I l 2; U f 1",
     "input 2 has shape [1], want that of input 1 (indices) [2]"},
    {kScatterElements, "X f 3; I l 1; U l 1",
     "input 2 (updates) has elements of type int64, want float as input 0 (data)"},
    {"type: 'ScatterElements' input: 'X' input: 'I' input: 'U' output: 'Y' "
     "arg { name: 'reduction' s: 'mean' }",
     "X f 3; I l 1; U f 1", "argument \"reduction\" is \"mean\", want none, add, mul, max or min"},
    {"type: 'ScatterElements' input: 'X' input: 'I' input: 'U' output: 'Y' "
     "arg { name: 'reduction' s: 'add' }",
     "X s 1 = a; I l 1; U s 1 = b",
     "Unsupported type of tensor: input 0 (data) has elements of type string, want float, "
     "double, "},
    {"type: 'GatherElementsGradient' input: 'X' input: 'I' input: 'U' output: 'Y'",
     "X f 3; I l 2; U f 3", "input 2 has shape [3], want that of input 1 (indices) [2]"},
    {kGatherNdBatch, "X f 2; I l 2,1 = 0,0",
     "input 0 (data) has shape [2] and input 1 (indices) [2, 1], want ranks above batch_dims 1"},
    {kGatherNdBatch, "X f 2,2; I l 2 = 0,0",
     "input 0 (data) has shape [2, 2] and input 1 (indices) [2], want ranks above batch_dims 1"},
    {kGatherNd, "X f 2; I l - = 0",
     "input 0 (data) has shape [2] and input 1 (indices) [], want ranks above batch_dims 0"},
    {kGatherNd, "X f 2,3; I l 1,3 = 0,0,0",
     "last dim of input 1 (indices) of shape [1, 3], want at most the rank of input 0 (data) of "
     "shape [2, 3] without batch_dims 0 (got 3, want at most 2)"},
    {kGatherNdBatch, "X f 2,3; I l 2,2 = 0,0,0,0",
     "last dim of input 1 (indices) of shape [2, 2], want at most the rank of input 0 (data) of "
     "shape [2, 3] without batch_dims 1 (got 2, want at most 1)"},
    {kGatherNdBatch, "X f 2,3; I l 3,1 = 0,0,0",
     "dim 0 of input 1 (indices), a batch dimension: got 3, want 2"},
    {kGatherNd, "X f 2,3; I l 2,2 = 0,0,0,3",
     "row 1 of input 1 (indices) has index 3 for a dimension of size 3"},
    {kGatherNd, "X f 2,3; I l 1,1 = -3",
     "row 0 of input 1 (indices) has index -3 for a dimension of size 2"},
    {kGatherNd, "X f 2,3; I f 1,1", "input 1 (indices) has elements of type float"},
    {"type: 'GatherND' input: 'X' input: 'I' output: 'Y' arg { name: 'batch_dims' i: -1 }",
     "X f 2; I l 1,1", "argument \"batch_dims\" is -1, want at least 0"},
    {kScatterNd, "X f 2,3; I l 1,1 = 1; U f 2",
     "input 2 (updates) has shape [2], want [1, 3]: the rows of input 1 (indices), then a slice of "
     "input 0"},
    {kScatterNd, "X f 2,3; I l 1,1 = 1; U l 1,3",
     "input 2 (updates) has elements of type int64, want float as input 0 (data)"},
    {kScatterNd, "X f 2,3; I l 1,1 = 2; U f 1,3",
     "row 0 of input 1 (indices) has index 2 for a dimension of size 2"},
    {kScatterAssign, "X f 3; I i 2 = 0,3; S f 2",
     "index 3 in input 1 (INDICES) is out of range, want at least 0 and below 3"},
    {kScatterAssign, "X f 3; I i 2 = -1,0; S f 2",
     "index -1 in input 1 (INDICES) is out of range, want at least 0 and below 3"},
    {kScatterAssign, "X f 3; I i 2; S f 3",
     "elements of input 2 (SLICES) of shape [3], want 2 slices of 1 (got 3, want 2)"},
    {kScatterAssign, "X f -; I i 1; S f 1", "rank of input 0 (DATA): got 0, want at least 1"},
    {kWeightedSum, "X f 3,2; W f 1 = 1; I i 2 = 0,3; X1 f 2,2; W1 f 1 = 1",
     "index 3 in input 2 (INDICES) is out of range, want at least 0 and below 3"},
    {kWeightedSum, "X f -; W f 1 = 1; I i 1; X1 f 1; W1 f 1 = 1",
     "rank of input 0 (X_0): got 0, want at least 1"},
    {kWeightedSum, "X f 3,2; W f 2 = 1,1; I i 2 = 0,1; X1 f 2,2; W1 f 1 = 1",
     "elements of input 1 (a weight) of shape [2]: got 2, want 1"},
    {kWeightedSum, "X f 3,2; W f 1 = 1; I i 2 = 0,1; X1 f 2,2; W1 f 0",
     "elements of input 4 (a weight) of shape [0]: got 0, want 1"},
    {kWeightedSum, "X f 3,2; W f 1 = 1; I i 2 = 0,1; X1 f 3,2; W1 f 1 = 1",
     "elements of input 3 of shape [3, 2], want 2 slices of 2 (got 6, want 4)"},
    {kSparseToDenseLike, "I i 2 = 0,3; V f 2; D f 3",
     "index 3 is out of range, want at least 0 and below 3"},
    {kSparseToDense, "I i 2 = 2,-1; V f 2",
     "index -1 is out of range, want at least 0 and below 3"},
    {"type: 'SparseToDense' input: 'I' input: 'V' input: 'D' output: 'Y' "
     "arg { name: 'output_first_dim' i: 4 }",
     "I i 2; V f 2; D f 3",
     "argument output_first_dim and input 2 (data_to_infer_dim) are both given: remove one"},
    {kSparseToDense, "I i 2; V f 3",
     "dim 0 of input 1 (values) of shape [3], want the number of indices (got 3, want 2)"},
    {kSparseToDense, "I i 1,2; V f 2", "rank of input 0 (indices) of shape [1, 2]: got 2, want 1"},
    {kSparseToDense, "I i 1; V f -", "rank of input 1 (values): got 0, want at least 1"},
    {kSparseToDenseLike, "I i 1; V f 1; D f -",
     "rank of input 2 (data_to_infer_dim): got 0, want at least 1"},
    {kSparseToDense, "I l 1 = 9223372036854775807; V f 1", "overflow"},
    {kCopyRows, "X f 2; I l 1; R f 2",
     "rank of input 0 (input_tensor) of shape [2]: got 1, want 2"},
    {kCopyRows, "X f 2,2; I l 1,1; R f 2",
     "rank of input 1 (indices) of shape [1, 1]: got 2, want 1"},
    {kCopyRows, "X f 2,2; I l 1; R f 1,2", "rank of input 2 (row) of shape [1, 2]: got 2, want 1"},
    {kCopyRows, "X f 2,2; I l 1; R f 3",
     "elements of input 2 (row), want the columns of input 0 (input_tensor) (got 3, want 2)"},
    {kCopyRows, "X f 2,2; I l 1; R i 2",
     "input 2 (row) has elements of type int32, want that of input 0, float"},
    {kCopyRows, "X f 2,2; I l 2 = 0,2; R f 2",
     "element 1 of input 1 (indices) is 2, want at least 0 and less than 2, the rows of input 0 "
     "(input_tensor)"},
    {kCopyRows, "X f 2,2; I l 1 = -1; R f 2",
     "element 0 of input 1 (indices) is -1, want at least 0 and less than 2, the rows of input 0 "
     "(input_tensor)"},
    {kTensorScatter, "X f 1,3; U f 1,4; S l 1",
     "input 1 (update) has shape [1, 4], want that of input 0 (cache) [1, 3] with at most the "
     "steps "
     "of dim 1"},
    {kTensorScatter, "X f 2,3; U f 1,3; S l 2",
     "input 1 (update) has shape [1, 3], want that of input 0 (cache) [2, 3] with at most the "
     "steps "
     "of dim 1"},
    {kTensorScatter, "X f 1,3; U i 1,2; S l 1",
     "input 1 (update) has elements of type int32, want float as input 0 (cache)"},
    {kTensorScatter, "X f 1,3; U f 1,2; S l 2",
     "elements of input 2 (start), want one for each sequence (got 2, want 1)"},
    {kTensorScatter, "X f 1,3; U f 1,2; S l 1 = 2",
     "element of input 2 (start) is 2, want at least 0 and at most 1: 2 of 3 steps are written"},
    {kTensorScatter, "X f 1,3; U f 1,2; S l 1 = -1",
     "element of input 2 (start) is -1, want at least 0 and at most 1: 2 of 3 steps are written"},
    {"type: 'TensorScatter' input: 'X' input: 'U' input: 'S' output: 'Y' arg { name: 'axis' i: 1 } "
     "arg { name: 'mode' s: 'circular' }",
     "X f 1,3; U f 1,2; S l 1 = -1",
     "element of input 2 (start) is -1, want at least 0 and at most 1: 2 of 3 steps are written"},
    {"type: 'TensorScatter' input: 'X' input: 'U' output: 'Y' arg { name: 'axis' i: 0 }",
     "X f 1,3; U f 1,3",
     "axis, want a dimension after that of the sequences (got 0, want at least 1)"},
    {"type: 'TensorScatter' input: 'X' input: 'U' output: 'Y' arg { name: 'mode' s: 'ring' }",
     "X f 1,3,1; U f 1,3,1", "argument \"mode\" is \"ring\", want linear or circular"},
    {"type: 'SparseToDenseMask' input: 'I' input: 'V' input: 'D' output: 'Y'",
     "I i 1; V f 1; D f -", "argument \"mask\" is empty, want ids"},
    {"type: 'SparseToDenseMask' input: 'I' input: 'V' input: 'D' output: 'Y' "
     "arg { name: 'mask' ints: 3 ints: 2 ints: 3 }",
     "I i 1; V f 1; D f -", "argument \"mask\" has 3 twice, want different ids"},
    {kMask, "I i 2; V f 2; D f -; L i 2 = 3,-1",
     "an element of input 3 (lengths), want at least 0 (got -1, want at least 0)"},
    {kMask, "I i 2; V f 2; D f -; L i 2 = 2,1",
     "sum of input 3 (lengths), want the elements of input 0 (indices) (got 3, want 2)"},
    {kMask, "I i 2; V f 2; D f -; L i 1,1 = 2", "rank of input 3 (lengths): got 2, want 1"},
    {kMask, "I i 1,1; V f 1; D f -; L i 1 = 1",
     "rank of input 0 (indices) of shape [1, 1]: got 2, want 1"},
    {kMask, "I f 1; V f 1; D f -; L i 1 = 1",
     "input 0 (indices) has elements of type float, want int32 or int64"},
    {kMask, "I i 2; V f 3; D f -; L i 1 = 2",
     "input 1 (values) has shape [3], want 2 rows, one for each element of input 0 (indices)"},
    {kMask, "I i 2; V f 2; D f 1; L i 1 = 2",
     "input 2 (default_value) has shape [1] and type float, want a row of input 1 (values) of "
     "shape "
     "[2] and type float"},
    {kMask, "I i 2; V f 2; D i -; L i 1 = 2",
     "input 2 (default_value) has shape [] and type int32, want a row of input 1 (values) of shape "
     "[2] and type float"},
    {kMask, "I i 2; V f 2,2; D f 3; L i 1 = 2",
     "input 2 (default_value) has shape [3] and type float, want a row of input 1 (values) of "
     "shape "
     "[2, 2] and type float"},
    {"type: 'SparseToDenseMask' input: 'I' input: 'V' input: 'D' output: 'Y' "
     "arg { name: 'mask' ints: 2 } arg { name: 'return_presence_mask' i: 1 }",
     "I i 1; V f 1; D f -",
     "outputs, want 2 with argument \"return_presence_mask\" (got 1, want at least 2)"},
    {"type: 'SparseToDenseMask' input: 'I' input: 'V' input: 'D' output: 'Y' "
     "arg { name: 'mask' ints: 2 } arg { name: 'max_skipped_indices' i: 1 }",
     "I i 1 = 2147483647; V f 1; D f -",
     "invalid ids that were skipped, the last one 2147483647: got 1, want less than 1"},
    {"type: 'SparseToDenseMask' input: 'I' input: 'V' input: 'D' output: 'Y' "
     "arg { name: 'mask' ints: 2 } arg { name: 'max_skipped_indices' i: 2 }",
     "I l 3 = -1,2,-7; V f 3; D f -",
     "invalid ids that were skipped, the last one -7: got 2, want less than 2"},
    {"type: 'SparseToDenseMaskGradient' input: 'I' input: 'G' input: 'L' output: 'Y' "
     "arg { name: 'mask' ints: 2 ints: 3 }",
     "I i 1; G f 1,3; L i 1 = 1",
     "input 1 (gradient of output) has shape [1, 3], want the first dimensions to be [1, 2]"},
};

TEST(MovedRefusalsTest, OfIndicesAndSlices) {
  for (const Refusal& row : kIndexed) ExpectRefusal(row);
}

}  // namespace
}  // namespace caffe2rt::test::moved_refusals_test
