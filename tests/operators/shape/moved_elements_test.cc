// Operators that move elements, with arguments that other tests leave out: negative and inner axes,
// batches, defaults, bounds that are just inside, and further element types. Expected values are by
// hand.

#include <limits>
#include <set>
#include <string>

#include "tests/support/operator_case.h"

namespace caffe2rt::moved_elements_test {
namespace {

using test::NameOfCase;
using test::OperatorCase;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The shapes of these depend on the values of an input, so that they may be unknown.
const std::set<std::string> kByValues = {"SparseToDenseIgnoresANegativeSize",
                                         "SliceOfTheSecondAxisOfStrings"};

class MovedElementsTest : public testing::TestWithParam<OperatorCase> {};

TEST_P(MovedElementsTest, LieWhereTheArgumentsSay) {
  test::ExpectCase(GetParam(), kByValues.contains(GetParam().name));
}

INSTANTIATE_TEST_SUITE_P(
    Gather, MovedElementsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"MiddleAxisFromTheEnd",
         "type: 'Gather' input: 'a' input: 'b' output: 'x' arg { name: 'axis' i: -2 }",
         {{"float", {2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}, {"int32", {2}, {2, 0}}},
         {{"float", {2, 2, 2}, {5, 6, 1, 2, 11, 12, 7, 8}}}},
        {"IndicesOfAMatrixInTheMiddle",
         "type: 'Gather' input: 'a' input: 'b' output: 'x' arg { name: 'axis' i: 1 }",
         {{"int16", {2, 2, 1}, {1, 2, 3, 4}}, {"int64", {1, 2}, {1, 1}}},
         {{"int16", {2, 1, 2, 1}, {2, 2, 4, 4}}}},
        {"FirstAndLastRowFromTheEnd",
         "type: 'Gather' input: 'a' input: 'b' output: 'x'",
         {{"uint8", {3}, {1, 2, 3}}, {"int64", {3}, {-3, -1, 2}}},
         {{"uint8", {3}, {1, 3, 3}}}},
        {"OwnIndicesOfTwoOuterDimensions",
         "type: 'Gather' input: 'a' input: 'b' output: 'x' arg { name: 'axis' i: -1 } "
         "arg { name: 'match_outer' i: 1 }",
         {{"float", {2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
          {"int32", {2, 2, 1}, {2, 0, 1, 2}}},
         {{"float", {2, 2, 1}, {3, 4, 8, 12}}}},
        {"OwnIndicesThatWrap",
         "type: 'Gather' input: 'a' input: 'b' output: 'x' arg { name: 'axis' i: 1 } "
         "arg { name: 'match_outer' i: 1 } arg { name: 'wrap_indices' i: 1 }",
         {{"float", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"int32", {2, 1}, {-1, -3}}},
         {{"float", {2, 1}, {3, 4}}}},
        {"RowsDoNotWrapOnRequest",
         "type: 'Gather' input: 'a' input: 'b' output: 'x' arg { name: 'wrap_indices' i: 0 }",
         {{"float", {2}, {1, 2}}, {"int32", {1}, {-1}}},
         {},
         "id=-1 axis_dim=2"},
        {"BatchGatherOfOwnIndices",
         "type: 'BatchGather' input: 'a' input: 'b' output: 'x' arg { name: 'match_outer' i: 1 }",
         {{"double", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}, {"int64", {2, 1}, {1, 0}}},
         {{"double", {2, 1, 2}, {3, 4, 5, 6}}}},
        {"GradientOfWideSlices",
         "type: 'BatchGatherGradient' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {1, 2, 9}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
          {"int32", {2}, {1, 1}},
          {"float", {1, 2, 9}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90}}},
         {{"float", {1, 2, 9}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 22, 33, 44, 55, 66, 77, 88, 99}}}},
        {"ElementsOfAxisZeroByDefault",
         "type: 'GatherElements' input: 'a' input: 'b' output: 'x'",
         {{"float", {2, 2}, {1, 2, 3, 4}}, {"int64", {1, 2}, {1, -2}}},
         {{"float", {1, 2}, {3, 2}}}},
        {"ElementsOfAMiddleAxisFromTheEnd",
         "type: 'GatherElements' input: 'a' input: 'b' output: 'x' arg { name: 'axis' i: -2 }",
         {{"text", {1, 3, 2}, {1, 2, 3, 4, 5, 6}}, {"int32", {1, 2, 2}, {2, -3, 0, -1}}},
         {{"text", {1, 2, 2}, {5, 2, 1, 6}}}},
        {"GradientOfElementsOfTheLastAxis",
         "type: 'GatherElementsGradient' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'axis' i: 1 }",
         {{"float", {2, 3}, {0, 0, 0, 0, 0, 0}},
          {"int64", {2, 2}, {2, 2, 0, -1}},
          {"double", {2, 2}, {1, 2, 4, 8}}},
         {{"double", {2, 3}, {0, 0, 3, 4, 0, 8}}}},
        {"SlicesOfTwoBatchDimensions",
         "type: 'GatherND' input: 'a' input: 'b' output: 'x' arg { name: 'batch_dims' i: 2 }",
         {{"float", {2, 1, 3}, {1, 2, 3, 4, 5, 6}}, {"int64", {2, 1, 2, 1}, {0, 2, -3, 1}}},
         {{"float", {2, 1, 2}, {1, 3, 4, 5}}}},
        {"RowsOfAMatrixOfIndices",
         "type: 'GatherND' input: 'a' input: 'b' output: 'x'",
         {{"text", {2, 2}, {1, 2, 3, 4}}, {"int32", {2, 1, 1}, {1, -2}}},
         {{"text", {2, 1, 2}, {3, 4, 1, 2}}}},
        {"NoRows",
         "type: 'GatherND' input: 'a' input: 'b' output: 'x'",
         {{"int8", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"int64", {0, 1}, {}}},
         {{"int8", {0, 3}, {}}}}}),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Scatter, MovedElementsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"ReplacesByDefaultOnAxisZero",
         "type: 'ScatterElements' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"text", {2, 2}, {1, 2, 3, 4}}, {"int64", {1, 2}, {1, 0}}, {"text", {1, 2}, {8, 9}}},
         {{"text", {2, 2}, {1, 9, 8, 4}}}},
        {"TheLastOfEqualIndicesCounts",
         "type: 'ScatterElements' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {2}, {1, 2}}, {"int64", {2}, {1, -1}}, {"float", {2}, {8, 9}}},
         {{"float", {2}, {1, 9}}}},
        {"NoIndicesCopyTheData",
         "type: 'ScatterElements' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'reduction' s: 'mul' }",
         {{"float", {2}, {1, 2}}, {"int64", {0}, {}}, {"float", {0}, {}}},
         {{"float", {2}, {1, 2}}}},
        {"AddOfBoolsIsOr",
         "type: 'ScatterElements' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'reduction' s: 'add' }",
         {{"bool", {4}, {0, 0, 1, 1}}, {"int64", {4}, {0, 1, 2, 3}}, {"bool", {4}, {0, 1, 0, 1}}},
         {{"bool", {4}, {0, 1, 1, 1}}}},
        {"MulOfBoolsIsAnd",
         "type: 'ScatterElements' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'reduction' s: 'mul' }",
         {{"bool", {4}, {0, 0, 1, 1}}, {"int64", {4}, {0, 1, 2, 3}}, {"bool", {4}, {0, 1, 0, 1}}},
         {{"bool", {4}, {0, 0, 0, 1}}}},
        {"MulOfShortsWrapsAround",
         "type: 'ScatterElements' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'reduction' s: 'mul' }",
         {{"uint16", {1}, {65535}}, {"int64", {1}, {0}}, {"uint16", {1}, {65535}}},
         {{"uint16", {1}, {1}}}},
        {"AddOfBytesWrapsAround",
         "type: 'ScatterElements' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'reduction' s: 'add' }",
         {{"int8", {1}, {127}}, {"int64", {2}, {0, 0}}, {"int8", {2}, {1, 1}}},
         {{"int8", {1}, {-127}}}},
        {"NanWinsInMax",
         "type: 'ScatterElements' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'reduction' s: 'max' }",
         {{"float", {3}, {1, kNan, 5}}, {"int64", {3}, {0, 1, 2}}, {"float", {3}, {kNan, 2, 4}}},
         {{"float", {3}, {kNan, kNan, 5}}}},
        {"NanWinsInMin",
         "type: 'ScatterElements' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'reduction' s: 'min' }",
         {{"float", {3}, {1, kNan, 5}}, {"int64", {3}, {0, 1, 2}}, {"float", {3}, {kNan, 2, 4}}},
         {{"float", {3}, {kNan, kNan, 4}}}},
        {"MultipliesSlices",
         "type: 'ScatterND' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'reduction' s: 'mul' }",
         {{"float", {2, 2}, {1, 2, 3, 4}},
          {"int32", {2, 1}, {-1, 1}},
          {"float", {2, 2}, {2, 3, 10, 10}}},
         {{"float", {2, 2}, {1, 2, 60, 120}}}},
        {"TakesTheLeastOfElements",
         "type: 'ScatterND' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'reduction' s: 'min' }",
         {{"int64", {2, 2}, {1, 2, 3, 4}},
          {"int64", {2, 2}, {0, -1, 1, 0}},
          {"int64", {2}, {-5, 9}}},
         {{"int64", {2, 2}, {1, -5, 3, 4}}}},
        {"NoUpdatesCopyTheData",
         "type: 'ScatterND' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {2}, {1, 2}}, {"int64", {0, 1}, {}}, {"float", {0}, {}}},
         {{"float", {2}, {1, 2}}}},
        {"StepsOfTheDefaultAxisEndAtTheLast",
         "type: 'TensorScatter' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {1, 2, 3, 1}, {1, 2, 3, 4, 5, 6}},
          {"float", {1, 2, 2, 1}, {7, 8, 9, 10}},
          {"int32", {1}, {1}}},
         {{"float", {1, 2, 3, 1}, {1, 7, 8, 4, 9, 10}}}},
        {"CircularStepsBeginModuloTheirNumber",
         "type: 'TensorScatter' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'axis' i: 1 } arg { name: 'mode' s: 'circular' }",
         {{"float", {2, 3}, {1, 2, 3, 4, 5, 6}},
          {"float", {2, 2}, {7, 8, 9, 10}},
          {"int64", {2}, {5, 3}}},
         {{"float", {2, 3}, {8, 2, 7, 9, 10, 6}}}},
        {"AllStepsAreReplaced",
         "type: 'TensorScatter' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'axis' i: 1 }",
         {{"uint8", {1, 2}, {1, 2}}, {"uint8", {1, 2}, {7, 8}}, {"int64", {1}, {0}}},
         {{"uint8", {1, 2}, {7, 8}}}},
        {"NoStepsCopyTheCache",
         "type: 'TensorScatter' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'axis' i: 1 }",
         {{"float", {1, 2}, {1, 2}}, {"float", {1, 0}, {}}, {"int64", {1}, {2}}},
         {{"float", {1, 2}, {1, 2}}}},
        {"SparseToDenseAddsWideSlices",
         "type: 'SparseToDense' input: 'a' input: 'b' output: 'x' "
         "arg { name: 'output_first_dim' i: 2 }",
         {{"int64", {2}, {1, 1}},
          {"float", {2, 8}, {1, 2, 3, 4, 5, 6, 7, 8, 10, 20, 30, 40, 50, 60, 70, 80}}},
         {{"float", {2, 8}, {0, 0, 0, 0, 0, 0, 0, 0, 11, 22, 33, 44, 55, 66, 77, 88}}}},
        {"SparseToDenseIgnoresANegativeSize",
         "type: 'SparseToDense' input: 'a' input: 'b' output: 'x' "
         "arg { name: 'output_first_dim' i: -1 }",
         {{"int32", {2}, {1, 0}}, {"int32", {2, 1}, {7, 8}}},
         {{"int32", {2, 1}, {8, 7}}}},
        {"ReversesColumnsByDefault",
         "type: 'ReverseSequence' input: 'a' input: 'b' output: 'x'",
         {{"float", {3, 2}, {1, 2, 3, 4, 5, 6}}, {"int32", {2}, {0, 3}}},
         {{"float", {3, 2}, {1, 6, 3, 4, 5, 2}}}},
        {"ReversesStringsOfRows",
         "type: 'ReverseSequence' input: 'a' input: 'b' output: 'x' "
         "arg { name: 'batch_axis' i: 0 } arg { name: 'time_axis' i: 1 }",
         {{"text", {1, 3, 1}, {1, 2, 3}}, {"int64", {1}, {2}}},
         {{"text", {1, 3, 1}, {2, 1, 3}}}},
        {"ReversesNothing",
         "type: 'ReverseSequence' input: 'a' input: 'b' output: 'x'",
         {{"float", {3, 0}, {}}, {"int64", {0}, {}}},
         {{"float", {3, 0}, {}}}}}),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Ranges, MovedElementsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"PadsIntegersWithTheArgument",
         "type: 'Pad' input: 'a' output: 'x' arg { name: 'pads' ints: 1 ints: 1 } "
         "arg { name: 'value' f: 255 }",
         {{"uint8", {1}, {7}}},
         {{"uint8", {3}, {255, 7, 255}}}},
        {"PadsWithANegativeInteger",
         "type: 'Pad' input: 'a' output: 'x' arg { name: 'pads' ints: 0 ints: 1 } "
         "arg { name: 'value' f: -3 }",
         {{"int64", {2}, {1, 2}}},
         {{"int64", {3}, {1, 2, -3}}}},
        {"PadsBoolsWithTrue",
         "type: 'Pad' input: 'a' output: 'x' arg { name: 'pads' ints: 1 ints: 0 } "
         "arg { name: 'value' f: 0.5 }",
         {{"bool", {1}, {0}}},
         {{"bool", {2}, {1, 0}}}},
        {"PadsHalvesWithTheArgument",
         "type: 'Pad' input: 'a' output: 'x' arg { name: 'pads' ints: 1 ints: 0 } "
         "arg { name: 'value' f: 0.5 }",
         {{"float16", {1}, {2}}},
         {{"float16", {2}, {0.5, 2}}}},
        {"OnlyCrops",
         "type: 'Pad' input: 'a' output: 'x' arg { name: 'pads' ints: -1 ints: 0 ints: 0 ints: -1 "
         "} "
         "arg { name: 'value' f: 9 }",
         {{"float", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}}},
         {{"float", {2, 2}, {4, 5, 7, 8}}}},
        {"CropsToNothing",
         "type: 'Pad' input: 'a' output: 'x' arg { name: 'pads' ints: -1 ints: -1 }",
         {{"float", {2}, {1, 2}}},
         {{"float", {0}, {}}}},
        {"ReflectsAMatrixAfterACrop",
         "type: 'Pad' input: 'a' output: 'x' arg { name: 'mode' s: 'reflect' } "
         "arg { name: 'pads' ints: 1 ints: -1 ints: 0 ints: 1 }",
         {{"float", {2, 3}, {1, 2, 3, 4, 5, 6}}},
         {{"float", {3, 3}, {5, 6, 5, 2, 3, 2, 5, 6, 5}}}},
        {"ReflectsOneElement",
         "type: 'Pad' input: 'a' output: 'x' arg { name: 'mode' s: 'reflect' } "
         "arg { name: 'pads' ints: 2 ints: 1 }",
         {{"float", {1}, {4}}},
         {{"float", {4}, {4, 4, 4, 4}}}},
        {"WrapsAfterACrop",
         "type: 'Pad' input: 'a' output: 'x' arg { name: 'mode' s: 'wrap' } "
         "arg { name: 'pads' ints: -1 ints: 3 }",
         {{"float", {3}, {1, 2, 3}}},
         {{"float", {5}, {2, 3, 2, 3, 2}}}},
        {"PadsAnAxisFromTheEnd",
         "type: 'Pad' input: 'a' output: 'x' arg { name: 'axes' ints: -1 } "
         "arg { name: 'pads' ints: 1 ints: 0 }",
         {{"float", {2, 1}, {1, 2}}},
         {{"float", {2, 2}, {0, 1, 0, 2}}}},
        {"CenterOfTwoSequentialAxes",
         "type: 'CenterCropPad' input: 'a' output: 'x' arg { name: 'axes' ints: 1 ints: 0 } "
         "arg { name: 'shape' ints: 1 ints: 4 }",
         {{"float", {1, 4}, {1, 2, 3, 4}}},
         {{"float", {4, 1}, {0, 2, 0, 0}}}},
        {"SliceEndsBeforeARemainder",
         "type: 'ONNXSlice' input: 'a' output: 'x' arg { name: 'starts' ints: 1 } "
         "arg { name: 'ends' ints: 6 } arg { name: 'steps' ints: 2 }",
         {{"float", {7}, {1, 2, 3, 4, 5, 6, 7}}},
         {{"float", {3}, {2, 4, 6}}}},
        {"SliceFromTheEnd",
         "type: 'ONNXSlice' input: 'a' output: 'x' arg { name: 'starts' ints: -3 } "
         "arg { name: 'ends' ints: -1 }",
         {{"float", {4}, {1, 2, 3, 4}}},
         {{"float", {2}, {2, 3}}}},
        {"SliceBackwardsExcludesItsEnd",
         "type: 'ONNXSlice' input: 'a' output: 'x' arg { name: 'starts' ints: 9 } "
         "arg { name: 'ends' ints: 1 } arg { name: 'steps' ints: -1 }",
         {{"float", {4}, {1, 2, 3, 4}}},
         {{"float", {2}, {4, 3}}}},
        {"SliceBackwardsFromBeforeTheFirst",
         "type: 'ONNXSlice' input: 'a' output: 'x' arg { name: 'starts' ints: -9 } "
         "arg { name: 'ends' ints: -10 } arg { name: 'steps' ints: -1 }",
         {{"float", {4}, {1, 2, 3, 4}}},
         {{"float", {0}, {}}}},
        {"SliceBackwardsToTheFirst",
         "type: 'ONNXSlice' input: 'a' output: 'x' arg { name: 'starts' ints: 0 } "
         "arg { name: 'ends' ints: -9 } arg { name: 'steps' ints: -1 }",
         {{"float", {4}, {1, 2, 3, 4}}},
         {{"float", {1}, {1}}}},
        {"SliceBehindTheLast",
         "type: 'ONNXSlice' input: 'a' output: 'x' arg { name: 'starts' ints: 4 } "
         "arg { name: 'ends' ints: 9 }",
         {{"float", {4}, {1, 2, 3, 4}}},
         {{"float", {0}, {}}}},
        {"SliceOfTheSecondAxisOfStrings",
         "type: 'ONNXSlice' input: 'a' input: 'b' input: 'c' input: 'd' output: 'x'",
         {{"text", {2, 3}, {1, 2, 3, 4, 5, 6}},
          {"int32", {1}, {1}},
          {"int32", {1}, {3}},
          {"int32", {1}, {1}}},
         {{"text", {2, 2}, {2, 3, 5, 6}}}},
        {"SliceGradientOfInputs",
         "type: 'ONNXSliceGradient' input: 'a' input: 'b' input: 'c' input: 'd' input: 'e' "
         "input: 'f' output: 'x'",
         {{"int32", {5}, {0, 0, 0, 0, 0}},
          {"int64", {1}, {0}},
          {"int64", {1}, {5}},
          {"int64", {1}, {-1}},
          {"int64", {1}, {2}},
          {"double", {3}, {1, 2, 3}}},
         {{"double", {5}, {1, 0, 2, 0, 3}}}},
        {"SliceGradientOfNothing",
         "type: 'ONNXSliceGradient' input: 'a' input: 'b' output: 'x' "
         "arg { name: 'starts' ints: 1 } arg { name: 'ends' ints: 1 }",
         {{"float", {2}, {7, 7}}, {"float", {0}, {}}},
         {{"float", {2}, {0, 0}}}},
        {"ExpandsHalves",
         "type: 'ONNXExpand' input: 'a' output: 'x' arg { name: 'shape' ints: 2 ints: 1 }",
         {{"float16", {1, 2}, {0.5, 2}}},
         {{"float16", {2, 2}, {0.5, 2, 0.5, 2}}}},
        {"TilesThreeDimensions",
         "type: 'ONNXTile' input: 'a' output: 'x' arg { name: 'repeats' ints: 2 ints: 1 ints: 2 }",
         {{"int16", {1, 2, 2}, {1, 2, 3, 4}}},
         {{"int16", {2, 2, 4}, {1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4}}}},
        {"TriangleOfEachMatrix",
         "type: 'Trilu' input: 'a' output: 'x'",
         {{"float", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}},
         {{"float", {2, 2, 2}, {1, 2, 0, 4, 5, 6, 0, 8}}}},
        {"LowerTriangleAboveTheDiagonal",
         "type: 'Trilu' input: 'a' output: 'x' arg { name: 'upper' i: 0 } arg { name: 'k' i: 1 }",
         {{"uint8", {2, 3}, {1, 2, 3, 4, 5, 6}}},
         {{"uint8", {2, 3}, {1, 2, 0, 4, 5, 6}}}},
        {"LowerTriangleOfAllColumns",
         "type: 'Trilu' input: 'a' output: 'x' arg { name: 'upper' i: 0 } arg { name: 'k' i: 9 }",
         {{"float", {2, 2}, {1, 2, 3, 4}}},
         {{"float", {2, 2}, {1, 2, 3, 4}}}},
        {"UpperTriangleOfAllRows",
         "type: 'Trilu' input: 'a' output: 'x' arg { name: 'k' i: -9 }",
         {{"float", {2, 2}, {1, 2, 3, 4}}},
         {{"float", {2, 2}, {1, 2, 3, 4}}}},
        {"UpperTriangleWithoutTheLastColumn",
         "type: 'Trilu' input: 'a' output: 'x' arg { name: 'k' i: 2 }",
         {{"float", {2, 2}, {1, 2, 3, 4}}},
         {{"float", {2, 2}, {0, 0, 0, 0}}}},
        {"ColumnsOfAnImageSmallerThanABlock",
         "type: 'ONNXCol2Im' input: 'a' output: 'x' arg { name: 'image_shape' ints: 1 } "
         "arg { name: 'block_shape' ints: 3 }",
         {{"float", {1, 3, 0}, {}}},
         {{"float", {1, 1, 1}, {0}}}},
        {"ColumnsOfBatchesAndChannelsWithOnePadBefore",
         "type: 'ONNXCol2Im' input: 'a' output: 'x' arg { name: 'image_shape' ints: 2 } "
         "arg { name: 'block_shape' ints: 2 } arg { name: 'pads' ints: 1 ints: 0 }",
         {{"float", {1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}},
         {{"float", {1, 2, 2}, {2 + 3, 4, 6 + 7, 8}}}},
        {"ColumnsWithOnePadAfter",
         "type: 'ONNXCol2Im' input: 'a' output: 'x' arg { name: 'image_shape' ints: 2 } "
         "arg { name: 'block_shape' ints: 2 } arg { name: 'pads' ints: 0 ints: 1 }",
         {{"float", {1, 2, 2}, {1, 2, 3, 4}}},
         {{"float", {1, 1, 2}, {1, 2 + 3}}}}}),
    NameOfCase);

}  // namespace
}  // namespace caffe2rt::moved_elements_test
