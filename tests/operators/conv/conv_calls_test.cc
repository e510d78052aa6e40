// Whole messages of convolutions, windows next to the bounds, and inferred shapes.
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "operators/conv/conv_tuning.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::conv_calls_test {
namespace {

TEST(ConvRefusalsTest, OfArgumentsNameTheAxis) {
  const auto rejected = [](const std::string& arguments, const std::string& message) {
    for (const char* const type : {"Conv", "Conv2D", "ConvFusion"})
      ExpectRejected({{type + (" X w -> Y " + arguments), "X f 1,2,4,5; w f 2,2,3,3", message}});
    ExpectShapesRejected({{"Conv X w -> Y " + arguments, "X f 1,2,4,5; w f 2,2,3,3", message}});
  };
  rejected("",
           "kernel of axis 0, want at least 1 (set kernel or kernels) (got 0, want more than 0)");
  rejected("kernel=3 strides=1,0", "stride of axis 1, want at least 1 (got 0, want at least 1)");
  rejected("kernel=3 dilation=-1", "dilation of axis 0, want at least 0 (got -1, want at least 0)");
  rejected("kernel=3 dilations=1,2 legacy_pad=2",
           "dilation of axis 1 with legacy_pad SAME, want 1 (got 2, want 1)");
  rejected("kernel=3 group=0", "argument \"group\" is 0, want above 0");
  rejected("kernel=3 global_pooling=1",
           "kernel of axis 0 with global_pooling, want the input's size (got 3, want 4)");
  rejected("kernels=3,",
           "spatial axes of input 0 (X) of shape [1, 2, 4, 5], want one for each of "
           "kernels (got 2, want 1)");
  rejected("kernels=3,3,3",
           "spatial axes of input 0 (X) of shape [1, 2, 4, 5], want one for each of "
           "kernels (got 2, want 3)");
  rejected(
      "kernel=3 dilations=1,3",
      "axis of 5 with pads 0 and 0, want at least its dilated kernel (got 5, want at least 7)");
  rejected(
      "kernel=3 pads=-1,0,-1,0",
      "axis of 4 with pads -1 and -1, want at least its dilated kernel (got 2, want at least 3)");
}

TEST(ConvRefusalsTest, OfShapesNameTheFilter) {
  const std::string conv = "Conv X w -> Y kernel=3";
  ExpectRejected({
      {conv, "X f 1,2,4,5; w f 2,2,3",
       "rank of input 1 (filter) of shape [2, 2, 3], want that of input 0 (X) (got 3, want 4)"},
      {conv + " group=2", "X f 1,3,4,5; w f 2,1,3,3",
       "input 0 (X) has 3 channels, want a multiple of group 2 (got 1, want 0)"},
      {conv, "X f 1,2,4,5; w f 2,1,3,3",
       "channels of input 1 (filter) of shape [2, 1, 3, 3], want those of input 0 (X) of shape [1, "
       "2, 4, "
       "5] divided by group 1 (got 1, want 2)"},
      {conv + " order=NHWC", "X f 1,4,5,2; w f 2,3,3,1",
       "channels of input 1 (filter) of shape [2, 3, 3, 1], want those of input 0 (X) of shape [1, "
       "4, 5, "
       "2] divided by group 1 (got 1, want 2)"},
      {conv + " group=2", "X f 1,4,4,5; w f 3,2,3,3",
       "input 1 (filter) has 3 output channels, want a multiple of group 2 (got 1, want 0)"},
      {conv, "X f 1,2,4,5; w f 2,2,3,2",
       "axis 1 of input 1 (filter) of shape [2, 2, 3, 2], want the kernel argument (got 2, want "
       "3)"},
      {conv + " order=NHWC", "X f 1,4,5,2; w f 2,2,3,2",
       "axis 0 of input 1 (filter) of shape [2, 2, 3, 2], want the kernel argument (got 2, want "
       "3)"},
      {"Conv X w b -> Y kernel=3", "X f 1,2,4,5; w f 2,2,3,3; b f 3",
       "input 2 (bias) has shape [3], want [2]: one entry for each output channel"},
      {"Conv X w b -> Y kernel=3", "X f 1,2,4,5; w f 2,2,3,3; b f 2,1",
       "input 2 (bias) has shape [2, 1], want [2]: one entry for each output channel"},
      {"Conv X w b -> Y kernel=3", "X f 1,2,4,5; w f 2,2,3,3; b d 2",
       "the tensor holds elements of type double, want float"},
      {conv, "X d 1,2,4,5; w f 2,2,3,3", "the tensor holds elements of type double, want float"},
      {conv, "X f 1,2,4,5; w d 2,2,3,3", "the tensor holds elements of type double, want float"},
      {"ConvFusion X w -> Y kernel=3 sum=1", "X f 1,2,4,5; w f 2,2,3,3",
       "argument sum is 1: number of inputs - 1, want the added tensor (got 1, want at least 2)"},
      {"ConvFusion X w b S -> Y kernel=3", "X f 1,2,4,5; w f 2,2,3,3; b f 2; S f 1,2,2,3",
       "inputs without the added tensor, want X, filter and bias (got 3, want at most 2)"},
      {"ConvFusion X w b -> b kernel=3", "X f 1,2,4,5; w f 2,2,3,3; b f 2",
       "output 0 (Y) is in place with input 2, want the added tensor, which is the last input if "
       "sum is "
       "1"},
      {"ConvFusion X w S -> Y kernel=3 sum=1", "X f 1,2,4,5; w f 2,2,3,3; S f 1,2,3,2",
       "input 2 (S) has shape [1, 2, 3, 2], want that of the convolution, [1, 2, 2, 3]"},
      {"ConvFusion X w b S -> Y kernel=3 sum=1", "X f 1,2,4,5; w f 2,2,3,3; b f 2; S f 12",
       "input 3 (S) has shape [12], want that of the convolution, [1, 2, 2, 3]"},
  });
  ExpectShapesRejected({
      {conv, "X f 1,2,4,5; w f 2,2,3",
       "rank of input 1 (filter), want that of input 0 (X) (got 3, want 4)"},
      {conv + " group=2", "X f 1,2,4,5; w f 2,2,3,3",
       "input 1 (filter) of shape [2, 2, 3, 3] is for another number of channels than input 0 (X) "
       "has, "
       "with group 2: got 4, want 2"},
      {conv, "X f 1,2,4,5; w f 2,2,2,3",
       "axis 0 of input 1 (filter) of shape [2, 2, 2, 3], want the kernel argument (got 2, want "
       "3)"},
      {conv + " order=NHWC", "X f 1,4,5,2; w f 2,3,2,2",
       "axis 1 of input 1 (filter) of shape [2, 3, 2, 2], want the kernel argument (got 2, want "
       "3)"},
      {"ConvTranspose X w -> Y kernel=3", "X f 1,2,4,5; w f 3,2,3,3",
       "input 1 (filter) of shape [3, 2, 3, 3] is for another number of channels than input 0 (X) "
       "has, "
       "with group 1: got 3, want 2"},
  });
}

TEST(ConvRefusalsTest, OfTransposedOnesNameAdjustments) {
  const std::string op = "ConvTranspose X w -> Y kernel=2 stride=2";
  const char* const inputs = "X f 1,2,2,2; w f 2,1,2,2";
  ExpectRejected({
      {op + " adj=3", inputs, "adj of axis 0 is 3, want 0 to its stride 2"},
      {op + " adjs=0,-1", inputs, "adj of axis 1 is -1, want 0 to its stride 2"},
      {op + " adjs=1,", inputs, "argument adjs, want as many as kernels (got 1, want 2)"},
      {op + " pads=0,0,-1,0", inputs, "axis 0 has pads 0, -1, want at least 0"},
      {op + " pads=0,-2,0,0", inputs, "axis 1 has pads -2, 0, want at least 0"},
      {op + " pads=0,3,0,2", inputs,
       "output size of an axis of 2 with pads 3 and 2, want at least 0 (got -1, want at least 0)"},
      {op + " dilation=2", inputs,
       "the dilation of a transposed convolution is 2, want 1: another is not supported; a filter "
       "with "
       "zeros between its taps has the same effect"},
      {op + " dilations=1,0", inputs,
       "the dilation of a transposed convolution is 0, want 1: another is not supported; a filter "
       "with "
       "zeros between its taps has the same effect"},
      {op + " legacy_pad=3", inputs,
       "argument \"legacy_pad\" is 3, want 0 (NOTSET), 1 (VALID) or 2 (SAME)"},
      {op, "X f 1,2,2; w f 2,1,2,2",
       "input 0 (X) has shape [1, 2, 2] and 2 kernels are given, want rank 4 and 2 kernels"},
      {op, "X f 1,2,2,2; w f 2,1,2", "rank of input 1 (filter) of shape [2, 1, 2]: got 3, want 4"},
      {op, "X f 1,2,2,2; w f 3,1,2,2",
       "dim 0 of input 1 (filter) of shape [3, 1, 2, 2], want the channels of input 0 (X) of shape "
       "[1, 2, "
       "2, 2] (got 3, want 2)"},
      {op + " group=2", "X f 1,3,2,2; w f 3,1,2,2",
       "input 0 (X) has 3 channels, want a multiple of group 2 (got 1, want 0)"},
      {op, "X f 1,2,2,2; w f 2,1,3,2",
       "axis 0 of input 1 (filter) of shape [2, 1, 3, 2], want the kernel argument (got 3, want "
       "2)"},
      {op + " group=2", "X f 1,2,2,2; w f 2,1,2,3",
       "axis 1 of input 1 (filter) of shape [2, 1, 2, 3], want the kernel argument (got 3, want "
       "2)"},
      {"ConvTranspose X w b -> Y kernel=2 group=2", "X f 1,2,2,2; w f 2,3,2,2; b f 3",
       "input 2 (bias) has shape [3], want [6]: one entry for each output channel"},
  });
}

TEST(ConvRefusalsTest, OfGradientsNameOutputs) {
  const char* const inputs = "X f 1,2,2,2; w f 1,2,2,2; G f 1,1,1,1";
  ExpectRejected({
      {"ConvGradient X w -> D E F kernel=2", inputs,
       "number of inputs, want X, filter and dY (got 2, want 3)"},
      {"ConvGradient X w G -> D kernel=2", inputs,
       "number of outputs is 1, want 2 or 3 without no_bias: dfilter, dbias and dX"},
      {"ConvGradient X w G -> D E F kernel=2 no_bias=1", inputs,
       "number of outputs is 3, want 1 or 2 with no_bias: dfilter and dX"},
      {"ConvGradient X w G -> D E F kernel=2", "X f 1,2,2,2; w f 1,2,2,2; G f 1,1,1,2",
       "input 2 (dY) has shape [1, 1, 1, 2], want [1, 1, 1, 1]: the shape of the output of the "
       "forward "
       "operator"},
      {"ConvTransposeGradient X w G -> D E F kernel=2", "X f 1,2,1,1; w f 2,1,2,2; G f 4",
       "input 2 (dY) has shape [4], want [1, 1, 2, 2]: the shape of the output of the forward "
       "operator"},
  });
}

TEST(ConvCallsTest, KeepsWindowsNextToTheBounds) {
  ExpectResults({
      {"Conv X w -> Y kernels=2,", "X f 1,1,3 = 1,2,3; w f 1,1,2 = 1,10", "Y f 1,1,2 = 21,32"},
      {"Conv X w -> Y kernels=2, order=NHWC", "X f 1,3,1 = 1,2,3; w f 1,2,1 = 1,10",
       "Y f 1,2,1 = 21,32"},
      {"Conv X w -> Y kernels=2, dilations=2,", "X f 1,1,3 = 1,2,3; w f 1,1,2 = 1,10",
       "Y f 1,1,1 = 31"},
      // All taps read the same element.
      {"Conv X w -> Y kernels=2, dilations=0,", "X f 1,1,2 = 1,2; w f 1,1,2 = 1,10",
       "Y f 1,1,2 = 11,22"},
      {"Conv X w -> Y kernels=2, strides=2, pads=1,0", "X f 1,1,3 = 1,2,3; w f 1,1,2 = 1,10",
       "Y f 1,1,2 = 10,32"},
      {"Conv X w -> Y kernels=2, pads=-1,1", "X f 1,1,3 = 1,2,3; w f 1,1,2 = 1,10",
       "Y f 1,1,2 = 32,3"},
      // Windows of one element, moved: the sizes of X and Y are the same.
      {"Conv X w -> Y kernels=1, pads=1,-1", "X f 1,1,3 = 1,2,3; w f 1,1,1 = 10",
       "Y f 1,1,3 = 0,10,20"},
      {"Conv X w -> Y kernel=1 pads=1,-1,-1,1", "X f 1,1,2,3 = 1,2,3,4,5,6; w f 1,1,1,1 = 10",
       "Y f 1,1,2,3 = 0,0,0,20,30,0"},
      {"ConvGradient X w G -> D E kernel=1 pads=1,-1,-1,1 no_bias=1",
       "X f 1,1,2,3 = 1,2,3,4,5,6; w f 1,1,1,1 = 10; G f 1,1,2,3 = 1,2,3,4,5,6",
       "D f 1,1,1,1 = 23; E f 1,1,2,3 = 0,40,50,0,0,0"},
      // SAME: an odd element of padding is at the end.
      {"Conv X w -> Y kernels=2, legacy_pad=2", "X f 1,1,3 = 1,2,3; w f 1,1,2 = 1,10",
       "Y f 1,1,3 = 21,32,3"},
      {"Conv X w -> Y kernels=2, legacy_pad=1 strides=2,", "X f 1,1,3 = 1,2,3; w f 1,1,2 = 1,10",
       "Y f 1,1,1 = 21"},
      {"Conv X w b -> Y kernel_h=1 kernel_w=3 global_pooling=1",
       "X f 1,1,1,3 = 1,2,3; w f 1,1,1,3 = 1,10,100; b f 1 = 0.5", "Y f 1,1,1,1 = 321.5"},
      {"Conv X w b -> Y kernel=1 group=2",
       "X f 1,4,1,1 = 1,2,3,4; w f 2,2,1,1 = 1,10,100,1000; b f 2 = "
       "0.5,0.25",
       "Y f 1,2,1,1 = 21.5,4300.25"},
      {"Conv X w -> Y kernel=1 group=2 order=NHWC", "X f 1,1,1,2 = 3,5; w f 4,1,1,1 = 1,2,3,4",
       "Y f 1,1,1,4 = 3,6,15,20"},
      {"Conv X w -> Y kernels=1,1,2 pads=0,0,1,0,0,0", "X f 1,1,1,1,2 = 1,2; w f 1,1,1,1,2 = 1,10",
       "Y f 1,1,1,1,2 = 10,21"},
      {"Conv X w -> Y kernel=1", "X f 0,2,3,3; w f 4,2,1,1", "Y f 0,4,3,3"},
      {"Conv X w b -> Y kernel=1", "X f 1,2,3,3; w f 0,2,1,1; b f 0", "Y f 1,0,3,3"},
      {"ConvFusion X w b S -> Y kernel=1 sum=1 activation=Relu",
       "X f 1,1,1,2 = 1,2; w f 1,1,1,1 = 3; b f 1 = 1; S f 1,1,1,2 = -5,2", "Y f 1,1,1,2 = 0,9"},
      {"ConvFusion X w S -> S kernel=1 sum=1 activation=LeakyRelu activation_alpha=0.5",
       "X f 1,1,1,2 = 1,2; w f 1,1,1,1 = 3; S f 1,1,1,2 = -5,2", "S f 1,1,1,2 = -1,8"},
      // Each element times the filter, at its stride; adj adds an empty column.
      {"ConvTranspose X w b -> Y kernel_h=1 kernel_w=2 stride_h=1 stride_w=2 adjs=0,2",
       "X f 1,1,1,2 = 1,2; w f 1,1,1,2 = 3,4; b f 1 = 0.5",
       "Y f 1,1,1,6 = 3.5,4.5,6.5,8.5,0.5,0.5"},
      {"ConvTranspose X w -> Y kernel_h=1 kernel_w=2 pads=0,1,0,1",
       "X f 1,1,1,2 = 1,2; w f 1,1,1,2 = 3,4", "Y f 1,1,1,1 = 10"},
      {"ConvTranspose X w -> Y kernel_h=1 kernel_w=2 pads=0,2,0,1", "X f 1,1,1,2; w f 1,1,1,2",
       "Y f 1,1,1,0"},
      {"ConvTranspose X w -> Y kernel=1 group=2", "X f 1,2,1,1 = 3,5; w f 2,2,1,1 = 1,2,3,4",
       "Y f 1,4,1,1 = 3,6,15,20"},
      {"ConvTranspose X w -> Y kernel_h=1 kernel_w=3 stride_h=1 stride_w=3 order=NHWC",
       "X f 1,1,2,1 = 1,2; w f 1,1,3,1 = 3,4,5", "Y f 1,1,6,1 = 3,4,5,6,8,10"},
      {"ConvTranspose X w -> Y kernel_h=1 kernel_w=2 stride_h=1 stride_w=3",
       "X f 1,1,1,2 = 1,2; w f 1,1,1,2 = 3,4", "Y f 1,1,1,5 = 3,4,0,6,8"},
      {"ConvGradient X w G -> D E F kernels=2,",
       "X f 1,1,3 = 1,2,3; w f 1,1,2 = 1,10; G f 1,1,2 = 5,7",
       "D f 1,1,2 = 19,31; E f 1 = 12; F f 1,1,3 = 5,57,70"},
      {"ConvGradient X w G -> D F kernels=2, no_bias=1",
       "X f 1,1,3 = 1,2,3; w f 1,1,2 = 1,10; G f 1,1,2 = 5,7",
       "D f 1,1,2 = 19,31; F f 1,1,3 = 5,57,70"},
      {"ConvGradient X w G -> D E F kernels=2,", "X f 0,1,3; w f 1,1,2; G f 0,1,2",
       "D f 1,1,2 = 0; E f 1 = 0; F f 0,1,3"},
      {"ConvTransposeGradient X w G -> D E F kernel_h=1 kernel_w=2",
       "X f 1,1,1,2 = 1,2; w f 1,1,1,2 = 3,4; G f 1,1,1,3 = 5,6,7",
       "D f 1,1,1,2 = 17,20; E f 1 = 18; F f 1,1,1,2 = 39,46"},
  });
}

TEST(ConvCallsTest, InfersShapesAndTypes) {
  ExpectInferred({
      {"Conv X w -> Y kernel=3 stride=2 order=NHWC", "X f 2,7,9,4; w f 5,3,3,4",
       "float [2, 3, 4, 5]"},
      {"Conv X w -> Y kernel=3", "X f 2,4,7,9; w f ?", "? ?"},
      {"Conv3D X w -> Y kernels=1,2,3 group=2", "X f 2,4,5,6,7; w f 6,2,1,2,3",
       "float [2, 6, 5, 5, 5]"},
      {"ConvTranspose X w -> Y kernel=3 stride=2 group=2", "X f 2,4,5,6; w f 4,3,3,3",
       "float [2, 6, 11, 13]"},
      {"ConvTranspose X w -> Y kernel=3 order=NHWC", "X f 2,5,6,4; w f 4,3,3,7",
       "float [2, 7, 8, 7]"},
      {"ConvGradient X w G -> D E F kernel=3", "X f 2,4,7,9; w f 5,4,3,3; G f 2,5,5,7",
       "float [5, 4, 3, 3]; float [5]; float [2, 4, 7, 9]"},
      {"ConvGradient X w G -> D F kernel=3 no_bias=1", "X f 2,4,7,9; w f 5,4,3,3; G f 2,5,5,7",
       "float [5, 4, 3, 3]; float [2, 4, 7, 9]"},
      {"ConvTransposeGradient X w G -> D E kernel=3 group=2", "X f 2,4,5,6; w f 4,3,3,3; G f 1",
       "float [4, 3, 3, 3]; float [6]"},
      {"ConvTransposeGradient X w G -> D E kernel=3 order=NHWC", "X f 2,5,6,4; w f 4,3,3,7; G f 1",
       "float [4, 3, 3, 7]; float [7]"},
      {"ConvFusion X w S -> Y kernel=1 sum=1", "X f 2,4,5,6; w f 3,4,1,1; S f 2,3,5,6",
       "float [2, 3, 5, 6]"},
  });
}

// A row with one field replaced.
std::string Row(size_t at, const std::string& field) {
  std::vector<std::string> fields = {"avx2", "NCHW", "1x4x5x6", "8", "3x3",    "1x1",
                                     "1x1",  "1x1",  "1x1",     "2", "im2col", "7.5"};
  fields[at] = field;
  std::string row;
  for (const std::string& text : fields) row += (row.empty() ? "" : "\t") + text;
  return row + "\n";
}

TEST(ConvTuningRefusalsTest, NameTheLineAndTheField) {
  const auto rejected = [](const std::string& text, const std::string& message) {
    return Refusal{[text] { ConvTuning table("# comment\n\n" + text); },
                   "line 3 of a convolution table: " + message};
  };
  ExpectRefusals({
      rejected("avx2\tNCHW", "number of fields: got 2, want 12"),
      rejected(Row(0, "sse"), "instruction set \"sse\", want plain, avx2 or avx512"),
      rejected(Row(2, "1x4"), "input \"1x4\", want batch, channels and axes"),
      rejected(Row(2, "1x4x1x1x1x1x1x1x1x1x1"),
               "input \"1x4x1x1x1x1x1x1x1x1x1\", want batch, channels and axes"),
      rejected(Row(2, "1xax5x6"), "\"a\" is not a number, or is out of range"),
      rejected(Row(2, "1099511627777x4x5x6"),
               "\"1099511627777\" is not a number, or is out of range"),
      rejected(Row(6, "-16777217x1"), "\"-16777217\" is not a number, or is out of range"),
      rejected(Row(3, "8 "), "\"8 \" is not a number, or is out of range"),
      rejected(Row(3, ""), "\"\" is not a number, or is out of range"),
      rejected(Row(4, "3"), "sizes \"3\", want one for each axis of the input (got 1, want 2)"),
      rejected(Row(7, "1x1x1"),
               "sizes \"1x1x1\", want one for each axis of the input (got 3, want 2)"),
      rejected(Row(4, "3x0"), "kernel, stride and dilation of axis 1, want at least 1, 1 and 0"),
      rejected(Row(5, "0x1"), "kernel, stride and dilation of axis 0, want at least 1, 1 and 0"),
      rejected(Row(8, "1x-1"), "kernel, stride and dilation of axis 1, want at least 1, 1 and 0"),
      rejected(Row(3, "7"), "group 2, want a divisor of the channels and filters"),
      rejected(Row(9, "3"), "group 3, want a divisor of the channels and filters"),
      rejected(Row(9, "0"), "group 0, want a divisor of the channels and filters"),
      rejected(Row(3, "0"), "group 2, want a divisor of the channels and filters"),
      rejected(Row(10, "fft"), "algorithm \"fft\" is not known"),
      rejected(Row(11, "-1"), "time \"-1\", want microseconds"),
      rejected(Row(11, "inf"), "time \"inf\", want microseconds"),
      rejected(Row(11, "a"), "time \"a\", want microseconds"),
      rejected("layouts\tnchw\n", "layouts \"nchw\", want plain or onednn"),
  });
  ExpectRefusals({
      {[] { ParseConvTuning("# a table\n"); },
       "the first line is \"# a table\", want \"# caffe2rt convolution table, version 1\"; `caffe2 "
       "bench "
       "--tune` writes such a table"},
  });
}

TEST(ConvTuningCallsTest, ReadsRowsAndWritesThemAgain) {
  ConvTuning table(Row(11, "0") + "layouts\tplain\n" + Row(1, "NHWC") + Row(8, "0x0"));
  ASSERT_EQ(table.rows().size(), 3u);
  EXPECT_TRUE(table.plain_layouts());
  EXPECT_FALSE(ConvTuning("layouts\tplain\nlayouts\tonednn\n").plain_layouts());
  EXPECT_FALSE(ConvTuning("").plain_layouts());
  const ConvTuningRow& first = table.rows()[0];
  EXPECT_EQ(first.isa, Isa::kAvx2);
  EXPECT_EQ(first.microseconds, 0);
  EXPECT_EQ(first.algorithm, ConvAlgorithm::kIm2Col);
  EXPECT_EQ(first.shape.out_channels, 8);
  EXPECT_EQ(first.shape.group, 2);
  EXPECT_EQ(first.shape.window.channels, 4);
  EXPECT_EQ(first.shape.window.axis[1].in, 6);
  EXPECT_EQ(first.shape.window.axis[1].out, 6);
  EXPECT_EQ(table.rows()[1].shape.window.channels, 4);
  EXPECT_EQ(table.rows()[1].shape.window.axis[0].in, 5);
  EXPECT_EQ(ConvTuningLine(table.rows()[1]), Row(1, "NHWC"));
  EXPECT_EQ(table.rows()[2].shape.window.axis[0].out, 7);  // its window spans one element
  EXPECT_TRUE(IsSameShape(first.shape, ConvTuning(Row(11, "9")).rows()[0].shape));
  EXPECT_FALSE(IsSameShape(first.shape, table.rows()[1].shape));
  ConvShape with_bias = first.shape;
  with_bias.bias = !with_bias.bias;
  EXPECT_TRUE(IsSameShape(first.shape, with_bias));
}

TEST(ConvTuningCallsTest, FindsRowsOfTheSameKindTheNearestFirst) {
  // Rows at the distances 0, 0.25 (twice the batch), 1 (half of the filters of a group), 0.5 (four times the batch)
  // and 4.25, which is too far.
  const ConvTuning table(Row(3, "8") + Row(2, "2x4x5x6") + Row(3, "4") + Row(2, "4x4x5x6") +
                         Row(2, "131072x4x5x6"));
  const ConvShape shape = table.rows()[0].shape;
  std::vector<std::ptrdiff_t> found;
  for (const ConvTuningRow* row : table.Near(shape, Isa::kAvx2))
    found.push_back(row - table.rows().data());
  EXPECT_EQ(found, (std::vector<std::ptrdiff_t>{0, 1, 3, 2}));
  EXPECT_TRUE(table.Near(shape, Isa::kPlain).empty());
  // 2^16 times the batch is at the distance 4.
  EXPECT_EQ(ConvTuning(Row(2, "65536x4x5x6")).Near(shape, Isa::kAvx2).size(), 1u);
  const auto is_near = [&](const std::string& row) {
    return !ConvTuning(row).Near(shape, Isa::kAvx2).empty();
  };
  EXPECT_FALSE(is_near(Row(1, "NHWC")));
  EXPECT_FALSE(is_near(Row(9, "1")));    // no groups
  EXPECT_FALSE(is_near(Row(9, "4")));    // depthwise
  EXPECT_FALSE(is_near(Row(5, "1x2")));  // another stride
  EXPECT_FALSE(is_near(Row(4, "1x3")));  // kernel 1
  EXPECT_FALSE(is_near(Row(8, "2x1")));  // dilated
  EXPECT_TRUE(is_near(Row(4, "5x3")));   // another kernel above 1
  EXPECT_TRUE(is_near(Row(6, "0x1")));   // another pad
}

// Each difference lies between two differences of the batch, which count a quarter of an octave.
TEST(ConvTuningCallsTest, WeighsDifferencesByTheirKind) {
  struct DifferenceRow {
    const char* name;
    std::string row;
    double distance;
  };
  const auto row_with = [](std::vector<std::pair<size_t, std::string>> changes) {
    std::vector<std::string> fields = {"avx2", "NCHW", "64x4x5x6", "8", "3x3",    "1x1",
                                       "1x1",  "1x1",  "1x1",      "2", "im2col", "7.5"};
    for (const auto& [at, text] : changes) fields[at] = text;
    std::string row;
    for (const std::string& text : fields) row += (row.empty() ? "" : "\t") + text;
    return row + "\n";
  };
  const DifferenceRow rows[] = {
      {"pads before the image", row_with({{6, "0x1"}, {7, "2x1"}}), 0.1},
      {"pads on both axes", row_with({{6, "0x2"}, {7, "2x0"}}), 0.2},
      {"pads behind the image", row_with({{2, "64x4x4x6"}, {7, "2x1"}}), 0},
      {"a kernel of four", row_with({{4, "4x3"}, {7, "2x1"}}), 2 * std::log2(4. / 3)},
      {"a kernel of five on the other axis", row_with({{4, "3x5"}, {7, "1x3"}}),
       2 * std::log2(5. / 3)},
      {"twice the height", row_with({{2, "64x4x10x6"}}), 0.5},
      {"half of the width", row_with({{2, "64x4x5x3"}}), 0.5},
      {"channels of a group", row_with({{2, "64x12x5x6"}}), std::log2(3)},
      {"filters of a group", row_with({{3, "4"}}), 1},
      {"groups", row_with({{2, "64x12x5x6"}, {3, "24"}, {9, "6"}}), 0.5 * std::log2(3)},
      {"all of them", row_with({{2, "32x8x10x6"}, {3, "4"}, {6, "1x0"}, {7, "1x2"}}), 2.85},
  };
  const ConvShape shape = ConvTuning(row_with({})).rows()[0].shape;
  for (const DifferenceRow& row : rows) {
    SCOPED_TRACE(row.name);
    const auto batch_at = [&](double distance) {
      return row_with(
          {{2, absl::StrCat(static_cast<int64_t>(64 * std::exp2(4 * distance) + 0.5), "x4x5x6")}});
    };
    const ConvTuning table(row.row + batch_at(row.distance + 0.04) +
                           (row.distance > 0 ? batch_at(row.distance - 0.04) : ""));
    std::vector<std::ptrdiff_t> found;
    for (const ConvTuningRow* near : table.Near(shape, Isa::kAvx2))
      found.push_back(near - table.rows().data());
    EXPECT_EQ(found, row.distance > 0 ? (std::vector<std::ptrdiff_t>{2, 0, 1})
                                      : (std::vector<std::ptrdiff_t>{0, 1}));
  }
}

}  // namespace
}  // namespace caffe2rt::test::conv_calls_test
