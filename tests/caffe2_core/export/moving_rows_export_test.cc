// The nodes of windows, moved elements, fills and reductions: by ONNX's definitions of them.
#include <gtest/gtest.h>

#include <utility>

#include "tests/caffe2_core/export/exported_graph.h"
#include "tests/caffe2_core/export/operator_text.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::moving_rows_export_test {
namespace {

using namespace operator_text;  // used throughout this file

const std::string kNhwc = S("order", "NHWC");

struct Row {
  ExportedNet net;
  const char* graph;
};
void ExpectGraphs(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.net.net);
    try {
      EXPECT_EQ(GraphText(Export(row.net)), row.graph);
    } catch (const EnforceNotMet& error) {
      ADD_FAILURE() << error.message();
    }
  }
}

constexpr auto kInt32 = TensorProto::INT32, kInt64 = TensorProto::INT64;
const ExportedInput kImage = {{1, 3, 6, 6}}, kLast = {{1, 6, 6, 3}}, kList = {{2}, kInt64};

TEST(MovingRowsExportTest, Convolutions) {
  ExpectGraphs({
      {{Op("Conv1D", I("kernel", 3), "x w"),
        {{"x", {{1, 2, 8}}}},
        {{"w", FloatWeight({3, 2, 3})}},
        {}},
       "y = Conv(x, w) kernel_shape=[3] strides=[1] pads=[0,0] dilations=[1] group=1\n"},
      {{Op("Conv2D",
           I("kernel_h", 3) + I("kernel_w", 2) + I("stride_h", 2) + I("stride_w", 1) +
               I("dilation", 2),
           "x w"),
        {{"x", kImage}},
        {{"w", FloatWeight({4, 3, 3, 2})}},
        {}},
       "y = Conv(x, w) kernel_shape=[3,2] strides=[2,1] pads=[0,0,0,0] dilations=[2,2] group=1\n"},
      {{Op("Conv3D", L("kernels", {1, 2, 3}) + L("pads", {0, 1, 2, 3, 4, 5}), "x w"),
        {{"x", {{1, 1, 4, 4, 4}}}},
        {{"w", FloatWeight({2, 1, 1, 2, 3})}},
        {}},
       "y = Conv(x, w) kernel_shape=[1,2,3] strides=[1,1,1] pads=[0,1,2,3,4,5] dilations=[1,1,1] "
       "group=1\n"},
      {{Op("ConvTranspose",
           I("kernel", 2) + I("stride", 2) + I("pad", 1) + I("adj_h", 1) + I("adj_w", 0) +
               I("group", 3),
           "x w"),
        {{"x", kImage}},
        {{"w", FloatWeight({3, 4, 2, 2})}}},
       "y = ConvTranspose(x, w) kernel_shape=[2,2] strides=[2,2] pads=[1,1,1,1] group=3 "
       "output_padding=[1,0]\n"},
      {{Op("ConvTranspose", kNhwc + I("kernel", 2) + L("adjs", {0, 0}), "x w"),
        {{"x", kLast}},
        {{"w", FloatWeight({3, 2, 2, 4})}}},
       "y_Transpose = Transpose(w) perm=[0,3,1,2]\ny_Transpose_1 = Transpose(x) perm=[0,3,1,2]\n"
       "y_ConvTranspose = ConvTranspose(y_Transpose_1, y_Transpose) kernel_shape=[2,2] "
       "strides=[1,1] pads=[0,0,0,0] group=1 output_padding=[0,0]\n"
       "y = Transpose(y_ConvTranspose) perm=[0,2,3,1]\n"},
  });
}

