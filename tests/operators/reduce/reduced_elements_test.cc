// Reductions over axes, lengths and types that other tests leave out. Expected values are by hand.

#include "tests/support/operator_case.h"

namespace caffe2rt::reduced_elements_test {
namespace {

using test::NameOfCase;
using test::OperatorCase;

class ReducedElementsTest : public testing::TestWithParam<OperatorCase> {};

TEST_P(ReducedElementsTest, AreThoseOfTheArguments) {
  test::ExpectCase(GetParam(), /*may_be_unknown=*/false);
}

INSTANTIATE_TEST_SUITE_P(
    Values, ReducedElementsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"SumOfTheOuterAxesRemoved",
         "type: 'ReduceSum' input: 'a' output: 'x' arg { name: 'axes' ints: 0 ints: 2 } "
         "arg { name: 'keepdims' i: 0 }",
         {{"int64", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}},
         {{"int64", {2}, {14, 22}}}},
        {"MaxOfAnAxisFromTheEnd",
         "type: 'ReduceMax' input: 'a' output: 'x' arg { name: 'axes' ints: -2 }",
         {{"double", {2, 2}, {1, -2, 0, -5}}},
         {{"double", {1, 2}, {1, -2}}}},
        {"MinOfAllAxes",
         "type: 'ReduceMin' input: 'a' output: 'x'",
         {{"int32", {2, 2}, {4, -2, 0, 5}}},
         {{"int32", {1, 1}, {-2}}}},
        {"MeanOfAMiddleAxis",
         "type: 'ReduceMean' input: 'a' output: 'x' arg { name: 'axes' ints: 1 }",
         {{"float", {1, 4, 2}, {1, 10, 2, 20, 3, 30, 6, 60}}},
         {{"float", {1, 1, 2}, {3, 30}}}},
        {"SizesOfAllElements",
         "type: 'ReduceL1' input: 'a' output: 'x' arg { name: 'keepdims' i: 0 }",
         {{"float", {3}, {-2, 0, 3}}},
         {{"float", {}, {5}}}},
        {"RootsOfSquares",
         "type: 'ReduceL2' input: 'a' output: 'x' arg { name: 'axes' ints: 1 }",
         {{"float", {2, 2}, {3, 4, 0, -7}}},
         {{"float", {2, 1}, {5, 7}}}},
        {"SumOfTwoFrontDimensions",
         "type: 'ReduceFrontSum' input: 'a' output: 'x' arg { name: 'num_reduce_dim' i: 2 }",
         {{"int32", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}},
         {{"int32", {2}, {16, 20}}}},
        {"SumOfTwoBackDimensions",
         "type: 'ReduceBackSum' input: 'a' output: 'x' arg { name: 'num_reduce_dim' i: 2 }",
         {{"double", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}},
         {{"double", {2}, {10, 26}}}},
        {"MeanOfNoDimension",
         "type: 'ReduceBackMean' input: 'a' output: 'x' arg { name: 'num_reduce_dim' i: 0 }",
         {{"int64", {2}, {7, -8}}},
         {{"int64", {2}, {7, -8}}}},
        {"MeanOfAllDimensionsIsTruncated",
         "type: 'ReduceFrontMean' input: 'a' output: 'x' arg { name: 'num_reduce_dim' i: 2 }",
         {{"int32", {2, 2}, {-1, -2, -3, -1}}},
         {{"int32", {}, {-1}}}},
        {"MaxOfTheFirstRowsOfEachColumn",
         "type: 'ReduceFrontMax' input: 'a' input: 'b' output: 'x'",
         {{"float", {3, 2}, {1, 2, 5, 9, 7, 8}}, {"int32", {2}, {2, 1}}},
         {{"float", {2}, {5, 2}}}},
        {"MeanOfTheFirstColumnsOfEachRow",
         "type: 'ReduceBackMean' input: 'a' input: 'b' output: 'x'",
         {{"float", {2, 3}, {1, 2, 6, 4, 5, 6}}, {"int32", {2}, {3, 1}}},
         {{"float", {2}, {3, 4}}}},
        {"LargestOfRows",
         "type: 'RowwiseMax' input: 'a' output: 'x'",
         {{"float", {1, 2, 3}, {1, 5, -1, -7, -2, -9}}},
         {{"float", {1, 2}, {5, -2}}}},
        {"LargestOfColumns",
         "type: 'ColwiseMax' input: 'a' output: 'x'",
         {{"float", {1, 2, 3}, {1, 5, -10, -7, -2, -9}}},
         {{"float", {1, 3}, {1, 5, -9}}}},
        {"SumOfTheTail",
         "type: 'ReduceTailSum' input: 'a' output: 'x'",
         {{"float", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}},
         {{"float", {2}, {10, 26}}}},
        {"AverageOfElements",
         "type: 'SumElements' input: 'a' output: 'x' arg { name: 'average' i: 1 }",
         {{"float", {2, 2}, {1, 2, 3, 4}}},
         {{"float", {}, {2.5}}}},
        {"AverageOfSquares",
         "type: 'SumSqrElements' input: 'a' output: 'x' arg { name: 'average' i: 1 }",
         {{"double", {2, 2}, {1, 2, -3, 4}}},
         {{"double", {}, {7.5}}}},
        {"SumOfIntegers",
         "type: 'SumElementsInt' input: 'a' output: 'x'",
         {{"int32", {3}, {1, -20, 3}}},
         {{"int32", {}, {-16}}}},
        {"SumLikeARow",
         "type: 'SumReduceLike' input: 'a' input: 'b' output: 'x'",
         {{"double", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"double", {3}, {0, 0, 0}}},
         {{"double", {3}, {5, 7, 9}}}},
        {"SumLikeTheFirstDimension",
         "type: 'SumReduceLike' input: 'a' input: 'b' output: 'x' arg { name: 'broadcast' i: 1 } "
         "arg { name: 'axis' i: 0 }",
         {{"float", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"float", {2}, {0, 0}}},
         {{"float", {2}, {6, 15}}}},
    }),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Gradients, ReducedElementsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"OfAMeanOverRows",
         "type: 'ReduceMeanGradient' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'axes' ints: 0 }",
         {{"float", {1, 2}, {2, 4}}, {"float", {2, 2}, {0, 0, 0, 0}}, {"float", {1, 2}, {0, 0}}},
         {{"float", {2, 2}, {1, 2, 1, 2}}}},
        {"OfASumOverAnAxisFromTheEnd",
         "type: 'ReduceSumGradient' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'axes' ints: -1 }",
         {{"int64", {2, 1}, {2, 4}}, {"int64", {2, 2}, {0, 0, 0, 0}}, {"int64", {2}, {0, 0}}},
         {{"int64", {2, 2}, {2, 2, 4, 4}}}},
        {"OfAMinimumThatOccursTwice",
         "type: 'ReduceMinGradient' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"int32", {1}, {5}}, {"int32", {4}, {3, 1, 2, 1}}, {"int32", {1}, {1}}},
         {{"int32", {4}, {0, 5, 0, 5}}}},
        {"OfSizes",
         "type: 'ReduceL1Gradient' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {1}, {5}}, {"float", {3}, {-2, 0, 3}}, {"float", {1}, {5}}},
         {{"float", {3}, {-5, 0, 5}}}},
        {"OfARoot",
         "type: 'ReduceL2Gradient' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'axes' ints: 1 }",
         {{"float", {1, 1}, {10}}, {"float", {1, 2}, {3, 4}}, {"float", {1, 1}, {5}}},
         {{"float", {1, 2}, {6, 8}}}},
        {"OfTheFirstRowsOfEachColumn",
         "type: 'ReduceFrontMeanGradient' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {2}, {6, 8}}, {"float", {3, 2}, {0, 0, 0, 0, 0, 0}}, {"int32", {2}, {2, 1}}},
         {{"float", {3, 2}, {3, 8, 3, 0, 0, 0}}}},
        {"OfTheFirstColumnsOfEachRow",
         "type: 'ReduceBackSumGradient' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"double", {2}, {6, 8}}, {"double", {2, 3}, {0, 0, 0, 0, 0, 0}}, {"int32", {2}, {2, 0}}},
         {{"double", {2, 3}, {6, 6, 0, 0, 0, 0}}}},
        {"OfMaximaThatOccurTwice",
         "type: 'ReduceBackMaxGradient' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {2}, {5, 7}}, {"float", {2, 2}, {1, 3, 4, 4}}, {"float", {2}, {3, 4}}},
         {{"float", {2, 2}, {0, 5, 7, 7}}}},
        {"OfTheLargestOfRows",
         "type: 'RowwiseMaxGradient' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {1, 2, 2}, {1, 3, 4, 4}}, {"float", {1, 2}, {3, 4}}, {"float", {1, 2}, {5, 7}}},
         {{"float", {1, 2, 2}, {0, 5, 7, 7}}}},
        {"OfTheLargestOfColumns",
         "type: 'ColwiseMaxGradient' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {1, 2, 2}, {1, 4, 3, 4}}, {"float", {1, 2}, {3, 4}}, {"float", {1, 2}, {5, 7}}},
         {{"float", {1, 2, 2}, {0, 7, 5, 7}}}},
        {"OfAnAverage",
         "type: 'SumElementsGradient' input: 'a' input: 'b' output: 'x' "
         "arg { name: 'average' i: 1 }",
         {{"float", {2, 2}, {0, 0, 0, 0}}, {"float", {1}, {8}}},
         {{"float", {2, 2}, {2, 2, 2, 2}}}},
        {"OfASum",
         "type: 'SumElementsGradient' input: 'a' input: 'b' output: 'x'",
         {{"float", {2, 1}, {0, 0}}, {"float", {}, {8}}},
         {{"float", {2, 1}, {8, 8}}}},
    }),
    NameOfCase);

}  // namespace
}  // namespace caffe2rt::reduced_elements_test
