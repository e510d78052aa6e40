// Details of exported nodes: the first opset of an attribute, arguments that count only with their
// companions, weights of other integer types as arguments, matrices of other axes, dims of 0.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/export/onnx_graph.h"
#include "tests/caffe2_core/export/exported_graph.h"
#include "tests/caffe2_core/export/operator_text.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::export_details_test {
namespace {

using namespace operator_text;  // used throughout this file
using ::testing::ElementsAre;

TEST(ExportDetailsTest, RegionsNameTheirCornersFromOpset16On) {
  const auto text = [](const std::string& args, int opset) {
    return GraphText(Export({Op("RoIAlign",
                                args + I("pooled_h", 2) + I("pooled_w", 3) +
                                    F("spatial_scale", 0.5f) + I("sampling_ratio", 4),
                                "x r"),
                             {{"x", {{1, 1, 6, 6}}}, {"r", {{2, 5}}}},
                             {},
                             {"y"},
                             opset}));
  };
  const std::string plain =
      "y_Slice = Slice(r, [1], [5], [1])\ny_Gather = Gather(r, 0) axis=1\n"
      "y_Cast = Cast(y_Gather) to=7\ny = RoiAlign(x, y_Slice, y_Cast) mode=avg spatial_scale=0.5 "
      "output_height=2 output_width=3 sampling_ratio=4";
  const std::string mode = " coordinate_transformation_mode=";
  EXPECT_EQ(text("", 15), plain + "\n");
  EXPECT_EQ(text("", 16), plain + mode + "output_half_pixel\n");
  EXPECT_EQ(text("", 17), plain + mode + "output_half_pixel\n");
  EXPECT_EQ(text(I("aligned", 1), 16), plain + mode + "half_pixel\n");
}

// Numbers of height and width count together, and pads of four sides.
TEST(ExportDetailsTest, NumbersOfOneSideAloneHaveNoEffect) {
  const auto text = [](const std::string& args) {
    return GraphText(Export({Op("MaxPool", args), {{"x", {{1, 1, 8, 8}}}}}));
  };
  const std::string square = "y = MaxPool(x) kernel_shape=[2,2] strides=[3,3] pads=[1,1,1,1]\n";
  const std::string all = I("kernel", 2) + I("stride", 3) + I("pad", 1);
  EXPECT_EQ(text(all), square);
  for (const char* name : {"stride_h", "stride_w", "pad_t", "pad_l", "pad_b", "pad_r"}) {
    EXPECT_EQ(text(all + I(name, 0)), square) << name;
  }
  EXPECT_EQ(text(all + I("stride_h", 1) + I("stride_w", 2)),
            "y = MaxPool(x) kernel_shape=[2,2] strides=[1,2] pads=[1,1,1,1]\n");
  EXPECT_EQ(text(all + I("pad_t", 0) + I("pad_l", 1) + I("pad_b", 1) + I("pad_r", 0)),
            "y = MaxPool(x) kernel_shape=[2,2] strides=[3,3] pads=[0,1,1,0]\n");
}

TEST(ExportDetailsTest, WeightsOfIntegersBecomeArguments) {
  Tensor numbers(std::vector<int64_t>{2}, CPU);
  numbers.mutable_data<int32_t>()[0] = 2;
  numbers.mutable_data<int32_t>()[1] = 4;
  const ExportedInput x = {{2, 6}};
  const auto split = [&](Tensor weight) {
    std::map<std::string, Tensor> weights;
    weights["s"] = std::move(weight);
    return GraphText(
        Export({Op("Split", I("axis", 1), "x s", "y z"), {{"x", x}}, weights, {"y", "z"}}));
  };
  EXPECT_EQ(split(IntWeight({2, 4})), "y, z = Split(x, [2, 4]) axis=1\n");
  EXPECT_EQ(split(std::move(numbers)), "y, z = Split(x, [2, 4]) axis=1\n");
}

TEST(ExportDetailsTest, OtherOutputsOfStatisticsAreNotRead) {
  std::map<std::string, Tensor> weights;
  for (const char* name : {"s", "b", "m", "v"}) weights[name] = FloatWeight({3});
  const std::string op = Op("SpatialBN", I("is_test", 1), "x s b m v", "y p");
  const ExportedInput image = {{1, 3, 4, 4}};
  ExpectThrows(
      [&] {
        Export({op + Op("Relu", "", "p", "z"), {{"x", image}}, weights, {"y", "z"}});
      },
      "output 1 (\"p\") of SpatialBN has no counterpart in ONNX, and it is read");
}

TEST(ExportDetailsTest, MatricesBeginAtTheirAxis) {
  const ExportedInput matrix = {{2, 3}};
  // An input, which has no other shape at export.
  EXPECT_EQ(
      GraphText(Export({Op("FC", "", "x w b"), {{"x", matrix}, {"w", {{5, 3}}}, {"b", {{5}}}}})),
      "y = Gemm(x, w, b) transB=1\n");
  EXPECT_EQ(
      GraphText(Export({Op("FC", "", "x w b"), {{"x", matrix}, {"w", {{5, 3, 1}}}, {"b", {{5}}}}})),
      "y_Reshape = Reshape(w, [5, 3])\ny = Gemm(x, y_Reshape, b) transB=1\n");
  // One row: all of the weight.
  const OnnxExport row = Export({Op("FC", I("axis_w", 0), "x w b"),
                                 {{"x", {{2, 6}}}},
                                 {{"w", FloatWeight({2, 3})}, {"b", FloatWeight({1})}}});
  EXPECT_THAT(row.model.graph().initializer(0).dims(), ElementsAre(1, 6));
  // Three axes from the first on, and two axes as one row.
  EXPECT_EQ(GraphText(Export({Op("MatMul", "", "x b"), {{"x", {{2, 3, 4}}}, {"b", {{12, 5}}}}})),
            "y_Flatten = Flatten(x) axis=1\ny = MatMul(y_Flatten, b)\n");
  EXPECT_EQ(
      GraphText(Export({Op("MatMul", I("axis_a", 0), "x b"), {{"x", {{2, 3}}}, {"b", {{6, 5}}}}})),
      "y_Flatten = Flatten(x) axis=0\ny = MatMul(y_Flatten, b)\n");
}

// The type of an output whose dims only a run knows, from a part of the net behind a branch, too.
TEST(ExportDetailsTest, OutputsOfUnknownDimsHaveTheirType) {
  const ExportedInput list = {{2}, TensorProto::INT64};
  for (const auto& [type, number] : {std::pair(TensorProto::INT32, onnx::TensorProto::INT32),
                                     std::pair(TensorProto::DOUBLE, onnx::TensorProto::DOUBLE)}) {
    const OnnxExport exported = Export({Op("ONNXExpand", "", "x s", "h") + Op("Copy", "", "h"),
                                        {{"x", {{1, 3}, type}}, {"s", list}}},
                                       {{"y", {-1, 3}}});
    EXPECT_EQ(exported.model.graph().output(0).type().tensor_type().elem_type(), number);
  }
}

// Without the rank of the input, the list of kernels says how many axes there are.
TEST(ExportDetailsTest, KernelsCountTheAxesOfUnknownImages) {
  const ExportedInput shape = {{5}, TensorProto::INT64};
  const auto text = [&](const std::string& args) {
    return GraphText(Export({Op("Reshape", "", "x s", "h o") + Op("MaxPool", args, "h"),
                             {{"x", {{64}}}, {"s", shape}},
                             {},
                             {}}));
  };
  EXPECT_EQ(text(L("kernels", {2, 3, 4})),
            "h = Reshape(x, s)\ny = MaxPool(h) kernel_shape=[2,3,4] strides=[1,1,1] "
            "pads=[0,0,0,0,0,0]\n");
  EXPECT_EQ(text(I("kernel", 2)),
            "h = Reshape(x, s)\ny = MaxPool(h) kernel_shape=[2,2] strides=[1,1] pads=[0,0,0,0]\n");
}

TEST(ExportDetailsTest, ReductionsOfComputedAxesKeepTheirArguments) {
  const auto text = [](const std::string& args) {
    return GraphText(Export({Op("ReduceSum", args, "x a"),
                             {{"x", {{2, 3}}}, {"a", {{1}, TensorProto::INT64}}},
                             {},
                             {}}));
  };
  EXPECT_EQ(text(""), "y = ReduceSum(x, a) keepdims=1 noop_with_empty_axes=0\n");
  EXPECT_EQ(text(I("keepdims", 0) + I("noop_with_empty_axes", 1)),
            "y = ReduceSum(x, a) keepdims=0 noop_with_empty_axes=1\n");
}

TEST(ExportDetailsTest, TypesOfWindowsHaveNumbersOfOnnx) {
  EXPECT_EQ(GraphText(Export({Op("HannWindow", I("output_datatype", TensorProto::DOUBLE)),
                              {{"x", {{}, TensorProto::INT64}}},
                              {},
                              {}})),
            "y = HannWindow(x) output_datatype=11\n");
}

TEST(ExportDetailsTest, ProductsOfTheFirstAxisHaveOneRow) {
  EXPECT_EQ(GraphText(Export({Op("FC", I("axis", 0), "x w b"),
                              {{"x", {{2, 3}}}},
                              {{"w", FloatWeight({5, 6})}, {"b", FloatWeight({5})}}})),
            "y_Flatten = Flatten(x) axis=0\ny_Gemm = Gemm(y_Flatten, w, b) transB=1\n"
            "y = Reshape(y_Gemm, [5])\n");
}

// The numbers are those of onnx.proto.
TEST(ExportDetailsTest, ElementTypesHaveTheNumbersOfOnnx) {
  const std::pair<TensorProto_DataType, int> rows[] = {
      {TensorProto::FLOAT, 1},   {TensorProto::UINT8, 2},    {TensorProto::INT8, 3},
      {TensorProto::UINT16, 4},  {TensorProto::INT16, 5},    {TensorProto::INT32, 6},
      {TensorProto::INT64, 7},   {TensorProto::BOOL, 9},     {TensorProto::FLOAT16, 10},
      {TensorProto::DOUBLE, 11}, {TensorProto::BFLOAT16, 16}};
  for (const auto& [type, number] : rows) EXPECT_EQ(ExportedTypeOf(type), number) << type;
}

TEST(ExportDetailsTest, DimsOfZeroAreNumbers) {
  const OnnxExport exported = Export({Op("Relu"), {{"x", {{0, 3}}}}}, {{"y", {0, -1}}});
  const onnx::GraphProto& graph = exported.model.graph();
  const auto& x = graph.input(0).type().tensor_type().shape();
  ASSERT_EQ(x.dim_size(), 2);
  EXPECT_TRUE(x.dim(0).has_dim_value());
  EXPECT_EQ(x.dim(0).dim_value(), 0);
  EXPECT_EQ(x.dim(1).dim_value(), 3);
  const auto& y = graph.output(0).type().tensor_type().shape();
  ASSERT_EQ(y.dim_size(), 2);
  EXPECT_TRUE(y.dim(0).has_dim_value());
  EXPECT_EQ(y.dim(0).dim_value(), 0);
}

}  // namespace
}  // namespace caffe2rt::test::export_details_test
