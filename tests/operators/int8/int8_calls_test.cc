// Whole messages of the operators on quantized tensors, values next to the bounds, and inferred shapes.
#include <gtest/gtest.h>

#include <cmath>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shape_inference.h"
#include "operators/int8/requantization.h"
#include "tests/operators/common/call_tables.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::int8_calls_test {
namespace {

// Quantizes X to x with scale 0.5 and zero point 10, before the operator.
std::string OfX(const std::string& op) {
  return "Int8Quantize X -> x Y_scale=0.5 Y_zero_point=10 | " + op;
}
// Of operators that are rejected before they read them.
const std::string kUnread = "X f 1; x f 1; w f 1; b f 1; s f 1; R f 1";
// The arguments that repeat the quantization.
const std::string kSame = " Y_scale=0.5 Y_zero_point=10";

TEST(Int8RefusalsTest, NameQuantizations) {
  const std::string filled = "Int8GivenTensorFill -> x values=abcd shape=4, ";
  const std::string integers = "Int8GivenIntTensorFill -> x values=1,2 shape=2, | ";
  ExpectRejected({
      {"Int8Relu x -> y Y_scale=0.", kUnread, "argument \"Y_scale\" is 0, want above 0 and finite"},
      {"Int8Relu x -> y Y_scale=-0.5", kUnread,
       "argument \"Y_scale\" is -0.5, want above 0 and finite"},
      {"Int8Relu x -> y Y_zero_point=-1", kUnread,
       "argument \"Y_zero_point\" is -1, want 0 to 255"},
      {"Int8Relu x -> y Y_zero_point=256", kUnread,
       "argument \"Y_zero_point\" is 256, want 0 to 255"},
      {"Int8Quantize X -> x Y_scale=0.", kUnread,
       "argument \"Y_scale\" is 0, want a finite number other than 0"},
      {integers + "Int8Relu x -> y", "", "input 0 (X) has elements of type int32, want uint8"},
      {filled + "Y_scale=0. | Int8Softmax x -> y Y_scale=0.00390625", "",
       "input 0 (X) has scale 0, want a finite scale above 0"},
      {filled + "Y_scale=-2.5 | Int8Add x x -> y", "",
       "input 0 (A) has scale -2.5, want a finite scale above 0"},
      {filled + "Y_zero_point=256 | Int8Add x x -> y", "",
       "input 0 (A) has zero point 256, want 0 to 255"},
      {filled + "Y_zero_point=-1 | Int8Add x x -> y", "",
       "input 0 (A) has zero point -1, want 0 to 255"},
      {OfX("Int8Flatten x -> y Y_scale=0.25 Y_zero_point=10"), "X f 1",
       "argument Y_scale is 0.25, want 0.5, the scale of input 0"},
      {OfX("Int8Flatten x -> y Y_scale=0.5 Y_zero_point=11"), "X f 1",
       "argument Y_zero_point is 11, want 10, the zero point of input 0"},
      {"Int8Sigmoid x -> y Y_scale=0.5", kUnread,
       "argument Y_scale is 0.5, want 0.00390625 (1/256): the result is from 0 to 1"},
      {"Int8Softmax x -> y Y_scale=0.00390625 Y_zero_point=1", kUnread,
       "argument Y_zero_point: the result is from 0 to 1: got 1, want 0"},
      {OfX("Int8Add x x -> y Y_scale=0.001953125"), "X f 1",
       "scale 0.5 of input 0 divided by argument Y_scale 0.00195312 is 256, want 6.10352e-05 to "
       "less "
       "than 256"},
      {OfX("Int8AveragePool x -> y kernel=2 order=NHWC Y_scale=0.001953125"), "X f 1,2,2,1",
       "scale 0.5 of input 0 (X) divided by argument Y_scale 0.00195312 is 256, want 0.00390625 to "
       "less than 256"},
  });
}

TEST(Int8RefusalsTest, NameShapesThatOnlyMove) {
  ExpectRejected({
      {OfX("Int8Quantize Z -> z | Int8Add x z -> y"), "X f 2,3; Z f 3",
       "input 1 (B) has shape [3], want [2, 3], the shape of input 0 (A): quantized tensors are "
       "not "
       "broadcast"},
      {OfX("Int8ChannelShuffle x -> y kernel=1 order=NHWC" + kSame), "X f 2,6",
       "rank of input 0 (X) of shape [2, 6], want [N, H, W, C] (got 2, want 4)"},
      {OfX("Int8ChannelShuffle x -> y kernel=1 order=NHWC group=4" + kSame), "X f 1,1,2,6",
       "input 0 (X) has shape [1, 1, 2, 6], want a multiple of argument group 4 as channels"},
      {OfX("Int8ChannelShuffle x -> y kernel=1 order=NHWC group=1" + kSame), "X f 1,1,2,0",
       "input 0 (X) has shape [1, 1, 2, 0], want a multiple of argument group 1 as channels"},
      {"Int8ChannelShuffle x -> y kernel=1", kUnread,
       "argument order is NCHW, want NHWC: quantized images have no other order"},
      {OfX("Int8Concat x -> y axis=2" + kSame), "X f 2,6",
       "argument axis for input 0 of shape [2, 6], want below its rank (got 2, want less than 2)"},
      {OfX("Int8Quantize Z -> z | Int8Concat x z -> y axis=1" + kSame), "X f 2,6; Z f 3,6",
       "dim 0 of input 1 of shape [3, 6], want that of input 0: only dim 1 may differ (got 3, want "
       "2)"},
      {OfX("Int8Quantize Z -> z | Int8Concat x x z -> y axis=1" + kSame), "X f 2,6; Z f 3",
       "rank of input 2, want that of input 0 (got 1, want 2)"},
      {"Int8Concat x -> y axis=-1", kUnread, "argument \"axis\" is -1, want at least 0"},
      {OfX("Int8Flatten x -> y axis=3" + kSame), "X f 2,6",
       "argument axis for input 0 of shape [2, 6], want at most its rank (got 3, want at most 2)"},
      {"Int8Flatten x -> y axis=-1", kUnread, "argument \"axis\" is -1, want at least 0"},
      {"Int8GivenTensorFill -> x values=abc shape=2,2", "",
       "elements of argument values, want those of shape [2, 2] (got 3, want at least 4)"},
      {"Int8GivenIntTensorFill -> x values=1,2,3 shape=4,", "",
       "elements of argument values, want those of shape [4] (got 3, want at least 4)"},
      {"Int8Reshape x -> y o", kUnread,
       "argument shape is missing, and input 1 is not given either"},
      {"Int8Reshape x s -> y o shape=1,", kUnread,
       "argument shape and input 1 are both given: remove one"},
      {OfX("Int8Reshape x s -> y o" + kSame), "X f 2; s l 1,1 = 2",
       "rank of input 1 (new_shape), want a vector (got 2, want 1)"},
      {OfX("Int8Reshape x s -> y o" + kSame), "X f 2; s f 1 = 2",
       "Unsupported type of tensor: input 1 (new_shape) has elements of type float, want int64, "
       "int32"},
      {OfX("Int8Reshape x -> y o shape=-1,-1" + kSame), "X f 2",
       "shape [-1, -1] has more than one -1"},
      {OfX("Int8Reshape x -> y o shape=3,-1" + kSame), "X f 2,2",
       "input 0 has shape [2, 2], 4 elements, which cannot be divided into shape [3, -1]"},
      {OfX("Int8Reshape x -> y o shape=3," + kSame), "X f 2,2",
       "elements of shape [3], want those of input 0 of shape [2, 2] (got 3, want 4)"},
      {OfX("Int8Reshape x -> y o shape=2,-2" + kSame), "X f 2,2",
       "dim 1 of shape [2, -2], want at least -1 (got -2, want at least 0)"},
      {OfX("Int8ResizeNearest x -> y" + kSame), "X f 2,2",
       "rank of input 0 (X) of shape [2, 2], want [N, H, W, C] (got 2, want 4)"},
      {OfX("Int8ResizeNearest x -> y output_size=2,2" + kSame), "X f 1,0,2,1",
       "input 0 (X) has shape [1, 0, 2, 1], want pixels to scale to argument output_size"},
      {OfX("Int8ResizeNearest x -> y output_size=2,2" + kSame), "X f 1,2,0,1",
       "input 0 (X) has shape [1, 2, 0, 1], want pixels to scale to argument output_size"},
      {"Int8ResizeNearest x -> y output_size=2,", kUnread,
       "argument \"output_size\" is [2], want two numbers, not negative"},
      {"Int8ResizeNearest x -> y output_size=2,-1", kUnread,
       "argument \"output_size\" is [2, -1], want two numbers, not negative"},
      {"Int8ResizeNearest x -> y width_scale=0.", kUnread,
       "argument \"width_scale\" is 0, want above 0 and finite"},
      {OfX("Int8ResizeNearest x -> y height_scale=536870912." + kSame), "X f 1,2,1,1",
       "an axis of 2 scaled by 5.36871e+08 has 1.07374e+09 pixels, want at least 0 and below "
       "1.07374e+09"},
      {"Int8Slice x -> y ends=1,", kUnread, "argument starts is missing"},
      {"Int8Slice x -> y starts=1,", kUnread, "argument ends is missing"},
      // All three arguments of one dimension, or none.
      {"Int8Slice x -> y dim=0 end_idx=1", kUnread, "argument starts is missing"},
      {"Int8Slice x -> y dim=0 start_idx=1", kUnread, "argument starts is missing"},
      {"Int8Slice x -> y start_idx=0 end_idx=1 starts=0,", kUnread, "argument ends is missing"},
      {"Int8Slice x -> y dim=-1 start_idx=0 end_idx=1", kUnread,
       "argument \"dim\" is -1, want 0 to 63"},
      {"Int8Slice x -> y dim=64 start_idx=0 end_idx=1", kUnread,
       "argument \"dim\" is 64, want 0 to 63"},
      {OfX("Int8Slice x s e -> y" + kSame), "X f 2; s i 1,1; e i 1",
       "rank of input 1 (starts), want a vector (got 2, want 1)"},
      {OfX("Int8Slice x s e -> y" + kSame), "X f 2; s i 1; e f 1",
       "Unsupported type of tensor: input 2 (ends) has elements of type float, want int32, int64"},
      {OfX("Int8Slice x -> y starts=0,0 ends=1," + kSame), "X f 2,2",
       "elements of starts, want as many as of ends (got 2, want 1)"},
      {OfX("Int8Slice x -> y starts=0,0 ends=1,1" + kSame), "X f 2",
       "elements of starts, want at most the rank of input 0 (got 2, want at most 1)"},
      {OfX("Int8Slice x -> y starts=0,1 ends=-1,0" + kSame), "X f 2,3",
       "dim 1 of input 0 of shape [2, 3] cannot be sliced from 1 to 0"},
      {OfX("Int8Slice x -> y starts=-4, ends=-1," + kSame), "X f 2",
       "dim 0 of input 0 of shape [2] cannot be sliced from -4 to -1"},
      {OfX("Int8Slice x -> y starts=0,1 ends=1,-1" + kSame), "X f 2,3",
       "starts [0, 1] and ends [1, -1] slice 2 dimensions, want one: use several Slice operators"},
      {OfX("Int8Transpose x -> y axes=0,1" + kSame), "X f 2,3,4",
       "elements of argument axes, want the rank of input 0 (got 2, want 3)"},
      {OfX("Int8Transpose x -> y axes=0,2" + kSame), "X f 2,3",
       "argument axes, sorted, want a permutation of 0 to rank - 1: element 1 (got 2, want 1)"},
  });
}

TEST(Int8RefusalsTest, NameShapesOfProductsAndWindows) {
  const std::string w = "Int8Quantize W -> w Y_scale=0.5 | Int8GivenIntTensorFill -> b shape=";
  const std::string one_bias = OfX(w + "1, values=1, | ");
  const std::string conv = one_bias + "Int8Conv x w b -> y order=NHWC kernel=1 Y_scale=0.5";
  ExpectRejected({
      {one_bias + "Int8FC x w b -> y", "X f 2,3; W f 3",
       "rank of input 1 (W) of shape [3], want [outputs, inputs] (got 1, want 2)"},
      {one_bias + "Int8FC x w b -> y", "X f 3; W f 1,3",
       "rank of input 0 (X) of shape [3]: got 1, want at least 2"},
      {one_bias + "Int8FC x w b -> y", "X f 2,2,2; W f 1,3",
       "elements of a row of input 0 (X) of shape [2, 2, 2], want the columns of input 1 (W) of "
       "shape "
       "[1, 3] (got 4, want 3)"},
      {one_bias + "Int8FC x w b -> y", "X f 2,0; W f 1,0",
       "columns of input 1 (W): got 0, want more than 0"},
      {one_bias + "Int8FC x w b -> y", "X f 2,3; W f 2,3",
       "elements of input 2 (bias), want one for each output channel (got 1, want 2)"},
      {OfX(w + "2, values=1,2 | Int8FC x w b -> y"), "X f 2,3; W f 1,3",
       "elements of input 2 (bias), want one for each output channel (got 2, want 1)"},
      {OfX(w + "2, values=1,2 | Int8Conv x w b -> y order=NHWC kernel=1"),
       "X f 1,2,2,3; W f 1,1,1,3",
       "elements of input 2 (bias), want one for each output channel (got 2, want 1)"},
      {conv, "X f 1,2,2,3; W f 1,2,1,3",
       "input 1 (filter) has shape [1, 2, 1, 3], want [1, 1, 1, 3]: the kernel, and the channels "
       "of input 0 (X) divided by argument group"},
      {conv, "X f 1,2,2,3; W f 1,1,2,3",
       "input 1 (filter) has shape [1, 1, 2, 3], want [1, 1, 1, 3]: the kernel, and the channels "
       "of input 0 (X) divided by argument group"},
      {OfX("Int8Quantize W -> w Y_scale=0.5 | Int8FC x w w -> y"), "X f 2,3; W f 2,3",
       "input 2 (bias) has elements of type uint8, want int32"},
      {one_bias + "Int8FC x w b -> y Y_scale=0.25", "X f 2,3; W f 1,3",
       "scale of input 0 (X) times that of input 1 (W) divided by argument Y_scale is 1, want "
       "below 1: "
       "set a larger Y_scale"},
      {conv, "X f 1,2,3; W f 1,1,1,3",
       "rank of input 0 (X) of shape [1, 2, 3], want [N, H, W, C] (got 3, want 4)"},
      {conv, "X f 1,2,2,3; W f 1,1,3",
       "rank of input 1 (filter) of shape [1, 1, 3], want [outputs, height, width, channels] (got "
       "3, "
       "want 4)"},
      {conv, "X f 1,2,2,3; W f 1,1,1,4",
       "input 1 (filter) has shape [1, 1, 1, 4], want [1, 1, 1, 3]: the kernel, and the channels "
       "of "
       "input 0 (X) divided by argument group"},
      {conv + " group=2", "X f 1,2,2,3; W f 2,1,1,1",
       "channels of input 0 (X) of shape [1, 2, 2, 3] modulo argument group 2: got 1, want 0"},
      {conv + " group=2", "X f 1,2,2,4; W f 3,1,1,2",
       "outputs of input 1 (filter) of shape [3, 1, 1, 2] modulo argument group 2: got 1, want 0"},
      {conv + " dilation=0", "X f 1,2,2,3; W f 1,1,1,3",
       "dilation of a quantized operator: got 0, want more than 0"},
      {one_bias + "Int8Conv x w b -> y order=NHWC kernel=1 Y_scale=0.125",
       "X f 1,2,2,3; W f 1,1,1,3",
       "scale of input 0 (X) times that of input 1 (filter) divided by argument Y_scale is 2, want "
       "below 1: set a larger Y_scale"},
      {"Int8ConvTranspose x w b -> y order=NHWC kernel=1 group=2", kUnread,
       "argument group of Int8ConvTranspose: got 2, want 1"},
      {one_bias + "Int8ConvTranspose x w b -> y order=NHWC kernel=1", "X f 1,2,2,3; W f 3,1,1",
       "rank of input 1 (filter) of shape [3, 1, 1], want [channels, height, width, outputs] (got "
       "3, "
       "want 4)"},
      {one_bias + "Int8ConvTranspose x w b -> y order=NHWC kernel=1", "X f 1,2,2,3; W f 2,1,1,1",
       "input 1 (filter) has shape [2, 1, 1, 1], want [3, 1, 1, 1]: the channels of input 0 (X), "
       "and "
       "the kernel"},
      {one_bias + "Int8ConvTranspose x w b -> y order=NHWC kernel=1 Y_scale=0.25",
       "X f 1,2,2,3; W f 3,1,1,1",
       "scale of input 0 (X) times that of input 1 (filter) divided by argument Y_scale is 1, want "
       "below 1: set a larger Y_scale"},
      {OfX("Int8MaxPool x -> y order=NHWC kernel=1" + kSame), "X f 1,2,2,3",
       "the windows have one pixel, want at least two: such a pool has no effect"},
      {OfX("Int8AveragePool x -> y order=NHWC kernel=1" + kSame), "X f 1,2,2,3",
       "the windows have one pixel, want at least two: such a pool has no effect"},
      {OfX("Int8MaxPool x -> y order=NHWC global_pooling=1" + kSame), "X f 1,1,1,3",
       "the windows have one pixel, want at least two: such a pool has no effect"},
      {OfX("Int8Softmax x -> y Y_scale=0.00390625"), "X f 2,0",
       "elements of a row of input 0 (X) of shape [2, 0]: got 0, want more than 0"},
      {OfX("Int8Softmax x -> y Y_scale=0.00390625"), "X f -",
       "rank of input 0 (X): got 0, want at least 1"},
  });
}

TEST(Int8RefusalsTest, NameRegions) {
  const std::string align = OfX("Int8RoIAlign x R -> y");
  ExpectRejected({
      {align + kSame, "X f 2,2,2; R f 1,4",
       "rank of input 0 (X) of shape [2, 2, 2], want [N, H, W, C] "
       "(got 3, want 4)"},
      {align + kSame, "X f 1,2,2,1; R f 1,3",
       "input 1 (RoIs) has shape [1, 3], want [R, 5] (image, x1, y1, x2, y2) or [R, 4]"},
      {align + kSame, "X f 1,2,2,1; R f 5",
       "input 1 (RoIs) has shape [5], want [R, 5] (image, x1, y1, x2, y2) or [R, 4]"},
      {align + kSame, "X f 2,2,2,1; R f 2,5 = 1,0,0,1,1,2,0,0,1,1",
       "image of row 1 of input 1 (RoIs) is 2, want 0 to 1"},
      {align + kSame, "X f 2,2,2,1; R f 1,5 = -1,0,0,1,1",
       "image of row 0 of input 1 (RoIs) is -1, want 0 to 1"},
      {align + kSame, "X f 1,0,2,1; R f 1,4 = 0,0,1,1",
       "elements of input 0 (X) of shape [1, 0, 2, 1]: got 0, want more than 0"},
      {align + " sampling_ratio=182" + kSame, "X f 1,2,2,1; R f 1,4 = 0,0.5,1,2",
       "row 0 of input 1 (RoIs), 0, 0.5, 1, 2, has 182 x 182 samples in a bin, want at most 32768"},
      {align + kSame, "X f 1,2,2,1; R f 1,4 = 0,0,128,257",
       "row 0 of input 1 (RoIs), 0, 0, 128, 257, has 257 x 128 samples in a bin, want at most "
       "32768"},
      {align + " Y_scale=0.001953125 sampling_ratio=1", "X f 1,2,2,1; R f 1,4 = 0,0,1,1",
       "scale 0.5 of input 0 (X) divided by 255 and argument Y_scale 0.00195312 is 1.00392, want "
       "above "
       "0 and below 1"},
      {"Int8RoIAlign x R -> y order=NCHW", kUnread, "argument \"order\" is \"NCHW\", want NHWC"},
      {"Int8RoIAlign x R -> y pooled_h=0", kUnread, "argument \"pooled_h\" is 0, want above 0"},
      {"Int8RoIAlign x R -> y pooled_w=-1", kUnread, "argument \"pooled_w\" is -1, want above 0"},
  });
}

// An element stands for 0.5 * (stored - 10).
TEST(Int8CallsTest, KeepsValuesThatScalesHoldExactly) {
  const std::string back = " | Int8Dequantize y -> Y";
  ExpectResults({
      {OfX("Int8Dequantize x -> Y"), "X f 5 = -6,-5,0.24,0.26,200", "Y f 5 = -5,-5,0,0.5,122.5"},
      // Halves are rounded to even.
      {"Int8Quantize X -> x | Int8Dequantize x -> Y", "X f 4 = 0.5,1.5,2.5,-0.5",
       "Y f 4 = 0,2,2,0"},
      {"Int8Quantize X -> x Y_zero_point=300 | Int8Dequantize x -> Y", "X f 2 = -50,-299",
       "Y f 2 = -50,-299"},
      // Ratios of scales at the bounds: 1/16384 and just below 256.
      {OfX("Int8Add x x -> y Y_scale=0.00390625" + back), "X f 2 = 0.25,0.5",
       "Y f 2 = 0,0.99609375"},
      {OfX("Int8Add x x -> y Y_scale=8192." + back), "X f 1 = 100", "Y f 1 = 0"},
      {OfX("Int8AddRelu x x -> y Y_scale=1. Y_zero_point=3" + back), "X f 3 = -1,0.5,2",
       "Y f 3 = 0,1,4"},
      {OfX("Int8Sum x x -> y Y_scale=1. Y_zero_point=3" + back), "X f 3 = -1,0.5,2",
       "Y f 3 = -2,1,4"},
      {OfX("Int8SumRelu x x -> y Y_scale=1. Y_zero_point=3" + back), "X f 3 = -1,0.5,2",
       "Y f 3 = 0,1,4"},
      // Halves are rounded away from zero: 0.5 to 1, -0.5 to -1.
      {OfX("Int8Quantize Z -> z Y_scale=0.5 Y_zero_point=10 | Int8Add x z -> y Y_scale=1. "
           "Y_zero_point=3" +
           back),
       "X f 2 = 0.5,-0.5; Z f 2 = 0", "Y f 2 = 1,-1"},
      {OfX("Int8AveragePool x -> y order=NHWC kernel_h=1 kernel_w=2 Y_scale=1. Y_zero_point=3" +
           back),
       "X f 1,1,4,1 = 1,2,-1,-2", "Y f 1,1,3,1 = 2,1,-2"},
      {OfX("Int8AveragePoolRelu x -> y order=NHWC kernel_h=1 kernel_w=2 Y_scale=1. Y_zero_point=3" +
           back),
       "X f 1,1,4,1 = 1,2,-1,-2", "Y f 1,1,3,1 = 2,1,0"},
      {OfX("Int8AveragePool x -> y order=NHWC global_pooling=1" + kSame + back),
       "X f 1,1,1,2 = 1,-2", "Y f 1,1,1,2 = 1,-2"},
      // Windows that lie in the padding take the nearest pixel, or are 0.
      {OfX("Int8MaxPool x -> y order=NHWC kernel=2 pads=0,2,0,2" + kSame + back),
       "X f 1,2,1,1 = 1,-2", "Y f 1,1,4,1 = 1"},
      {OfX("Int8AveragePool x -> y order=NHWC kernel_h=1 kernel_w=2 pads=0,2,0,0" + kSame + back),
       "X f 1,1,1,1 = 4", "Y f 1,1,2,1 = 0,2"},
      {OfX("Int8MaxPoolRelu x -> y order=NHWC kernel=2" + kSame + back),
       "X f 1,2,2,1 = -1,-2,-3,-4", "Y f 1,1,1,1 = 0"},
      {OfX("Int8RoIAlign x R -> y sampling_ratio=181" + kSame + back),
       "X f 1,2,2,1 = 3; R f 1,4 = "
       "0,0,1,1",
       "Y f 1,1,1,1 = 3"},
      // 256 * 128 samples are the most. Four of them are on the image; the others count as stored zeros.
      {OfX("Int8RoIAlign x R -> y" + kSame + back), "X f 1,2,2,1 = 3; R f 1,4 = 0,0,128,256",
       "Y f 1,1,1,1 = -5"},
      {OfX("Int8RoIAlign x R -> y" + kSame + back), "X f 1,2,2,1 = 3; R f 0,5", "Y f 0,1,1,1"},
      {OfX("Int8RoIAlign x R -> y" + kSame + back),
       "X f 2,1,1,1 = 3,7; R f 2,5 = 1,0,0,1,1,-0.5,0,0,1,1", "Y f 2,1,1,1 = 7,3"},
      {OfX("Int8Slice x -> y starts=1, ends=-1," + kSame + back), "X f 3 = 1,2,3", "Y f 2 = 2,3"},
      {OfX("Int8Slice x -> y dim=1 end_idx=1 starts=0,1 ends=-1,-1" + kSame + back),
       "X f 2,3 = 1,2,3,4,5,6", "Y f 2,2 = 2,3,5,6"},
      {OfX("Int8Slice x -> y dim=1 start_idx=1 end_idx=2 starts=1, ends=2," + kSame + back),
       "X f 2,3 = 1,2,3,4,5,6", "Y f 2,1 = 2,5"},
      {OfX("Int8Slice x -> y dim=63 start_idx=0 end_idx=-1" + kSame + " | Int8Dequantize x -> Y"),
       "X f "
       "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
       "1,"
       "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 = 5",
       "Y f "
       "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
       "1,"
       "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 = 5"},
      {OfX("Int8ResizeNearest x -> y output_size=3,5" + kSame + back), "X f 1,2,2,1 = 1,2,3,4",
       "Y f 1,2,4,1 = 1,1,2,2,3,3,4,4"},
      {OfX("Int8Concat x x -> y axis=1" + kSame + back), "X f 2,2 = 1,2,3,4",
       "Y f 2,4 = 1,2,1,2,3,4,3,4"},
      // Inputs without elements add nothing, wherever they are.
      {OfX("Int8Quantize Z -> z Y_scale=0.5 Y_zero_point=10 | Int8Concat x z x -> y axis=0" +
           kSame + back),
       "X f 1,2 = 1,2; Z f 0,2", "Y f 2,2 = 1,2,1,2"},
      {OfX("Int8Quantize Z -> z Y_scale=0.5 Y_zero_point=10 | Int8Concat z z x z x -> y axis=1 "
           "Y_scale=0.5 Y_zero_point=10" +
           back),
       "X f 2,1 = 1,2; Z f 2,0", "Y f 2,2 = 1,1,2,2"},
      {OfX("Int8Concat x x -> y axis=1" + kSame + back), "X f 0,2", "Y f 0,4"},
      {"Int8GivenTensorFill -> y values=abc shape=2, Y_zero_point=97 | Int8Dequantize y -> Y", "",
       "Y f 2 = 0,1"},
      {"Int8GivenTensorFill -> y values=a Y_zero_point=90 | Int8Dequantize y -> Y", "",
       "Y f - = 7"},
  });
}

TEST(Int8CallsTest, InfersShapesAndTypes) {
  ExpectInferred({
      {"Int8Quantize X -> x", "X f 2,3", "uint8 [2, 3]"},
      {"Int8Quantize X -> x", "X f ?", "? ?"},
      {"Int8GivenTensorFill -> x values=ab shape=2,1", "", "uint8 [2, 1]"},
      {"Int8GivenIntTensorFill -> x values=1,2 shape=2,1", "", "int32 [2, 1]"},
      {"Int8Flatten x -> y axis=2", "x u 2,3,4", "uint8 [6, 4]"},
      {"Int8Reshape x -> y o shape=0,-1", "x u 2,3,4", "uint8 [2, 12]; int64 [3]"},
      {"Int8Reshape x s -> y o", "x u 2,3,4; s i 2", "? ?; int32 [3]"},
      {"Int8Reshape x s -> y o", "x u 2,3,4; s l 2", "? ?; int64 [3]"},
      {"Int8Slice x -> y dim=1 start_idx=1 end_idx=-1", "x u 2,3,4", "uint8 [2, 2, 4]"},
      {"Int8Slice x s e -> y", "x u 2,3,4; s i 1; e i 1", "? ?"},
      {"Int8Transpose x -> y", "x u 2,3,4", "uint8 [4, 3, 2]"},
      {"Int8Concat x x -> y i axis=2", "x u 2,3,4", "uint8 [2, 3, 8]; ? ?"},
      {"Int8Concat x z -> y", "x u 2,3; z u ?", "? ?"},
      {"Int8FC x w b -> y", "x u 2,3,4; w u 5,12", "uint8 [2, 5]"},
      {"Int8Conv x w b -> y order=NHWC kernel=2 pad=1", "x u 1,4,5,6; w u 7,2,2,6",
       "uint8 [1, 5, 6, 7]"},
      {"Int8ConvTranspose x w b -> y order=NHWC kernel=2 stride=2", "x u 1,4,5,6; w u 6,2,2,7",
       "uint8 [1, 8, 10, 7]"},
      {"Int8MaxPool x -> y order=NHWC kernel=2 stride=2", "x u 1,4,6,3", "uint8 [1, 2, 3, 3]"},
      {"Int8RoIAlign x R -> y pooled_h=2 pooled_w=3", "x u 1,4,6,5; R f 7,4", "uint8 [7, 2, 3, 5]"},
      {"Int8RoIAlign x R -> y pooled_h=2 pooled_w=3", "x u 1,4,6,5; R f 7,0", "uint8 [0, 2, 3, 5]"},
      {"Int8ResizeNearest x -> y width_scale=2. height_scale=0.5", "x u 1,4,6,5",
       "uint8 [1, 2, 12, 5]"},
      {"Int8Add x z -> y", "x u 2,3; z u 2,3", "uint8 [2, 3]"},
      {"Int8Softmax x -> y", "x u 2,3", "uint8 [2, 3]"},
  });
  ExpectShapesRejected({
      {"Int8Concat x x -> y axis=2", "x u 2,6",
       "argument axis for input 0 of shape [2, 6], want below its rank (got 2, want less than 2)"},
      {"Int8Flatten x -> y axis=3", "x u 2,6",
       "argument axis for input 0 of shape [2, 6], want at most its rank (got 3, want at most 2)"},
      {"Int8Transpose x -> y axes=1,1", "x u 2,6",
       "argument axes, sorted, want a permutation of 0 to rank - 1: element 0 (got 1, want 0)"},
  });
}

// The old shape has the type of the new one, if that is an input and known.
TEST(Int8CallsTest, InfersTheTypeOfTheOldShape) {
  ExpectInferred({
      {"Int8Reshape x s -> y o", "x u 2,3; s i 2", "? ?; int32 [2]"},
      {"Int8Reshape x s -> y o", "x u 2,3; s l 2", "? ?; int64 [2]"},
      {"Int8Reshape x -> y o shape=-1,", "x u 2,3", "uint8 [6]; int64 [2]"},
  });
  const OperatorDef def = OperatorsOf({"Int8Reshape x s -> y o", ""})[0];
  const std::vector<TensorShape> shapes =
      OpSchemaRegistry::Schema("Int8Reshape")
          ->InferTensor(def,
                        {CreateTensorShape(std::vector<int64_t>{2, 3, 4}, TensorProto::UINT8)});
  ASSERT_EQ(shapes.size(), 2u);
  EXPECT_TRUE(shapes[0].unknown_shape());
  EXPECT_EQ(GetDimsVector(shapes[1]), std::vector<int64_t>{3});
  EXPECT_EQ(shapes[1].data_type(), TensorProto::INT64);
}

TEST(RequantizationTest, AcceptsFactorsBelowOne) {
  // The multiplier has 31 bits; 0.5 is half of 2^31 shifted by nothing.
  const Requantization half = MakeRequantization(0.5f, 7, 3, "factor");
  EXPECT_EQ(half.multiplier, 1 << 30);
  EXPECT_EQ(half.shift, 0);
  EXPECT_EQ(half.zero_point, 7);
  EXPECT_EQ(half.low, 3);
  EXPECT_EQ(MakeRequantization(0.75f, 0, 0, "factor").multiplier, 3 << 29);
  EXPECT_EQ(MakeRequantization(0.125f, 0, 0, "factor").shift, 2);
  // 2^-32 has shift 31, the largest; with a smaller factor every sum becomes the zero point.
  EXPECT_EQ(MakeRequantization(0x1p-32f, 0, 0, "factor").shift, 31);
  const int32_t sums[] = {2147483647, -2147483647 - 1};
  uint8_t y[2];
  for (const float factor : {0x1p-33f, 0.f}) {
    Requantize(sums, 2, MakeRequantization(factor, 9, 0, "factor"), y);
    EXPECT_EQ(y[0], 9);
    EXPECT_EQ(y[1], 9);
  }
  ExpectRefusals({
      {[] { (void)MakeRequantization(1, 0, 0, "factor"); },
       "factor is 1, want below 1: set a larger Y_scale"},
      {[] { (void)MakeRequantization(-0.5f, 0, 0, "factor"); },
       "factor is -0.5, want below 1: set a larger Y_scale"},
      {[] { (void)MakeRequantization(NAN, 0, 0, "factor"); },
       "factor is nan, want below 1: set a larger Y_scale"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::int8_calls_test
