// Operators that join, split, repeat and reshape tensors, with arguments that other tests leave
// out. Expected values are by hand.

#include <set>
#include <string>

#include "tests/support/device_run.h"
#include "tests/support/operator_case.h"

namespace caffe2rt::reshaped_tensors_test {
namespace {

using test::Feed;
using test::NameOfCase;
using test::OperatorCase;

// The shapes of these depend on the values of an input, so that they may be unknown.
const std::set<std::string> kByValues = {
    "SplitInThreeWithTheSizesOfAnInput", "LengthsOfTheChannels", "LengthsOfTheLastChannels",
    "LengthsScaledToALastAxis",          "LengthsOfNothing",     "TilesOfAnInt32InputKeepTheAxis",
    "TilesOfInt64InputsKeepTheAxis",     "ExpandToZero",         "ReshapeOfBytesFromAnInt32Input"};

class ReshapedTensorsTest : public testing::TestWithParam<OperatorCase> {};

TEST_P(ReshapedTensorsTest, HaveTheShapeOfTheArguments) {
  test::ExpectCase(GetParam(), kByValues.contains(GetParam().name));
}

INSTANTIATE_TEST_SUITE_P(
    Pieces, ReshapedTensorsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"SplitOfTheChannelsOfTheOrder",
         "type: 'Split' input: 'a' output: 'x' output: 'y' arg { name: 'order' s: 'NHWC' }",
         {{"float", {1, 1, 2, 2}, {1, 2, 3, 4}}},
         {{"float", {1, 1, 2, 1}, {1, 3}}, {"float", {1, 1, 2, 1}, {2, 4}}}},
        {"SplitOfDimensionOneIgnoresAddAxisWithoutAxis",
         "type: 'Split' input: 'a' output: 'x' output: 'y' arg { name: 'add_axis' i: 1 }",
         {{"int8", {1, 4}, {1, 2, 3, 4}}},
         {{"int8", {1, 2}, {1, 2}}, {"int8", {1, 2}, {3, 4}}}},
        {"SplitRemovesADimensionFromTheEnd",
         "type: 'DepthSplit' input: 'a' output: 'x' output: 'y' arg { name: 'axis' i: -2 } "
         "arg { name: 'add_axis' i: 1 }",
         {{"float", {2, 2, 1}, {1, 2, 3, 4}}},
         {{"float", {2, 1}, {1, 3}}, {"float", {2, 1}, {2, 4}}}},
        {"SplitRemovesADimensionOfGivenSizes",
         "type: 'Split' input: 'a' input: 'b' output: 'x' output: 'y' arg { name: 'axis' i: 0 } "
         "arg { name: 'add_axis' i: 1 }",
         {{"float", {2, 2}, {1, 2, 3, 4}}, {"int64", {2}, {1, 1}}},
         {{"float", {2}, {1, 2}}, {"float", {2}, {3, 4}}}},
        {"SplitInThreeWithTheSizesOfAnInput",
         "type: 'Split' input: 'a' input: 'b' output: 'x' output: 'y' output: 'z' "
         "arg { name: 'axis' i: -1 }",
         {{"text", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"int32", {3}, {2, 0, 1}}},
         {{"text", {2, 2}, {1, 2, 4, 5}}, {"text", {2, 0}, {}}, {"text", {2, 1}, {3, 6}}}},
        {"SplitUnevenOfAMultiple",
         "type: 'Split' input: 'a' output: 'x' output: 'y' arg { name: 'uneven' i: 1 } "
         "arg { name: 'axis' i: 0 }",
         {{"float", {4}, {1, 2, 3, 4}}},
         {{"float", {2}, {1, 2}}, {"float", {2}, {3, 4}}}},
        {"SplitUnevenWithSizes",
         "type: 'Split' input: 'a' output: 'x' output: 'y' arg { name: 'uneven' i: 1 } "
         "arg { name: 'axis' i: 0 } arg { name: 'split' ints: 1 ints: 3 }",
         {{"float", {4}, {1, 2, 3, 4}}},
         {{"float", {1}, {1}}, {"float", {3}, {2, 3, 4}}}},
        {"LengthsOfTheChannels",
         "type: 'SplitByLengths' input: 'a' input: 'b' output: 'x' output: 'y'",
         {{"float", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"int32", {2}, {1, 2}}},
         {{"float", {2, 1}, {1, 4}}, {"float", {2, 2}, {2, 3, 5, 6}}}},
        {"LengthsOfTheLastChannels",
         "type: 'SplitByLengths' input: 'a' input: 'b' output: 'x' output: 'y' "
         "arg { name: 'order' s: 'NHWC' }",
         {{"float", {1, 1, 1, 3}, {1, 2, 3}}, {"int32", {4}, {0, 1, 1, 1}}},
         {{"float", {1, 1, 1, 1}, {1}}, {"float", {1, 1, 1, 2}, {2, 3}}}},
        {"LengthsScaledToALastAxis",
         "type: 'SplitByLengths' input: 'a' input: 'b' output: 'x' output: 'y' "
         "arg { name: 'axis' i: -1 } arg { name: 'use_scaling_lengths' i: 1 }",
         {{"float", {1, 6}, {1, 2, 3, 4, 5, 6}}, {"int32", {2}, {2, 1}}},
         {{"float", {1, 4}, {1, 2, 3, 4}}, {"float", {1, 2}, {5, 6}}}},
        {"LengthsOfNothing",
         "type: 'SplitByLengths' input: 'a' input: 'b' output: 'x' output: 'y' "
         "arg { name: 'axis' i: 0 } arg { name: 'use_scaling_lengths' i: 1 }",
         {{"float", {0, 2}, {}}, {"int32", {2}, {0, 0}}},
         {{"float", {0, 2}, {}}, {"float", {0, 2}, {}}}},
        {"ConcatOfThreeOnALastAxis",
         "type: 'Concat' input: 'a' input: 'b' input: 'c' output: 'x' output: 'y' "
         "arg { name: 'axis' i: -1 }",
         {{"bool", {2, 1}, {1, 0}}, {"bool", {2, 1}, {0, 0}}, {"bool", {2, 2}, {1, 0, 0, 1}}},
         {{"bool", {2, 4}, {1, 0, 1, 0, 0, 0, 0, 1}}, {"int32", {3}, {1, 1, 2}}}},
        {"ConcatOfOne",
         "type: 'Concat' input: 'a' output: 'x' output: 'y' arg { name: 'axis' i: 0 }",
         {{"float16", {2}, {0.5, 2}}},
         {{"float16", {2}, {0.5, 2}}, {"int32", {1}, {2}}}},
        {"ConcatOfTheChannelsOfALowerCaseOrder",
         "type: 'DepthConcat' input: 'a' input: 'b' output: 'x' output: 'y' "
         "arg { name: 'order' s: 'nhwc' }",
         {{"float", {1, 1, 2, 1}, {1, 2}}, {"float", {1, 1, 2, 1}, {3, 4}}},
         {{"float", {1, 1, 2, 2}, {1, 3, 2, 4}}, {"int32", {2}, {1, 1}}}},
        {"ConcatIgnoresAddAxisWithoutAxis",
         "type: 'Concat' input: 'a' input: 'b' output: 'x' output: 'y' "
         "arg { name: 'add_axis' i: 1 }",
         {{"float", {1, 1}, {1}}, {"float", {1, 2}, {2, 3}}},
         {{"float", {1, 3}, {1, 2, 3}}, {"int32", {2}, {1, 2}}}},
        {"ConcatStacksBeforeTheFirstDimension",
         "type: 'Concat' input: 'a' input: 'b' output: 'x' output: 'y' "
         "arg { name: 'add_axis' i: 1 } arg { name: 'axis' i: -3 }",
         {{"float", {1, 2}, {1, 2}}, {"float", {1, 2}, {3, 4}}},
         {{"float", {2, 1, 2}, {1, 2, 3, 4}}, {"int32", {2}, {1, 1}}}},
        {"ConcatOfNothing",
         "type: 'Concat' input: 'a' input: 'b' output: 'x' output: 'y'",
         {{"float", {0, 1}, {}}, {"float", {0, 2}, {}}},
         {{"float", {0, 3}, {}}, {"int32", {2}, {1, 2}}}},
        {"TilesRowsMoreOftenThanThereAre",
         "type: 'Tile' input: 'a' output: 'x' arg { name: 'tiles' i: 3 } arg { name: 'axis' i: 1 }",
         {{"uint8", {2, 1, 2}, {1, 2, 3, 4}}},
         {{"uint8", {2, 3, 2}, {1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4}}}},
        {"TilesRowsLessOftenThanThereAre",
         "type: 'Tile' input: 'a' output: 'x' arg { name: 'tiles' i: 2 } arg { name: 'axis' i: -1 "
         "}",
         {{"float16", {3, 1}, {1, 2, 3}}},
         {{"float16", {3, 2}, {1, 1, 2, 2, 3, 3}}}},
        {"TilesOfAnInt32InputKeepTheAxis",
         "type: 'Tile' input: 'a' input: 'b' output: 'x' arg { name: 'axis' i: 1 }",
         {{"int64", {2, 1}, {1, 2}}, {"int32", {1}, {2}}},
         {{"int64", {2, 2}, {1, 1, 2, 2}}}},
        {"TilesOfInt64InputsKeepTheAxis",
         "type: 'Tile' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"double", {2, 1}, {1, 2}}, {"int64", {1}, {2}}, {"int64", {1}, {1}}},
         {{"double", {2, 2}, {1, 1, 2, 2}}}},
        {"TileGradientOfAMiddleAxis",
         "type: 'TileGradient' input: 'a' output: 'x' arg { name: 'tiles' i: 2 } "
         "arg { name: 'axis' i: 1 }",
         {{"int64", {1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}},
         {{"int64", {1, 2, 2}, {6, 8, 10, 12}}}},
        {"ExpandGradientOfLeadingDimensions",
         "type: 'ExpandGradient' input: 'a' input: 'b' output: 'x'",
         {{"int64", {2, 1, 2}, {1, 2, 3, 4}}, {"int64", {2}, {9, 9}}},
         {{"int64", {2}, {4, 6}}}},
        {"ExpandToZero",
         "type: 'Expand' input: 'a' input: 'b' output: 'x'",
         {{"double", {1}, {1}}, {"int64", {1}, {0}}},
         {{"double", {0}, {}}}}}),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Shapes, ReshapedTensorsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"FlattenToOneRow",
         "type: 'Flatten' input: 'a' output: 'x' arg { name: 'axis' i: 0 }",
         {{"int16", {2, 2}, {1, 2, 3, 4}}},
         {{"int16", {1, 4}, {1, 2, 3, 4}}}},
        {"FlattenToOneColumn",
         "type: 'Flatten' input: 'a' output: 'x' arg { name: 'axis' i: 2 }",
         {{"text", {2, 2}, {1, 2, 3, 4}}},
         {{"text", {4, 1}, {1, 2, 3, 4}}}},
        {"FlattenAScalar",
         "type: 'Flatten' input: 'a' output: 'x' arg { name: 'axis' i: 0 }",
         {{"float", {}, {5}}},
         {{"float", {1, 1}, {5}}}},
        {"FlattenNothing",
         "type: 'Flatten' input: 'a' output: 'x'",
         {{"float", {2, 0, 3}, {}}},
         {{"float", {2, 0}, {}}}},
        {"FlattenToVecOfBools",
         "type: 'FlattenToVec' input: 'a' output: 'x'",
         {{"bool", {1, 2, 1}, {1, 0}}},
         {{"bool", {2}, {1, 0}}}},
        {"ShapeOfAxesInTheirOrder",
         "type: 'Shape' input: 'a' output: 'x' arg { name: 'axes' ints: 2 ints: 0 ints: 2 }",
         {{"float", {1, 2, 3}, {1, 2, 3, 4, 5, 6}}},
         {{"int64", {3}, {3, 1, 3}}}},
        {"ShapeUpToAnEndOnly",
         "type: 'Shape' input: 'a' output: 'x' arg { name: 'end' i: 2 }",
         {{"float", {1, 2, 3}, {1, 2, 3, 4, 5, 6}}},
         {{"int64", {2}, {1, 2}}}},
        {"ShapeFromAStartBeforeTheEnd",
         "type: 'Shape' input: 'a' output: 'x' arg { name: 'start' i: -1 }",
         {{"float", {1, 2, 3}, {1, 2, 3, 4, 5, 6}}},
         {{"int64", {1}, {3}}}},
        {"ShapeOfAScalar",
         "type: 'Shape' input: 'a' output: 'x'",
         {{"text", {}, {1}}},
         {{"int64", {0}, {}}}},
        {"SizeOfNothing",
         "type: 'Size' input: 'a' output: 'x'",
         {{"float", {3, 0}, {}}},
         {{"int64", {}, {0}}}},
        {"SizeOfAScalar",
         "type: 'Size' input: 'a' output: 'x'",
         {{"float", {}, {2}}},
         {{"int64", {}, {1}}}},
        {"ExpandDimsAtSeveralPlaces",
         "type: 'ExpandDims' input: 'a' output: 'x' arg { name: 'dims' ints: 3 ints: 0 ints: 3 }",
         {{"float", {2, 2}, {1, 2, 3, 4}}},
         {{"float", {1, 2, 2, 1}, {1, 2, 3, 4}}}},
        {"ExpandDimsOfAScalar",
         "type: 'ExpandDims' input: 'a' output: 'x' arg { name: 'dims' ints: 0 ints: 1 }",
         {{"int8", {}, {3}}},
         {{"int8", {1, 1}, {3}}}},
        {"SqueezeOfSeveralDimensions",
         "type: 'Squeeze' input: 'a' output: 'x' arg { name: 'dims' ints: 2 ints: 0 ints: 0 }",
         {{"float", {1, 2, 1, 1}, {1, 2}}},
         {{"float", {2, 1}, {1, 2}}}},
        {"SqueezeToAScalar",
         "type: 'ONNXSqueeze' input: 'a' output: 'x'",
         {{"text", {1, 1}, {1}}},
         {{"text", {}, {1}}}},
        {"SqueezeWithEmptyAxes",
         "type: 'ONNXSqueeze' input: 'a' input: 'b' output: 'x'",
         {{"float", {1, 2}, {1, 2}}, {"int64", {0}, {}}},
         {{"float", {2}, {1, 2}}}},
        {"UnsqueezeOfNoAxes",
         "type: 'Unsqueeze' input: 'a' input: 'b' output: 'x'",
         {{"float", {2}, {1, 2}}, {"int32", {0}, {}}},
         {{"float", {2}, {1, 2}}}},
        {"UnsqueezeOfAnEmptyArgument",
         "type: 'Unsqueeze' input: 'a' output: 'x' arg { name: 'axes' }",
         {{"float", {2}, {1, 2}}},
         {{"float", {2}, {1, 2}}}},
        {"SqueezeOfAnEmptyArgument",
         "type: 'ONNXSqueeze' input: 'a' output: 'x' arg { name: 'axes' }",
         {{"float", {1, 2, 1}, {1, 2}}},
         {{"float", {2}, {1, 2}}}},
        {"UnsqueezeOfBothEnds",
         "type: 'Unsqueeze' input: 'a' output: 'x' arg { name: 'axes' ints: -3 ints: 2 }",
         {{"float", {2}, {1, 2}}},
         {{"float", {1, 2, 1}, {1, 2}}}},
        {"MergeTwoDimensions",
         "type: 'MergeDim' input: 'a' output: 'x'",
         {{"text", {2, 1}, {1, 2}}},
         {{"text", {2}, {1, 2}}}},
        {"MergeTwoDimensionsOfThree",
         "type: 'MergeDim' input: 'a' output: 'x'",
         {{"float", {2, 2, 1}, {1, 2, 3, 4}}},
         {{"float", {4, 1}, {1, 2, 3, 4}}}},
        {"PrependADimension",
         "type: 'PrependDim' input: 'a' output: 'x' arg { name: 'dim_size' i: 2 }",
         {{"uint16", {4, 1}, {1, 2, 3, 4}}},
         {{"uint16", {2, 2, 1}, {1, 2, 3, 4}}}},
        {"PrependADimensionToNothing",
         "type: 'PrependDim' input: 'a' output: 'x' arg { name: 'dim_size' i: 2 }",
         {{"float", {0}, {}}},
         {{"float", {2, 0}, {}}}},
        {"PrependAllRows",
         "type: 'PrependDim' input: 'a' output: 'x' arg { name: 'dim_size' i: 3 }",
         {{"float", {3}, {1, 2, 3}}},
         {{"float", {3, 1}, {1, 2, 3}}}},
        {"ChannelsOfVectorsToTheEnd",
         "type: 'NCHW2NHWC' input: 'a' output: 'x'",
         {{"float", {2, 2, 1}, {1, 2, 3, 4}}},
         {{"float", {2, 1, 2}, {1, 2, 3, 4}}}},
        {"ChannelsOfVolumesToTheEnd",
         "type: 'NCHW2NHWC' input: 'a' output: 'x'",
         {{"float", {1, 2, 1, 3, 1}, {1, 2, 3, 4, 5, 6}}},
         {{"float", {1, 1, 3, 1, 2}, {1, 4, 2, 5, 3, 6}}}},
        {"ChannelsOfVolumesToTheFront",
         "type: 'NHWC2NCHW' input: 'a' output: 'x'",
         {{"float", {1, 1, 3, 1, 2}, {1, 4, 2, 5, 3, 6}}},
         {{"float", {1, 2, 1, 3, 1}, {1, 2, 3, 4, 5, 6}}}},
        {"NoChannels",
         "type: 'NHWC2NCHW' input: 'a' output: 'x'",
         {{"float", {2, 3, 0}, {}}},
         {{"float", {2, 0, 3}, {}}}},
        {"DoublesAreInt64",
         "type: 'BitCast' input: 'a' output: 'x' arg { name: 'to' i: 10 }",
         {{"double", {2}, {0, 2}}},
         {{"int64", {2}, {0, 4611686018427387904}}}},
        {"DepthToSpaceOfABatch",
         "type: 'DepthToSpace' input: 'a' output: 'x' arg { name: 'blocksize' i: 2 }",
         {{"float", {2, 4, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8}}},
         {{"float", {2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}}},
        {"SpaceToDepthWithChannelsFirst",
         "type: 'SpaceToDepth' input: 'a' output: 'x' arg { name: 'blocksize' i: 2 } "
         "arg { name: 'mode' s: 'CRD' }",
         {{"float", {1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}},
         {{"float", {1, 8, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8}}}},
        {"SpaceToDepthWithColumnsFirstByDefault",
         "type: 'SpaceToDepth' input: 'a' output: 'x' arg { name: 'blocksize' i: 2 }",
         {{"float", {1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}},
         {{"float", {1, 8, 1, 1}, {1, 5, 2, 6, 3, 7, 4, 8}}}},
        {"BlocksOfOnePixel",
         "type: 'DepthToSpace' input: 'a' output: 'x' arg { name: 'blocksize' i: 1 }",
         {{"text", {1, 2, 1, 2}, {1, 2, 3, 4}}},
         {{"text", {1, 2, 1, 2}, {1, 2, 3, 4}}}},
        {"BlocksOfNothing",
         "type: 'DepthToSpace' input: 'a' output: 'x' arg { name: 'blocksize' i: 2 }",
         {{"float", {1, 4, 0, 3}, {}}},
         {{"float", {1, 1, 0, 6}, {}}}},
        {"ReshapeWithAZeroBehindTheRank",
         "type: 'Reshape' input: 'a' output: 'x' output: 'y' "
         "arg { name: 'shape' ints: -1 ints: 0 }",
         {{"float", {2, 3}, {1, 2, 3, 4, 5, 6}}},
         {{"float", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"int64", {2}, {2, 3}}}},
        {"ReshapeOfBytesFromAnInt32Input",
         "type: 'Reshape' input: 'a' input: 'b' output: 'x' output: 'y'",
         {{"uint8", {4}, {1, 2, 3, 4}}, {"int32", {2}, {2, -1}}},
         {{"uint8", {2, 2}, {1, 2, 3, 4}}, {"int32", {1}, {4}}}},
        {"ResizeLikeAnotherType",
         "type: 'ResizeLike' input: 'a' input: 'b' output: 'x'",
         {{"text", {2, 1}, {1, 2}}, {"float", {1, 2}, {0, 0}}},
         {{"text", {1, 2}, {1, 2}}}}}),
    NameOfCase);

