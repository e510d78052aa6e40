// Whole messages of the operators of this folder, windows next to the bounds, and inferred shapes.
#include <gtest/gtest.h>

#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::window_calls_test {
namespace {

TEST(WindowRefusalsTest, OfAttributesNameTheAxis) {
  const auto rejected = [](const std::string& arguments, const std::string& message) {
    for (const char* const type : {"ONNXMaxPool", "ONNXAveragePool", "ONNXLpPool"})
      ExpectRejected({{type + (" X -> Y " + arguments), "X f 1,2,4,5", message}});
    ExpectShapesRejected({{"ONNXMaxPool X -> Y " + arguments, "X f 1,2,4,5", message}});
  };
  rejected("", "sizes of the window, want one for each spatial axis (got 0, want 2)");
  rejected("kernel_shape=2,",
           "sizes of the window, want one for each spatial axis (got 1, want 2)");
  rejected("kernel_shape=2,0", "argument kernel_shape contains 0, want 1 to 1073741824");
  rejected("kernel_shape=2,1073741825",
           "argument kernel_shape contains 1073741825, want 1 to 1073741824");
  rejected("kernel_shape=2,2 strides=0,1", "argument strides contains 0, want 1 to 1073741824");
  rejected("kernel_shape=2,2 dilations=1,-1",
           "argument dilations contains -1, want 1 to 1073741824");
  rejected("kernel_shape=2,2 pads=0,0,0,-1073741825",
           "argument pads contains -1073741825, want -1073741824 to 1073741824");
  rejected("kernel_shape=2,2 strides=1,",
           "argument strides has 1 numbers, want 2 for the spatial axes of input 0");
  rejected("kernel_shape=2,2 dilations=1,1,1",
           "argument dilations has 3 numbers, want 2 for the spatial axes of input 0");
  rejected("kernel_shape=2,2 pads=1,1",
           "argument pads has 2 numbers, want 4 for the spatial axes of input 0");
  rejected("kernel_shape=2,2 auto_pad=SAME",
           "argument auto_pad is \"SAME\", want NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  rejected("kernel_shape=2,3 dilations=1,3 pads=0,0,0,1",
           "windows of spatial axis 1 span 7 elements, want at most the 5 elements of input 0 with "
           "padding 0 and 1");
  rejected("kernel_shape=3,1 pads=-1,0,-1,0",
           "windows of spatial axis 0 span 3 elements, want at most the 4 elements of input 0 with "
           "padding -1 and -1");
}

TEST(WindowRefusalsTest, OfInputsNameTheShape) {
  const std::string conv = "ONNXConvTranspose X w -> Y";
  const std::string deform = "ONNXDeformConv X w o -> Y";
  ExpectRejected({
      {"ONNXMaxPool X -> Y kernel_shape=2,", "X f 1,2",
       "input 0 has shape [1, 2], want [N, C] and one to three spatial axes"},
      {"ONNXMaxPool X -> Y kernel_shape=1,1,1,1", "X f 1,2,1,1,1,1",
       "input 0 has shape [1, 2, 1, 1, 1, 1], want [N, C] and one to three spatial axes"},
      {"ONNXMaxPool X -> Y kernel_shape=2, pads=1,1", "X f 1,1,0",
       "elements of input 0 (X) of shape [1, 1, 0]: got 0, want more than 0"},
      {"ONNXMaxPool X -> Y kernel_shape=2,", "X i 1,1,2",
       "Unsupported type of tensor: input 0 (X) has elements of type int32, want float, double, "
       "int8, "
       "uint8"},
      {"ONNXLpPool X -> Y kernel_shape=2, p=0", "X f 1,1,2", "argument \"p\" is 0, want above 0"},
      {"MaxUnpool X I -> Y kernel_shape=2,", "X f 1,1,2; I l 1,1,3",
       "input 1 (I) has shape [1, 1, 3], want [1, 1, 2] as input 0 (X)"},
      {"MaxUnpool X I -> Y kernel_shape=2,", "X f 1,1,2; I i 1,1,2",
       "the tensor holds elements of type int32, want int64"},
      {"MaxUnpool X I -> Y kernel_shape=1, pads=2,1", "X f 1,1,2; I l 1,1,2",
       "size of an axis of the output, from input 0 (X) of shape [1, 1, 2]: got -1, want at least "
       "0"},
      {"MaxUnpool X I -> Y kernel_shape=1, pads=1,1", "X f 1,1,2; I l 1,1,2 = 0",
       "input 1 (I) is 0 at element 0, want 0 to -1"},
      {"MaxUnpool X I s -> Y kernel_shape=2,", "X f 1,1,2; I l 1,1,2 = 0; s l 2 = 1",
       "elements of input 2 (output_shape), want the rank of X (got 2, want 3)"},
      {"MaxUnpool X I s -> Y kernel_shape=2,", "X f 1,1,2; I l 1,1,2 = 0; s i 3 = 1",
       "the tensor holds elements of type int32, want int64"},
      {"MaxUnpool X I s -> Y kernel_shape=2,", "X f 1,1,2; I l 1,1,2 = 0; s l 3 = 1,1,2",
       "axis 2 of input 2 (output_shape): got 2, want at least 3"},
      {"MaxUnpool X I -> Y kernel_shape=2,", "X f 1,1,2; I l 1,2,1",
       "input 1 (I) has shape [1, 2, 1], want [1, 1, 2] as input 0 (X)"},
      {"MaxUnpool X I s -> Y kernel_shape=2,", "X f 2,1,2; I l 2,1,2 = 0; s l 3 = 1,1,3",
       "axis 0 of input 2 (output_shape): got 1, want at least 2"},
      {"MaxUnpool X I s -> Y kernel_shape=2,", "X f 1,2,2; I l 1,2,2 = 0; s l 3 = 1,1,3",
       "axis 1 of input 2 (output_shape): got 1, want at least 2"},
      {"MaxUnpool X I -> Y kernel_shape=2,", "X f 1,1,2; I l 1,1,2 = 0,3",
       "input 1 (I) is 3 at element 1, want 0 to 2"},
      {conv, "X f 1,2,3; w f 2,1,1,1",
       "input 1 (W) has shape [2, 1, 1, 1], want the rank of input 0 (X) of shape [1, 2, 3], at "
       "least "
       "3"},
      {conv, "X f 1,2; w f 2,1",
       "input 1 (W) has shape [2, 1], want the rank of input 0 (X) of shape [1, 2], at least 3"},
      {conv, "X f 1,2,3; w f 3,1,1",
       "input 1 (W) has shape [3, 1, 1], want [2, ...] for the channels of input 0 (X), divisible "
       "by 1 "
       "groups"},
      {conv + " group=2", "X f 1,3,3; w f 3,1,1",
       "input 1 (W) has shape [3, 1, 1], want [3, ...] for the channels of input 0 (X), divisible "
       "by 2 "
       "groups"},
      {conv + " output_padding=1,1", "X f 1,2,3; w f 2,1,1",
       "argument output_padding has 2 numbers, want 1"},
      {conv + " output_shape=1,1", "X f 1,2,3; w f 2,1,1",
       "argument output_shape has 2 numbers, want 1"},
      {conv + " output_padding=-1,", "X f 1,2,3; w f 2,1,1",
       "argument output_padding contains -1, want 0 to 1073741824"},
      {conv + " output_shape=1073741825,", "X f 1,2,3; w f 2,1,1",
       "argument output_shape contains 1073741825, want 0 to 1073741824"},
      {conv + " pads=2,2", "X f 1,2,3; w f 2,1,1",
       "spatial axis 0 of the output has size -1, want 0 to 1073741824"},
      {conv + " strides=1073741824,", "X f 1,2,3; w f 2,1,1",
       "spatial axis 0 of the output has size 2147483649, want 0 to 1073741824"},
      {"ONNXConvTranspose X w b -> Y group=2", "X f 1,2,3; w f 2,3,1; b f 3",
       "elements of input 2 (B) of shape [3]: got 3, want 6"},
      {conv + " group=0", "X f 1,2,3; w f 2,1,1", "argument \"group\" is 0, want above 0"},
      {deform, "X f 1,2,3; w f 2,2,1; o f 1,2,3",
       "inputs 0 (X) and 1 (W) have shapes [1, 2, 3] and [2, 2, 1], want [N, C, H, W] and [M, C / "
       "group, "
       "kh, kw]"},
      {deform + " offset_group=2", "X f 1,3,2,2; w f 2,3,1,1; o f 1,4,2,2",
       "input 1 (W) has shape [2, 3, 1, 1], want [M, 3 / 1, kh, kw] for the channels of input 0 "
       "(X), with "
       "M divisible by group and the channels by offset_group 2"},
      {deform + " group=2", "X f 1,2,2,2; w f 3,1,1,1; o f 1,2,2,2",
       "input 1 (W) has shape [3, 1, 1, 1], want [M, 2 / 2, kh, kw] for the channels of input 0 "
       "(X), with "
       "M divisible by group and the channels by offset_group 1"},
      {deform, "X f 1,2,2,2; w f 3,1,1,1; o f 1,2,2,2",
       "input 1 (W) has shape [3, 1, 1, 1], want [M, 2 / 1, kh, kw] for the channels of input 0 "
       "(X), with "
       "M divisible by group and the channels by offset_group 1"},
      {deform, "X f 1,2,2,2; w f 3,2,1,2; o f 1,2,2,1",
       "input 2 (offset) has shape [1, 2, 2, 1], want [1, 4, 2, 1]"},
      {"ONNXDeformConv X w o b -> Y", "X f 1,2,2,2; w f 3,2,1,1; o f 1,2,2,2; b f 2",
       "input 3 (B) has shape [2], want [3]"},
      {"ONNXDeformConv X w o m -> Y omitted_inputs=3,",
       "X f 1,2,2,2; w f 3,2,1,1; o f 1,2,2,2; m f "
       "1,2,2,2",
       "input 3 (mask) has shape [1, 2, 2, 2], want [1, 1, 2, 2]"},
      {"ONNXDeformConv X w o b m -> Y", "X f 1,2,2,2; w f 3,2,1,1; o f 1,2,2,2; b f 3; m d 1,1,2,2",
       "the tensor holds elements of type double, want float"},
  });
}

TEST(WindowCallsTest, KeepsWindowsNextToTheBounds) {
  ExpectResults({
      {"ONNXMaxPool X -> Y I kernel_shape=2, dilations=2,", "X d 1,1,4 = 1,4,3,2",
       "Y d 1,1,2 = 3,4; I l 1,1,2 = 2,1"},
      {"ONNXMaxPool X -> Y kernel_shape=3, pads=1,1", "X c 1,1,1 = -128", "Y c 1,1,1 = -128"},
      {"ONNXMaxPool X -> Y I kernel_shape=1,2 storage_order=1", "X u 1,2,2,2 = 1,2,3,4,8,7,6,5",
       "Y u 1,2,2,1 = 2,4,8,6; I l 1,2,2,1 = 2,3,4,5"},
      // A last window that begins within the elements counts with ceil_mode.
      {"ONNXMaxPool X -> Y kernel_shape=2, strides=2, ceil_mode=1", "X f 1,1,3 = 1,2,3",
       "Y f 1,1,2 = 2,3"},
      {"ONNXMaxPool X -> Y kernel_shape=2, strides=2,", "X f 1,1,3 = 1,2,3", "Y f 1,1,1 = 2"},
      // It may be the only one.
      {"ONNXMaxPool X -> Y I kernel_shape=4, strides=3, ceil_mode=1", "X f 1,1,2 = 1,2",
       "Y f 1,1,1 = 2; I l 1,1,1 = 1"},
      {"ONNXAveragePool X -> Y kernel_shape=3,3 strides=2,2 ceil_mode=1", "X f 1,1,2,2 = 1,2,3,6",
       "Y f 1,1,1,1 = 3"},
      {"ONNXLpPool X -> Y kernel_shape=3, strides=2, ceil_mode=1", "X f 1,1,2 = 3,4",
       "Y f 1,1,1 = 5"},
      {"ONNXMaxPool X -> Y kernel_shape=2, auto_pad=SAME_UPPER", "X f 1,1,2 = 3,1",
       "Y f 1,1,2 = 3,1"},
      {"ONNXMaxPool X -> Y kernel_shape=2, auto_pad=SAME_LOWER", "X f 1,1,2 = 3,1",
       "Y f 1,1,2 = 3,3"},
      {"ONNXMaxPool X -> Y kernel_shape=2, auto_pad=VALID", "X f 1,1,2 = 3,1", "Y f 1,1,1 = 3"},
      {"ONNXAveragePool X -> Y kernel_shape=2, pads=1,1", "X f 1,1,1 = 4", "Y f 1,1,2 = 4"},
      {"ONNXAveragePool X -> Y kernel_shape=2, pads=1,1 count_include_pad=1", "X f 1,1,1 = 4",
       "Y f 1,1,2 = 2"},
      // With ceil_mode, elements behind the padding do not count: a window of 3 over 1 element and 1 of
      // padding.
      {"ONNXAveragePool X -> Y kernel_shape=3, strides=3, pads=0,1 ceil_mode=1 count_include_pad=1",
       "X d 1,1,4 = 3,3,3,8", "Y d 1,1,2 = 3,4"},
      {"ONNXAveragePool X -> Y kernel_shape=1,1,2", "X f 1,1,1,2,2 = 1,3,5,7",
       "Y f 1,1,1,2,1 = 2,6"},
      {"ONNXLpPool X -> Y kernel_shape=2,", "X f 1,1,3 = 3,-4,0", "Y f 1,1,2 = 5,4"},
      {"ONNXLpPool X -> Y kernel_shape=2, p=1", "X d 1,1,3 = 3,-4,0", "Y d 1,1,2 = 7,4"},
      {"ONNXLpPool X -> Y kernel_shape=2, p=3", "X f 1,1,2 = 3,-4", "Y f 1,1,1 = 4.497942"},
      {"MaxUnpool X I -> Y kernel_shape=1,2 strides=1,2", "X d 1,1,1,2 = 5,6; I l 1,1,1,2 = 3,0",
       "Y d 1,1,1,4 = 6,0,0,5"},
      {"MaxUnpool X I s -> Y kernel_shape=1,1",
       "X f 1,1,2,1 = 5,6; I l 1,1,2,1 = 1,0; s l 4 = 1,1,2,3", "Y f 1,1,2,3 = 6,0,0,5,0,0"},
      // Batch and channels may grow, too: position 3 is the first of channel 1.
      {"MaxUnpool X I s -> Y kernel_shape=2,",
       "X f 1,2,2 = 5,6,7,8; I l 1,2,2 = 0,2,3,5; s l 3 = 2,3,4",
       "Y f 2,3,4 = 5,0,6,0,7,0,8,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"},
      {"MaxUnpool X I -> Y kernel_shape=2,", "X f 0,1,2; I l 0,1,2", "Y f 0,1,3"},
      {"ONNXConvTranspose X w b -> Y strides=2, output_padding=1,",
       "X f 1,1,2 = 1,2; w f 1,1,2 = 3,4; b f 1 = 0.5", "Y f 1,1,5 = 3.5,4.5,6.5,8.5,0.5"},
      // The pads follow from the shape: 4 elements in full, of which one is cut off at the end, or with
      // SAME_UPPER the first half rounded down.
      {"ONNXConvTranspose X w -> Y strides=2, output_shape=3,", "X f 1,1,2 = 1,2; w f 1,1,2 = 3,4",
       "Y f 1,1,3 = 4,6,8"},
      {"ONNXConvTranspose X w -> Y strides=2, output_shape=3, auto_pad=SAME_UPPER",
       "X f 1,1,2 = 1,2; w f 1,1,2 = 3,4", "Y f 1,1,3 = 3,4,6"},
      {"ONNXConvTranspose X w -> Y auto_pad=SAME_LOWER", "X f 1,1,2 = 1,2; w f 1,1,2 = 3,4",
       "Y f 1,1,2 = 10,8"},
      {"ONNXConvTranspose X w -> Y auto_pad=SAME_UPPER", "X f 1,1,2 = 1,2; w f 1,1,2 = 3,4",
       "Y f 1,1,2 = 3,10"},
      {"ONNXConvTranspose X w -> Y output_shape=6,", "X f 1,1,2 = 1,2; w f 1,1,2 = 3,4",
       "Y f 1,1,6 = 3,10,8,0,0,0"},
      {"ONNXConvTranspose X w -> Y group=2 dilations=2,",
       "X f 1,2,1 = 2,3; w f 2,1,2 = 1,10,100,1000", "Y f 1,2,3 = 2,0,20,300,0,3000"},
      {"ONNXConvTranspose X w b -> Y", "X f 1,1,0; w f 1,2,2; b f 2 = 7,8", "Y f 1,2,2 = 7,7,8,8"},
      {"ONNXConvTranspose X w -> Y", "X f 0,1,3; w f 1,2,2", "Y f 0,2,4"},
      // Half a pixel to the right: the mean of two pixels, of the last one and nothing.
      {"ONNXDeformConv X w o b m -> Y",
       "X f 1,1,1,2 = 4,8; w f 1,1,1,1 = 1; o f 1,2,1,2 = 0,0,0.5,0.5; b f 1 = 1; m f 1,1,1,2 = "
       "1,0.5",
       "Y f 1,1,1,2 = 7,3"},
      {"ONNXDeformConv X w o -> Y", "X f 1,1,1,1 = 4; w f 1,1,1,1 = 1; o f 1,2,1,1 = -0.75,0",
       "Y f 1,1,1,1 = 1"},
      {"ONNXDeformConv X w o -> Y", "X f 1,1,1,1 = 4; w f 1,1,1,1 = 1; o f 1,2,1,1 = 0.75,0",
       "Y f 1,1,1,1 = 1"},
      {"ONNXDeformConv X w o -> Y", "X f 1,1,1,1 = 4; w f 1,1,1,1 = 1; o f 1,2,1,1 = 0,-1",
       "Y f 1,1,1,1 = 0"},
      {"ONNXDeformConv X w o -> Y offset_group=2 group=2",
       "X f 1,2,1,2 = 1,2,3,4; w f 2,1,1,1 = 1,10; o f 1,4,1,2 = 0,0,1,1,0,0,-1,-1",
       "Y f 1,2,1,2 = 2,0,0,30"},
      {"ONNXDeformConv X w o -> Y strides=1,2",
       "X f 1,1,1,3 = 1,2,3; w f 1,1,1,1 = 1; o f 1,2,1,2 = 0", "Y f 1,1,1,2 = 1,3"},
      {"ONNXDeformConv X w o b -> Y", "X f 1,0,1,1; w f 2,0,1,1; o f 1,2,1,1 = 0; b f 2 = 5,6",
       "Y f 1,2,1,1 = 5,6"},
  });
}

TEST(WindowCallsTest, NaNIsTheLargestWhereverItIs) {
  ExpectResults({
      {"ONNXMaxPool X -> Y I kernel_shape=3,", "X f 1,1,5 = 1,nan,2,3,nan",
       "Y f 1,1,3 = nan,nan,nan; I l 1,1,3 = 1,1,4"},
      {"ONNXMaxPool X -> Y I kernel_shape=2,", "X d 1,1,3 = nan,nan,-inf",
       "Y d 1,1,2 = nan,nan; I l 1,1,2 = 0,1"},
      {"ONNXMaxPool X -> Y I kernel_shape=2,", "X f 1,2,2 = -inf,-inf,5,5",
       "Y f 1,2,1 = -inf,5; I l 1,2,1 = 0,2"},
      {"ONNXAveragePool X -> Y kernel_shape=2,", "X f 1,1,3 = 1,nan,3", "Y f 1,1,2 = nan"},
      {"ONNXLpPool X -> Y kernel_shape=2, pads=1,0", "X f 1,1,2 = -3,4", "Y f 1,1,2 = 3,5"},
  });
}

// Indices of the columns first, in volumes and in planes that are not the first.
TEST(WindowCallsTest, CountsIndicesInTheStorageOrder) {
  ExpectResults({
      {"ONNXMaxPool X -> Y I kernel_shape=2,2,2 storage_order=1",
       "X f 1,2,2,2,2 = 0,0,0,0,0,0,9,0,0,0,0,7,0,0,0,0",
       "Y f 1,2,1,1,1 = 9,7; I l 1,2,1,1,1 = 3,14"},
      {"ONNXMaxPool X -> Y I kernel_shape=2,2,2", "X f 1,2,2,2,2 = 0,0,0,0,0,0,9,0,0,0,0,7,0,0,0,0",
       "Y f 1,2,1,1,1 = 9,7; I l 1,2,1,1,1 = 6,11"},
      // Other sizes of each axis: element (0, 1, 2) of 1 x 2 x 3 is at 2 * 2 + 1.
      {"ONNXMaxPool X -> Y I kernel_shape=1,2,3 storage_order=1", "X f 1,1,1,2,3 = 0,0,0,0,0,9",
       "Y f 1,1,1,1,1 = 9; I l 1,1,1,1,1 = 5"},
      {"ONNXMaxPool X -> Y I kernel_shape=1,2,3 storage_order=1", "X f 1,1,1,2,3 = 0,9,0,0,0,0",
       "Y f 1,1,1,1,1 = 9; I l 1,1,1,1,1 = 2"},
  });
}

TEST(WindowCallsTest, ChannelsOfAGroupShareItsOffsets) {
  ExpectResults({
      // Channels 0 and 1 stay, 2 and 3 are read one column to the right.
      {"ONNXDeformConv X w o -> Y offset_group=2",
       "X f 1,4,1,2 = 1,2,3,4,5,6,7,8; w f 1,4,1,1 = 1,10,100,1000; "
       "o f 1,4,1,2 = 0,0,0,0,0,0,1,1",
       "Y f 1,1,1,2 = 8631,42"},
      // The mask of each group, and two groups of weights.
      {"ONNXDeformConv X w o b m -> Y offset_group=2 group=2",
       "X f 1,4,1,1 = 1,2,3,4; w f 2,2,1,1 = 1,10,100,1000; o f 1,4,1,1 = 0; b f 2 = 0; "
       "m f 1,2,1,1 = 2,3",
       "Y f 1,2,1,1 = 42,12900"},
      // Each image has its offsets and its mask.
      {"ONNXDeformConv X w o m -> Y omitted_inputs=3,",
       "X f 2,1,1,2 = 1,2,3,4; w f 1,1,1,1 = 1; o f 2,2,1,2 = 0,0,1,1,0,0,-1,-1; "
       "m f 2,1,1,2 = 1,2,10,20",
       "Y f 2,1,1,2 = 2,0,0,60"},
      // Two taps three rows apart, with a row of padding above: rows 1 and -1 + 3.
      {"ONNXDeformConv X w o -> Y dilations=3,1 pads=1,0,0,0 strides=2,1",
       "X f 1,1,4,1 = 1,2,3,4; w f 1,1,2,1 = 1,10; o f 1,4,1,1 = 0", "Y f 1,1,1,1 = 30"},
      // Half a row down and a quarter of a column right, at the corner of four pixels.
      {"ONNXDeformConv X w o -> Y",
       "X f 1,1,2,2 = 0,4,8,20; w f 1,1,1,1 = 1; "
       "o f 1,2,2,2 = 0.5,0,0,0,0.25,0,0,0",
       "Y f 1,1,2,2 = 6,4,8,20"},
      {"ONNXDeformConv X w o -> Y", "X f 0,1,1,2; w f 3,1,1,1 = 1; o f 0,2,1,2", "Y f 0,3,1,2"},
  });
}

// So many columns that the output channels of a group are computed in two steps.
TEST(WindowCallsTest, ComputesManyColumnsInSteps) {
  constexpr int64_t kPixels = 400000;
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, kPixels}, std::vector<float>(2 * kPixels, 1));
  Feed<float>(&ws, "w", {2, 3, 1}, {1, 2, 3, 10, 20, 30});
  RunOp(&ws, "type: 'ONNXConvTranspose' input: 'X' input: 'w' output: 'Y'");
  const std::vector<float> y = Fetch<float>(ws, "Y");
  ASSERT_EQ(y.size(), static_cast<size_t>(3 * kPixels));
  for (size_t channel = 0; channel < 3; ++channel) {
    for (const size_t i : {size_t{0}, size_t{kPixels - 1}})
      EXPECT_EQ(y[channel * kPixels + i], 11.0f * static_cast<float>(channel + 1));
  }
  // The last step of the first group ends before the channels of the second.
  RunOp(&ws,
        "type: 'ONNXConvTranspose' input: 'X' input: 'w' output: 'Y' "
        "arg { name: 'group' i: 2 }");
  const std::vector<float> grouped = Fetch<float>(ws, "Y");
  ASSERT_EQ(grouped.size(), static_cast<size_t>(6 * kPixels));
  const float want[] = {1, 2, 3, 10, 20, 30};
  for (size_t channel = 0; channel < 6; ++channel) {
    for (const size_t i : {size_t{0}, size_t{kPixels - 1}})
      EXPECT_EQ(grouped[channel * kPixels + i], want[channel]);
  }
}

