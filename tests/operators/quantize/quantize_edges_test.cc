// Scales of one element, rows of the smallest scales, windows whose attributes contradict the filter, and
// errors that come twice.
#include <gtest/gtest.h>

#include "tests/operators/common/call_tables.h"
#include "tests/operators/common/run_rows.h"

namespace caffe2rt::test::quantize_edges_test {
namespace {

TEST(QuantizeEdgesTest, AScaleOfOneElementIsAScalarOrAVector) {
  const std::string scale =
      "input 1 (scale) has shape [1, 1], want one element, or [3] for axis 1 of input 0 (X); "
      "blocks "
      "need the argument block_size";
  const std::string zero = "input 2 (zero_point) has shape [1], want [3] as input 1 (scale)";
  ExpectRejected({
      {"QuantizeLinear X s -> Y", "X f 2,3; s f 1,1", scale},
      {"DequantizeLinear X s -> Y", "X u 2,3; s f 1,1", scale},
      {"QuantizeLinear X s z -> Y", "X f 2,3; s f 3 = 1; z u 1", zero},
      {"DequantizeLinear X s z -> Y", "X u 2,3; s f 3 = 1; z u 1", zero},
      {"DequantizeLinear X s z -> Y", "X u 2,3; s f 1; z u 3",
       "input 2 (zero_point) has shape [3], want [1] as input 1 (scale)"},
      {"QuantizeLinear X s -> Y axis=-3", "X f 2,3; s f 3",
       "argument axis is -3, want -2 to 1 for input 0 (X) of shape [2, 3]"},
  });
  ExpectResults({
      // One element is one element, whatever its shape; the axis is then not used.
      {"QuantizeLinear X s z -> Y axis=9", "X f 3 = 2,4,6; s f - = 2; z u 1,1 = 3",
       "Y u 3 = 4,5,6"},
      {"DequantizeLinear X s z -> Y axis=-9", "X u 3 = 4,5,6; s f 1 = 2; z u - = 3",
       "Y f 3 = 2,4,6"},
      {"QuantizeLinear X s -> Y axis=0", "X f 1 = 6; s f 1 = 2", "Y u 1 = 3"},
      {"DequantizeLinear X s -> Y", "X u - = 6; s f - = 2", "Y f - = 12"},
  });
}

TEST(QuantizeEdgesTest, BlocksHaveTheirOwnScalesInEveryRow) {
  ExpectResults({
      // A block that is longer than the axis, far beyond the end of the tensor.
      {"QuantizeLinear X s -> Y block_size=1000000000 axis=0", "X f 3 = 1,2,3; s f 1 = 1",
       "Y u 3 = 1,2,3"},
      {"DequantizeLinear X s -> Y block_size=1000000000 axis=0", "X u 3,1 = 1,2,3; s f 1,1 = 2",
       "Y f 3,1 = 2,4,6"},
      // Three times two blocks of two and one rows, each with scales for two columns.
      {"DequantizeLinear X s -> Y block_size=2 axis=1",
       "X u 3,3,2 = 1; s f 3,2,2 = 1,2,3,4,5,6,7,8,9,10,11,12",
       "Y f 3,3,2 = 1,2,1,2,3,4,5,6,5,6,7,8,9,10,9,10,11,12"},
      {"QuantizeLinear X s z -> Y block_size=1 axis=0",
       "X f 2,2 = 8; s f 2,2 = 1,2,4,8; z u 2,2 = 0,1,2,3", "Y u 2,2 = 8,5,4,4"},
  });
}

TEST(QuantizeEdgesTest, DynamicScalesRoundTheirZeroPointToEven) {
  ExpectResults({
      // A range of 255 has the scale 1.
      {"DynamicQuantizeLinear X -> Y s z", "X f 2 = -0.5,254.5",
       "Y u 2 = 0,254; s f - = 1; z u - = 0"},
      {"DynamicQuantizeLinear X -> Y s z", "X f 2 = -1.5,253.5",
       "Y u 2 = 0,255; s f - = 1; z u - = 2"},
      {"DynamicQuantizeLinear X -> Y s z", "X f 2 = -2.5,252.5",
       "Y u 2 = 0,254; s f - = 1; z u - = 2"},
      // The range of 2^-149 is no multiple of a scale: that of a range of 1 is used.
      {"DynamicQuantizeLinear X -> Y s z", "X f 2 = 1e-45,0",
       "Y u 2 = 0; s f - = 0.003921569; z u - = 0", 0},
  });
  ExpectRejected({
      {"DynamicQuantizeLinear X -> Y s z", "X f 2 = -inf,1",
       "input 0 (X) has elements from -inf to 1, want a finite range"},
  });
}

// 255 * 2^-22 has the scale 2^-22, which is the float16 with the bits 4.
TEST(QuantizeEdgesTest, RowsOfTheSmallestHalfScalesUseAllSteps) {
  ExpectResults({
      {"FloatToFused8BitRowwiseQuantizedHalfScaleBias X -> Y",
       "X f 1,2 = 0,6.07967376708984375e-05", "Y u 1,6 = 0,255,4,0,0,0"},
      {"FloatToFused8BitRowwiseQuantizedHalfScaleBias X -> Y",
       "X f 1,3 = 0,1.52587890625e-05,6.07967376708984375e-05", "Y u 1,7 = 0,64,255,4,0,0,0"},
      // A scale that is no float16 is infinite: its steps are 0.
      {"FloatToFused8BitRowwiseQuantizedHalfScaleBias X -> Y", "X f 1,2 = 0,2e7",
       "Y u 1,6 = 0,0,0,124,0,0"},
      // Steps of 1e-6 / 255 round to a float16 of 0, which counts as 1.
      {"FloatToFused8BitRowwiseQuantizedHalfScaleBias X -> Y", "X f 1,2 = 0,1e-6",
       "Y u 1,6 = 0,0,0,0,0,0"},
  });
}

TEST(QuantizeEdgesTest, WindowsAreThoseOfTheFilter) {
  const std::string conv = "ConvInteger X W -> Y ";
  ExpectRejected({
      // Only the first of the numbers is that of the filter.
      {conv + "kernel_shape=2,2", "X u 1,2,4,4; W u 3,2,2,3",
       "argument kernel_shape is [2, 2], want [2, 3] as the filter W of shape [3, 2, 2, 3]"},
      {conv + "kernel_shape=2,2", "X u 1,2,4; W u 3,2,2",
       "argument kernel_shape is [2, 2], want [2] as the filter W of shape [3, 2, 2]"},
      {conv + "dilations=1,1", "X u 1,2,4; W u 3,2,2",
       "argument dilations has 2 numbers, want 1 for the spatial axes of input 0"},
      {conv + "strides=1,1", "X u 1,2,4; W u 3,2,2",
       "argument strides has 2 numbers, want 1 for the spatial axes of input 0"},
      {conv + "pads=1,1,1", "X u 1,2,4; W u 3,2,2",
       "argument pads has 3 numbers, want 2 for the spatial axes of input 0"},
  });
  ExpectResults({
      {conv + "kernel_shape=2,1", "X u 1,1,2,1 = 3,4; W u 1,1,2,1 = 1,10", "Y i 1,1,1,1 = 43"},
      // Taps 3 apart: two elements of padding before and one behind, or one and two.
      {conv + "auto_pad=SAME_LOWER dilations=3,", "X u 1,1,5 = 1,2,3,4,5; W u 1,1,2 = 1,10",
       "Y i 1,1,5 = 20,30,41,52,3"},
      {conv + "auto_pad=SAME_UPPER dilations=3,", "X u 1,1,5 = 1,2,3,4,5; W u 1,1,2 = 1,10",
       "Y i 1,1,5 = 30,41,52,3,4"},
      {conv + "auto_pad=VALID pads=1,1", "X u 1,1,3 = 1,2,3; W u 1,1,2 = 1,10",
       "Y i 1,1,2 = 21,32"},
      {conv + "auto_pad=SAME_UPPER pads=5,5", "X u 1,1,3 = 1,2,3; W u 1,1,2 = 1,10",
       "Y i 1,1,3 = 21,32,3"},
      // More pixels than are multiplied at once, in two groups.
      {conv + "group=2", "X u 1,2,131 = 3; W u 2,1,1 = 2", "Y i 1,2,131 = 6"},
      {conv + "group=2", "X u 2,2,5,40 = 3; W u 4,1,1,1 = 5", "Y i 2,4,5,40 = 15"},
      {conv + "group=2", "X u 1,4,131 = 3; W u 2,2,1 = 2", "Y i 1,2,131 = 12"},
      {conv + "group=2", "X u 2,4,5,40 = 3; W u 4,2,1,1 = 5", "Y i 2,4,5,40 = 30"},
      {conv + "auto_pad=NOTSET pads=0,1", "X u 1,1,3 = 1,2,3; W u 1,1,2 = 1,10",
       "Y i 1,1,3 = 21,32,3"},
  });
}

// A plan that failed is no plan of the shapes that it failed for.
TEST(QuantizeEdgesTest, ErrorsComeAgainInTheNextRun) {
  const std::string window = "windows of spatial axis 0 span 2 elements",
                    rows = "rows of input 1 (B) of shape [1, 1]";
  ExpectRuns("ConvInteger X W -> Y", {{"X u 1,1,2 = 3,4; W u 1,1,2 = 1,2", "Y i 1,1,1 = 11"},
                                      {"X u 1,1,1 = 5", "", window},
                                      {"X u 1,1,1 = 5", "", window},
                                      {"W u 1,1,1 = 3", "Y i 1,1,1 = 15"},
                                      {"X u 1,1,3 = 1,2,3", "Y i 1,1,3 = 3,6,9"}});
  ExpectRuns("MatMulInteger A B -> Y", {{"A u 1,2 = 3,4; B u 2,1 = 1,2", "Y i 1,1 = 11"},
                                        {"B u 1,1 = 5", "", rows},
                                        {"B u 1,1 = 5", "", rows},
                                        {"A u 1,1 = 2", "Y i 1,1 = 10"},
                                        {"A u 3,1,1 = 1,2,3", "Y i 3,1,1 = 5,10,15"},
                                        {"B u 3,1,1 = 1,10,100", "Y i 3,1,1 = 1,20,300"},
                                        {"A u 1,1 = 2", "Y i 3,1,1 = 2,20,200"}});
  ExpectRuns("DequantizeLinear X s -> Y axis=0",
             {{"X u 2 = 1,2; s f 2 = 1,10", "Y f 2 = 1,20"},
              {"X u 3 = 1,2,3", "", "input 1 (scale) has shape [2]"},
              {"X u 3 = 1,2,3", "", "input 1 (scale) has shape [2]"},
              {"s f 3 = 1,10,100", "Y f 3 = 1,20,300"}});
}

// Each matrix of A meets matrices of B that were used before.
TEST(QuantizeEdgesTest, MatricesThatAreBroadcastAreReadAgain) {
  ExpectResults({
      {"MatMulInteger A B -> Y", "A u 2,1,1,1 = 1,2; B u 2,1,1 = 3,50", "Y i 2,2,1,1 = 3,50,6,100"},
      {"MatMulInteger A B b -> Y omitted_inputs=2,",
       "A u 3,1,1,1 = 1,2,3; B u 2,1,2 = 3,50,7,60; b u 2 = 3,10",
       "Y i 3,2,1,2 = 0,40,4,50,0,80,8,100,0,120,12,150"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::quantize_edges_test