TEST(ReshapedInPlaceTest, KeepsTheElements) {
  const struct {
    const char* op;
    std::vector<int64_t> dims, want;
  } rows[] = {
      {"type: 'ExpandDims' input: 'X' output: 'X' arg { name: 'dims' ints: 1 }", {2, 2}, {2, 1, 2}},
      {"type: 'Squeeze' input: 'X' output: 'X' arg { name: 'dims' ints: 1 }", {2, 1, 2}, {2, 2}},
      {"type: 'Unsqueeze' input: 'X' output: 'X' arg { name: 'axes' ints: -1 }", {4}, {4, 1}},
      {"type: 'ONNXSqueeze' input: 'X' output: 'X'", {1, 4, 1}, {4}},
      {"type: 'MergeDim' input: 'X' output: 'X'", {2, 2}, {4}},
      {"type: 'PrependDim' input: 'X' output: 'X' arg { name: 'dim_size' i: 2 }", {4}, {2, 2}},
      {"type: 'EnsureDense' input: 'X' output: 'X'", {2, 2}, {2, 2}},
      {"type: 'ScatterElements' input: 'X' input: 'I' input: 'U' output: 'X'", {4}, {4}},
      {"type: 'TensorScatter' input: 'X' input: 'V' output: 'X' arg { name: 'axis' i: 1 }",
       {1, 4},
       {1, 4}},
      {"type: 'Trilu' input: 'X' output: 'X' arg { name: 'k' i: -9 }", {2, 2}, {2, 2}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.op);
    Workspace ws;
    Feed<float>(&ws, "X", row.dims, {1, 2, 3, 4});
    Feed<int64_t>(&ws, "I", {1}, {2});
    Feed<float>(&ws, "U", {1}, {3});
    Feed<float>(&ws, "V", {1, 1}, {1});
    test::RunOp(&ws, row.op);
    test::ExpectTensor<float>(ws, "X", row.want, {1, 2, 3, 4});
  }
}

