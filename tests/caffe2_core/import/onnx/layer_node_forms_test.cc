// The operators that layers, reductions and random nodes become, with all of their arguments:
// defaults are those of ONNX's definitions.
#include <gtest/gtest.h>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"

namespace caffe2rt::test::layer_node_forms_test {
namespace {

using namespace node_forms;  // used throughout this file

TEST(LayerNodeFormsTest, Images) {
  const std::map<std::string, std::vector<std::string>> grid = {{"x", {"1", "1", "4", "4"}},
                                                                {"g", {"1", "2", "2", "2"}}};
  const std::map<std::string, std::vector<std::string>> boxes = {
      {"x", {"1", "1", "4", "4"}}, {"r", {"2", "4"}}, {"i", {"2"}}};
  const std::string aligned =
      "ONNXRoiAlign(x, r, i) mode=avg output_height=1 output_width=1 "
      "sampling_ratio=0 spatial_scale=1 coordinate_transformation_mode=";
  Check({{Node("GridSample", "xg"),
          "GridSample(x, g) mode=linear padding_mode=zeros "
          "align_corners=0 -> y\n",
          grid, 20},
         {Node("GridSample", "xg",
               Text("mode", "nearest") + Text("padding_mode", "border") + Int("align_corners", 1)),
          "GridSample(x, g) mode=nearest padding_mode=border align_corners=1 -> y\n", grid, 20},
         {Node("RoiAlign", "xri"), aligned + "half_pixel -> y\n", boxes, 16},
         {Node("RoiAlign", "xri"), aligned + "output_half_pixel -> y\n", boxes, 15},
         {Node("RoiAlign", "xri",
               Text("mode", "max") + Int("output_height", 2) + Int("output_width", 3) +
                   Int("sampling_ratio", 4) + Float("spatial_scale", 0.5f)),
          "ONNXRoiAlign(x, r, i) mode=max output_height=2 output_width=3 sampling_ratio=4 "
          "spatial_scale=0.5 coordinate_transformation_mode=half_pixel -> y\n",
          boxes, 16},
         {Node("MaxRoiPool", "xr", Ints("pooled_shape", {2, 3})),
          "RoIPool(x, r) is_test=1 pooled_h=2 pooled_w=3 spatial_scale=1 -> y\n",
          {{"x", {"1", "1", "4", "4"}}, {"r", {"2", "5"}}}},
         {Node("MaxRoiPool", "xr", Ints("pooled_shape", {2, 3}) + Float("spatial_scale", 0.5f)),
          "RoIPool(x, r) is_test=1 pooled_h=2 pooled_w=3 spatial_scale=0.5 -> y\n",
          {{"x", {"1", "1", "4", "4"}}, {"r", {"2", "5"}}}},
         {List("s", {1, 1, 8, 18}) + Node("Resize", "x--s",
                                          Text("nearest_mode", "floor") +
                                              Text("coordinate_transformation_mode", "asymmetric")),
          "ResizeNearest(x) height_scale=2 width_scale=3 -> y\n",
          {{"x", {"1", "1", "4", "6"}}}},
         {List("s", {1, 1, 8, 18}) + Node("Resize", "x--s", Text("nearest_mode", "ceil")),
          "Resize(x) nearest_mode=ceil sizes=[1,1,8,18] -> y\n",
          {{"x", {"1", "1", "4", "6"}}}},
         {List("s", {8, 18}) +
              Node("Resize", "x--s",
                   Text("mode", "cubic") + Int("antialias", 1) + Int("exclude_outside", 1) +
                       Float("cubic_coeff_a", -0.5f) + Float("extrapolation_value", 2) +
                       Ints("axes", {2, 3}) + Text("keep_aspect_ratio_policy", "not_larger")),
          "Resize(x) mode=cubic keep_aspect_ratio_policy=not_larger antialias=1 exclude_outside=1 "
          "cubic_coeff_a=-0.5 extrapolation_value=2 axes=[2,3] sizes=[8,18] -> y\n",
          {{"x", {"1", "1", "4", "6"}}}}});
}

TEST(LayerNodeFormsTest, Windows) {
  std::map<std::string, std::vector<std::string>> conv = kImage;
  conv["w"] = {"2", "3", "2", "2"};
  std::map<std::string, std::vector<std::string>> transposed = kImage;
  transposed["w"] = {"3", "1", "2", "2"};
  const std::string two = Ints("kernel_shape", {2, 2}), three = Ints("kernel_shape", {3, 3});
  Check(
      {{Node("Conv", "xw"),
        "Conv(x, w) kernels=[2,2] strides=[1,1] pads=[0,0,0,0] "
        "dilations=[1,1] group=1 -> y\n",
        conv},
       {Node("Conv", "xw",
             Ints("strides", {2, 1}) + Ints("pads", {0, 1, 2, 3}) + Ints("dilations", {1, 2}) +
                 Int("group", 1)),
        "Conv(x, w) kernels=[2,2] strides=[2,1] pads=[0,1,2,3] dilations=[1,2] group=1 -> y\n",
        conv},
       // 4 rows: windows of 2 at a distance of 2 need no pad; 6 columns: (6 - 1) + 3 - 6 = 2.
       {Node("Conv", "xw",
             Text("auto_pad", "SAME_UPPER") + Ints("strides", {2, 1}) + Ints("dilations", {1, 2})),
        "Conv(x, w) kernels=[2,2] strides=[2,1] pads=[0,1,0,1] dilations=[1,2] group=1 -> y\n",
        conv},
       {Node("Conv", "xw", Text("auto_pad", "VALID")),
        "Conv(x, w) kernels=[2,2] strides=[1,1] pads=[0,0,0,0] dilations=[1,1] group=1 -> y\n",
        conv},
       {Node("ConvTranspose", "xw",
             Ints("strides", {2, 3}) + Ints("output_padding", {1, 2}) + Int("group", 3)),
        "ConvTranspose(x, w) kernels=[2,2] strides=[2,3] pads=[0,0,0,0] adjs=[1,2] group=3 -> y\n",
        transposed},
       {Node("MaxPool", "x", two), "MaxPool(x) kernels=[2,2] strides=[1,1] pads=[0,0,0,0] -> y\n",
        kImage},
       {Node("MaxPool", "x", two + Ints("pads", {1, 1, 0, 0})),
        "MaxPool(x) kernels=[2,2] strides=[1,1] pads=[1,1,0,0] -> y\n", kImage},
       // A pad as large as the kernel, or a negative one.
       {Node("MaxPool", "x", two + Ints("pads", {2, 0, 0, 0})),
        "ONNXMaxPool(x) kernel_shape=[2,2] pads=[2,0,0,0] -> y\n", kImage},
       {Node("MaxPool", "x", two + Ints("pads", {0, 0, 0, -1})),
        "ONNXMaxPool(x) kernel_shape=[2,2] pads=[0,0,0,-1] -> y\n", kImage},
       {Node("MaxPool", "x", two + Text("auto_pad", "SAME_UPPER")),
        "ONNXMaxPool(x) auto_pad=SAME_UPPER kernel_shape=[2,2] -> y\n", kImage},
       {Node("AveragePool", "x", three),
        "AveragePool(x) kernels=[3,3] strides=[1,1] pads=[0,0,0,0] count_include_pad=0 -> y\n",
        kImage},
       {Node("AveragePool", "x", three + Int("count_include_pad", 1) + Ints("pads", {1, 1, 1, 1})),
        "AveragePool(x) kernels=[3,3] strides=[1,1] pads=[1,1,1,1] count_include_pad=1 -> y\n",
        kImage},
       {Node("LpPool", "x", three),
        "LpPool(x) kernels=[3,3] strides=[1,1] pads=[0,0,0,0] p=2 -> y\n", kImage},
       {Node("LpPool", "x", three + Int("p", 1)),
        "LpPool(x) kernels=[3,3] strides=[1,1] pads=[0,0,0,0] p=1 -> y\n", kImage},
       {Node("GlobalAveragePool"), "AveragePool(x) global_pooling=1 -> y\n", kImage},
       {Node("GlobalMaxPool"), "MaxPool(x) global_pooling=1 -> y\n", kImage},
       {Node("GlobalLpPool"), "ReduceL2(x) axes=[2,3] keepdims=1 -> y\n", kImage},
       {Node("GlobalLpPool", "x", Int("p", 1)), "ReduceL1(x) axes=[2,3] keepdims=1 -> y\n",
        kImage}});
}

TEST(LayerNodeFormsTest, ProductsAndNormalizations) {
  const std::map<std::string, std::vector<std::string>> two = {{"x", {"2", "3"}},
                                                               {"b", {"3", "2"}}};
  std::map<std::string, std::vector<std::string>> three = two;
  three["d"] = {"2"};
  std::map<std::string, std::vector<std::string>> norm = kImage;
  norm["s"] = norm["b"] = {"3"};
  std::map<std::string, std::vector<std::string>> statistics = norm;
  statistics["m"] = statistics["v"] = {"3"};
  Check(
      {{Node("MatMul", "xb"), "BatchMatMul(x, b) broadcast=1 broadcast_gradient=1 -> y\n", two},
       {Node("Gemm", "xb"), "MatMul(x, b) trans_a=0 trans_b=0 -> %1\nCopy(%1) -> y\n", two},
       {Node("Gemm", "xbd", Float("alpha", 2) + Float("beta", 3) + Int("transB", 0)),
        "MatMul(x, b) trans_a=0 trans_b=0 -> %1\nMul(%1, 2) -> %2\nMul(d, 3) -> %3\n"
        "Add(%2, %3) -> y\n",
        three},
       {Node("Gemm", "xbd", Int("transB", 1)),
        "FC(x, b, d) -> y\n",
        {{"x", {"2", "3"}}, {"b", {"4", "3"}}, {"d", {"4"}}}},
       {Node("Gemm", "xbd", Int("transB", 1)),
        "MatMul(x, b) trans_a=0 trans_b=1 -> %1\nAdd(%1, d) -> y\n",
        {{"x", {"2", "3"}}, {"b", {"4", "3"}}, {"d", {"1"}}}},
       {Node("LRN", "x", Int("size", 3)), "LRN(x) size=3 alpha=0.0001 beta=0.75 bias=1 -> y, %1\n",
        kImage},
       {Node("LRN", "x", Int("size", 3) + Float("alpha", 2) + Float("beta", 3) + Float("bias", 4)),
        "LRN(x) size=3 alpha=2 beta=3 bias=4 -> y, %1\n", kImage},
       {Node("LpNormalization"), "Normalize(x) axis=-1 -> y\n"},
       {Node("LpNormalization", "x", Int("p", 1) + Int("axis", 0)), "NormalizeL1(x) axis=0 -> y\n"},
       {Node("BatchNormalization", "xsbmv"),
        "SpatialBN(x, s, b, m, v) is_test=1 epsilon=1e-05 -> y\n", statistics},
       {Node("BatchNormalization", "xsbmv", Float("epsilon", 0.5f)),
        "SpatialBN(x, s, b, m, v) is_test=1 epsilon=0.5 -> y\n", statistics},
       {Node("InstanceNormalization", "xsb"), "InstanceNorm(x, s, b) epsilon=1e-05 -> y\n", norm},
       {Node("GroupNormalization", "xsb", Int("num_groups", 3)),
        "GroupNorm(x, s, b) group=3 epsilon=1e-05 -> y, %1, %2\n", norm, 21},
       {Node("LayerNormalization", "xsb"),
        "LayerNorm(x, s, b) axis=-1 epsilon=1e-05 elementwise_affine=1 -> y, %1, %2\n",
        {{"x", {"2", "3"}}, {"s", {"3"}}, {"b", {"3"}}}},
       {Node("LayerNormalization", "xs", Int("axis", 1) + Float("epsilon", 0.5f)),
        "Sub(s, s) -> %1\nLayerNorm(x, s, %1) axis=1 epsilon=0.5 elementwise_affine=1 -> y, %2, "
        "%3\n",
        {{"x", {"2", "3"}}, {"s", {"3"}}}},
       {Node("Softmax"), "Softmax(x) axis=-1 -> y\n"},
       {Node("Softmax", "x", Int("axis", 1)), "Softmax(x) axis=-1 -> y\n"},
       {Node("Softmax", "x", Int("axis", 0)),
        "Transpose(x) axes=[1,0] -> %1\nSoftmax(%1) axis=-1 -> %2\nTranspose(%2) axes=[1,0] -> "
        "y\n"},
       {Node("Softmax"), "Softmax(x) axis=1 -> y\n", {{"x", {"2", "3", "4"}}}, 12},
       {Node("Softmax", "x", Int("axis", 0)), "Softmax(x) axis=0 -> y\n", {{"x", {"2", "3"}}}, 12},
       {Node("LogSoftmax"),
        "ReduceMax(x) axes=[-1] -> %1\nSub(x, %1) -> %2\nExp(%2) -> %3\nReduceSum(%3) axes=[-1] -> "
        "%4\n"
        "Log(%4) -> %5\nSub(%2, %5) -> y\n"},
       {Node("LogSoftmax"),
        "ReduceMax(x) axes=[1,2] -> %1\nSub(x, %1) -> %2\nExp(%2) -> %3\n"
        "ReduceSum(%3) axes=[1,2] -> %4\nLog(%4) -> %5\nSub(%2, %5) -> y\n",
        {{"x", {"2", "3", "4"}}},
        12}});
}

TEST(LayerNodeFormsTest, Reductions) {
  const std::string axes = List("a", {0, -1});
  for (const std::string type : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
                                 "ReduceMean", "ReduceProd", "ReduceSum", "ReduceSumSquare"}) {
    Check(
        {{Node(type), type + "(x) keepdims=1 -> y\n"},
         {axes + Node(type, "xa", Int("keepdims", 0)), type + "(x) keepdims=0 axes=[0,-1] -> y\n"},
         {Node(type, "x", Int("noop_with_empty_axes", 1)),
          type + "(x) keepdims=1 noop_with_empty_axes=1 -> y\n"}});
  }
  Check(
      {{Node("ReduceMax"), "ReduceMax(x) infinite_if_empty=1 keepdims=1 -> y\n"},
       {Node("ReduceMin"), "ReduceMin(x) infinite_if_empty=1 keepdims=1 -> y\n"},
       {Node("ReduceSum"),
        "Cast(x) to=2 -> %1\nReduceSum(%1) keepdims=1 noop_with_empty_axes=0 -> %2\n"
        "Cast(%2) to=6 -> y\n",
        {{"x", {"2"}}},
        18,
        kUint8},
       {Node("ReduceMax"),
        "ReduceMax(x) infinite_if_empty=1 keepdims=1 noop_with_empty_axes=0 -> y\n",
        {{"x", {"2"}}},
        20,
        kUint8},
       {Node("ReduceSum", "xi"), "ReduceSum(x, i) keepdims=1 -> y\n", {{"x", {"2"}}, {"i", {"1"}}}},
       {Node("ArgMax"), "ArgMax(x) axis=0 keepdims=1 -> y\n"},
       {Node("ArgMin", "x", Int("axis", -1) + Int("keepdims", 0)),
        "ArgMin(x) axis=1 keepdims=0 -> y\n"},
       {Node("ArgMin", "x", Int("select_last_index", 1)),
        "ONNXArgMin(x) select_last_index=1 -> y\n"},
       {List("a", {1}, true) + Node("CumSum", "xa", Int("exclusive", 1) + Int("reverse", 1)),
        "CumSum(x, a) exclusive=1 reverse=1 -> y\n"}});
}

TEST(LayerNodeFormsTest, RandomNumbers) {
  const std::string shape = Ints("shape", {2, 3});
  Check({{Node("RandomNormal", "", shape),
          "GaussianFill() mean=0 std=1 shape=[2,3] -> %1\nCopy(%1) -> y\n",
          {}},
         {Node("RandomNormal", "", shape + Float("mean", 2) + Float("scale", 3)),
          "GaussianFill() mean=2 std=3 shape=[2,3] -> %1\nCopy(%1) -> y\n",
          {}},
         {Node("RandomUniform", "", shape),
          "UniformFill() min=0 max=1 shape=[2,3] -> %1\nCopy(%1) -> y\n",
          {}},
         {Node("RandomUniform", "", shape + Float("low", 2) + Float("high", 3)),
          "UniformFill() min=2 max=3 shape=[2,3] -> %1\nCopy(%1) -> y\n",
          {}},
         {Node("RandomNormalLike"), "GaussianFill(x) mean=0 std=1 -> %1\nCopy(%1) -> y\n"},
         {Node("RandomUniformLike"), "UniformFill(x) min=0 max=1 -> %1\nCopy(%1) -> y\n"},
         {Node("Bernoulli"),
          "UniformFill(x) -> %1\nLT(%1, x) -> %2\nCast(%2) to=1 -> %3\nCopy(%3) -> y\n"}});
  const OnnxModel seeded = ImportOnnxFromMemory(
      OnnxBytes(Node("RandomNormal", "", shape + Float("seed", 1)) + "output { name: 'y' }"), {});
  ASSERT_EQ(seeded.notes.size(), 1u);
  EXPECT_EQ(seeded.notes[0], "node \"n\": its seed has no effect: --seed sets that of the model");
}

TEST(LayerNodeFormsTest, OperatorsOfTheSameName) {
  const std::map<std::string, std::vector<std::string>> recurrent = {
      {"x", {"5", "1", "3"}}, {"w", {"1", "8", "3"}}, {"r", {"1", "8", "2"}}};
  Check({{Node("LSTM", "xwr", Int("hidden_size", 2) + Int("output_sequence", 1)),
          "LSTM(x, w, r) hidden_size=2 -> y\n", recurrent, 1},
         {Node("LSTM", "xwr---s", Int("hidden_size", 2)),
          "LSTM(x, w, r, s) hidden_size=2 omitted_inputs=[3,4,5] -> y\n",
          {{"x", {"5", "1", "3"}},
           {"w", {"1", "8", "3"}},
           {"r", {"1", "8", "2"}},
           {"s", {"1", "1", "2"}}}},
         {Node("Det"), "Det(x) -> y\n", {{"x", {"2", "2"}}}},
         // Numbers of element types are those of Caffe2.
         {List("n", {4}, true) +
              Node("HannWindow", "n", Int("output_datatype", 11) + Int("periodic", 0)),
          "HannWindow(n) output_datatype=13 periodic=0 -> y\n",
          {},
          17}});
}

}  // namespace
}  // namespace caffe2rt::test::layer_node_forms_test
