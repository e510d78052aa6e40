// Segments with lengths, ids and types that other tests leave out. Expected values are by hand.

#include "tests/support/operator_case.h"

namespace caffe2rt::segment_values_test {
namespace {

using test::NameOfCase;
using test::OperatorCase;

class SegmentValuesTest : public testing::TestWithParam<OperatorCase> {};

TEST_P(SegmentValuesTest, AreThoseOfTheSegments) { test::ExpectCase(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    All, SegmentValuesTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"UniqueLongIntegers",
         "type: 'Unique' input: 'a' output: 'x' output: 'y'",
         {{"int64", {5}, {3, -1, 3, 7, -1}}},
         {{"int64", {3}, {-1, 3, 7}}, {"int32", {5}, {1, 0, 1, 2, 0}}}},
        {"UniqueWithoutPlaces",
         "type: 'Unique' input: 'a' output: 'x'",
         {{"int32", {3}, {2, 2, 2}}},
         {{"int32", {1}, {2}}}},
        {"SumsWithAnEmptySegment",
         "type: 'LengthsSum' input: 'a' input: 'b' output: 'x'",
         {{"float", {3, 2}, {1, 2, 3, 4, 5, 6}}, {"int32", {3}, {2, 0, 1}}},
         {{"float", {3, 2}, {4, 6, 0, 0, 5, 6}}}},
        {"MeansOfEmptySegments",
         "type: 'LengthsMean' input: 'a' input: 'b' output: 'x'",
         {{"float", {3}, {1, 2, 6}}, {"int32", {3}, {0, 3, 0}}},
         {{"float", {3}, {0, 3, 0}}}},
        {"MaximaBelowZero",
         "type: 'LengthsMax' input: 'a' input: 'b' output: 'x'",
         {{"float", {3}, {-5, -2, -7}}, {"int32", {3}, {2, 0, 1}}},
         {{"float", {3}, {-2, 0, -7}}}},
        {"WeightsOfRows",
         "type: 'SparseLengthsWeightedSum' input: 'a' input: 'b' input: 'c' input: 'd' output: 'x'",
         {{"float", {3}, {1, 2, 3}},
          {"float", {3}, {10, 100, 1000}},
          {"int64", {3}, {2, 0, 2}},
          {"int32", {2}, {1, 2}}},
         {{"float", {2}, {30, 3100}}}},
        {"WeightsOfPositions",
         "type: 'SparseLengthsPositionalWeightedSum' input: 'a' input: 'b' input: 'c' input: 'd' "
         "output: 'x'",
         {{"float", {3}, {1, 2, 3}},
          {"float", {2}, {10, 100}},
          {"int32", {3}, {2, 0, 2}},
          {"int32", {2}, {1, 2}}},
         {{"float", {2}, {30, 310}}}},
        {"HalvesGiveFloats",
         "type: 'SparseLengthsSum' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float16", {2, 2}, {1, 2, 3, 4}}, {"int32", {3}, {1, 1, 0}}, {"int32", {1}, {3}}},
         {{"float", {1, 2}, {7, 10}}}},
        {"MeansOfSortedIds",
         "type: 'SortedSegmentMean' input: 'a' input: 'b' output: 'x'",
         {{"float", {3}, {1, 2, 5}}, {"int32", {3}, {0, 0, 1}}},
         {{"float", {2}, {1.5, 5}}}},
        {"LogarithmsOfMeansOfEquals",
         "type: 'SortedSegmentRangeLogMeanExp' input: 'a' input: 'b' output: 'x'",
         {{"float", {3, 1}, {100, 100, -5}}, {"int32", {3}, {0, 0, 1}}},
         {{"float", {2, 1}, {100, -5}}}},
        {"SumsOfMoreSegmentsThanIds",
         "type: 'UnsortedSegmentSum' input: 'a' input: 'b' output: 'x' "
         "arg { name: 'num_segments' i: 4 }",
         {{"float", {3}, {1, 2, 3}}, {"int32", {3}, {2, 0, 2}}},
         {{"float", {4}, {2, 0, 4, 0}}}},
        {"MeansUpToTheGreatestId",
         "type: 'UnsortedSegmentMean' input: 'a' input: 'b' output: 'x'",
         {{"float", {3}, {1, 2, 5}}, {"int32", {3}, {2, 0, 2}}},
         {{"float", {3}, {2, 0, 3}}}},
        {"WeightsOfSparseUnsortedIds",
         "type: 'SparseUnsortedSegmentWeightedSum' input: 'a' input: 'b' input: 'c' input: 'd' "
         "output: 'x'",
         {{"float", {2}, {1, 2}},
          {"float", {3}, {10, 100, 1000}},
          {"int64", {3}, {1, 0, 1}},
          {"int32", {3}, {1, 0, 1}}},
         {{"float", {2}, {100, 2020}}}},
        {"GradientOfMeansOfLengths",
         "type: 'LengthsMeanGradient' input: 'a' input: 'b' output: 'x'",
         {{"float", {3}, {6, 9, 8}}, {"int32", {3}, {2, 0, 1}}},
         {{"float", {3}, {3, 3, 8}}}},
        {"GradientOfMeansOfSortedIds",
         "type: 'SortedSegmentMeanGradient' input: 'a' input: 'b' output: 'x'",
         {{"float", {2}, {6, 8}}, {"int32", {3}, {0, 0, 1}}},
         {{"float", {3}, {3, 3, 8}}}},
        {"GradientOfMeansOfUnsortedIds",
         "type: 'UnsortedSegmentMeanGradient' input: 'a' input: 'b' output: 'x'",
         {{"float", {2}, {5, 6}}, {"int32", {3}, {1, 0, 1}}},
         {{"float", {3}, {3, 5, 3}}}},
        {"GradientOfWeightsOfUnsortedIds",
         "type: 'UnsortedSegmentWeightedSumGradient' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {3}, {10, 100, 1000}}, {"float", {2}, {5, 6}}, {"int32", {3}, {1, 0, 1}}},
         {{"float", {3}, {60, 500, 6000}}}},
        {"GradientOfMaximaThatOccurTwice",
         "type: 'LengthsMaxWithMainInputAndForwardOutputGradient' input: 'a' input: 'b' input: 'c' "
         "input: 'd' output: 'x'",
         {{"float", {2}, {5, 7}},
          {"float", {2}, {1, 2}},
          {"int32", {2}, {3, 1}},
          {"float", {4}, {5, 4, 5, 7}}},
         {{"float", {4}, {1, 0, 1, 2}}}},
    }),
    NameOfCase);

}  // namespace
}  // namespace caffe2rt::segment_values_test