TEST(MovingRowsExportTest, Pools) {
  for (const std::string type : {"MaxPool", "AveragePool"}) {
    const std::string more = type == "MaxPool" ? "" : " count_include_pad=0";
    const std::pair<const char*, ExportedInput> kinds[] = {
        {"1D", {{1, 3, 6}}}, {"2D", kImage}, {"3D", {{1, 3, 6, 6, 6}}}};
    for (size_t i = 0; i < 3; ++i) {
      const char* const lists[] = {"kernel_shape=[2] strides=[1] pads=[0,0]",
                                   "kernel_shape=[2,2] strides=[1,1] pads=[0,0,0,0]",
                                   "kernel_shape=[2,2,2] strides=[1,1,1] pads=[0,0,0,0,0,0]"};
      EXPECT_EQ(GraphText(Export(
                    {Op(type + kinds[i].first, I("kernel", 2)), {{"x", kinds[i].second}}, {}, {}})),
                "y = " + type + "(x) " + lists[i] + more + "\n");
    }
  }
  ExpectGraphs({
      {{Op("MaxPool", kNhwc + I("global_pooling", 1)), {{"x", kLast}}},
       "y_Transpose = Transpose(x) perm=[0,3,1,2]\n"
       "y_GlobalMaxPool = GlobalMaxPool(y_Transpose)\n"
       "y = Transpose(y_GlobalMaxPool) perm=[0,2,3,1]\n"},
      {{Op("MaxPool", I("kernel", 2) + I("dilation", 2)), {{"x", kImage}}, {}, {}},
       "y = MaxPool(x) kernel_shape=[2,2] strides=[1,1] pads=[0,0,0,0] dilations=[2,2]\n"},
      {{Op("AveragePool",
           I("kernel", 2) + I("dilation", 2) + I("count_include_pad", 1) + I("pad", 1)),
        {{"x", kImage}},
        {},
        {},
        19},
       "y = AveragePool(x) kernel_shape=[2,2] strides=[1,1] pads=[1,1,1,1] dilations=[2,2] "
       "count_include_pad=1\n"},
      // Padding VALID: two windows of 3 at a distance of 2 leave one of 6 pixels.
      {{Op("MaxPool", I("kernel", 3) + I("stride", 2) + I("legacy_pad", 1)), {{"x", kImage}}},
       "y = MaxPool(x) kernel_shape=[3,3] strides=[2,2] pads=[0,0,0,0]\n"},
      // Rounded up in NHWC: the third of three windows of 3 begins at 4, and ends at 7.
      {{Op("MaxPool", kNhwc + I("kernel", 3) + I("stride", 2) + I("legacy_pad", 3)),
        {{"x", kLast}}},
       "y_Transpose = Transpose(x) perm=[0,3,1,2]\n"
       "y_MaxPool = MaxPool(y_Transpose) kernel_shape=[3,3] strides=[2,2] pads=[0,0,1,1]\n"
       "y = Transpose(y_MaxPool) perm=[0,2,3,1]\n"},
  });
}

TEST(MovingRowsExportTest, Images) {
  const ExportedNet boxes = {
      Op("RoIAlign",
         I("pooled_h", 2) + I("pooled_w", 3) + F("spatial_scale", 0.5f) + I("sampling_ratio", 4),
         "x r"),
      {{"x", {{1, 1, 6, 6}}}, {"r", {{2, 5}}}}};
  ExportedNet aligned = {Op("RoIAlign", I("aligned", 1), "x r"), boxes.inputs};
  ExportedNet older = aligned;
  older.net = Op("RoIAlign", "", "x r");
  older.opset = 15;
  ExpectGraphs({
      {{Op("PadImage", kNhwc + L("pads", {1, 2, 3, 4}) + S("mode", "edge")), {{"x", kLast}}},
       "y = Pad(x, [0, 1, 2, 0, 0, 3, 4, 0]) mode=edge\n"},
      {{Op("PadImage",
           I("pad_t", 1) + I("pad_l", 2) + I("pad_b", 3) + I("pad_r", 4) + F("value", 0.5f)),
        {{"x", kImage}}},
       "y = Pad(x, [0, 0, 1, 2, 0, 0, 3, 4], 0.5) mode=constant\n"},
      {{Op("PadImage", I("pad", 1)), {{"x", kImage}}},
       "y = Pad(x, [0, 0, 1, 1, 0, 0, 1, 1], 0) mode=constant\n"},
      {{Op("ResizeNearest", kNhwc + F("height_scale", 2) + F("width_scale", 3)), {{"x", kLast}}},
       "y = Resize(x, , [1, 2, 3, 1]) mode=nearest coordinate_transformation_mode=asymmetric "
       "nearest_mode=floor\n"},
      {{Op("UpsampleBilinear", F("height_scale", 2) + F("width_scale", 1.5f)),
        {{"x", {{1, 1, 2, 3}}}}},
       "y = Resize(x, , , [1, 1, 4, 4]) mode=linear "
       "coordinate_transformation_mode=align_corners\n"},
      {{Op("ChannelShuffle", kNhwc + I("group", 3)), {{"x", {{1, 4, 5, 6}}}}},
       "y_Reshape = Reshape(x, [-1, 3, 2])\ny_Transpose = Transpose(y_Reshape) perm=[0,2,1]\n"
       "y = Reshape(y_Transpose, [-1, 4, 5, 6])\n"},
      {boxes,
       "y_Slice = Slice(r, [1], [5], [1])\ny_Gather = Gather(r, 0) axis=1\n"
       "y_Cast = Cast(y_Gather) to=7\ny = RoiAlign(x, y_Slice, y_Cast) mode=avg spatial_scale=0.5 "
       "output_height=2 output_width=3 sampling_ratio=4 "
       "coordinate_transformation_mode=output_half_pixel\n"},
      {aligned,
       "y_Slice = Slice(r, [1], [5], [1])\ny_Gather = Gather(r, 0) axis=1\n"
       "y_Cast = Cast(y_Gather) to=7\ny = RoiAlign(x, y_Slice, y_Cast) mode=avg spatial_scale=1 "
       "output_height=1 output_width=1 sampling_ratio=0 "
       "coordinate_transformation_mode=half_pixel\n"},
      {older,
       "y_Slice = Slice(r, [1], [5], [1])\ny_Gather = Gather(r, 0) axis=1\n"
       "y_Cast = Cast(y_Gather) to=7\ny = RoiAlign(x, y_Slice, y_Cast) mode=avg spatial_scale=1 "
       "output_height=1 output_width=1 sampling_ratio=0\n"},
      {{Op("ResizeNearest", "", "x s"),
        {{"x", kImage}},
        {{"s",
          [] {
            Tensor scales = FloatWeight({2});  // 0, 1
            scales.mutable_data<float>()[0] = 4;
            return scales;
          }()}}},
       "y = Resize(x, , [1, 1, 4, 1]) mode=nearest coordinate_transformation_mode=asymmetric "
       "nearest_mode=floor\n"},
  });
}

