// Errors of the operators of segments, reductions, elements and losses, with the whole message
// of each.
#include <gtest/gtest.h>

#include "tests/operators/refusals/refusal.h"

namespace caffe2rt::test::numeric_refusals_test {
namespace {

constexpr char kLengthsSum[] = "type: 'LengthsSum' input: 'X' input: 'L' output: 'Y'";
constexpr char kSortedSum[] = "type: 'SortedSegmentSum' input: 'X' input: 'S' output: 'Y'";
constexpr char kUnsortedSum[] =
    "type: 'UnsortedSegmentSum' input: 'X' input: 'S' output: 'Y' "
    "arg { name: 'num_segments' i: 2 }";
constexpr char kSparseSum[] =
    "type: 'SparseLengthsSum' input: 'X' input: 'I' input: 'L' output: 'Y'";
constexpr char kSparseWeighted[] =
    "type: 'SparseLengthsWeightedSum' input: 'X' input: 'W' input: 'I' input: 'L' output: 'Y'";
constexpr char kPositional[] =
    "type: 'SparseLengthsPositionalWeightedSum' input: 'X' input: 'W' "
    "input: 'I' input: 'L' output: 'Y'";
constexpr char kSumGradient[] = "type: 'LengthsSumGradient' input: 'G' input: 'L' output: 'Y'";
constexpr char kSortedGradient[] =
    "type: 'SortedSegmentSumGradient' input: 'G' input: 'S' output: 'Y'";
constexpr char kWeightedGradient[] =
    "type: 'LengthsWeightedSumGradient' input: 'W' input: 'G' input: 'L' output: 'Y'";
constexpr char kMainGradient[] =
    "type: 'SparseLengthsWeightedSumWithMainInputGradient' input: 'W' "
    "input: 'G' input: 'L' input: 'X' input: 'I' output: 'Y' output: 'Z'";
constexpr char kMaxGradient[] =
    "type: 'LengthsMaxWithMainInputAndForwardOutputGradient' input: 'O' "
    "input: 'G' input: 'L' input: 'X' output: 'Y'";
constexpr char kRangeGradient[] =
    "type: 'SortedSegmentRangeMaxGradient' input: 'X' input: 'O' "
    "input: 'G' input: 'S' output: 'Y'";
constexpr char kTensorTrain[] =
    "type: 'TTSparseLengthsSum' input: 'A' input: 'B' input: 'C' input: 'I' input: 'L' output: 'Y' "
    "output: 'P' output: 'Q' output: 'R' arg { name: 'factor_i' ints: 2 ints: 2 ints: 2 } "
    "arg { name: 'factor_j' ints: 1 ints: 1 ints: 2 } "
    "arg { name: 'ranks' ints: 1 ints: 1 ints: 1 ints: 1 } arg { name: 'emb_size' i: 2 }";

constexpr Refusal kSegments[] = {
    {kLengthsSum, "X f -; L i 1", "rank of input 0 (DATA): got 0, want at least 1"},
    {kLengthsSum, "X f 2; L i 1,1 = 2",
     "rank of input 1 (LENGTHS) of shape [1, 1], want a vector (got 2, want 1)"},
    {kLengthsSum, "X f 2; L i 1 = 3",
     "sum of input 1 (LENGTHS), want the number of rows of input 0 (DATA) (got 3, want 2)"},
    {kLengthsSum, "X f 2; L i 0",
     "sum of input 1 (LENGTHS), want the number of rows of input 0 (DATA) (got 0, want 2)"},
    {kLengthsSum, "X f 2; L i 2 = 3,-1",
     "element 1 of input LENGTHS, want at least 0 (got -1, want at least 0)"},
    {kLengthsSum, "X f 2; L l 1 = 2", "the tensor holds elements of type int64, want int32"},
    {kLengthsSum, "X d 2; L i 1 = 2",
     "Unsupported type of tensor: input 0 (DATA) has elements of type double, want float"},
    {kSortedSum, "X f 3; S i 2",
     "elements of input 1 (SEGMENT_IDS), want the number of rows of input 0 (DATA) (got 2, want "
     "3)"},
    {kSortedSum, "X f 2; S i 2 = 1,1",
     "element 0 of input SEGMENT_IDS: ids must be sorted, start at 0 and have no gaps: got 1, want "
     "0"},
    {kSortedSum, "X f 3; S i 3 = 0,1,0",
     "element 2 of input SEGMENT_IDS: ids must be sorted, start at 0 and have no gaps: got 0, want "
     "2"},
    {kSortedSum, "X f 3; S i 3 = 0,0,2",
     "element 2 of input SEGMENT_IDS: ids must be sorted, start at 0 and have no gaps: got 2, want "
     "1"},
    {kUnsortedSum, "X f 2; S i 2 = 0,2",
     "element 1 of input SEGMENT_IDS is 2, want at least 0 and below the number of segments, 2"},
    {kUnsortedSum, "X f 2; S i 2 = -1,0",
     "element 0 of input SEGMENT_IDS is -1, want at least 0 and below the number of segments, 2"},
    {"type: 'UnsortedSegmentSum' input: 'X' input: 'S' output: 'Y' arg { name: 'num_segments' i: "
     "-2 }",
     "X f 1; S i 1", "argument \"num_segments\" is -2, want -1 or more"},
    {kSparseSum, "X f 2; I l 1,1; L i 1 = 1",
     "rank of input 1 (INDICES) of shape [1, 1], want a vector"},
    {kSparseSum, "X f 2; I f 1; L i 1 = 1",
     "Unsupported type of tensor: input INDICES has elements of type float, want int32, int64"},
    {kSparseSum, "X f 2; I l 2 = 0,2; L i 1 = 2",
     "element 1 of input INDICES is 2, want at least 0 and below 2, the rows of DATA"},
    {kSparseSum, "X f 2; I i 1 = -1; L i 1 = 1",
     "element 0 of input INDICES is -1, want at least 0 and below 2, the rows of DATA"},
    {kSparseSum, "X f 2; I l 2 = 0,1; L i 1 = 1",
     "sum of input 2 (LENGTHS), want the number of indices (got 1, want 2)"},
    {kSparseSum, "X f 2; I l 0; L i -", "rank of input 2 (LENGTHS): got 0, want at least 1"},
    {kSparseSum, "X f 2; I l 0; L f 1",
     "input 2 (LENGTHS) has elements of type float, want int32 or int64"},
    {kSparseWeighted, "X f 2; W f 1,1; I l 1; L i 1 = 1",
     "rank of input 1 (SCALARS) of shape [1, 1], want a vector (got 2, want 1)"},
    {kSparseWeighted, "X f 2; W f 2; I l 1; L i 1 = 1",
     "elements of input 1 (SCALARS), want one for each row that is reduced (got 2, want 1)"},
    {kPositional, "X f 3; W f 1; I l 3; L i 2 = 1,2",
     "elements of input 1 (WEIGHT), want those of the longest segment (got 1, want at least 2)"},
    {kSumGradient, "G f -; L i 1", "rank of input 0 (SEGMENT_GRADS): got 0, want at least 1"},
    {kSumGradient, "G f 2,3; L i 1 = 1",
     "input 1 (LENGTHS) describes 1 segments, want 2, dim 0 of input 0 (SEGMENT_GRADS) of shape "
     "[2, 3]"},
    {kSortedGradient, "G f 3; S i 2 = 0,1",
     "input 1 (SEGMENT_IDS) has 2 ids, which cannot describe 3 segments, dim 0 of input 0 "
     "(SEGMENT_GRADS) of shape [3]"},
    {kSortedGradient, "G f 0; S i 1",
     "input 1 (SEGMENT_IDS) has 1 ids, which cannot describe 0 segments, dim 0 of input 0 "
     "(SEGMENT_GRADS) of shape [0]"},
    {kSortedGradient, "G f 2; S i 3 = 0,1,2",
     "input 1 (SEGMENT_IDS) describes 3 segments, want 2, dim 0 of input 0 (SEGMENT_GRADS) of "
     "shape [2]"},
    {kWeightedGradient, "W f 3; G f 1; L i 1 = 2",
     "input 0 (SCALARS) has shape [3], want [2], one for each row"},
    {kWeightedGradient, "W f 1,2; G f 1; L i 1 = 2",
     "input 0 (SCALARS) has shape [1, 2], want [2], one for each row"},
    {kMainGradient, "W f 2; G f 1,3; L i 1 = 2; X f 4,3; I l 1,2",
     "rank of input INDICES of shape [1, 2], want a vector (got 2, want 1)"},
    {kMainGradient, "W f 2; G f 1,3; L i 1 = 2; X f 4,2; I l 2",
     "input 3 (DATA) has shape [4, 2], want rows of 3 elements, as in SEGMENT_GRADS"},
    {kMainGradient, "W f 2; G f 1,3; L i 1 = 2; X f 4,3; I l 2 = 0,4",
     "element 1 of input INDICES is 4, want at least 0 and below 4, the rows of DATA"},
    {kMainGradient, "W f 2; G f 1,3; L i 1 = 2; X f 4,3; I l 2 = -1,0",
     "element 0 of input INDICES is -1, want at least 0 and below 4, the rows of DATA"},
    {kMaxGradient, "O f 1,3; G f 1,2; L i 1 = 2; X f 2,2",
     "elements of input 0 (OUTPUT) of shape [1, 3], want those of SEGMENT_GRADS of shape [1, 2] "
     "(got "
     "3, want 2)"},
    {kMaxGradient, "O f 1,2; G f 1,2; L i 1 = 2; X f 3,2",
     "input 3 (DATA) has 3 rows, want 2, those of all segments"},
    {kRangeGradient, "X f 3; O f 1,2; G f 1,2; S i 2 = 0,0",
     "elements of input 0 (DATA) of shape [3], want 2 rows of 2, those of all segments (got 3, "
     "want "
     "at least 4)"},
    {kRangeGradient, "X f 2,2; O f 1; G f 1,2; S i 2 = 0,0",
     "elements of input 1 (OUTPUT) of shape [1], want those of SEGMENT_GRADS of shape [1, 2] (got "
     "1, "
     "want at least 2)"},
    {kTensorTrain, "A f 2,1,1,1; B f 2,1,1,2; C f 2,1,2,1; I l 1; L i 1 = 1",
     "input 1 (core1) has shape [2, 1, 1, 2], want [2, 1, 1, 1] by the arguments"},
    {kTensorTrain, "A f 2,1,1,1; B f 2,1,1,1; C f 2,1,2,1; I l 1,1; L i 1 = 1",
     "rank of input 3 (index) of shape [1, 1]: got 2, want 1"},
    {kTensorTrain, "A f 2,1,1,1; B f 2,1,1,1; C f 2,1,2,1; I l 1; L i 1,1 = 1",
     "rank of input 4 (lengths) of shape [1, 1]: got 2, want 1"},
    {kTensorTrain, "A f 2,1,1,1; B f 2,1,1,1; C f 2,1,2,1; I l 2; L i 1 = 1",
     "sum of the lengths, want the elements of input 3 (index) (got 1, want 2)"},
    {kTensorTrain, "A f 2,1,1,1; B f 2,1,1,1; C f 2,1,2,1; I l 1 = 8; L i 1 = 1",
     "element 0 of input 3 (index) is 8, want at least 0 and less than 8, the rows of the table"},
    {kTensorTrain, "A f 2,1,1,1; B f 2,1,1,1; C f 2,1,2,1; I l 1 = -1; L i 1 = 1",
     "element 0 of input 3 (index) is -1, want at least 0 and less than 8, the rows of the table"},
    {"type: 'TTSparseLengthsSum' input: 'A' input: 'B' input: 'C' input: 'I' input: 'L' output: "
     "'Y' "
     "output: 'P' output: 'Q' output: 'R' arg { name: 'factor_i' ints: 2 ints: 2 } "
     "arg { name: 'factor_j' ints: 1 ints: 1 ints: 2 } arg { name: 'ranks' ints: 1 ints: 1 ints: 1 "
     "ints: 1 } arg { name: 'emb_size' i: 2 }",
     "A f 1; B f 1; C f 1; I l 1; L i 1", "elements of argument factor_i: got 2, want 3"},
    {"type: 'TTSparseLengthsSum' input: 'A' input: 'B' input: 'C' input: 'I' input: 'L' output: "
     "'Y' "
     "output: 'P' output: 'Q' output: 'R' arg { name: 'factor_i' ints: 2 ints: 2 ints: 2 } "
     "arg { name: 'factor_j' ints: 1 ints: 0 ints: 2 } arg { name: 'ranks' ints: 1 ints: 1 ints: 1 "
     "ints: 1 } arg { name: 'emb_size' i: 2 }",
     "A f 1; B f 1; C f 1; I l 1; L i 1", "element 1 of argument factor_j: got 0, want at least 1"},
    {"type: 'TTSparseLengthsSum' input: 'A' input: 'B' input: 'C' input: 'I' input: 'L' output: "
     "'Y' "
     "output: 'P' output: 'Q' output: 'R' arg { name: 'factor_i' ints: 2 ints: 2 ints: 2 } "
     "arg { name: 'factor_j' ints: 1 ints: 1 ints: 2 } arg { name: 'ranks' ints: 1 ints: 1 ints: 1 "
     "ints: 3 } arg { name: 'emb_size' i: 2 }",
     "A f 1; B f 1; C f 1; I l 1; L i 1", "argument ranks is 1, ..., 3 at its ends, want 1"},
    {"type: 'TTSparseLengthsSum' input: 'A' input: 'B' input: 'C' input: 'I' input: 'L' output: "
     "'Y' "
     "output: 'P' output: 'Q' output: 'R' arg { name: 'factor_i' ints: 2 ints: 2 ints: 2 } "
     "arg { name: 'factor_j' ints: 1 ints: 1 ints: 2 } arg { name: 'ranks' ints: 1 ints: 1 ints: 1 "
     "ints: 1 } arg { name: 'emb_size' i: 3 }",
     "A f 1; B f 1; C f 1; I l 1; L i 1",
     "argument emb_size, want at most the product of factor_j (got 3, want at most 2)"},
    {"type: 'TTSparseLengthsSumGradient' input: 'A' input: 'B' input: 'C' input: 'L' input: 'P' "
     "input: 'Q' input: 'R' input: 'G' output: 'X' output: 'Y' output: 'Z'",
     "A f 2,1,1,1; B f 2,1,1,1; C f 2,1,2,2; L i 1; P f 0; Q f 0; R l 0; G f 1,2",
     "last dimension of input 2 (core2): got 2, want 1"},
    {"type: 'TTSparseLengthsSumGradient' input: 'A' input: 'B' input: 'C' input: 'L' input: 'P' "
     "input: 'Q' input: 'R' input: 'G' output: 'X' output: 'Y' output: 'Z'",
     "A f 2,1,1; B f 2,1,1,1; C f 2,1,2,1; L i 1; P f 0; Q f 0; R l 0; G f 1,2",
     "rank of input 0 (core0) of shape [2, 1, 1]: got 3, want 4"},
    {"type: 'TTSparseLengthsSumGradient' input: 'A' input: 'B' input: 'C' input: 'L' input: 'P' "
     "input: 'Q' input: 'R' input: 'G' output: 'X' output: 'Y' output: 'Z'",
     "A f 2,1,1,1; B f 2,1,1,1; C f 2,1,2,1; L i 1 = 1; P f 1; Q f 1; R l 3 = 0,2,0; G f 1,2",
     "element [0, 1] of input 6 (indices) is 2, want at least 0 and less than 2"},
    {"type: 'TTSparseLengthsSumGradient' input: 'A' input: 'B' input: 'C' input: 'L' input: 'P' "
     "input: 'Q' input: 'R' input: 'G' output: 'X' output: 'Y' output: 'Z'",
     "A f 2,1,1,1; B f 2,1,1,1; C f 2,1,2,1; L i 1 = 1; P f 1; Q f 2; R l 3; G f 1,2",
     "elements of input 5, want those of a run with these lengths (got 2, want 1)"},
    {"type: 'TTSparseLengthsSumGradient' input: 'A' input: 'B' input: 'C' input: 'L' input: 'P' "
     "input: 'Q' input: 'R' input: 'G' output: 'X' output: 'Y' output: 'Z'",
     "A f 2,1,1,1; B f 2,1,1,1; C f 2,1,2,1; L i 1 = 1; P f 1; Q f 1; R l 3; G f 1,3",
     "columns of input 7 (dOUTPUT), want at most those of the table (got 3, want at most 2)"},
    {"type: 'Unique' input: 'X' output: 'Y'", "X l 1,1",
     "rank of input 0 (indices) of shape [1, 1], want a vector (got 2, want 1)"},
    {"type: 'AccumulateHistogram' input: 'X' output: 'Y' output: 'Z' arg { name: 'num_buckets' i: "
     "0 }",
     "X f 1", "argument \"num_buckets\" is 0, want from 1 to 2^30"},
    {"type: 'AccumulateHistogram' input: 'X' output: 'Y' output: 'Z' "
     "arg { name: 'num_buckets' i: 1073741825 }",
     "X f 1", "argument \"num_buckets\" is 1073741825, want from 1 to 2^30"},
};

constexpr char kFrontMean[] = "type: 'ReduceFrontMean' input: 'X' input: 'L' output: 'Y'";

constexpr Refusal kReductions[] = {
    {"type: 'ReduceSum' input: 'X' output: 'Y' arg { name: 'axes' ints: 2 }", "X f 2,3",
     "argument axes contains 2, want -2 to 1 for an input of rank 2"},
    {"type: 'ReduceProd' input: 'X' output: 'Y' arg { name: 'axes' ints: 0 ints: -3 }", "X f 2,3",
     "argument axes contains -3, want -2 to 1 for an input of rank 2"},
    {"type: 'ReduceSum' input: 'X' input: 'A' output: 'Y'", "X f 2,3; A l 65",
     "elements of input 1 (axes): got 65, want at most 64"},
    {"type: 'ReduceSum' input: 'X' input: 'A' output: 'Y'", "X f 2,3; A f 1",
     "Unsupported type of tensor: input 1 (axes) has elements of type float, want int64, int32"},
    {"type: 'ReduceSum' input: 'X' input: 'A' output: 'Y'", "X f 2,3; A l 1 = 4294967296",
     "axis is 4294967296, want at most 2147483647 and at least -2147483648"},
    {"type: 'ReduceMean' input: 'X' output: 'Y'", "X d 2",
     "Unsupported type of tensor: input 0 (X) has elements of type double, want float"},
    {"type: 'ReduceMax' input: 'X' input: 'A' output: 'Y'", "X s 1 = a; A l 1",
     "Unsupported type of tensor: input 0 (X) has elements of type string, want float, double, "
     "int32, "
     "int64, int8, uint8, bool"},
    {"type: 'ReduceSum' input: 'X' input: 'A' output: 'Y'", "X u 1; A l 1",
     "Unsupported type of tensor: input 0 (X) has elements of type uint8, want float, double, "
     "int32, "
     "int64"},
    {"type: 'ReduceSumGradient' input: 'dY' input: 'X' input: 'Y' output: 'dX'",
     "dY f 2; X f 2,3; Y f 1",
     "elements of input 0 (dY) of shape [2], want one for each output (got 2, want 1)"},
    {"type: 'ReduceMaxGradient' input: 'dY' input: 'X' input: 'Y' output: 'dX'",
     "dY f 1; X f 2,3; Y f 2",
     "elements of input 2 (Y) of shape [2], want one for each output (got 2, want 1)"},
    {"type: 'ReduceFrontSum' input: 'X' output: 'Y' arg { name: 'num_reduce_dim' i: 3 }", "X f 2,3",
     "argument num_reduce_dim is 3, want 0 to 2, the rank of input 0 (X)"},
    {"type: 'ReduceBackSum' input: 'X' output: 'Y' arg { name: 'num_reduce_dim' i: -1 }", "X f 2,3",
     "argument num_reduce_dim is -1, want 0 to 2, the rank of input 0 (X)"},
    {"type: 'ReduceFrontSum' input: 'X' input: 'L' output: 'Y' arg { name: 'num_reduce_dim' i: 2 }",
     "X f 2,3; L i 1", "argument num_reduce_dim with input 1 (lengths): got 2, want 1"},
    {kFrontMean, "X f 2,3; L i 2",
     "elements of input 1 (lengths) of shape [2], want one for each output (got 2, want 3)"},
    {kFrontMean, "X f 2,3; L i 3 = 1,2,3",
     "element 2 of input 1 (lengths), want at most 2, the number of elements (got 3, want at most "
     "2)"},
    {kFrontMean, "X i 2,3; L i 3 = 1,0,2",
     "element 1 of input 1 (lengths), want another number: integers cannot be divided by 0 (got 0, "
     "want other than 0)"},
    {"type: 'ReduceFrontSumGradient' input: 'dY' input: 'X' input: 'L' output: 'dX' "
     "arg { name: 'num_reduce_dim' i: 2 }",
     "dY f -; X f 2,3; L i 1", "argument num_reduce_dim with input 2 (lengths): got 2, want 1"},
    {"type: 'ReduceBackMaxGradient' input: 'dY' input: 'X' input: 'Y' input: 'L' output: 'dX'",
     "dY f 2; X f 2,3; Y f 2; L i 3",
     "elements of input 3 (lengths) of shape [3], want one for each output (got 3, want 2)"},
    {"type: 'ReduceBackMaxGradient' input: 'dY' input: 'X' input: 'Y' output: 'dX'",
     "dY f 2; X f 2,3; Y f 3",
     "elements of input 2 (Y) of shape [3], want one for each output (got 3, want 2)"},
    {"type: 'ReduceBackSumGradient' input: 'dY' input: 'X' output: 'dX'", "dY f 3; X f 2,3",
     "elements of input 0 (dY) of shape [3], want one for each output (got 3, want 2)"},
    {"type: 'RowwiseMax' input: 'X' output: 'Y'", "X f 2,3",
     "rank of input 0 (X) of shape [2, 3]: got 2, want 3"},
    {"type: 'RowwiseMax' input: 'X' output: 'Y'", "X f 1,2,0",
     "input 0 (X) has shape [1, 2, 0], want at least one element in each row or column"},
    {"type: 'ColwiseMax' input: 'X' output: 'Y'", "X f 1,0,2",
     "input 0 (X) has shape [1, 0, 2], want at least one element in each row or column"},
    {"type: 'ColwiseMaxGradient' input: 'X' input: 'Y' input: 'dY' output: 'dX'",
     "X f 1,2,3; Y f 1,2; dY f 1,3",
     "elements of input 1 (Y) of shape [1, 2], want one for each output (got 2, want 3)"},
    {"type: 'RowwiseMaxGradient' input: 'X' input: 'Y' input: 'dY' output: 'dX'",
     "X f 1,2,3; Y f 1,2; dY f 1,3",
     "elements of input 2 (dY) of shape [1, 3], want one for each output (got 3, want 2)"},
    {"type: 'RowwiseMaxGradient' input: 'X' input: 'Y' input: 'dY' output: 'dX'",
     "X f 6; Y f 1; dY f 1", "rank of input 0 (X) of shape [6]: got 1, want 3"},
    {"type: 'ReduceTailSum' input: 'X' output: 'Y'", "X f -",
     "rank of input 0 (X): got 0, want at least 1"},
    {"type: 'SumElementsGradient' input: 'X' input: 'dY' output: 'dX'", "X f 2; dY f 2",
     "elements of input 1 (dY) of shape [2]: got 2, want 1"},
};

constexpr char kCrossEntropy[] = "type: 'CrossEntropy' input: 'X' input: 'L' output: 'Y'";
constexpr char kLabelCrossEntropy[] = "type: 'LabelCrossEntropy' input: 'X' input: 'L' output: 'Y'";
constexpr char kPadded[] = "type: 'DotProductWithPadding' input: 'X' input: 'Y' output: 'Z'";
constexpr char kSoftmax[] = "type: 'SoftmaxWithLoss' input: 'X' input: 'L' output: 'P' output: 'Y'";
constexpr char kSpatial[] =
    "type: 'SpatialSoftmaxWithLoss' input: 'X' input: 'L' output: 'P' output: 'Y'";

constexpr Refusal kLosses[] = {
    {"type: 'AveragedLossGradient' input: 'X' input: 'dY' output: 'dX'", "X f 2; dY f 2",
     "elements of input 1 (dY) of shape [2]: got 2, want 1"},
    {kLabelCrossEntropy, "X f 2,3; L i 2,2",
     "input 1 (label) has shape [2, 2], want 1 label for each row of input 0 (X) of shape [2, 3]"},
    {kLabelCrossEntropy, "X f 2,3; L i 3",
     "dim 0 of input 1 (label) of shape [3], want the rows of input 0 (X) of shape [2, 3] (got 3, "
     "want "
     "2)"},
    {kLabelCrossEntropy, "X f 2,3; L i 2 = 0,3",
     "input 1 (label) is 3 in row 1, want at least 0 and below 3, the number of classes"},
    {kLabelCrossEntropy, "X f 2,3; L i 2 = -1,0",
     "input 1 (label) is -1 in row 0, want at least 0 and below 3, the number of classes"},
    {kCrossEntropy, "X f 2,3; L f 2,2",
     "input 1 (label) has shape [2, 2], want 3 probabilities for each row of input 0 (X) of shape "
     "[2, "
     "3]"},
    {kCrossEntropy, "X f 2,3; L f 2",
     "elements of input 1 (label) of shape [2], want one for each element of input 0 (X) of shape "
     "[2, "
     "3] (got 2, want 6)"},
    {kCrossEntropy, "X f 1,2; L f 1,2 = 0,1.5",
     "input 1 (label) is 1.5 in row 0, want probabilities from 0 to 1"},
    {kCrossEntropy, "X f 2,2; L f 2,2 = 0,1,0,-1",
     "input 1 (label) is -1 in row 1, want probabilities from 0 to 1"},
    {kCrossEntropy, "X f 1,2; L f 1,2 = nan,1",
     "input 1 (label) is nan in row 0, want probabilities from 0 to 1"},
    {"type: 'CrossEntropyGradient' input: 'X' input: 'L' input: 'dY' output: 'dX'",
     "X f 2,3; L f 2,3; dY f 3",
     "input 2 (dY) has shape [3], want [2], the rows of input 0 (X) of shape [2, 3]"},
    {"type: 'LabelCrossEntropyGradient' input: 'X' input: 'L' input: 'dY' output: 'dX'",
     "X f 2,3; L i 2; dY f 2,1",
     "input 2 (dY) has shape [2, 1], want [2], the rows of input 0 (X) of shape [2, 3]"},
    {"type: 'LabelCrossEntropyGradient' input: 'X' input: 'L' input: 'dY' output: 'dX'",
     "X f 1,3; L i 1 = 3; dY f 1",
     "input 1 (label) is 3 in row 0, want at least 0 and below 3, the number of classes"},
    {"type: 'DotProduct' input: 'X' input: 'Y' output: 'Z'", "X f 2,3; Y f 3,2",
     "input 1 (Y) has shape [3, 2], want [2, 3] as input 0 (X)"},
    {"type: 'L1DistanceGradient' input: 'X' input: 'Y' input: 'dZ' output: 'A' output: 'B'",
     "X f 2,3; Y f 2,3; dZ f 3",
     "input 2 (dZ) has shape [3], want [2], the rows of input 0 (X) of shape [2, 3]"},
    {kPadded, "X f -; Y f 1", "input 0 (X) is a scalar, want rank 1 or more"},
    {kPadded, "X f 2,3; Y f 3,3",
     "input 1 (Y) has shape [3, 3], want rank 2 and 2 rows as input 0 (X) of shape [2, 3]"},
    {kPadded, "X f 2,3; Y f 2",
     "input 1 (Y) has shape [2], want rank 2 and 2 rows as input 0 (X) of shape [2, 3]"},
    {"type: 'DotProductWithPaddingGradient' input: 'X' input: 'Y' input: 'dZ' output: 'A' output: "
     "'B'",
     "X f 2,3; Y f 2,1; dZ f 1",
     "input 2 (dZ) has shape [1], want [2], the rows of input 0 (X) of shape [2, 3]"},
    {"type: 'DotProductWithPaddingGradient' input: 'X' input: 'Y' input: 'dZ' output: 'A' output: "
     "'B' "
     "arg { name: 'replicate' i: 1 }",
     "X f 2,3; Y f 2,2; dZ f 2",
     "rows of inputs 0 (X) and 1 (Y) have 3 and 2 elements, want a multiple with argument "
     "replicate"},
    {"type: 'MakeTwoClassGradient' input: 'dY' output: 'dX'", "dY f 2,3",
     "input 0 (dY) has shape [2, 3], want 2 as the last dimension"},
    {"type: 'MakeTwoClassGradient' input: 'dY' output: 'dX'", "dY f -",
     "input 0 (dY) has shape [], want 2 as the last dimension"},
    {"type: 'MarginRankingCriterion' input: 'A' input: 'B' input: 'L' output: 'Y'",
     "A f 2; B f 2; L i 3",
     "elements of input 2, want those of input 0 (X1) of shape [2] (got 3, want 2)"},
    {"type: 'MarginRankingCriterionGradient' input: 'A' input: 'B' input: 'L' input: 'G' output: "
     "'Y' "
     "output: 'Z'",
     "A f 2; B f 2; L i 2; G f 1",
     "elements of input 3, want those of input 0 (X1) of shape [2] (got 1, want 2)"},
    {"type: 'Perplexity' input: 'X' output: 'Y'", "X f -",
     "rank of input 0 (probabilities), want at least 1 (got 0, want at least 1)"},
    {"type: 'SigmoidCrossEntropyWithLogits' input: 'X' input: 'T' output: 'Y'", "X f 2,3; T f 2",
     "input 1 (targets) has shape [2], want [2, 3] as input 0 (logits)"},
    {"type: 'WeightedSigmoidCrossEntropyWithLogits' input: 'X' input: 'T' input: 'W' output: 'Y'",
     "X f 2,3; T f 2,3; W f 3", "input 2 (weights) has shape [3], want [2, 3] as input 0 (logits)"},
    {"type: 'SigmoidCrossEntropyWithLogitsGradient' input: 'dY' input: 'X' input: 'T' output: 'dX'",
     "dY f 3; X f 2,3; T f 2,3",
     "elements of input 0 (dY) of shape [3], want one for each row of input 1 (logits) of shape "
     "[2, 3] "
     "(got 3, want 2)"},
    {"type: 'WeightedSigmoidCrossEntropyWithLogitsGradient' input: 'dY' input: 'X' input: 'T' "
     "input: 'W' output: 'dX'",
     "dY f 2; X f 2,3; T f 2,3; W f 1",
     "input 3 (weights) has shape [1], want [2, 3] as input 1 (logits)"},
    {"type: 'SigmoidCrossEntropyWithLogits' input: 'X' input: 'T' output: 'Y' "
     "arg { name: 'log_D_trick' i: 1 } arg { name: 'unjoined_lr_loss' i: 1 }",
     "X f 1; T f 1", "arguments log_D_trick and unjoined_lr_loss are both 1: remove one"},
    {kSoftmax, "X f 2,3; L i 3",
     "input 1 (labels) has shape [3], input 0 (X) [2, 3], want one label for each row"},
    {"type: 'SoftmaxWithLoss' input: 'X' input: 'L' output: 'P' output: 'Y' "
     "arg { name: 'label_prob' i: 1 }",
     "X f 2,3; L f 2,2",
     "input 1 (labels) has shape [2, 2], input 0 (X) [2, 3], want a probability for each class"},
    {"type: 'SoftmaxWithLoss' input: 'X' input: 'L' output: 'P' output: 'Y' "
     "arg { name: 'label_prob' i: 1 }",
     "X f 1,2; L f 1,2 = 0.5,0.25",
     "the label probabilities of row 0 do not add up to 1 but to 0.75"},
    {"type: 'SoftmaxWithLoss' input: 'X' input: 'L' output: 'P' output: 'Y' "
     "arg { name: 'label_prob' i: 1 }",
     "X f 2,2; L f 2,2 = 1,0,2,-1", "element 3 of input 1 (labels) is -1, want a probability"},
    {"type: 'SoftmaxWithLoss' input: 'X' input: 'L' output: 'P' output: 'Y' arg { name: 'axis' i: "
     "2 }",
     "X f 2,3,4; L i 2",
     "rank of input 1 (labels) of shape [2], want at least the argument axis (got 1, want at least "
     "2)"},
    {"type: 'SoftmaxWithLoss' input: 'X' input: 'L' input: 'W' output: 'P' output: 'Y'",
     "X f 2,3; L i 2 = 0,0; W f 3",
     "elements of input 2 (weights) of shape [3], want one for each label (got 3, want 2)"},
    {kSoftmax, "X f 2,3; L i 2 = 0,3",
     "element 1 of input 1 (labels) is 3, want 0 to below 3 classes"},
    {kSoftmax, "X f 2,3; L i 2 = -1,0",
     "element 0 of input 1 (labels) is -1, want 0 to below 3 classes"},
    {"type: 'SoftmaxWithLoss' input: 'X' input: 'L' output: 'P' output: 'Y' arg { name: 'scale' f: "
     "-1 }",
     "X f 2,3; L i 2", "argument \"scale\" is -1, want at least 0"},
    {"type: 'SoftmaxWithLoss' input: 'X' input: 'L' output: 'P' output: 'Y' "
     "arg { name: 'order' s: 'NHWC' }",
     "X f 2,3; L i 2", "argument \"order\" is \"NHWC\", want NCHW"},
    {kSpatial, "X f 2,3; L i 2", "rank of input 0 (X) of shape [2, 3], want 4 (got 2, want 4)"},
    {kSpatial, "X f 1,2,1,1; L i 1,1",
     "rank of input 1 (labels) of shape [1, 1], want 3: [N, H, W] (got 2, want 3)"},
    {kSpatial, "X f 1,2,1,3; L i 1,1,2",
     "input 1 (labels) has shape [1, 1, 2], input 0 (X) [1, 2, 1, 3], want the same N, H and W"},
    {kSpatial, "X f 1,2,1,1; L i 1,1,1 = 2",
     "element 0 of input 1 (labels) is 2, want 0 to below 2 classes, or -1 to ignore it"},
    {kSpatial, "X f 1,2,1,1; L i 1,1,1 = -2",
     "element 0 of input 1 (labels) is -2, want 0 to below 2 classes, or -1 to ignore it"},
    {"type: 'SoftmaxWithLossGradient' input: 'X' input: 'L' input: 'P' input: 'G' output: 'dX'",
     "X f 2,3; L i 2; P f 2; G f 1",
     "elements of input 2 (softmax) of shape [2], want as many as input 0 (X) (got 2, want 6)"},
    {"type: 'SoftmaxWithLossGradient' input: 'X' input: 'L' input: 'P' input: 'G' output: 'dX'",
     "X f 2,3; L i 2; P f 2,3; G f 2", "elements of input 3 (gradient of the loss): got 2, want 1"},
};

TEST(NumericRefusalsTest, OfSegments) {
  for (const Refusal& row : kSegments) ExpectRefusal(row);
}

TEST(NumericRefusalsTest, OfReductions) {
  for (const Refusal& row : kReductions) ExpectRefusal(row);
}

TEST(NumericRefusalsTest, OfLosses) {
  for (const Refusal& row : kLosses) ExpectRefusal(row);
}

}  // namespace
}  // namespace caffe2rt::test::numeric_refusals_test
