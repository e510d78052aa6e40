// Errors of the operators that select elements and of those of sequences and segments, with the
// whole message of each.
#include <gtest/gtest.h>

#include "tests/operators/refusals/refusal.h"

namespace caffe2rt::test::sequence_refusals_test {
namespace {

constexpr char kMask[] = "type: 'BooleanMask' input: 'X' input: 'M' output: 'Y'";
constexpr char kMaskGradient[] = "type: 'BooleanMaskGradient' input: 'M' input: 'dY' output: 'dX'";
constexpr char kUnmask[] =
    "type: 'BooleanUnmask' input: 'M' input: 'V' input: 'N' input: 'W' output: 'Y'";
constexpr char kBucket[] = "type: 'BatchBucketOneHot' input: 'X' input: 'L' input: 'B' output: 'Y'";
constexpr char kSegmentOneHot[] =
    "type: 'SegmentOneHot' input: 'L' input: 'I' input: 'N' output: 'Y'";
constexpr char kKeySplit[] =
    "type: 'KeySplit' input: 'X' output: 'A' output: 'B' arg { name: 'categorical_limit' i: 2 }";

constexpr Refusal kSelections[] = {
    {"type: 'Accuracy' input: 'X' input: 'L' output: 'Y'", "X f 4; L i 2",
     "rank of input 0 (predictions) of shape [4]: got 1, want 2"},
    {"type: 'Accuracy' input: 'X' input: 'L' output: 'Y'", "X f 2,2; L i 2,1",
     "rank of input 1 (labels) of shape [2, 1]: got 2, want 1"},
    {"type: 'Accuracy' input: 'X' input: 'L' output: 'Y'", "X f 2,2; L i 3",
     "elements of input 1 (labels), want the rows of input 0 (predictions) (got 3, want 2)"},
    {"type: 'ArgMax' input: 'X' output: 'Y' arg { name: 'axis' i: -2 }", "X f 2,3",
     "argument axis is -2, want -1, or at least 0 and below the rank of input 0 of shape [2, 3]"},
    {"type: 'ArgMin' input: 'X' output: 'Y' arg { name: 'axis' i: 2 }", "X f 2,3",
     "argument axis is 2, want -1, or at least 0 and below the rank of input 0 of shape [2, 3]"},
    {"type: 'ArgMin' input: 'X' output: 'Y'", "X f -",
     "argument axis is -1, want -1, or at least 0 and below the rank of input 0 of shape []"},
    {"type: 'BatchOneHot' input: 'X' input: 'L' input: 'V' output: 'Y'", "X l -; L i 1; V l 1",
     "rank of input 0 (data), want at least 1 (got 0, want at least 1)"},
    {"type: 'BatchOneHot' input: 'X' input: 'L' input: 'V' output: 'Y'", "X l 2,3; L i 2; V l 1",
     "elements of input 1 (lengths), want the columns of input 0 (data) of shape [2, 3] (got 2, "
     "want "
     "3)"},
    {"type: 'BatchOneHot' input: 'X' input: 'L' input: 'V' output: 'Y'",
     "X l 1,2; L i 2 = 1,2; V l 2",
     "elements of input 2 (values), want the sum of the lengths (got 2, want 3)"},
    {"type: 'BatchOneHot' input: 'X' input: 'L' input: 'V' output: 'Y'",
     "X l 1,2; L i 2 = 3,-1; V l 2",
     "element 1 of input 1 (lengths), want at least 0 (got -1, want at least 0)"},
    {"type: 'BatchOneHot' input: 'X' input: 'L' input: 'V' output: 'Y'",
     "X l 1,1; L i 1 = 1; V i 1", "the tensor holds elements of type int32, want int64"},
    {kMask, "X f -; M b 1", "rank of input 0 (data): got 0, want at least 1"},
    {kMask, "X f 2; M b 2,1", "rank of input 1 (mask) of shape [2, 1]: got 2, want 1"},
    {kMask, "X f 2,3; M b 3",
     "elements of input 1 (mask), want the rows of input 0 (data) of shape [2, 3] (got 3, want 2)"},
    {kMaskGradient, "M b 1,1; dY f 1", "rank of input 0 (mask) of shape [1, 1]: got 2, want 1"},
    {kMaskGradient, "M b 1; dY f -", "rank of input 1 (dmasked_data): got 0, want at least 1"},
    {kMaskGradient, "M b 3 = 1,0,1; dY f 3,2",
     "true elements of input 0 (mask), want the rows of input 1 (dmasked_data) of shape [3, 2] "
     "(got "
     "2, want 3)"},
    {kMaskGradient, "M b 1 = 1; dY s 1 = a",
     "Unsupported type of tensor: input 1 (dmasked_data) has elements of type string, want float, "
     "double, int32, int64, bool"},
    {kUnmask, "M b 2 = 1,0; V f 1; N b 2,1; W f 1",
     "rank of input 2 (a mask) of shape [2, 1]: got 2, want 1"},
    {kUnmask, "M b 2 = 1,0; V f 1; N b 3; W f 1",
     "elements of input 2 (a mask), want those of input 0 (got 3, want 2)"},
    {kUnmask, "M b 2 = 1,0; V f 1; N b 2; W f 1,1", "rank of input 3 (values): got 2, want 1"},
    {kUnmask, "M b 2 = 1,0; V f 1; N b 2; W i 1",
     "input 3 (values) has elements of type int32, want that of input 1, float"},
    {kUnmask, "M b 2 = 1,0; V f 1; N b 2 = 0,0; W f 0",
     "All masks have False at position 1: want one that is true there"},
    {kUnmask, "M b 2 = 1,1; V f 1; N b 2 = 0,0; W f 0",
     "position in input 1 (values), want one for each true element of its mask that is the first "
     "one "
     "there (got 1, want less than 1)"},
    {kUnmask, "M b 2 = 1,0; V f 1; N b 2 = 1,1; W f 2",
     "values that mask 1 takes, want the elements of input 3 (got 1, want 2)"},
    {kBucket, "X f -; L i 1; B f 1", "rank of input 0 (data): got 0, want at least 1"},
    {kBucket, "X f 1,2; L i 1 = 1; B f 1",
     "elements of input 1 (lengths), want the columns of input 0 (data) of shape [1, 2] (got 1, "
     "want "
     "2)"},
    {kBucket, "X f 1,2; L i 2 = 1,0; B f 1",
     "element 1 of input 1 (lengths), the boundaries of a column: got 0, want at least 1"},
    {kBucket, "X f 1,2; L i 2 = 1,1; B f 3",
     "elements of input 2 (boundaries), want the sum of the lengths (got 3, want 2)"},
    {kSegmentOneHot, "L i 1 = 1; I l 1; N l 2",
     "elements of input 2 (index_size_tensor): got 2, want 1"},
    {kSegmentOneHot, "L i 1 = 1; I l 2; N l 1 = 3",
     "elements of input 1 (indices), want the sum of the lengths (got 2, want 1)"},
    {kSegmentOneHot, "L i 1 = 0; I l 0; N l 1 = -1",
     "input 2 (index_size_tensor): got -1, want at least 0"},
    {kSegmentOneHot, "L i 1 = 2; I l 2 = 0,3; N l 1 = 3",
     "element 1 of input 1 (indices) is 3, want at least 0 and less than index_size 3"},
    {kSegmentOneHot, "L i 1 = 2; I l 2 = -1,0; N l 1 = 3",
     "element 0 of input 1 (indices) is -1, want at least 0 and less than index_size 3"},
    {"type: 'FindDuplicateElements' input: 'X' output: 'Y'", "X f 1,1",
     "rank of input 0 (data) of shape [1, 1]: got 2, want 1"},
    {"type: 'KeySplit' input: 'X' output: 'A' output: 'B' arg { name: 'categorical_limit' i: 3 }",
     "X l 1", "outputs, want one for each key below categorical_limit (got 2, want 3)"},
    {kKeySplit, "X l 1,1", "rank of input 0 (keys) of shape [1, 1]: got 2, want 1"},
    {kKeySplit, "X l 2 = 1,2",
     "element 1 of input 0 (keys) is 2, want at least 0 and less than categorical_limit 2"},
    {kKeySplit, "X l 2 = -1,1",
     "element 0 of input 0 (keys) is -1, want at least 0 and less than categorical_limit 2"},
    {"type: 'IndexHash' input: 'X' output: 'Y' arg { name: 'modulo' i: 0 }", "X l 1",
     "argument \"modulo\" is 0, want above 0"},
    {"type: 'MultiClassAccuracy' input: 'X' input: 'L' output: 'A' output: 'N'", "X f 2; L i 2",
     "rank of input 0 (prediction), want 2 (got 1, want at least 2)"},
    {"type: 'MultiClassAccuracy' input: 'X' input: 'L' output: 'A' output: 'N'", "X f 1,2,2; L i 1",
     "elements of input 0 (prediction) of shape [1, 2, 2], want a matrix (got 4, want 2)"},
    {"type: 'MultiClassAccuracy' input: 'X' input: 'L' output: 'A' output: 'N'", "X f 2,2; L i 3",
     "elements of input 1 (labels), want the rows of prediction (got 3, want 2)"},
    {"type: 'MultiClassAccuracy' input: 'X' input: 'L' output: 'A' output: 'N'",
     "X f 2,2; L i 2 = 1,2", "element 1 of input 1 (labels) is 2, want at least 0 and less than 2"},
    {"type: 'MultiClassAccuracy' input: 'X' input: 'L' output: 'A' output: 'N'",
     "X f 2,2; L i 2 = -1,1",
     "element 0 of input 1 (labels) is -1, want at least 0 and less than 2"},
    {"type: 'Compress' input: 'X' input: 'C' output: 'Y'", "X f 2,3; C b 2,1",
     "rank of input 1 (condition), want a vector (got 2, want 1)"},
    {"type: 'Compress' input: 'X' input: 'C' output: 'Y' arg { name: 'axis' i: 0 }",
     "X f 2,3; C b 3",
     "elements of input 1 (condition), want at most those of input 0 (X) of shape [2, 3] to select "
     "from (got 3, want at most 2)"},
    {"type: 'Compress' input: 'X' input: 'C' output: 'Y'", "X f 2,3; C b 7",
     "elements of input 1 (condition), want at most those of input 0 (X) of shape [2, 3] to select "
     "from (got 7, want at most 6)"},
    {"type: 'OneHot' input: 'X' input: 'N' output: 'Y'", "X l 1,1; N l 1 = 2",
     "rank of input 0 (indices), want a vector (got 2, want 1)"},
    {"type: 'OneHot' input: 'X' input: 'N' output: 'Y'", "X l 1; N l 2",
     "elements of input 1 (index_size), want one (got 2, want 1)"},
    {"type: 'OneHot' input: 'X' input: 'N' output: 'Y'", "X l 1; N l 1 = -1",
     "input 1 (index_size), want at least 0 (got -1, want at least 0)"},
    {"type: 'OneHot' input: 'X' input: 'N' output: 'Y'", "X l 2 = 0,2; N l 1 = 2",
     "element 1 of input 0 (indices) is 2, want at least 0 and below index_size 2"},
    {"type: 'OneHot' input: 'X' input: 'N' output: 'Y'", "X l 2 = -1,0; N l 1 = 2",
     "element 0 of input 0 (indices) is -1, want at least 0 and below index_size 2"},
    {"type: 'ONNXOneHot' input: 'X' input: 'N' input: 'V' output: 'Y'", "X l 1; N l 2; V f 2",
     "elements of input 1 (depth), want one (got 2, want 1)"},
    {"type: 'ONNXOneHot' input: 'X' input: 'N' input: 'V' output: 'Y'", "X l 1; N l - = -1; V f 2",
     "input 1 (depth): got -1, want at least 0"},
    {"type: 'ONNXOneHot' input: 'X' input: 'N' input: 'V' output: 'Y'", "X l 1; N l - = 1; V f 2,1",
     "input 2 (values) has shape [2, 1], want [2]: the off and the on value"},
    {"type: 'ONNXOneHot' input: 'X' input: 'N' input: 'V' output: 'Y'", "X l 1; N l - = 1; V f 3",
     "input 2 (values) has shape [3], want [2]: the off and the on value"},
    {"type: 'ONNXWhere' input: 'C' input: 'X' input: 'Z' output: 'Y'", "C b 1; X f 1; Z i 1",
     "input 2 (Y) has elements of type int32, want float as input 1 (X)"},
    {"type: 'ONNXWhere' input: 'C' input: 'X' input: 'Z' output: 'Y'", "C b 2; X f 3; Z f 1",
     "shape [3] cannot be broadcast with [2] of the inputs before"},
    {"type: 'ONNXWhere' input: 'C' input: 'X' input: 'Z' output: 'Y'", "C b 1; X f 2,3; Z f 2",
     "shape [2] cannot be broadcast with [2, 3] of the inputs before"},
    {"type: 'ONNXTopK' input: 'X' output: 'V' output: 'I' arg { name: 'k' i: 4 }", "X f 2,3",
     "k is 4, want at least 0 and at most dim 1 of input 0 (X) of shape [2, 3]"},
    {"type: 'ONNXTopK' input: 'X' output: 'V' output: 'I' arg { name: 'axis' i: 0 }", "X f 2,3",
     "k is -1, want at least 0 and at most dim 0 of input 0 (X) of shape [2, 3]"},
    {"type: 'TopK' input: 'X' output: 'V' output: 'I'", "X f 3",
     "argument k is -1, want at least 1"},
    {"type: 'TopK' input: 'X' output: 'V' output: 'I' arg { name: 'k' i: 0 }", "X f 3",
     "argument k is 0, want at least 1"},
    {"type: 'TopK' input: 'X' input: 'K' output: 'V' output: 'I'", "X f 3; K l 1 = 0",
     "k: got 0, want at least 1"},
    {"type: 'TopK' input: 'X' input: 'K' output: 'V' output: 'I'", "X f 3; K l 0",
     "elements of input 1 (k): got 0, want at least 1"},
    {"type: 'TopK' input: 'X' output: 'V' output: 'I' output: 'V' arg { name: 'k' i: 1 }", "X f 3",
     "output \"V\" is listed twice, want different blobs"},
    {"type: 'TopK' input: 'X' output: 'V' output: 'V' arg { name: 'k' i: 1 }", "X f 3",
     "output \"V\" is listed twice, want different blobs"},
    {"type: 'TopK' input: 'X' output: 'V' output: 'I' output: 'I' arg { name: 'k' i: 1 }", "X f 3",
     "output \"I\" is listed twice, want different blobs"},
    {"type: 'TopKGradient' input: 'dY' input: 'I' input: 'X' output: 'dX'",
     "dY f 3,1; I l 3,1; X f 2,4",
     "input 0 (dY) has shape [3, 1], want that of input 2 (X) [2, 4] except for dim 1"},
    {"type: 'TopKGradient' input: 'dY' input: 'I' input: 'X' output: 'dX'",
     "dY f 2,1; I l 2; X f 2,4",
     "input 1 (Indices) has shape [2], want that of input 0 (dY) [2, 1]"},
    {"type: 'TopKGradient' input: 'dY' input: 'I' input: 'X' output: 'dX'",
     "dY f 2,1; I l 2,1 = 0,4; X f 2,4", "element 1 of input 1 (Indices): got 4, want less than 4"},
    {"type: 'Summarize' input: 'X' output: 'Y'", "X f 0,2",
     "elements of input 0 (data) of shape [0, 2]: got 0, want more than 0"},
    {"type: 'TfIdfVectorizer' input: 'X' output: 'Y' arg { name: 'ngram_counts' ints: 0 ints: 2 } "
     "arg { name: 'pool_int64s' ints: 5 ints: 6 ints: 7 }",
     "X l 2",
     "n-grams of 2 elements are 2 to 3 of 3 elements of pool_int64s, want a range of whole "
     "n-grams"},
    {"type: 'TfIdfVectorizer' input: 'X' output: 'Y' arg { name: 'ngram_counts' ints: 3 } "
     "arg { name: 'pool_int64s' ints: 5 ints: 6 }",
     "X l 2",
     "n-grams of 1 elements are 3 to 2 of 2 elements of pool_int64s, want a range of whole "
     "n-grams"},
    {"type: 'TfIdfVectorizer' input: 'X' output: 'Y' arg { name: 'ngram_counts' ints: -1 } "
     "arg { name: 'pool_int64s' ints: 5 ints: 6 }",
     "X l 2",
     "n-grams of 1 elements are -1 to 2 of 2 elements of pool_int64s, want a range of whole "
     "n-grams"},
    {"type: 'TfIdfVectorizer' input: 'X' output: 'Y' arg { name: 'ngram_counts' ints: 0 } "
     "arg { name: 'pool_int64s' ints: 5 ints: 6 } arg { name: 'ngram_indexes' ints: 0 }",
     "X l 2", "elements of ngram_indexes, want one for each n-gram (got 1, want 2)"},
    {"type: 'TfIdfVectorizer' input: 'X' output: 'Y' arg { name: 'ngram_counts' ints: 0 } "
     "arg { name: 'pool_int64s' ints: 5 } arg { name: 'ngram_indexes' ints: -1 }",
     "X l 2", "element of ngram_indexes is -1"},
    {"type: 'TfIdfVectorizer' input: 'X' output: 'Y' arg { name: 'ngram_counts' ints: 0 } "
     "arg { name: 'pool_int64s' ints: 5 } arg { name: 'ngram_indexes' ints: 0 } "
     "arg { name: 'weights' floats: 1 floats: 2 }",
     "X l 2", "argument weights has 2 elements, want one for each of 1 n-grams"},
    {"type: 'TfIdfVectorizer' input: 'X' output: 'Y' arg { name: 'min_gram_length' i: 2 }", "X l 2",
     "min_gram_length, want at most max_gram_length (got 2, want at most 1)"},
    {"type: 'TfIdfVectorizer' input: 'X' output: 'Y'", "X l -",
     "rank of input 0 (X) is 0, want 1 or 2"},
    {"type: 'TfIdfVectorizer' input: 'X' output: 'Y'", "X l 1,1,1",
     "rank of input 0 (X) is 3, want 1 or 2"},
};

constexpr char kAddPadding[] =
    "type: 'AddPadding' input: 'X' input: 'L' input: 'S' input: 'E' output: 'Y'";
constexpr char kLengthsGather[] =
    "type: 'LengthsGather' input: 'X' input: 'L' input: 'I' output: 'Y'";
constexpr char kLengthsPad[] =
    "type: 'LengthsPad' input: 'X' input: 'L' output: 'Y' arg { name: 'target_length' i: 2 }";
constexpr char kMerge[] =
    "type: 'MergeIdLists' input: 'A' input: 'B' input: 'C' input: 'D' output: 'Y' output: 'Z'";
constexpr char kSequenceMask[] =
    "type: 'SequenceMask' input: 'X' input: 'L' output: 'Y' arg { name: 'mode' s: 'sequence' }";
constexpr char kPack[] = "type: 'PackSegments' input: 'L' input: 'X' output: 'Y'";
constexpr char kUnpack[] = "type: 'UnpackSegments' input: 'L' input: 'X' output: 'Y'";

constexpr Refusal kSequences[] = {
    {kAddPadding, "X f 2,3; L i 1 = 2; S d 3; E f 3",
     "input 2 (start_padding) has elements of type double, want float, as in input 0 (data_in)"},
    {kAddPadding, "X f 2,3; L i 1 = 2; S f 2; E f 3",
     "elements of input 2 (start_padding) of shape [2], want those of a row of input 0 (data_in) "
     "of "
     "shape [2, 3] (got 2, want 3)"},
    {kAddPadding, "X f 2,3; L i 1 = 2; S f 3; E i 3",
     "input 3 (end_padding) has elements of type int32, want float, as in input 0 (data_in)"},
    {kAddPadding, "X f 2,3; L i 1 = 2; S f 3; E f 4",
     "elements of input 3 (end_padding) of shape [4], want those of a row of input 0 (data_in) of "
     "shape [2, 3] (got 4, want 3)"},
    {kAddPadding, "X f 2,3; L i 2 = 2,1; S f 3; E f 3",
     "sum of input 1 (lengths), want at most dim 0 of input 0 (data_in) of shape [2, 3] (got 3, "
     "want "
     "at most 2)"},
    {kAddPadding, "X f 2,3; L i 2 = 2,-1; S f 3; E f 3",
     "element 1 of input 1 (lengths), want at least 0 (got -1, want at least 0)"},
    {"type: 'RemovePadding' input: 'X' input: 'L' output: 'Y'", "X f 3; L i 1 = 1",
     "length of segment 0, want at least padding_width + end_padding_width (got 1, want at least "
     "2)"},
    {"type: 'AddPadding' input: 'X' output: 'Y' output: 'L' arg { name: 'padding_width' i: 0 }",
     "X f 2", "output 1 (lengths_out) needs input 1 (lengths) if the padding widths are 0"},
    {"type: 'AddPadding' input: 'X' output: 'Y' arg { name: 'padding_width' i: -1 }", "X f 2",
     "argument \"padding_width\" is -1, want at least 0"},
    {"type: 'GatherPadding' input: 'X' input: 'L' output: 'Y' arg { name: 'padding_width' i: 3 }",
     "X f 2; L i 1 = 2",
     "length of segment 0 is 2, want at least padding_width and end_padding_width"},
    {"type: 'GatherPadding' input: 'X' input: 'L' output: 'Y'", "X b 2; L i 1 = 2",
     "Unsupported type of tensor: input 0 (data_in) has elements of type bool, want float, double, "
     "int32, int64"},
    {kLengthsGather, "X f -; L i 1; I l 1", "rank of input 0 (ITEMS): got 0, want at least 1"},
    {kLengthsGather, "X f 2; L i 1,1 = 2; I l 1",
     "rank of input 1 (LENGTHS) of shape [1, 1]: got 2, want 1"},
    {kLengthsGather, "X f 2; L i 1 = 2; I l 1,1",
     "rank of input 2 (INDICES) of shape [1, 1]: got 2, want 1"},
    {kLengthsGather, "X f 2,3; L i 2 = 1,2; I l 1",
     "sum of the lengths, want the rows of input 0 (ITEMS) of shape [2, 3] (got 3, want 2)"},
    {kLengthsGather, "X f 2; L i 2 = 1,1; I l 2 = 0,2",
     "element 1 of input 2 (INDICES) is 2, want at least 0 and less than 2, the elements of "
     "LENGTHS"},
    {kLengthsGather, "X f 2; L i 2 = 1,1; I i 1 = -1",
     "element 0 of input 2 (INDICES) is -1, want at least 0 and less than 2, the elements of "
     "LENGTHS"},
    {kLengthsPad, "X f -; L i 1", "rank of input 0 (DATA): got 0, want at least 1"},
    {kLengthsPad, "X f 2; L i 1,1 = 2", "rank of input 1 (LENGTHS) of shape [1, 1]: got 2, want 1"},
    {kLengthsPad, "X f 3; L i 1 = 3",
     "longest of input 1 (LENGTHS), want at most target_length (got 3, want at most 2)"},
    {kLengthsPad, "X f 3; L i 2 = 2,2",
     "sum of the lengths, want the rows of input 0 (DATA) of shape [3] (got 4, want 3)"},
    {"type: 'LengthsPad' input: 'X' input: 'L' output: 'Y' arg { name: 'target_length' i: 0 }",
     "X f 0; L i 0", "argument \"target_length\" is 0, want at least 1"},
    {kMerge, "A i 1,1 = 1; B i 1; C i 1,1 = 1; D i 1",
     "rank of input 0 (lengths) of shape [1, 1]: got 2, want 1"},
    {kMerge, "A i 1 = 1; B i 1; C i 2 = 1,0; D i 1",
     "elements of input 2 (lengths), want those of input 0 (got 2, want 1)"},
    {kMerge, "A i 1 = 1; B i 1; C i 1 = 1; D i 1,1",
     "rank of input 3 (values) of shape [1, 1]: got 2, want 1"},
    {kMerge, "A i 1 = 1; B i 1; C i 1 = 1; D l 1",
     "the tensor holds elements of type int64, want int32"},
    {kMerge, "A i 1 = 1; B i 1; C i 1 = 2; D i 1",
     "sum of the lengths of input 2, want the elements of input 3 (got 2, want 1)"},
    {kMerge, "A i 1 = -1; B i 1; C i 1 = 1; D i 1",
     "element 0 of lengths, want at least 0 (got -1, want at least 0)"},
    {"type: 'SparseDropoutWithReplacement' input: 'X' input: 'L' output: 'Y' output: 'M'",
     "X l 2; L i 1 = 1", "sum of the lengths, want the elements of input 0 (X) (got 1, want 2)"},
    {"type: 'SparseDropoutWithReplacement' input: 'X' input: 'L' output: 'Y' output: 'M' "
     "arg { name: 'ratio' f: 1.5 }",
     "X l 1; L i 1 = 1", "argument \"ratio\" is 1.5, want from 0 to 1"},
    {"type: 'SparseDropoutWithReplacement' input: 'X' input: 'L' output: 'Y' output: 'M' "
     "arg { name: 'ratio' f: -0.5 }",
     "X l 1; L i 1 = 1", "argument \"ratio\" is -0.5, want from 0 to 1"},
    {"type: 'LengthsTile' input: 'X' input: 'L' output: 'Y'", "X f -; L i 1",
     "rank of input 0 (data): got 0, want at least 1"},
    {"type: 'LengthsTile' input: 'X' input: 'L' output: 'Y'", "X f 2; L i 2,1",
     "rank of input 1 (lengths) of shape [2, 1]: got 2, want 1"},
    {"type: 'LengthsTile' input: 'X' input: 'L' output: 'Y'", "X f 2,3; L i 3",
     "elements of input 1 (lengths), want the rows of input 0 (data) of shape [2, 3] (got 3, want "
     "2)"},
    {"type: 'LengthsTile' input: 'X' input: 'L' output: 'Y'", "X f 2; L i 2 = 1,-1",
     "element 1 of input 1 (lengths), want at least 0 (got -1, want at least 0)"},
    {"type: 'LengthsToRanges' input: 'L' output: 'Y'", "L i 1,1",
     "rank of input 0 (lengths) of shape [1, 1]: got 2, want 1"},
    {"type: 'LengthsToOffsets' input: 'L' output: 'Y'", "L i 2 = 1,-1",
     "element 1 of input 0 (lengths), want at least 0 (got -1, want at least 0)"},
    {"type: 'LengthsToSegmentIds' input: 'L' output: 'Y'", "L i 2 = 2147483647,1",
     "rows of all segments: got 2147483648, want at most 2147483647"},
    {"type: 'LengthsToWeights' input: 'L' output: 'Y'", "L l 1 = 4294967296",
     "rows of all segments: got 4294967296, want at most 2147483647"},
    {"type: 'LengthsToWeights' input: 'L' output: 'Y'", "L l 2 = 1,-4294967295",
     "element 1 of input 0 (lengths), want at least 0 (got -4294967295, want at least 0)"},
    {"type: 'LengthsToShape' input: 'L' output: 'Y'", "L i 0",
     "elements of input 0 (lengths): got 0, want more than 0"},
    {"type: 'LengthsToShape' input: 'L' output: 'Y'", "L i 3 = 2,2,3",
     "element 2 of input 0 (lengths), want all to be equal (got 3, want 2)"},
    {"type: 'SegmentIdsToLengths' input: 'I' output: 'Y'", "I i 2,2",
     "input 0 (segment_ids) has shape [2, 2], want a vector"},
    {"type: 'SegmentIdsToRanges' input: 'I' output: 'Y'", "I i 1,1,1",
     "input 0 (segment_ids) has shape [1, 1, 1], want a vector"},
    {"type: 'SegmentIdsToLengths' input: 'I' output: 'Y'", "I i 3 = 0,2,1",
     "element 2 of input 0 (segment_ids) is 1, want sorted numbers that are at least 0"},
    {"type: 'SegmentIdsToLengths' input: 'I' output: 'Y'", "I l 1 = -1",
     "element 0 of input 0 (segment_ids) is -1, want sorted numbers that are at least 0"},
    {"type: 'SegmentIdsToLengths' input: 'I' input: 'X' output: 'Y'", "I i 1; X f -",
     "rank of input 1 (data): got 0, want at least 1"},
    {"type: 'SegmentIdsToLengths' input: 'I' input: 'X' output: 'Y'", "I i 2 = 0,2; X f 2",
     "segments of input 0 (segment_ids), want at most the rows of input 1 (data) (got 3, want at "
     "most 2)"},
    {"type: 'PackSegments' input: 'L' input: 'X' output: 'Y' "
     "arg { name: 'return_presence_mask' i: 1 }",
     "L i 1 = 1; X f 1",
     "argument return_presence_mask is 1, want a second output (presence_mask)"},
    {kPack, "L i 1; X f -", "rank of input 1 (tensor): got 0, want at least 1"},
    {kPack, "L i 1,1; X f 1",
     "rank of input 0 (lengths) of shape [1, 1], want a vector (got 2, want 1)"},
    {kPack, "L i 2 = 1,2; X f 2,3",
     "sum of input 0 (lengths), want dim 0 of input 1 (tensor) of shape [2, 3] (got 3, want 2)"},
    {kPack, "L i 1; X u 1",
     "Unsupported type of tensor: input 1 has elements of type uint8, want float, int32, int64, "
     "string"},
    {"type: 'PackSegments' input: 'L' input: 'X' output: 'Y' arg { name: 'max_length' i: -2 }",
     "L i 1 = 1; X f 1", "argument \"max_length\" is -2, want -1 or more"},
    {kUnpack, "L i 1 = 1; X f 1",
     "rank of input 1 (packed_tensor) of shape [1]: got 1, want at least 2"},
    {"type: 'UnpackSegments' input: 'L' input: 'X' output: 'Y' arg { name: 'max_length' i: 3 }",
     "L i 1 = 1; X f 1,2",
     "argument max_length is 3, want 2, dim 1 of input 1 (packed_tensor) of shape [1, 2]"},
    {kUnpack, "L i 2; X f 1,2",
     "number of lengths, want dim 0 of input 1 (packed_tensor) of shape [1, 2] (got 2, want 1)"},
    {kUnpack, "L i 1 = 3; X f 1,2",
     "an element of input 0 (lengths) is 3, want at most 2, dim 1 of input 1 (packed_tensor)"},
    {"type: 'ReversePackedSegs' input: 'X' input: 'L' output: 'Y'", "X f 2,2; L i 2",
     "rank of input 0 (data) of shape [2, 2], want [steps, batch, inner] (got 2, want 3)"},
    {"type: 'ReversePackedSegs' input: 'X' input: 'L' output: 'Y'", "X f 2,1,1; L i 1,1",
     "rank of input 1 (lengths) of shape [1, 1], want a vector (got 2, want 1)"},
    {"type: 'ReversePackedSegs' input: 'X' input: 'L' output: 'Y'", "X f 2,1,1; L i 2",
     "number of lengths, want dim 1 of input 0 (data) of shape [2, 1, 1] (got 2, want 1)"},
    {"type: 'ReversePackedSegs' input: 'X' input: 'L' output: 'Y'", "X f 2,1,1; L i 1 = 3",
     "element 0 of input 1 (lengths), want at most dim 0 of input 0 (data) (got 3, want at most "
     "2)"},
    {"type: 'SequenceMask' input: 'X' output: 'Y' arg { name: 'mode' s: 'middle' }", "X f 2,2",
     "argument \"mode\" is \"middle\", want sequence, window, upper, lower, upperdiag or "
     "lowerdiag"},
    {"type: 'SequenceMask' input: 'X' output: 'Y' arg { name: 'mode' s: 'upper' } "
     "arg { name: 'repeat_from_axis' i: 1 }",
     "X f 2,2", "argument repeat_from_axis is given, want mode sequence"},
    {"type: 'SequenceMask' input: 'X' input: 'L' output: 'Y' arg { name: 'mode' s: 'sequence' } "
     "arg { name: 'repeat_from_axis' i: 1 } arg { name: 'batch' i: 0 }",
     "X f 2,2; L i 2", "arguments batch and repeat_from_axis are both given: remove one"},
    {"type: 'SequenceMask' input: 'X' output: 'Y' arg { name: 'mode' s: 'window' }", "X f 2,2",
     "number of inputs, want input 1 (sequence_lengths) in the modes sequence and window (got 1, "
     "want at least 2)"},
    {kSequenceMask, "X f 3,2; L i 2",
     "input 1 (sequence_lengths) has 2 elements, want 3, one for each row of input 0 of shape [3, "
     "2]"},
    {"type: 'SequenceMask' input: 'X' output: 'Y' arg { name: 'mode' s: 'upper' } "
     "arg { name: 'batch' i: 1 }",
     "X f 2,2", "argument batch, want a dimension before axis (got 1, want less than 1)"},
    {"type: 'SequenceMask' input: 'X' input: 'L' output: 'Y' arg { name: 'mode' s: 'sequence' } "
     "arg { name: 'repeat_from_axis' i: 0 }",
     "X f 2,2; L i 2",
     "argument repeat_from_axis, want axis or a later dimension (got 0, want at least 1)"},
    {"type: 'VariableLengthSequencePadding' input: 'X' input: 'L' output: 'Y'", "X f 2,2; L i 2",
     "rank of input 0 (X) of shape [2, 2], want [steps, batch, inner] (got 2, want at least 3)"},
    {"type: 'VariableLengthSequencePadding' input: 'X' input: 'L' output: 'Y'", "X f 2,2,1; L i 1",
     "elements of input 1 (lengths), want dim 1 of input 0 (X) of shape [2, 2, 1] (got 1, want at "
     "least 2)"},
};

TEST(SequenceRefusalsTest, OfSelections) {
  for (const Refusal& row : kSelections) ExpectRefusal(row);
}

TEST(SequenceRefusalsTest, OfSequences) {
  for (const Refusal& row : kSequences) ExpectRefusal(row);
}

}  // namespace
}  // namespace caffe2rt::test::sequence_refusals_test