TEST(MovingRowsExportTest, JoinedAndSplit) {
  const ExportedInput pair = {{2, 2}};
  ExpectGraphs({
      {{Op("Concat", I("axis", -1), "x b", "y s"),
        {{"x", {{4, 2}}}, {"b", {{4, 3}}}},
        {},
        {"y", "s"}},
       "s = Cast([2, 3]) to=6\ny = Concat(x, b) axis=1\n"},
      {{Op("Concat", I("axis", -1) + I("add_axis", 1), "x b", "y s"), {{"x", pair}, {"b", pair}}},
       "y_Unsqueeze = Unsqueeze(x, [2])\ny_Unsqueeze_1 = Unsqueeze(b, [2])\n"
       "y = Concat(y_Unsqueeze, y_Unsqueeze_1) axis=2\n"},
      {{Op("DepthConcat", "", "x b", "y s"), {{"x", kImage}, {"b", kImage}}},
       "y = Concat(x, b) axis=1\n"},
      {{Op("Split", I("axis", 0) + I("add_axis", 1), "x", "y z"), {{"x", pair}}, {}, {"y", "z"}},
       "y_part, z_part = Split(x, [1, 1]) axis=0\ny = Squeeze(y_part, [0])\n"
       "z = Squeeze(z_part, [0])\n"},
      {{Op("Split", kNhwc + L("split", {1, 2}), "x", "y z"), {{"x", kLast}}, {}, {"y", "z"}},
       "y, z = Split(x, [1, 2]) axis=3\n"},
      {{Op("Split", I("axis", -1), "x s", "y z"),
        {{"x", {{2, 6}}}},
        {{"s", IntWeight({1, 5})}},
        {"y", "z"}},
       "y, z = Split(x, [1, 5]) axis=1\n"},
      {{Op("Split", I("axis", 1), "x s", "y z"), {{"x", {{2, 6}}}, {"s", kList}}, {}, {}},
       "y, z = Split(x, s) axis=1\n"},
      {{Op("DepthSplit", L("split", {1, 2}), "x", "y z"), {{"x", kImage}}, {}, {"y", "z"}},
       "y, z = Split(x, [1, 2]) axis=1\n"},
  });
}