TEST(WindowCallsTest, InfersShapesAndTypes) {
  ExpectInferred({
      {"ONNXMaxPool X -> Y I kernel_shape=2,2", "X u 1,2,4,5",
       "uint8 [1, 2, 3, 4]; int64 [1, 2, 3, 4]"},
      {"ONNXAveragePool X -> Y kernel_shape=2, strides=2, ceil_mode=1", "X d 1,2,5",
       "double [1, 2, 3]"},
      {"ONNXLpPool X -> Y kernel_shape=2,", "X d ?", "? ?"},
      {"MaxUnpool X I -> Y kernel_shape=2,2 strides=2,2", "X d 1,2,3,4; I l 1,2,3,4",
       "double [1, 2, 6, 8]"},
      {"MaxUnpool X I s -> Y kernel_shape=2,2", "X d 1,2,3,4; I l 1,2,3,4; s l 4", "double ?"},
      {"ONNXConvTranspose X w -> Y group=2 strides=2,2", "X f 1,4,3,5; w f 4,3,2,2",
       "float [1, 6, 6, 10]"},
      {"ONNXConvTranspose X w -> Y output_shape=7,9", "X f 1,4,3,5; w f 4,3,2,2",
       "float [1, 3, 7, 9]"},
      {"ONNXDeformConv X w o -> Y pads=1,1,1,1", "X f 2,4,5,6; w f 7,4,3,3; o f 1",
       "float [2, 7, 5, 6]"},
      {"ONNXDeformConv X w o -> Y", "X f 2,4,5,6; w f ?; o f 1", "? ?"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::window_calls_test
