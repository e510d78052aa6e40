// Operators of sequences and lengths, with arguments, types and lengths that other tests leave out.
// Expected values are by hand.

#include <limits>

#include "tests/support/operator_case.h"

namespace caffe2rt::sequence_arguments_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using test::NameOfCase;
using test::OperatorCase;
using test::RunOp;

constexpr double kOff = -std::numeric_limits<double>::infinity();

class SequenceArgumentsTest : public testing::TestWithParam<OperatorCase> {};

TEST_P(SequenceArgumentsTest, DecideWhatIsWritten) { test::ExpectCase(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Padding, SequenceArgumentsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"OneRowOnBothSidesByDefault",
         "type: 'AddPadding' input: 'a' output: 'x' output: 'y'",
         {{"int32", {2, 1}, {1, 2}}},
         {{"int32", {4, 1}, {0, 1, 2, 0}}, {"int32", {1}, {4}}}},
        {"TwoRowsAtTheEnd",
         "type: 'AddPadding' input: 'a' input: 'b' output: 'x' output: 'y' "
         "arg { name: 'padding_width' i: 0 } arg { name: 'end_padding_width' i: 2 }",
         {{"bool", {2}, {1, 1}}, {"int32", {2}, {1, 1}}},
         {{"bool", {6}, {1, 0, 0, 1, 0, 0}}, {"int32", {2}, {3, 3}}}},
        {"ARowAtTheStart",
         "type: 'AddPadding' input: 'a' input: 'b' input: 'c' output: 'x' output: 'y' "
         "arg { name: 'end_padding_width' i: 0 }",
         {{"double", {2, 2}, {1, 2, 3, 4}}, {"int32", {2}, {0, 2}}, {"double", {2}, {8, 9}}},
         {{"double", {4, 2}, {8, 9, 8, 9, 1, 2, 3, 4}}, {"int32", {2}, {1, 3}}}},
        {"TheStartIsAddedAtTheEndToo",
         "type: 'AddPadding' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'padding_width' i: 2 } arg { name: 'end_padding_width' i: 1 }",
         {{"int64", {1}, {1}}, {"int32", {1}, {1}}, {"int64", {1}, {9}}},
         {{"int64", {4}, {9, 9, 1, 9}}}},
        {"OneRowIsRemovedOnBothSidesByDefault",
         "type: 'RemovePadding' input: 'a' output: 'x' output: 'y'",
         {{"bool", {3, 2}, {1, 0, 1, 1, 0, 1}}},
         {{"bool", {1, 2}, {1, 1}}, {"int32", {1}, {1}}}},
        {"OneRowIsRemovedAtTheEnd",
         "type: 'RemovePadding' input: 'a' input: 'b' output: 'x' output: 'y' "
         "arg { name: 'padding_width' i: 0 } arg { name: 'end_padding_width' i: 1 }",
         {{"int64", {4}, {1, 2, 3, 4}}, {"int32", {2}, {1, 3}}},
         {{"int64", {2}, {2, 3}}, {"int32", {2}, {0, 2}}}},
        {"TwoRowsAreRemovedAtTheStart",
         "type: 'RemovePadding' input: 'a' input: 'b' output: 'x' output: 'y' "
         "arg { name: 'padding_width' i: 2 } arg { name: 'end_padding_width' i: 0 }",
         {{"double", {5}, {1, 2, 3, 4, 5}}, {"int32", {2}, {2, 3}}},
         {{"double", {1}, {5}}, {"int32", {2}, {0, 1}}}},
        {"SumsOfDoubles",
         "type: 'GatherPadding' input: 'a' input: 'b' output: 'x' output: 'y'",
         {{"double", {5, 2}, {1, 10, 2, 20, 3, 30, 4, 40, 5, 50}}, {"int32", {2}, {2, 3}}},
         {{"double", {2}, {4, 40}}, {"double", {2}, {7, 70}}}},
        {"SumOfTheStarts",
         "type: 'GatherPadding' input: 'a' input: 'b' output: 'x' "
         "arg { name: 'padding_width' i: 2 } arg { name: 'end_padding_width' i: 0 }",
         {{"int32", {5}, {1, 2, 3, 4, 5}}, {"int32", {2}, {2, 3}}},
         {{"int32", {}, {10}}}},
        {"SumOfTheEnds",
         "type: 'GatherPadding' input: 'a' input: 'b' output: 'x' output: 'y' "
         "arg { name: 'padding_width' i: 0 } arg { name: 'end_padding_width' i: 2 }",
         {{"int64", {5}, {1, 2, 3, 4, 5}}, {"int32", {2}, {2, 3}}},
         {{"int64", {}, {0}}, {"int64", {}, {12}}}},
        {"StepsBehindNegativeAndLongLengths",
         "type: 'VariableLengthSequencePadding' input: 'a' input: 'b' output: 'x'",
         {{"float", {2, 3, 1, 1}, {1, 2, 3, 4, 5, 6}}, {"int32", {4}, {-1, 1, 9, 0}}},
         {{"float", {2, 3, 1, 1}, {0, 2, 3, 0, 0, 6}}}},
    }),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Lengths, SequenceArgumentsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"RangesOfEmptySegments",
         "type: 'LengthsToRanges' input: 'a' output: 'x'",
         {{"int32", {4}, {0, 2, 0, 3}}},
         {{"int32", {4, 2}, {0, 0, 0, 2, 2, 0, 2, 3}}}},
        {"OffsetsWithoutTheLast",
         "type: 'LengthsToOffsets' input: 'a' output: 'x'",
         {{"int32", {3}, {2, 0, 3}}},
         {{"int32", {3}, {0, 2, 2}}}},
        {"OffsetsWithTheLast",
         "type: 'LengthsToOffsets' input: 'a' output: 'x' "
         "arg { name: 'include_last_offset' i: 1 }",
         {{"int32", {3}, {2, 0, 3}}},
         {{"int32", {4}, {0, 2, 2, 5}}}},
        {"SegmentsOfRows",
         "type: 'LengthsToSegmentIds' input: 'a' output: 'x'",
         {{"int32", {4}, {0, 2, 0, 1}}},
         {{"int32", {3}, {1, 1, 3}}}},
        {"WeightsByTheRootByDefault",
         "type: 'LengthsToWeights' input: 'a' output: 'x'",
         {{"int32", {3}, {1, 0, 4}}},
         {{"float", {5}, {1, 0.5, 0.5, 0.5, 0.5}}}},
        {"WeightsOfLongLengths",
         "type: 'LengthsToWeights' input: 'a' output: 'x' arg { name: 'power' f: 1 }",
         {{"int64", {2}, {2, 4}}},
         {{"float", {6}, {0.5, 0.5, 0.25, 0.25, 0.25, 0.25}}}},
        {"WeightsThatGrow",
         "type: 'LengthsToWeights' input: 'a' output: 'x' arg { name: 'power' f: -2 }",
         {{"int32", {2}, {1, 2}}},
         {{"float", {3}, {1, 4, 4}}}},
        {"ShapeOfOneSegment",
         "type: 'LengthsToShape' input: 'a' output: 'x'",
         {{"int32", {1}, {0}}},
         {{"int32", {2}, {1, 0}}}},
        {"LengthsOfAColumnOfIds",
         "type: 'SegmentIdsToLengths' input: 'a' output: 'x'",
         {{"int64", {3, 1}, {1, 1, 3}}},
         {{"int32", {4}, {0, 2, 0, 1}}}},
        {"LengthsOfARowOfIdsForMoreRows",
         "type: 'SegmentIdsToLengths' input: 'a' input: 'b' output: 'x'",
         {{"int32", {1, 2}, {0, 0}}, {"float", {3, 0}, {}}},
         {{"int32", {3}, {2, 0, 0}}}},
        {"LengthsOfAsManyRows",
         "type: 'SegmentIdsToLengths' input: 'a' input: 'b' output: 'x'",
         {{"int32", {1}, {1}}, {"float", {2}, {1, 2}}},
         {{"int32", {2}, {0, 1}}}},
        {"RangesBehindTheLastAreEmptyAtZero",
         "type: 'SegmentIdsToRanges' input: 'a' input: 'b' output: 'x'",
         {{"int32", {3}, {1, 1, 3}}, {"float", {6}, {1, 2, 3, 4, 5, 6}}},
         {{"int32", {6, 2}, {0, 0, 0, 2, 2, 0, 2, 1, 0, 0, 0, 0}}}},
        {"RangesOfNoIds",
         "type: 'SegmentIdsToRanges' input: 'a' input: 'b' output: 'x'",
         {{"int64", {0}, {}}, {"text", {2}, {1, 2}}},
         {{"int32", {2, 2}, {0, 0, 0, 0}}}},
        {"ListsMayBeTakenTwice",
         "type: 'LengthsGather' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"text", {3, 1}, {1, 2, 3}}, {"int32", {3}, {1, 0, 2}}, {"int64", {4}, {2, 1, 0, 2}}},
         {{"text", {5, 1}, {2, 3, 1, 2, 3}}}},
        {"ListsArePaddedWithMinusOneByDefault",
         "type: 'LengthsPad' input: 'a' input: 'b' output: 'x' arg { name: 'target_length' i: 2 }",
         {{"float", {3}, {1, 2, 3}}, {"int32", {3}, {1, 0, 2}}},
         {{"float", {6}, {1, -1, -1, -1, 2, 3}}}},
        {"ListsOfRowsArePaddedWithWholeNumbers",
         "type: 'LengthsPad' input: 'a' input: 'b' output: 'x' "
         "arg { name: 'target_length' i: 2 } arg { name: 'padding_value' f: 7.9 }",
         {{"int64", {2, 2}, {1, 2, 3, 4}}, {"int32", {2}, {1, 1}}},
         {{"int64", {4, 2}, {1, 2, 7, 7, 3, 4, 7, 7}}}},
        {"RowsAreRepeated",
         "type: 'LengthsTile' input: 'a' input: 'b' output: 'x'",
         {{"int8", {3, 2}, {1, 2, 3, 4, 5, 6}}, {"int32", {3}, {2, 0, 1}}},
         {{"int8", {3, 2}, {1, 2, 1, 2, 5, 6}}}},
    }),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Packing, SequenceArgumentsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"IntegersHaveNoMinusInfinity",
         "type: 'PackSegments' input: 'a' input: 'b' output: 'x' output: 'y' "
         "arg { name: 'pad_minf' i: 1 } arg { name: 'return_presence_mask' i: 1 }",
         {{"int64", {3}, {2, 0, 1}}, {"int64", {3, 1}, {7, 8, 9}}},
         {{"int64", {3, 2, 1}, {7, 8, 0, 0, 9, 0}}, {"bool", {3, 2}, {1, 1, 0, 0, 1, 0}}}},
        {"RowsOfNoLengthAreCutOff",
         "type: 'PackSegments' input: 'a' input: 'b' output: 'x' output: 'y' "
         "arg { name: 'max_length' i: 0 } arg { name: 'return_presence_mask' i: 1 }",
         {{"int32", {2}, {1, 1}}, {"float", {2, 3}, {1, 2, 3, 4, 5, 6}}},
         {{"float", {2, 0, 3}, {}}, {"bool", {2, 0}, {}}}},
        {"LongerSegmentsAreCutOff",
         "type: 'PackSegments' input: 'a' input: 'b' output: 'x' "
         "arg { name: 'max_length' i: 1 } arg { name: 'pad_minf' i: 1 }",
         {{"int32", {3}, {2, 0, 1}}, {"float", {3}, {1, 2, 3}}},
         {{"float", {3, 1}, {1, kOff, 3}}}},
        {"LengthsOfTheWholeWidth",
         "type: 'UnpackSegments' input: 'a' input: 'b' output: 'x'",
         {{"int64", {2}, {2, 0}}, {"int32", {2, 2, 1}, {1, 2, 3, 4}}},
         {{"int32", {2, 1}, {1, 2}}}},
        {"LongerLengthsCountAsTheArgument",
         "type: 'UnpackSegments' input: 'a' input: 'b' output: 'x' "
         "arg { name: 'max_length' i: 2 }",
         {{"int32", {2}, {9, 1}}, {"int64", {2, 2}, {1, 2, 3, 4}}},
         {{"int64", {3}, {1, 2, 3}}}},
        {"NegativeLengthsReverseNothing",
         "type: 'ReversePackedSegs' input: 'a' input: 'b' output: 'x'",
         {{"int32", {3, 2, 1}, {1, 2, 3, 4, 5, 6}}, {"int64", {2}, {-1, 3}}},
         {{"int32", {3, 2, 1}, {1, 6, 3, 4, 5, 2}}}},
        {"TwoOfThreeStepsAreReversed",
         "type: 'ReversePackedSegs' input: 'a' input: 'b' output: 'x'",
         {{"double", {3, 1, 2}, {1, 2, 3, 4, 5, 6}}, {"int32", {1}, {2}}},
         {{"double", {3, 1, 2}, {3, 4, 1, 2, 5, 6}}}},
    }),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Masks, SequenceArgumentsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"LengthsBeyondTheRow",
         "type: 'SequenceMask' input: 'a' input: 'b' output: 'x' arg { name: 'mode' s: 'sequence' "
         "} "
         "arg { name: 'fill_val' f: 7 }",
         {{"float", {3, 2}, {1, 2, 3, 4, 5, 6}}, {"int32", {3}, {3, -1, 1}}},
         {{"float", {3, 2}, {1, 2, 7, 7, 5, 7}}}},
        {"AnAxisFromTheEnd",
         "type: 'SequenceMask' input: 'a' input: 'b' output: 'x' arg { name: 'mode' s: 'sequence' "
         "} "
         "arg { name: 'axis' i: -1 } arg { name: 'grad' i: 1 } arg { name: 'fill_val' f: 7 }",
         {{"float", {2, 1, 2}, {1, 2, 3, 4}}, {"int32", {2}, {1, 0}}},
         {{"float", {2, 1, 2}, {1, 0, 0, 0}}}},
        {"ABatchFromTheEnd",
         "type: 'SequenceMask' input: 'a' output: 'x' arg { name: 'mode' s: 'upper' } "
         "arg { name: 'axis' i: 2 } arg { name: 'batch' i: -3 } arg { name: 'fill_val' f: 0 }",
         {{"float", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}},
         {{"float", {2, 2, 2}, {1, 0, 3, 4, 5, 0, 7, 8}}}},
        {"PositionsOfTheLastDimension",
         "type: 'SequenceMask' input: 'a' input: 'b' output: 'x' arg { name: 'mode' s: 'sequence' "
         "} "
         "arg { name: 'repeat_from_axis' i: -1 } arg { name: 'fill_val' f: 0 }",
         {{"float", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}, {"int32", {2}, {1, 2}}},
         {{"float", {2, 2, 2}, {1, 2, 0, 0, 5, 6, 7, 8}}}},
        {"MoreRowsThanPositions",
         "type: 'SequenceMask' input: 'a' output: 'x' arg { name: 'mode' s: 'lower' } "
         "arg { name: 'fill_val' f: 0 }",
         {{"float", {3, 2}, {1, 2, 3, 4, 5, 6}}},
         {{"float", {3, 2}, {1, 2, 0, 4, 0, 0}}}},
        {"PositionsBelowTheRow",
         "type: 'SequenceMask' input: 'a' output: 'x' arg { name: 'mode' s: 'upperdiag' } "
         "arg { name: 'fill_val' f: 0 }",
         {{"float", {3, 2}, {1, 2, 3, 4, 5, 6}}},
         {{"float", {3, 2}, {0, 0, 3, 0, 5, 6}}}},
        {"PositionsAboveTheRow",
         "type: 'SequenceMask' input: 'a' output: 'x' arg { name: 'mode' s: 'lowerdiag' }",
         {{"float", {3, 2}, {1, 2, 3, 4, 5, 6}}},
         {{"float", {3, 2}, {kOff, 2, kOff, kOff, kOff, kOff}}}},
        {"WindowsAtTheEndsOfTheRow",
         "type: 'SequenceMask' input: 'a' input: 'b' output: 'x' arg { name: 'mode' s: 'window' } "
         "arg { name: 'radius' i: 1 } arg { name: 'fill_val' f: 0 }",
         {{"float", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}}, {"int32", {3}, {0, 3, -2}}},
         {{"float", {3, 3}, {1, 2, 0, 0, 0, 6, 0, 0, 0}}}},
    }),
    NameOfCase);