TEST(MovingRowsExportTest, ShapesAndPositions) {
  ExpectGraphs({
      {{Op("Slice", L("starts", {1, -2}) + L("ends", {-1, -1})), {{"x", {{4, 5}}}}, {}, {}},
       "y = Slice(x, [1, -1], [9223372036854775807, 9223372036854775807])\n"},
      {{Op("Reshape", L("shape", {0, -1}), "x", "y o"), {{"x", {{2, 3}}}}},
       "y = Reshape(x, [0, -1])\n"},
      {{Op("Reshape", "", "x s", "y o"), {{"x", {{2, 3}}}, {"s", {{1}, kInt32}}}, {}, {}},
       "y_Cast = Cast(s) to=7\ny = Reshape(x, y_Cast)\n"},
      {{Op("Reshape", "", "x s", "y o"), {{"x", {{2, 3}}}, {"s", kList}}, {}, {}},
       "y = Reshape(x, s)\n"},
      {{Op("Flatten", I("axis", 2)), {{"x", {{2, 3, 4}}}}}, "y = Flatten(x) axis=2\n"},
      {{Op("Flatten"), {{"x", {{2, 3, 4}}}}}, "y = Flatten(x) axis=1\n"},
      {{Op("FlattenToVec"), {{"x", {{2, 3, 4}}}}}, "y = Reshape(x, [-1])\n"},
      {{Op("Squeeze", L("dims", {2, 0, 2})), {{"x", {{1, 3, 1}}}}}, "y = Squeeze(x, [0, 2])\n"},
      {{Op("Transpose"), {{"x", {{2, 3}}}}}, "y = Transpose(x)\n"},
      {{Op("Transpose", L("axes", {1, 2, 0})), {{"x", {{2, 3, 4}}}}},
       "y = Transpose(x) perm=[1,2,0]\n"},
      {{Op("NHWC2NCHW"), {{"x", kLast}}}, "y = Transpose(x) perm=[0,3,1,2]\n"},
      {{Op("NCHW2NHWC"), {{"x", kImage}}}, "y = Transpose(x) perm=[0,2,3,1]\n"},
      {{Op("Tile", I("tiles", 2)), {{"x", {{4, 5}}}}, {}, {}}, "y = Tile(x, [2, 1])\n"},
      {{Op("Tile", "", "x t a"), {{"x", {{4, 5}}}}, {{"t", IntWeight({3})}, {"a", IntWeight({1})}}},
       "y = Tile(x, [1, 3])\n"},
      {{Op("Gather", "", "x i"), {{"x", {{4, 5}}}, {"i", kList}}}, "y = Gather(x, i) axis=0\n"},
      {{Op("Gather", I("axis", 1), "x i"), {{"x", {{4, 5}}}, {"i", kList}}},
       "y = Gather(x, i) axis=1\n"},
      {{Op("BatchGather", "", "x i"), {{"x", {{4, 5}}}, {"i", kList}}},
       "y = Gather(x, i) axis=1\n"},
      {{Op("Shape"), {{"x", {{4, 5}}}}}, "y = Shape(x)\n"},
      {{Op("Shape", I("start", 1) + I("end", -1)), {{"x", {{4, 5, 6}}}}},
       "y_Shape = Shape(x)\ny = Slice(y_Shape, [1], [-1])\n"},
      {{Op("Shape", I("end", 1)), {{"x", {{4, 5}}}}},
       "y_Shape = Shape(x)\ny = Slice(y_Shape, [0], [1])\n"},
      {{Op("Shape", I("start", -1)), {{"x", {{4, 5}}}}},
       "y_Shape = Shape(x)\ny = Slice(y_Shape, [-1], [9223372036854775807])\n"},
      {{Op("Size"), {{"x", {{4, 5}}}}}, "y = Size(x)\n"},
  });
}

TEST(MovingRowsExportTest, Fills) {
  const std::string shape = L("shape", {2, 3});
  ExpectGraphs({
      {{Op("ConstantFill", shape + I("dtype", kInt64) + I("value", 5), ""), {}},
       "y = Expand(5, [2, 3])\n"},
      {{Op("ConstantFill", shape + I("dtype", kInt32) + I("value", -7), ""), {}},
       "y = Expand(-7 (int32), [2, 3])\n"},
      {{Op("ConstantFill", shape + I("dtype", TensorProto::DOUBLE) + F("value", 2.5f), ""), {}},
       "y = Expand(2.5 (double), [2, 3])\n"},
      {{Op("ConstantFill", shape + I("dtype", TensorProto::BOOL) + I("value", 1), ""), {}},
       "y = Expand(1 (int32), [2, 3])\n"},
      {{Op("ConstantFill", shape, ""), {}}, "y = Expand(0, [2, 3])\n"},
      {{Op("ConstantFill", L("extra_shape", {7})), {{"x", {{2, 3}}}}},
       "y_Shape = Shape(x)\ny_Concat = Concat(y_Shape, [7]) axis=0\ny = Expand(0, y_Concat)\n"},
      {{Op("ConstantFill", F("value", 2.5f) + I("input_as_shape", 1)), {{"x", kList}}, {}, {}},
       "y = Expand(2.5, x)\n"},
      {{Op("GivenTensorFill", L("shape", {2}) + "arg { name: 'values' floats: 0.5 floats: 2 }", "",
           "g") +
            Op("Add", "", "x g"),
        {{"x", {{2}}}}},
       "y = Add(x, [0.5, 2])\n"},
      {{Op("GivenTensorInt64Fill", L("shape", {2}) + L("values", {3, -4}), "", "g") +
            Op("Gather", "", "x g"),
        {{"x", {{9}}}}},
       "y = Gather(x, [3, -4]) axis=0\n"},
      {{Op("GivenTensorIntFill", L("shape", {1}) + L("values", {3}), "", "g") +
            Op("Add", "", "x g"),
        {{"x", {{1}, kInt32}}}},
       "y = Add(x, 3 (int32))\n"},
      {{Op("GivenTensorBoolFill", L("shape", {1}) + L("values", {1}), "", "g") +
            Op("Or", "", "x g"),
        {{"x", {{1}, TensorProto::BOOL}}}},
       "y = Or(x, 1 (int32))\n"},
  });
}