TEST(ReshapedInPlaceTest, CutsATriangle) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  test::RunOp(&ws, "type: 'Trilu' input: 'X' output: 'X'");
  test::ExpectTensor<float>(ws, "X", {2, 2}, {1, 2, 0, 4});
  Feed<float>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  test::RunOp(&ws, "type: 'Trilu' input: 'X' output: 'X' arg { name: 'upper' i: 0 }");
  test::ExpectTensor<float>(ws, "X", {2, 2}, {1, 0, 3, 4});
}

// The CPU checks all indices before it writes.
TEST(RejectedScatterTest, LeavesTheDataAlone) {
  if (test::TestDevice() != CPU) GTEST_SKIP() << "on a device, the other slices are written";
  Workspace ws;
  Feed<float>(&ws, "X", {3}, {1, 2, 3});
  Feed<int64_t>(&ws, "I", {2}, {0, 3});
  Feed<int64_t>(&ws, "J", {2, 1}, {0, 3});
  Feed<float>(&ws, "S", {2}, {8, 9});
  Feed<float>(&ws, "W", {1}, {2});
  for (const char* op :
       {"type: 'ScatterAssign' input: 'X' input: 'I' input: 'S' output: 'X'",
        "type: 'ScatterWeightedSum' input: 'X' input: 'W' input: 'I' input: 'S' input: 'W' "
        "output: 'X'",
        "type: 'ScatterElements' input: 'X' input: 'I' input: 'S' output: 'X'",
        "type: 'ScatterND' input: 'X' input: 'J' input: 'S' output: 'X'"}) {
    SCOPED_TRACE(op);
    EXPECT_THROW(test::RunOp(&ws, op), EnforceNotMet);
    test::ExpectTensor<float>(ws, "X", {3}, {1, 2, 3});
  }
}

}  // namespace
}  // namespace caffe2rt::reshaped_tensors_test
