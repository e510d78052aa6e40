// Errors of the operators that copy ranges, join, split and change shapes, with the whole message
// of each.
#include <gtest/gtest.h>

#include "tests/operators/refusals/refusal.h"

namespace caffe2rt::test::reshaped_refusals_test {
namespace {

constexpr char kPad[] = "type: 'Pad' input: 'X' input: 'P' output: 'Y'";
constexpr char kPadValue[] = "type: 'Pad' input: 'X' input: 'P' input: 'V' output: 'Y'";
constexpr char kCol2Im[] = "type: 'ONNXCol2Im' input: 'X' input: 'I' input: 'B' output: 'Y' ";
constexpr char kOnnxSlice[] =
    "type: 'ONNXSlice' input: 'X' output: 'Y' arg { name: 'starts' ints: 0 } ";
constexpr char kReverse[] =
    "type: 'ReverseSequence' input: 'X' input: 'L' output: 'Y' "
    "arg { name: 'batch_axis' i: 0 } arg { name: 'time_axis' i: 1 }";

constexpr Refusal kCopies[] = {
    {kPadValue, "X f 2; P l 2 = 0,1; V d - = 1",
     "input 2 (value) has elements of type double, want float as input 0 (X)"},
    {kPadValue, "X f 2; P l 2 = 0,1; V f 2",
     "elements of input 2 (value), want one (got 2, want 1)"},
    {"type: 'Pad' input: 'X' input: 'P' output: 'Y' arg { name: 'value' f: 0.5 }",
     "X i 2; P l 2 = 0,1", "argument value is 0.5, want a number of type int32"},
    {"type: 'Pad' input: 'X' input: 'P' output: 'Y' arg { name: 'value' f: 256 }",
     "X u 2; P l 2 = 0,1", "value is 256, want at most 255 and at least 0"},
    {"type: 'Pad' input: 'X' input: 'P' output: 'Y' arg { name: 'value' f: inf }",
     "X l 2; P l 2 = 0,1", "argument value is inf, want a number of type int64"},
    {"type: 'Pad' input: 'X' input: 'P' output: 'Y' arg { name: 'value' f: 1 }",
     "X s 1 = a; P l 2 = 0,1",
     "Unsupported type of tensor: value has elements of type string, want float, double, "},
    {kPad, "X f 2,3; P l 2 = 1,1", "elements of pads, want two for each of 2 axes (got 2, want 4)"},
    {kPad, "X f 2,3; P l 4 = -2,0,-1,0",
     "dim 0 of input 0 of shape [2, 3] padded by -2 and -1, elements that are left: got -1, want "
     "at "
     "least 0"},
    {"type: 'Pad' input: 'X' input: 'P' output: 'Y' arg { name: 'mode' s: 'wrap' }",
     "X f 2; P l 2 = -2,1",
     "dim 0 of input 0 of shape [2] padded by -2 and 1 has no elements that could be repeated"},
    {"type: 'Pad' input: 'X' input: 'P' output: 'Y' arg { name: 'mode' s: 'mirror' }",
     "X f 2; P l 2 = 0,1", "argument \"mode\" is \"mirror\", want constant, reflect, edge or wrap"},
    {"type: 'Pad' input: 'X' output: 'Y'", "X f 2",
     "argument pads is missing, and input 1 is not given either"},
    {"type: 'Pad' input: 'X' output: 'Y' arg { name: 'pads' ints: 1 ints: 1 ints: 1 ints: 1 } "
     "arg { name: 'axes' ints: 1 ints: -1 }",
     "X f 2,3", "axes are [1, -1], which name dimension 1 twice"},
    {"type: 'Pad' input: 'X' output: 'Y' arg { name: 'pads' ints: 1 ints: 1 } "
     "arg { name: 'axes' ints: -3 }",
     "X f 2,3", "axis is -3, want at least -2 and below the rank 2"},
    {kPad, "X f 2; P l 1,2", "rank of input 1 (pads), want a vector (got 2, want at most 1)"},
    {kPad, "X f 2; P f 2",
     "Unsupported type of tensor: input 1 (pads) has elements of type float, want int64, int32"},
    {"type: 'CenterCropPad' input: 'X' output: 'Y' arg { name: 'shape' ints: 4 }", "X f 2,3",
     "elements of shape, want one for each axis (got 1, want 2)"},
    {"type: 'CenterCropPad' input: 'X' output: 'Y' arg { name: 'shape' ints: 4 ints: -1 }",
     "X f 2,3", "element 1 of shape: got -1, want at least 0"},
    {"type: 'ONNXExpand' input: 'X' input: 'S' output: 'Y'", "X f 2,3; S l 2 = 2,2",
     "input 0 (X) has shape [2, 3], which cannot be broadcast with shape [2, 2]"},
    {"type: 'ONNXExpand' input: 'X' input: 'S' output: 'Y'", "X f 1; S l 1 = -1",
     "input 0 (X) has shape [1], which cannot be broadcast with shape [-1]"},
    {"type: 'ONNXExpand' input: 'X' output: 'Y'", "X f 2",
     "argument shape is missing, and input 1 is not given either"},
    {"type: 'ONNXTile' input: 'X' input: 'S' output: 'Y'", "X f 2,3; S l 1 = 2",
     "elements of repeats, want the rank of input 0 (X) of shape [2, 3] (got 1, want 2)"},
    {"type: 'ONNXTile' input: 'X' input: 'S' output: 'Y'", "X f 2,3; S l 2 = 1,-1",
     "element 1 of repeats: got -1, want at least 0"},
    {"type: 'ONNXTile' input: 'X' output: 'Y'", "X f 2",
     "argument repeats is missing, and input 1 is not given either"},
    {"type: 'Expand' input: 'X' input: 'S' output: 'Y'", "X f 1; S l 1,1 = 1",
     "rank of input 1 (shape) of shape [1, 1]: got 2, want at most 1"},
    {"type: 'Expand' input: 'X' input: 'S' output: 'Y'", "X f 1; S l 1 = -2",
     "X has shape [1], which cannot be broadcast with shape [-2]"},
    {"type: 'Expand' input: 'X' input: 'S' output: 'Y'", "X u 1; S l 1 = 1",
     "Unsupported type of tensor: input 0 (X) has elements of type uint8, want float, double, "
     "int32, "
     "int64"},
    {"type: 'ExpandGradient' input: 'dY' input: 'X' output: 'dX'", "dY f 1,2; X f 2,1",
     "input 0 (dY) has shape [1, 2], want that of X of shape [2, 1] repeated"},
    {"type: 'ONNXSlice' input: 'X' output: 'Y' arg { name: 'starts' ints: 0 } "
     "arg { name: 'ends' ints: 1 ints: 2 }",
     "X f 2,3", "elements of ends, want as many as of starts (got 2, want 1)"},
    {"type: 'ONNXSlice' input: 'X' output: 'Y' arg { name: 'starts' ints: 0 } "
     "arg { name: 'ends' ints: 1 } arg { name: 'axes' ints: 0 ints: 1 }",
     "X f 2,3", "axes are [0, 1], want as many as 1 starts"},
    {"type: 'ONNXSlice' input: 'X' output: 'Y' arg { name: 'starts' ints: 0 } "
     "arg { name: 'ends' ints: 1 } arg { name: 'steps' ints: 1 ints: 1 }",
     "X f 2,3", "steps are [1, 1], want as many as 1 starts"},
    {"type: 'ONNXSlice' input: 'X' output: 'Y' arg { name: 'starts' ints: 0 ints: 0 } "
     "arg { name: 'ends' ints: 1 ints: 1 }",
     "X f 2", "elements of starts, want at most the rank of input 0 (got 2, want at most 1)"},
    {"type: 'ONNXSlice' input: 'X' output: 'Y' arg { name: 'starts' ints: 0 ints: 0 } "
     "arg { name: 'ends' ints: 1 ints: 1 } arg { name: 'steps' ints: 1 ints: 0 }",
     "X f 2,2", "element 1 of steps is 0"},
    {kOnnxSlice, "X f 2", "starts and ends are neither arguments nor inputs 1 and 2"},
    {"type: 'ONNXSlice' input: 'X' input: 'S' output: 'Y' arg { name: 'ends' ints: 1 }",
     "X f 2; S l 1", "inputs"},
    {"type: 'ONNXSliceGradient' input: 'X' input: 'dY' output: 'dX' arg { name: 'starts' ints: 0 } "
     "arg { name: 'ends' ints: 1 }",
     "X f 2,3; dY f 2,3", "input 1 (dY) has shape [2, 3], want that of the slice [1, 3]"},
    {"type: 'ONNXSliceGradient' input: 'X' input: 'dY' output: 'dX' arg { name: 'starts' ints: 0 } "
     "arg { name: 'ends' ints: 1 }",
     "X f 1; dY s 1 = a", "input 1 (dY) has elements of type string, want numbers"},
    {"type: 'Slice' input: 'X' input: 'S' input: 'E' output: 'Y'", "X f 2; S i 1,1; E i 1",
     "rank of input 1 (starts), want a vector (got 2, want 1)"},
    {"type: 'Slice' input: 'X' input: 'S' input: 'E' output: 'Y'", "X f 2; S i 1; E i 1,1",
     "rank of input 2 (ends), want a vector (got 2, want 1)"},
    {"type: 'Slice' input: 'X' input: 'S' input: 'E' output: 'Y'", "X f 2; S i 1; E l 1",
     "input 2 (ends) has elements of type int64, want int32 as input 1 (starts)"},
    {"type: 'Slice' input: 'X' input: 'S' input: 'E' output: 'Y'", "X f 2; S i 2; E i 1",
     "elements of starts, want as many as of ends (got 2, want 1)"},
    {"type: 'Slice' input: 'X' input: 'S' input: 'E' output: 'Y'", "X f 2; S i 2; E i 2",
     "elements of starts, want at most the rank of input 0 (got 2, want at most 1)"},
    {"type: 'Slice' input: 'X' output: 'Y' arg { name: 'starts' ints: 0 }", "X f 2",
     "argument ends is missing"},
    {"type: 'Slice' input: 'X' output: 'Y' arg { name: 'starts' ints: 1 ints: 1 } "
     "arg { name: 'ends' ints: 2 ints: 2 }",
     "X f 3,4",
     "starts [1, 1] and ends [2, 2] slice 2 dimensions, want one: use several Slice operators"},
    {"type: 'SliceGradient' input: 'X' input: 'dY' output: 'dX' arg { name: 'starts' ints: 0 } "
     "arg { name: 'ends' ints: 1 }",
     "X f 1; dY s 1 = a", "input 1 (dY) has elements of type string, want numbers"},
    {"type: 'SliceGradient' input: 'X' input: 'dY' output: 'dX' arg { name: 'starts' ints: 0 } "
     "arg { name: 'ends' ints: 1 }",
     "X f 2,2; dY f 3",
     "elements of input 1 (dY) of shape [3], want those of the slice, [1, 2] (got 3, want 2)"},
    {kReverse, "X f 3; L l 3", "rank of input 0 (X): got 1, want at least 2"},
    {kReverse, "X f 2,3; L l 3",
     "elements of input 1 (lengths), want dim 0 of input 0 (X) of shape [2, 3] (got 3, want 2)"},
    {kReverse, "X f 2,3; L l 2 = 2,4",
     "element of input 1 (lengths) is 4, want at least 0 and at most 3 steps"},
    {kReverse, "X f 2,3; L l 2 = 2,-1",
     "element of input 1 (lengths) is -1, want at least 0 and at most 3 steps"},
    {"type: 'ReverseSequence' input: 'X' input: 'L' output: 'Y' arg { name: 'time_axis' i: 1 }",
     "X f 2,3; L l 3",
     "argument time_axis, want the other one than batch_axis (got 1, want other than 1)"},
    {"type: 'ReverseSequence' input: 'X' input: 'L' output: 'Y' arg { name: 'batch_axis' i: 2 }",
     "X f 2,3; L l 3", "argument \"batch_axis\" is 2, want 0 or 1"},
    {"type: 'Trilu' input: 'X' output: 'Y'", "X f 3",
     "rank of input 0 (X): got 1, want at least 2"},
    {"type: 'Trilu' input: 'X' input: 'k' output: 'Y'", "X f 2,2; k l 2",
     "elements of input 1 (k), want one (got 2, want 1)"},
    {"type: 'Tile' input: 'X' output: 'Y' arg { name: 'axis' i: 0 }", "X f 2",
     "argument tiles is missing, and input 1 is not given either"},
    {"type: 'Tile' input: 'X' output: 'Y' arg { name: 'tiles' i: 2 }", "X f 2",
     "argument axis is missing, and input 2 is not given either"},
    {"type: 'Tile' input: 'X' input: 'T' output: 'Y' arg { name: 'axis' i: 0 }",
     "X f 2; T i 1 = -1", "tiles, want at least 0 (got -1, want at least 0)"},
    {"type: 'Tile' input: 'X' input: 'T' input: 'A' output: 'Y'", "X f 2; T i 1 = 2; A i -",
     "input 2 (axis) has shape [], want [1]"},
    {"type: 'Tile' input: 'X' input: 'T' output: 'Y' arg { name: 'axis' i: 0 }", "X f 2; T f 1",
     "Unsupported type of tensor: tiles has elements of type float, want int32, int64"},
    {"type: 'Tile' input: 'X' input: 'T' input: 'A' output: 'Y'",
     "X f 2; T i 1 = 2; A l 1 = 4294967296",
     "axis is 4294967296, want at most 2147483647 and at least -2147483648"},
    {"type: 'TileGradient' input: 'X' output: 'Y' arg { name: 'axis' i: 0 } arg { name: 'tiles' i: "
     "0 }",
     "X f 2", "tiles, want at least 1 (got 0, want at least 1)"},
    {"type: 'TileGradient' input: 'X' output: 'Y' arg { name: 'axis' i: 1 } arg { name: 'tiles' i: "
     "3 }",
     "X f 2,4",
     "dim 1 of input 0 (dY) of shape [2, 4], want a multiple of tiles 3 (got 1, want 0)"},
    {kCol2Im, "X f 4,4; I l 2 = 3,3; B l 2 = 2,2", "rank of input 0 (columns): got 2, want 3"},
    {kCol2Im, "X f 1,4,4; I l 2 = 3,3; B l 1 = 2",
     "image_shape is [3, 3] and block_shape [2], want one number for each axis"},
    {"type: 'ONNXCol2Im' input: 'X' output: 'Y'", "X f 1,4,4",
     "image_shape is [] and block_shape [], want one number for each axis"},
    {"type: 'ONNXCol2Im' input: 'X' input: 'I' input: 'B' output: 'Y' arg { name: 'dilations' "
     "ints: 1 }",
     "X f 1,4,4; I l 2 = 3,3; B l 2 = 2,2",
     "dilations, strides or pads do not have the 2 axes of image_shape"},
    {"type: 'ONNXCol2Im' input: 'X' input: 'I' input: 'B' output: 'Y' arg { name: 'strides' ints: "
     "1 }",
     "X f 1,4,4; I l 2 = 3,3; B l 2 = 2,2",
     "dilations, strides or pads do not have the 2 axes of image_shape"},
    {"type: 'ONNXCol2Im' input: 'X' input: 'I' input: 'B' output: 'Y' "
     "arg { name: 'pads' ints: 0 ints: 0 }",
     "X f 1,4,4; I l 2 = 3,3; B l 2 = 2,2",
     "dilations, strides or pads do not have the 2 axes of image_shape"},
    {kCol2Im, "X f 1,4,3; I l 2 = 3,3; B l 2 = 2,2",
     "input 0 (columns) has shape [1, 4, 3], want [N, a multiple of 4, 4] for image [3, 3] and "
     "blocks [2, 2]"},
    {kCol2Im, "X f 1,6,4; I l 2 = 3,3; B l 2 = 2,2",
     "input 0 (columns) has shape [1, 6, 4], want [N, a multiple of 4, 4] for image [3, 3] and "
     "blocks [2, 2]"},
    {kCol2Im, "X f 1,4,4; I l 2 = 3,3; B l 2 = 2,0",
     "axis 1 has image size 3, block size 0, dilation 1, stride 1 and pads 0 and 0, want positive "
     "numbers and pads of at least 0"},
    {kCol2Im, "X f 1,4,4; I l 2 = -1,3; B l 2 = 2,2",
     "axis 0 has image size -1, block size 2, dilation 1, stride 1 and pads 0 and 0, want positive "
     "numbers and pads of at least 0"},
    {"type: 'ONNXCol2Im' input: 'X' input: 'I' input: 'B' output: 'Y' arg { name: 'strides' ints: "
     "0 } "
     "arg { name: 'dilations' ints: 3 } arg { name: 'pads' ints: 1 ints: 2 }",
     "X f 1,4,4; I l 1 = 3; B l 1 = 2",
     "axis 0 has image size 3, block size 2, dilation 3, stride 0 and pads 1 and 2, want positive "
     "numbers and pads of at least 0"},
    {"type: 'ONNXCol2Im' input: 'X' input: 'I' input: 'B' output: 'Y' "
     "arg { name: 'dilations' ints: 0 }",
     "X f 1,4,4; I l 1 = 3; B l 1 = 2", "dilation 0, stride 1 and pads 0 and 0, want positive"},
    {"type: 'ONNXCol2Im' input: 'X' input: 'I' input: 'B' output: 'Y' "
     "arg { name: 'pads' ints: -1 ints: 0 }",
     "X f 1,4,4; I l 1 = 3; B l 1 = 2",
     "pads -1 and 0, want positive numbers and pads of at least 0"},
    {"type: 'ONNXCol2Im' input: 'X' input: 'I' input: 'B' output: 'Y' "
     "arg { name: 'pads' ints: 0 ints: -1 }",
     "X f 1,4,4; I l 1 = 3; B l 1 = 2",
     "pads 0 and -1, want positive numbers and pads of at least 0"},
};

constexpr char kSplit[] = "type: 'Split' input: 'X' output: 'A' output: 'B'";
constexpr char kSplitInput[] = "type: 'Split' input: 'X' input: 'S' output: 'A' output: 'B'";
constexpr char kByLengths[] =
    "type: 'SplitByLengths' input: 'X' input: 'L' output: 'A' output: 'B' arg { name: 'axis' i: 0 "
    "}";
constexpr char kDepthToSpace[] =
    "type: 'DepthToSpace' input: 'X' output: 'Y' arg { name: 'blocksize' i: 2 }";
constexpr char kSpaceToDepth[] =
    "type: 'SpaceToDepth' input: 'X' output: 'Y' arg { name: 'blocksize' i: 2 }";

constexpr Refusal kShapes[] = {
    {kSplit, "X f 2,5",
     "dimension of size 5 cannot be divided into 2 equal outputs: set argument split: got 1, want "
     "0"},
    {"type: 'Split' input: 'X' output: 'A' output: 'B' arg { name: 'split' ints: 2 ints: 2 }",
     "X f 2,5", "sum of the sizes in split, want the size of the dimension (got 4, want 5)"},
    {"type: 'Split' input: 'X' output: 'A' output: 'B' arg { name: 'split' ints: 5 }", "X f 2,5",
     "split has 1 sizes, want one for each of the 2 outputs"},
    {"type: 'Split' input: 'X' output: 'A' output: 'B' arg { name: 'split' ints: -1 ints: 6 }",
     "X f 2,5", "size in split, want at least 0 (got -1, want at least 0)"},
    {"type: 'Split' input: 'X' input: 'S' output: 'A' output: 'B' "
     "arg { name: 'split' ints: 2 ints: 3 }",
     "X f 2,5; S i 2", "argument split and input 1 are both given: remove one"},
    {kSplitInput, "X f 2,5; S i 3",
     "elements of input 1 (split), want one for each output (got 3, want 2)"},
    {kSplitInput, "X f 2,5; S l 2 = 1099511627776,0",
     "element of input 1 (split) is 1099511627776, want at most 2147483647 and at least "
     "-2147483648"},
    {kSplitInput, "X f 2,5; S f 2", "the tensor holds elements of type float, want int32"},
    {"type: 'Split' input: 'X' output: 'A' output: 'B' arg { name: 'axis' i: 1 } "
     "arg { name: 'add_axis' i: 1 }",
     "X f 2,5", "size of the dimension to remove, want the number of outputs (got 5, want 2)"},
    {"type: 'Split' input: 'X' output: 'A' output: 'B' arg { name: 'axis' i: 1 } "
     "arg { name: 'order' s: 'NCHW' }",
     "X f 2,4", "arguments axis and order are both given: remove one"},
    {"type: 'Split' input: 'X' output: 'A' output: 'B' arg { name: 'axis' i: -3 }", "X f 2,4",
     "axis -3 of a tensor of rank 2, want -2 to 1"},
    {kByLengths, "X f 4; L i 1,2 = 1,3",
     "rank of input 1 (lengths) of shape [1, 2]: got 2, want 1"},
    {kByLengths, "X f 4; L i 3 = 1,3,0",
     "elements of input 1 (lengths), 3, modulo the outputs, 2: got 1, want 0"},
    {kByLengths, "X f 4; L i 2 = 5,-1",
     "element 1 of input 1 (lengths), want at least 0 (got -1, want at least 0)"},
    {kByLengths, "X f 4; L i 2 = 1,1",
     "sum of the lengths, want the size of the dimension that is split (got 2, want 4)"},
    {"type: 'SplitByLengths' input: 'X' input: 'L' output: 'A' output: 'B' arg { name: 'axis' i: 0 "
     "} "
     "arg { name: 'use_scaling_lengths' i: 1 }",
     "X f 4; L i 2 = 1,2",
     "size of the dimension, 4, modulo the sum of the lengths, 3: got 1, want 0"},
    {"type: 'SplitByLengths' input: 'X' input: 'L' output: 'A' output: 'B' arg { name: 'axis' i: 0 "
     "} "
     "arg { name: 'use_scaling_lengths' i: 1 }",
     "X f 4; L i 2 = 0,0",
     "sum of the lengths, want the size of the dimension that is split (got 0, want 4)"},
    {"type: 'Concat' input: 'A' input: 'B' output: 'Y' output: 's' arg { name: 'axis' i: 0 } "
     "arg { name: 'add_axis' i: 1 }",
     "A f 2; B f 3", "input 1 has shape [3], want [2] as input 0"},
    {"type: 'Reshape' input: 'X' output: 'Y' output: 'old'", "X f 2",
     "argument shape is missing, and input 1 is not given either"},
    {"type: 'Reshape' input: 'X' input: 'S' output: 'Y' output: 'old' arg { name: 'shape' ints: 2 "
     "}",
     "X f 2; S l 1 = 2", "argument shape and input 1 are both given: remove one"},
    {"type: 'Reshape' input: 'X' input: 'S' output: 'Y' output: 'old'", "X f 1; S l 0",
     "input 1 (shape) has no elements, want at least one"},
    {"type: 'Reshape' input: 'X' input: 'S' output: 'Y' output: 'old'", "X f 1; S l 1,1 = 1",
     "rank of input 1 (shape), want a vector (got 2, want 1)"},
    {"type: 'Reshape' input: 'X' input: 'S' output: 'Y' output: 'old'", "X f 2,3; S l 2 = -1,-1",
     "shape [-1, -1] has more than one -1"},
    {"type: 'Reshape' input: 'X' input: 'S' output: 'Y' output: 'old'", "X f 2,3; S l 2 = 3,-2",
     "dim 1 of shape [3, -2], want at least -1 (got -2, want at least 0)"},
    {"type: 'Reshape' input: 'X' input: 'S' output: 'Y' output: 'old'", "X f 2,3; S l 2 = -1,4",
     "input 0 has shape [2, 3], 6 elements, which cannot be divided into shape [-1, 4]"},
    {"type: 'Reshape' input: 'X' input: 'S' output: 'Y' output: 'old'", "X f 2,3; S l 1 = 5",
     "elements of shape [5], want those of input 0 of shape [2, 3] (got 5, want 6)"},
    {"type: 'ResizeLike' input: 'X' input: 'L' output: 'Y'", "X f 2,3; L f 5",
     "elements of input 0 of shape [2, 3], want those of input 1 of shape [5] (got 6, want 5)"},
    {"type: 'ExpandDims' input: 'X' output: 'Y' arg { name: 'dims' ints: 3 }", "X f 2,2",
     "rank of the output for input 0 of shape [2, 2], want more than the largest of argument dims "
     "(got 3, want more than 3)"},
    {"type: 'ExpandDims' input: 'X' output: 'Y' arg { name: 'dims' ints: -1 }", "X f 2,2",
     "argument \"dims\" is [-1], want at least one dimension, none negative"},
    {"type: 'Squeeze' input: 'X' output: 'Y' arg { name: 'dims' ints: 1 }", "X f 1",
     "rank of input 0 of shape [1], want more than the largest of argument dims (got 1, want more "
     "than 1)"},
    {"type: 'Squeeze' input: 'X' output: 'Y' arg { name: 'dims' ints: 1 ints: 0 }", "X f 1,2",
     "dim 1 of input 0 of shape [1, 2] is in argument dims, want size 1 (got 2, want 1)"},
    {"type: 'EnsureDense' input: 'X' output: 'Y'", "X f -",
     "rank of input 0, want at least 1 (got 0, want at least 1)"},
    {"type: 'FlattenToVec' input: 'X' output: 'Y'", "X f -",
     "rank of input 0, want at least 1 (got 0, want at least 1)"},
    {"type: 'Flatten' input: 'X' output: 'Y' arg { name: 'axis' i: 3 }", "X f 2,2",
     "argument axis is 3, want 0 to the rank of input 0 of shape [2, 2]"},
    {"type: 'Flatten' input: 'X' output: 'Y' arg { name: 'axis' i: -1 }", "X f 2,2",
     "argument axis is -1, want 0 to the rank of input 0 of shape [2, 2]"},
    {"type: 'MergeDim' input: 'X' output: 'Y'", "X f 2",
     "rank of input 0, want at least 2 (got 1, want at least 2)"},
    {"type: 'PrependDim' input: 'X' output: 'Y' arg { name: 'dim_size' i: 2 }", "X f -",
     "rank of input 0, want at least 1 (got 0, want at least 1)"},
    {"type: 'PrependDim' input: 'X' output: 'Y' arg { name: 'dim_size' i: 2 }", "X f 3",
     "dim 0 of input 0 of shape [3], want a multiple of argument dim_size 2 (got 1, want 0)"},
    {"type: 'PrependDim' input: 'X' output: 'Y' arg { name: 'dim_size' i: 0 }", "X f 3",
     "argument \"dim_size\" is 0, want above 0"},
    {"type: 'NCHW2NHWC' input: 'X' output: 'Y'", "X f 2,3",
     "rank of input 0, want at least 3 (got 2, want at least 3)"},
    {"type: 'NHWC2NCHW' input: 'X' output: 'Y'", "X f 2,3",
     "rank of input 0, want at least 3 (got 2, want at least 3)"},
    {"type: 'Shape' input: 'X' output: 'Y' arg { name: 'axes' ints: 0 ints: 2 }", "X f 2,3",
     "element of argument axes is 2, want at least 0 and below the rank of input 0 of shape [2, "
     "3]"},
    {"type: 'Shape' input: 'X' output: 'Y' arg { name: 'axes' ints: -1 }", "X f 2,3",
     "element of argument axes is -1, want at least 0 and below the rank of input 0 of shape [2, "
     "3]"},
    {"type: 'Shape' input: 'X' output: 'Y' arg { name: 'axes' ints: 1 } arg { name: 'end' i: 2 }",
     "X f 2,3", "argument axes is given with start or end: remove one"},
    {"type: 'Transpose' input: 'X' output: 'Y' arg { name: 'axes' ints: 0 ints: 1 ints: 2 }",
     "X f 2,3",
     "elements of argument axes, want the rank of input 0 of shape [2, 3] (got 3, want 2)"},
    {"type: 'Unsqueeze' input: 'X' output: 'Y'", "X f 2",
     "argument axes is missing, and input 1 is not given either"},
    {"type: 'Unsqueeze' input: 'X' output: 'Y' arg { name: 'axes' ints: 0 ints: -3 }", "X f 2",
     "axes are [0, -3], which name dimension 0 twice"},
    {"type: 'Unsqueeze' input: 'X' output: 'Y' arg { name: 'axes' ints: -3 }", "X f 2",
     "axis is -3, want at least -2 and below the rank 2"},
    {"type: 'ONNXSqueeze' input: 'X' output: 'Y' arg { name: 'axes' ints: -1 }", "X f 1,2",
     "dim 1 of input 0 of shape [1, 2] is in axes, want size 1"},
    {"type: 'BitCast' input: 'X' output: 'Y' arg { name: 'to' i: 4 }", "X f 1",
     "argument to names elements of type string, want numbers or bool"},
    {"type: 'BitCast' input: 'X' output: 'Y' arg { name: 'to' i: 10 }", "X f 1",
     "input 0 (X) has elements of type float, want 8 bytes as the elements of int64"},
    {"type: 'BitCast' input: 'X' output: 'Y' arg { name: 'to' i: 2 }", "X s 1 = a",
     "input 0 (X) has elements of type string, want 4 bytes as the elements of int32"},
    {kDepthToSpace, "X f 1,6,1,1",
     "channels of input 0 (X) of shape [1, 6, 1, 1], want a multiple of blocksize * blocksize (got "
     "2, "
     "want 0)"},
    {kDepthToSpace, "X f 4,1,1", "rank of input 0 (X) of shape [4, 1, 1]: got 3, want 4"},
    {kSpaceToDepth, "X f 1,1,2,3",
     "input 0 (X) has shape [1, 1, 2, 3], want height and width that are multiples of blocksize 2"},
    {kSpaceToDepth, "X f 1,1,3,2",
     "input 0 (X) has shape [1, 1, 3, 2], want height and width that are multiples of blocksize 2"},
    {"type: 'SpaceToDepth' input: 'X' output: 'Y' arg { name: 'blocksize' i: 0 }", "X f 1,1,1,1",
     "argument \"blocksize\" is 0, want 1 to 32768"},
    {"type: 'SpaceToDepth' input: 'X' output: 'Y' arg { name: 'blocksize' i: 32769 }",
     "X f 1,1,1,1", "argument \"blocksize\" is 32769, want 1 to 32768"},
    {"type: 'DepthToSpace' input: 'X' output: 'Y' arg { name: 'blocksize' i: 1 } "
     "arg { name: 'mode' s: 'RCD' }",
     "X f 1,1,1,1", "argument \"mode\" is \"RCD\", want DCR or CRD"},
};

TEST(ReshapedRefusalsTest, OfCopiesOfRanges) {
  for (const Refusal& row : kCopies) ExpectRefusal(row);
}

TEST(ReshapedRefusalsTest, OfShapes) {
  for (const Refusal& row : kShapes) ExpectRefusal(row);
}

}  // namespace
}  // namespace caffe2rt::test::reshaped_refusals_test