TEST(MovingRowsExportTest, Reductions) {
  const std::map<std::string, ExportedInput> x = {{"x", {{2, 3, 4}}}};
  const char* const types[] = {"ReduceMean",      "ReduceMax",    "ReduceMin",
                               "ReduceProd",      "ReduceL1",     "ReduceL2",
                               "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"};
  for (const std::string type : types) {
    EXPECT_EQ(GraphText(Export({Op(type, L("axes", {0, 2})), x})),
              "y = " + type + "(x) keepdims=1 axes=[0,2]\n");
    EXPECT_EQ(GraphText(Export({Op(type, L("axes", {0, 2})), x, {}, {"y"}, 18})),
              "y = " + type + "(x, [0, 2]) keepdims=1\n");
  }
  ExpectGraphs({
      {{Op("ReduceSum"), x}, "y = ReduceSum(x) keepdims=1\n"},
      {{Op("ReduceFrontSum"), x}, "y = ReduceSum(x, [0]) keepdims=0\n"},
      {{Op("ReduceFrontMean", I("num_reduce_dim", 2)), x},
       "y = ReduceMean(x) keepdims=0 axes=[0,1]\n"},
      {{Op("ReduceFrontMax"), x}, "y = ReduceMax(x) keepdims=0 axes=[0]\n"},
      {{Op("ReduceBackSum", I("num_reduce_dim", 2)), x}, "y = ReduceSum(x, [1, 2]) keepdims=0\n"},
      {{Op("ReduceBackMean"), x}, "y = ReduceMean(x) keepdims=0 axes=[2]\n"},
      {{Op("ReduceBackMax"), x}, "y = ReduceMax(x) keepdims=0 axes=[2]\n"},
      {{Op("ReduceBackMax", I("num_reduce_dim", 0)), x}, "y = Identity(x)\n"},
      {{Op("ReduceMax", "", "x a"), {{"x", {{2, 3}}}, {"a", kList}}, {}, {}, 18},
       "y = ReduceMax(x, a) keepdims=1 noop_with_empty_axes=0\n"},
      {{Op("ArgMax"), x}, "y = ArgMax(x) axis=-1 keepdims=1\n"},
      {{Op("ArgMin", I("axis", 1) + I("keepdims", 0)), x}, "y = ArgMin(x) axis=1 keepdims=0\n"},
      {{Op("TopK", I("k", 3) + I("axis", 1), "x", "y i"), x, {}, {"y", "i"}},
       "y, i = TopK(x, [3]) axis=1\n"},
      {{Op("TopK", "", "x k", "y i"), {{"x", {{2, 3}}}, {"k", {{1}, kInt64}}}, {}, {}},
       "y_Reshape = Reshape(k, [1])\ny, i = TopK(x, y_Reshape) axis=-1\n"},
      {{Op("TopK", "", "x k", "y i"), {{"x", {{2, 3}}}}, {{"k", IntWeight({2})}}, {"y", "i"}},
       "y, i = TopK(x, [2]) axis=-1\n"},
      // The argument k counts before the input.
      {{Op("TopK", I("k", 1), "x k", "y i"),
        {{"x", {{2, 3}}}},
        {{"k", IntWeight({2})}},
        {"y", "i"}},
       "y, i = TopK(x, [1]) axis=-1\n"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::moving_rows_export_test
