// The errors of layers whose arguments contradict each other or the shapes of their bottoms, one row for each.
#include <gtest/gtest.h>

#include <string>

#include "caffe2_core/import/caffe/caffe_import.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::layer_refusals_test {
namespace {

std::string Input(const std::string& name, const std::string& dims) {
  return "layer { name: '" + name + "' type: 'Input' top: '" + name +
         "' input_param { shape { dim: [" + dims + "] } } }\n";
}

// A layer "y" that reads input "x"; `more` may name further bottoms ("w" is a second input) and tops.
struct Refusal {
  const char* dims;  // of the input x
  const char* type;
  const char* more;
  const char* part;  // of the error
};

constexpr char kImage[] = "1, 4, 6, 6";
constexpr Refusal kRefusals[] = {
    // Slices, shapes and orders.
    {kImage, "Slice", "top: 'z' top: 'u' slice_param { slice_point: 1 }",
     "it has 1 slice points, want one less than its 3 tops"},
    {kImage, "Slice", "top: 'z' top: 'u' slice_param { slice_point: [2, 2] }",
     "slice point 2 is not behind 2"},
    {kImage, "Slice", "top: 'z' slice_param { slice_point: 4 }",
     "slice point 4 is not within axis 1 of size 4"},
    {kImage, "Concat", "bottom: 'w' concat_param { axis: 4 }",
     "axis 4 is out of range for a blob of 4 axes"},
    {kImage, "Concat", "bottom: 'w' concat_param { axis: -5 }",
     "axis -5 is out of range for a blob of 4 axes"},
    {kImage, "Reshape", "reshape_param { axis: 2 num_axes: 3 shape { dim: 36 } }",
     "axis 2 and num_axes 3 go beyond its bottom, which has 4 axes"},
    {kImage, "Reshape", "reshape_param { axis: 3 num_axes: 1 shape { dim: [6, 0] } }",
     "dim 1 of its shape is 0, but there is no axis to copy"},
    {kImage, "Reshape",
     "reshape_param { shape { dim: "
     "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,144] } }",
     "its shape has 33 axes, want at most 32"},
    {kImage, "Permute", "permute_param { order: [0, 4] }",
     "order has axis 4, want each of 0 to 3 at most once"},
    {kImage, "Permute", "permute_param { order: [0, 2, 2] }",
     "order has axis 2, want each of 0 to 3 at most once"},
    {kImage, "Permute", "permute_param { order: [-1] }", "order has axis -1"},
    {"1, 1, 2", "Squeeze", "squeeze_param { }", "squeeze_param wants axis"},
    {"1, 1, 2", "Squeeze", "squeeze_param { axis: 3 }",
     "axis 3 is out of range for a blob of 3 axes"},
    {kImage, "Crop", "bottom: 'v'", "its bottoms have 4 and 3 axes, want the same number"},
    {kImage, "Crop", "bottom: 'w' crop_param { offset: [0, 0, 0] }",
     "it has 3 offsets, want 1 or 2"},
    {kImage, "Crop", "bottom: 'w' crop_param { offset: 4 }",
     "offset 4 and size 3 go beyond axis 2 of size 6"},
    {kImage, "Crop", "bottom: 'w' crop_param { offset: -1 }",
     "offset -1 and size 3 go beyond axis 2 of size 6"},
    {"1, 4, 6", "Reorg", "", "axes of its bottom: got 3, want 4"},
    {kImage, "Reorg", "reorg_param { stride: 3 }",
     "stride is 3, and 4 channels are not a multiple of its square"},
    {kImage, "Reorg", "reorg_param { stride: 0 }", "stride is 0, and 4 channels"},
    {"1, 4, 5, 6", "Reorg", "reorg_param { stride: 2 }", "stride 2 does not divide the size 5 x 6"},
    {kImage, "Flatten", "flatten_param { axis: 3 end_axis: 1 }", "axis 3 is behind end_axis 1"},
    // Reductions and selections.
    {kImage, "Softmax", "softmax_param { axis: 4 }", "axis 4 is out of range for a blob of 4 axes"},
    {kImage, "ArgMax", "argmax_param { top_k: 0 }", "top_k is 0, want at least 1"},
    {kImage, "Tile", "tile_param { }", "tiles is 0, want at least 1"},
    {kImage, "Tile", "tile_param { tiles: -1 }", "tiles is -1, want at least 1"},
    {"3", "Embed", "embed_param { num_output: 2 }",
     "num_output is 2 and input_dim 0, want at least 1"},
    {"3", "Embed", "embed_param { input_dim: 2 }",
     "num_output is 0 and input_dim 2, want at least 1"},
    // Sizes.
    {kImage, "Interp", "interp_param { shrink_factor: 0 }",
     "shrink_factor is 0 and zoom_factor 1, want at least 1"},
    {kImage, "Interp", "interp_param { zoom_factor: -2 }",
     "shrink_factor is 1 and zoom_factor -2, want at least 1"},
    {kImage, "Interp", "interp_param { height: 3 }", "interp_param wants a width or a factor"},
    {kImage, "Interp", "interp_param { height: 0 width: 3 }",
     "it resizes 6 to 0 pixels, want at least 1"},
    {kImage, "Interp", "interp_param { pad_beg: 1 zoom_factor: 2 }",
     "pad_beg is 1 and pad_end 0, want at most 0: they crop"},
    {kImage, "Interp", "interp_param { pad_end: 2 zoom_factor: 2 }",
     "pad_beg is 0 and pad_end 2, want at most 0"},
    {"1, 4, 6", "Interp", "interp_param { zoom_factor: 2 }", "axes of its bottom: got 3, want 4"},
    {kImage, "Upsample", "upsample_param { scale: 0 }", "scale is 0, want at least 1"},
    {kImage, "Upsample", "upsample_param { scale_w: 0 }", "scale is 2, want at least 1"},
    {"1, 4, 6", "Upsample", "bottom: 'v'", "axes of its bottom: got 3, want 4"},
    // Windows.
    {"1, 4, 6", "Convolution", "convolution_param { num_output: 2 kernel_h: 3 kernel_w: 3 }",
     "kernel_h and kernel_w are for two axes, the layer has 1"},
    {kImage, "Convolution", "convolution_param { num_output: 2 kernel_size: [3, 3, 3] }",
     "field kernel_size has 3 values, want 1 or 2"},
    {kImage, "Convolution", "convolution_param { num_output: 2 kernel_size: 3 stride: 0 }",
     "stride 0, pad 0, dilation 1: want at least 1, 0 and 1"},
    {kImage, "Convolution", "convolution_param { num_output: 2 kernel_size: 3 pad: -1 }",
     "stride 1, pad -1"},
    {kImage, "Convolution", "convolution_param { num_output: 2 kernel_size: 3 dilation: 0 }",
     "dilation 0"},
    {kImage, "Convolution", "convolution_param { num_output: 2 kernel_size: 0 }",
     "the kernel size is 0, want at least 1"},
    {"4, 6", "Convolution", "convolution_param { num_output: 2 kernel_size: 3 }",
     "its bottom has 2 axes, want 3 to 5"},
    {kImage, "Convolution", "convolution_param { num_output: 2 kernel_size: 3 axis: 2 }",
     "axis is 2, want 1"},
    {kImage, "Convolution", "convolution_param { num_output: 3 group: 3 kernel_size: 3 }",
     "its bottom has 4 channels, want a multiple of the group 3"},
    {kImage, "Convolution", "convolution_param { num_output: 3 group: 2 kernel_size: 3 }",
     "num_output is 3 and group 2: want a multiple of the group"},
    {kImage, "InnerProduct", "inner_product_param { }", "num_output is 0, want at least 1"},
    {kImage, "Pooling", "pooling_param { pool: STOCHASTIC kernel_size: 2 }",
     "stochastic pooling is not supported, want MAX or AVE"},
    {kImage, "Pooling", "top: 'z' pooling_param { global_pooling: true }",
     "global pooling has 2 tops, want 1"},
    {kImage, "Pooling", "pooling_param { kernel_size: 2 dilation: 2 }",
     "pooling with dilation is not supported"},
    {"1, 4, 6", "Pooling", "pooling_param { kernel_size: 2 }", "axes of its bottom: got 3, want 4"},
    {kImage, "Pooling", "pooling_param { kernel_size: 8 }",
     "the kernel of axis 2 is 8, want at most its size"},
    {kImage, "Pooling", "pooling_param { kernel_size: 1 stride: 3 }",
     "the last window of axis 2 lies outside its bottom of size 6"},
    {kImage, "SPP", "spp_param { pool: STOCHASTIC pyramid_height: 2 }",
     "stochastic pooling is not supported"},
    {kImage, "SPP", "spp_param { }", "pyramid_height is 0, want 1 to 16"},
    {"1, 4, 6", "SPP", "spp_param { pyramid_height: 2 }", "axes of its bottom: got 3, want 4"},
    // Elements.
    {kImage, "Clip", "clip_param { min: 1 }", "clip_param wants min and max"},
    {"3", "PReLU", "", "its bottom has 1 axes, want at least 2"},
    {kImage, "Exp", "exp_param { base: 0 }", "base is 0, want more than 0, or -1 for e"},
    {kImage, "Log", "log_param { base: 1 }", "base is 1, want another"},
    {kImage, "Log", "log_param { base: -2 }", "base is -2, want more than 0, or -1 for e"},
    {kImage, "Eltwise", "", "it has 1 bottom, want at least 2"},
    {kImage, "Eltwise", "bottom: 'x' eltwise_param { coeff: 2 }",
     "it has 1 coefficients, want one for each of its 2 bottoms"},
    {kImage, "Eltwise", "bottom: 'x' eltwise_param { coeff: [1, 2, 3] }",
     "it has 3 coefficients, want one for each of its 2 bottoms"},
    {kImage, "LRN", "lrn_param { local_size: 4 }", "local_size is 4, want an odd number"},
    {kImage, "LRN", "lrn_param { local_size: 0 }", "local_size is 0, want an odd number"},
    {kImage, "Scale", "scale_param { axis: 2 num_axes: 3 }",
     "axis 2 and num_axes 3 go beyond its bottom, which has 4 axes"},
    {kImage, "Bias", "bias_param { axis: 2 num_axes: 3 }",
     "axis 2 and num_axes 3 go beyond its bottom, which has 4 axes"},
};

TEST(CaffeLayerRefusalsTest, NameWhatDoesNotFit) {
  for (const Refusal& row : kRefusals) {
    SCOPED_TRACE(std::string(row.type) + " " + row.more + " of [" + row.dims + "]");
    ExpectThrows(
        [&] {
          (void)ImportCaffeFromMemory(Input("x", row.dims) + Input("w", "1, 4, 3, 3") +
                                          Input("v", "1, 4, 3") + "layer { name: 'y' type: '" +
                                          row.type + "' bottom: 'x' top: 'y' " + row.more + " }",
                                      "", {});
        },
        row.part);
  }
}

TEST(CaffeLayerRefusalsTest, NameWhatDoesNotFitOfInputs) {
  const std::string y = " layer { name: 'y' type: 'ReLU' bottom: 'x' top: 'y' }";
  std::string many = "1";
  for (int i = 0; i < 32; ++i) many += ", 1";
  const struct {
    std::string net;
    const char* part;
  } rows[] = {
      {"layer { type: 'DummyData' top: 'x' dummy_data_param { num: 1 channels: 2 height: 3 } }",
       "dummy_data_param wants width"},
      {Input("x", many), "input \"x\" has 33 axes, want at most 32"},
      {Input("x", "2, 0"), "input \"x\" has a dimension of 0, want at least 1"},
      {"input: 'x' input_dim: [1, 2, 3]",
       "the net has 1 input and 3 values of input_dim, want four for each input"},
      {"input: 'x' input: 'z' input_shape { dim: 1 }",
       "the net has 2 inputs and 1 of input_shape, want one for each input"},
      {"layer: 3", "field layer is \"3\", want a message in braces"},
      {Input("x", "1") + "layer { name: 'p' type: 'ReLU' bottom: 'x' top: 'p' } " + Input("x", "2"),
       "two inputs have the name \"x\""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.net);
    ExpectThrows([&] { (void)ImportCaffeFromMemory(row.net + y, "", {}); }, row.part);
  }
}

}  // namespace
}  // namespace caffe2rt::test::layer_refusals_test