TEST(SequenceWindowTest, ReachesTenPositionsByDefault) {
  std::vector<float> x(24), want(24, 0.0f);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  for (size_t i = 2; i <= 22; ++i) want[i] = x[i];
  Workspace ws;
  Feed<float>(&ws, "a", {1, 24}, x);
  Feed<int32_t>(&ws, "b", {1}, {12});
  RunOp(&ws,
        "type: 'SequenceMask' input: 'a' input: 'b' output: 'x' "
        "arg { name: 'mode' s: 'window' } arg { name: 'fill_val' f: 0 }");
  ExpectTensor<float>(ws, "x", {1, 24}, want);
}

TEST(MergedIdListsTest, AreSortedListsOfThreeWithoutRepetitions) {
  Workspace ws;
  Feed<int32_t>(&ws, "a", {3}, {2, 0, 1});
  Feed<int64_t>(&ws, "b", {3}, {5, -1, 7});
  Feed<int32_t>(&ws, "c", {3}, {0, 0, 2});
  Feed<int64_t>(&ws, "d", {2}, {7, 6});
  Feed<int32_t>(&ws, "e", {3}, {2, 0, 1});
  Feed<int64_t>(&ws, "f", {3}, {5, 5, 8});
  RunOp(&ws,
        "type: 'MergeIdLists' input: 'a' input: 'b' input: 'c' input: 'd' input: 'e' "
        "input: 'f' output: 'x' output: 'y'");
  ExpectTensor<int32_t>(ws, "x", {3}, {2, 0, 3});
  ExpectTensor<int64_t>(ws, "y", {5}, {-1, 5, 6, 7, 8});
}

}  // namespace
}  // namespace caffe2rt::sequence_arguments_test
