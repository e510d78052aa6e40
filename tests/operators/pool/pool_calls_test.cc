// Whole messages of the operators of this folder, windows next to the bounds, and inferred shapes.
#include <gtest/gtest.h>

#include "tests/operators/common/call_tables.h"

namespace caffe2rt::test::pool_calls_test {
namespace {

TEST(PoolRefusalsTest, OfArgumentsNameTheAxis) {
  const auto rejected = [](const std::string& arguments, const std::string& message) {
    for (const char* const type : {"MaxPool", "AveragePool", "LpPool"})
      ExpectRejected({{type + (" X -> Y " + arguments), "X f 1,2,4,5", message}});
    ExpectShapesRejected({{"MaxPool X -> Y " + arguments, "X f 1,2,4,5", message}});
  };
  rejected("",
           "kernel of axis 0, want at least 1 (set kernel or kernels) (got 0, want more than 0)");
  rejected("kernels=2,0",
           "kernel of axis 1, want at least 1 (set kernel or kernels) (got 0, want more than 0)");
  rejected("kernel=2 strides=1,0", "stride of axis 1, want at least 1 (got 0, want at least 1)");
  rejected("kernel=2 strides=1,", "argument strides, want as many as kernels (got 1, want 2)");
  rejected("kernel=2 dilations=1,", "argument dilations, want as many as kernels (got 1, want 2)");
  rejected("kernel=2 pads=1,1,1", "argument pads, want two for each of kernels (got 3, want 4)");
  rejected("kernel=2 dilation=2", "dilation of axis 0 of a pool, want 1 (got 2, want 1)");
  rejected("kernel=2 pads=0,2,0,1", "axis 1 has pads 2, 1, want less than its kernel 2");
  rejected("kernel=2 pads=0,0,2,0", "axis 0 has pads 0, 2, want less than its kernel 2");
  rejected("kernel=2 legacy_pad=1 pad=0",
           "argument legacy_pad 1 (VALID or SAME) fixes the pads, want no pad arguments");
  rejected("kernel=2 legacy_pad=2 pads=0,0,0,0",
           "argument legacy_pad 2 (VALID or SAME) fixes the pads, want no pad arguments");
  rejected(
      "kernel=2 legacy_pad=3 pad=-1",
      "pad of axis 0 with legacy_pad CAFFE_LEGACY_POOLING, want at least 0 (got -1, want at least "
      "0)");
  rejected("kernel=2 legacy_pad=4",
           "argument \"legacy_pad\" is 4, want 0 (NOTSET), 1 (VALID), 2 (SAME) or 3 "
           "(CAFFE_LEGACY_POOLING)");
  rejected(
      "global_pooling=1 pads=0,1,0,0",
      "axis 1 has pads 1, 0, dilation 1, stride 1; with global_pooling want pads 0, dilation 1, "
      "stride 1");
  rejected(
      "global_pooling=1 stride=2",
      "axis 0 has pads 0, 0, dilation 1, stride 2; with global_pooling want pads 0, dilation 1, "
      "stride 1");
  rejected(
      "global_pooling=1 dilations=1,3",
      "axis 1 has pads 0, 0, dilation 3, stride 1; with global_pooling want pads 0, dilation 1, "
      "stride 1");
  rejected("kernel=5",
           "axis of 4 with pads 0 and 0, want at least its dilated kernel (got 4, want at "
           "least 5)");
  rejected(
      "kernel_h=1 kernel_w=6",
      "axis of 5 with pads 0 and 0, want at least its dilated kernel (got 5, want at least 6)");
  rejected(
      "kernels=2,",
      "input 0 (X) has shape [1, 2, 4, 5] with 2 spatial axes, want 1: one for each of kernels");
  rejected(
      "kernels=2,2,2",
      "input 0 (X) has shape [1, 2, 4, 5] with 2 spatial axes, want 3: one for each of kernels");
  rejected("kernel=7 legacy_pad=1 stride=1",
           "number of windows of 7 in an axis of 4, want at least 0 (got -2, want at least 0)");
}

TEST(PoolRefusalsTest, OfInputsNameTheShape) {
  ExpectRejected({
      {"MaxPool X -> Y kernel=1", "X f 3",
       "rank of input 0 (X) of shape [3], want at least 2 (got 1, want at least 2)"},
      {"MaxPool X -> Y kernel=1", "X f 3,2",
       "input 0 (X) has shape [3, 2], want 1 to 3 axes besides batch and channels"},
      {"AveragePool X -> Y kernels=1,1,1,1", "X f 1,1,1,1,1,1",
       "input 0 (X) has shape [1, 1, 1, 1, 1, 1], want 1 to 3 axes besides batch and channels"},
      {"AveragePool X -> Y global_pooling=1", "X f 1,1,1,1,1,1,1,1,1,1,1",
       "spatial axes of input 0 (X) of shape [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], want at most 8 "
       "(got 9, "
       "want at most 8)"},
      {"MaxPool X -> Y kernel=1", "X f 1,0,2,2",
       "dim 1 of input 0 (X) of shape [1, 0, 2, 2], want at least 1 (got 0, want more than 0)"},
      {"MaxPool X -> Y global_pooling=1", "X f 1,1,2,0",
       "dim 3 of input 0 (X) of shape [1, 1, 2, 0], want at least 1 (got 0, want more than 0)"},
      {"MaxPool X -> Y kernel=1", "X d 1,1,2,2",
       "the tensor holds elements of type double, want float"},
      {"LpPool X -> Y kernels=2,", "X f 1,1,2",
       "spatial axes of input 0 (X), want 2 (got 1, want 2)"},
      {"MaxPoolGradient X Y G -> D kernel=2", "X f 1,1,2,3; Y f 1,1,1,3; G f 1,1,1,2",
       "input 1 (Y) has shape [1, 1, 1, 3], want [1, 1, 1, 2]: one value for each window of input "
       "0 "
       "(X)"},
      {"AveragePoolGradient X Y G -> D kernel=2", "X f 1,1,2,3; Y f 1,1,1,2; G f 2",
       "input 2 (dY) has shape [2], want [1, 1, 1, 2]: one value for each window of input 0 (X)"},
      {"MaxPoolWithIndex X -> Y I kernel=2 order=NHWC", "X f 1,2,2,1",
       "argument order is NHWC, want NCHW"},
      {"MaxPoolWithIndex X -> Y I kernel=2", "X i 1,1,2,2",
       "Unsupported type of tensor: input 0 (X) has elements of type int32, want float, "
       "float16"},
      {"MaxPoolWithIndexGradient X G I -> D kernel=2", "X f 1,1,2,3; G f 1,1,1,3; I i 1,1,1,2",
       "input 1 (dY) has shape [1, 1, 1, 3], want [1, 1, 1, 2]: one value for each window of input "
       "0 "
       "(X)"},
      {"MaxPoolWithIndexGradient X G I -> D kernel=2", "X f 1,1,2,3; G f 1,1,1,2; I i 2",
       "input 2 (Index) has shape [2], want [1, 1, 1, 2]: one value for each window of input 0 "
       "(X)"},
      {"MaxPoolWithIndexGradient X G I -> D kernel=2",
       "X f 1,1,2,3; G f 1,1,1,2; I i 1,1,1,2 = 0,6", "input 2 (Index) has value 6, want -1 to 5"},
      {"MaxPoolWithIndexGradient X G I -> D kernel=2",
       "X f 1,1,2,3; G f 1,1,1,2; I i 1,1,1,2 = 0,-2",
       "input 2 (Index) has value -2, want -1 to 5"},
      {"MaxUnpoolWithIndex X I -> Y height=2 width=2", "X f 1,2,2; I i 1,2,2",
       "input 0 (X) has rank 3, want 4"},
      {"MaxUnpoolWithIndex X I -> Y height=0 width=2", "X f 1,1,1,1; I i 1,1,1,1",
       "arguments height and width are 0 and 2, want at least 1"},
      {"MaxUnpoolWithIndex X I -> Y height=1 width=-1", "X f 1,1,1,1; I i 1,1,1,1",
       "arguments height and width are 1 and -1, want at least 1"},
      {"MaxUnpoolWithIndex X I -> Y height=65536 width=32768", "X f 1,1,1,1; I i 1,1,1,1",
       "a plane of 65536 x 32768 elements has more than 2147483647"},
      {"MaxUnpoolWithIndex X I -> Y width=2", "X f 1,1,1,1; I i 1,1,1,1",
       "argument \"height\" is required but missing"},
      {"MaxUnpoolWithIndex X I -> Y height=2", "X f 1,1,1,1; I i 1,1,1,1",
       "argument \"width\" is required but missing"},
      {"MaxUnpoolWithIndex X I -> Y height=1 width=3", "X f 1,1,1,1; I i 1,1,1,1 = 3",
       "input 1 (Index) has value 3, want -1 to 2"},
      {"MaxUnpoolWithIndex X I -> Y height=1 width=3", "X f 1,1,1,1; I i 1,1,1,1 = -2",
       "input 1 (Index) has value -2, want -1 to 2"},
  });
}

TEST(PoolCallsTest, KeepsWindowsNextToTheBounds) {
  ExpectResults({
      {"MaxPool X -> Y kernel=2 pad=1", "X f 1,1,1,1 = -3", "Y f 1,1,2,2 = -3"},
      {"MaxPool X -> Y kernels=2, strides=2, pads=1,0", "X f 1,2,3 = 1,2,3,6,5,4",
       "Y f 1,2,2 = 1,3,6,5"},
      {"MaxPool X -> Y kernels=2, order=NHWC", "X f 1,3,2 = 1,6,2,5,3,4", "Y f 1,2,2 = 2,6,3,5"},
      {"AveragePool X -> Y kernel=2 pad=1 stride=2", "X f 1,1,2,2 = 1,2,3,4",
       "Y f 1,1,2,2 = 1,2,3,4"},
      {"AveragePool X -> Y kernel=2 pad=1 stride=2 count_include_pad=1", "X f 1,1,2,2 = 4,8,12,16",
       "Y f 1,1,2,2 = 1,2,3,4"},
      {"AveragePool X -> Y global_pooling=1 order=NHWC", "X f 1,2,1,2 = 1,10,3,30",
       "Y f 1,1,1,2 = 2,20"},
      {"AveragePool X -> Y kernels=1,1,2", "X f 1,1,1,2,2 = 1,3,5,7", "Y f 1,1,1,2,1 = 2,6"},
      // SAME: two windows of two over three elements, of which the last has padding.
      {"AveragePool X -> Y kernels=2, strides=2, legacy_pad=2", "X f 1,1,3 = 1,3,9",
       "Y f 1,1,2 = 2,9"},
      {"MaxPool X -> Y kernels=2, strides=2, legacy_pad=1", "X f 1,1,3 = 1,3,9", "Y f 1,1,1 = 3"},
      {"MaxPool X -> Y kernels=2, strides=2, legacy_pad=3", "X f 1,1,3 = 1,3,9", "Y f 1,1,2 = 3,9"},
      {"MaxPool X -> Y kernels=1, pads=-1,0", "X f 1,1,3 = 9,1,2", "Y f 1,1,2 = 1,2"},
      // One window as long as the axis, which begins before it.
      {"MaxPool X -> Y kernels=3, pads=1,-1", "X f 1,1,3 = 1,2,9", "Y f 1,1,1 = 2"},
      {"AveragePool X -> Y kernels=3, pads=1,-1", "X f 1,1,3 = 1,2,9", "Y f 1,1,1 = 1.5"},
      {"AveragePool X -> Y kernels=3, pads=-1,1 order=NHWC count_include_pad=1",
       "X f 1,3,2 = 1,2,3,4,9,12", "Y f 1,1,2 = 4,5.333333"},
      {"MaxPoolGradient X Y G -> D kernels=3, pads=1,-1",
       "X f 1,1,3 = 1,2,9; Y f 1,1,1 = 2; G f 1,1,1 = 5", "D f 1,1,3 = 0,5,0"},
      {"AveragePoolGradient X Y G -> D kernels=3, pads=1,-1", "X f 1,1,3; Y f 1,1,1; G f 1,1,1 = 6",
       "D f 1,1,3 = 3,3,0"},
      {"MaxPoolWithIndex X -> Y I kernels=3, pads=1,-1", "X f 1,1,3 = 1,2,9",
       "Y f 1,1,1 = 2; I i 1,1,1 = 1"},
      {"LpPool X -> Y kernel_h=1 kernel_w=2", "X f 1,1,1,3 = 3,-4,0", "Y f 1,1,1,2 = 5,4"},
      {"LpPool X -> Y kernel_h=1 kernel_w=2 p=1.", "X f 1,1,1,3 = 3,-4,0", "Y f 1,1,1,2 = 7,4"},
      {"LpPool X -> Y kernel_h=1 kernel_w=2 p=3.", "X f 1,1,1,2 = 3,-4", "Y f 1,1,1,1 = 4.497942"},
      // y = 5: dy * x / y.
      {"LpPoolGradient X Y G -> D kernel_h=1 kernel_w=2",
       "X f 1,1,1,2 = 3,-4; Y f 1,1,1,1 = 5; G f 1,1,1,1 = 10", "D f 1,1,1,2 = 6,-8"},
      // p = 3: dy * x |x| / y^2 with y = 2.
      {"LpPoolGradient X Y G -> D kernel_h=1 kernel_w=2 p=3.",
       "X f 1,1,1,2 = 1,-2; Y f 1,1,1,1 = 2; G f 1,1,1,1 = 8", "D f 1,1,1,2 = 2,-8"},
      {"MaxPoolWithIndex X -> Y I kernels=2,", "X f 1,2,3 = 1,1,0,nan,nan,2",
       "Y f 1,2,2 = 1,1,-3.4028235e38,2; I i 1,2,2 = 0,1,-1,2"},
      {"MaxPoolWithIndexGradient X G I -> D kernels=2,",
       "X f 1,2,3; G f 1,2,2 = 1,10,100,1000; I i 1,2,2 = 1,1,-1,2", "D f 1,2,3 = 0,11,0,0,0,1000"},
      {"MaxUnpoolWithIndex X I -> Y height=1 width=3",
       "X f 1,2,1,2 = 5,6,7,8; I i 1,2,1,2 = 2,-1,0,1", "Y f 1,2,1,3 = 0,0,5,7,8,0"},
      {"MaxPoolGradient X Y G -> D kernels=2,",
       "X f 1,1,3 = 1,2,2; Y f 1,1,2 = 2; G f 1,1,2 = 10,100", "D f 1,1,3 = 0,110,100"},
      // More channels than one part of the work has.
      {"AveragePoolGradient X Y G -> D kernels=2, order=NHWC",
       "X f 1,2,131 = 1; Y f 1,1,131 = 1; G f 1,1,131 = 4", "D f 1,2,131 = 2"},
      {"AveragePoolGradient X Y G -> D kernel=2 order=NHWC",
       "X f 2,2,2,200 = 1; Y f 2,1,1,200 = 1; G f 2,1,1,200 = 4", "D f 2,2,2,200 = 1"},
      {"MaxPoolGradient X Y G -> D kernel=1 order=NHWC",
       "X f 2,2,1,130 = 1; Y f 2,2,1,130 = 1; G f 2,2,1,130 = 3", "D f 2,2,1,130 = 3"},
      {"AveragePoolGradient X Y G -> D kernels=2, pads=1,0",
       "X f 1,1,2; Y f 1,1,2; G f 1,1,2 = 10,100", "D f 1,1,2 = 60,50"},
  });
}

TEST(PoolCallsTest, InfersShapesAndTypes) {
  ExpectInferred({
      {"MaxPool X -> Y kernel=2 stride=2 order=NHWC", "X f 3,5,6,7", "float [3, 2, 3, 7]"},
      {"AveragePool X -> Y global_pooling=1", "X f 3,5,6", "float [3, 5, 1]"},
      {"MaxPoolWithIndex X -> Y I kernel=2", "X f 1,2,3,4",
       "float [1, 2, 2, 3]; int32 [1, 2, 2, 3]"},
      {"MaxPoolWithIndex X -> Y I kernel=2", "X f ?", "? ?; ? ?"},
      {"MaxPoolWithIndexGradient X G I -> D kernel=2", "X f 1,2,3,4", "float [1, 2, 3, 4]"},
      {"MaxUnpoolWithIndex X I -> Y height=5 width=6", "X f 1,2,3,4; I i 1,2,3,4",
       "float [1, 2, 5, 6]"},
      {"MaxPoolGradient X Y G -> D kernel=2", "X f 1,2,3,4", "float [1, 2, 3, 4]"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::pool_calls_test
