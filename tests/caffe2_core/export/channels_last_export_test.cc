// Operators of channels in images of one, two and three spatial axes, in both orders, become the same nodes
// between transpositions of the whole rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/caffe2_core/export/exported_graph.h"
#include "tests/caffe2_core/export/operator_text.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::channels_last_export_test {
namespace {

using namespace operator_text;  // used throughout this file
using ::testing::ElementsAre;

const std::string kNhwc = S("order", "NHWC");

std::string ListText(const std::vector<int>& values) {
  std::string text = "[";
  for (const int value : values) text += MakeString(text.size() > 1 ? "," : "", value);
  return text + "]";
}
// The permutations of `rank` axes that move the channels to the front, and to the end.
std::string Front(int rank) {
  std::vector<int> perm = {0, rank - 1};
  for (int i = 1; i + 1 < rank; ++i) perm.push_back(i);
  return " perm=" + ListText(perm);
}
std::string End(int rank) {
  std::vector<int> perm = {0};
  for (int i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return " perm=" + ListText(perm);
}
// [1, 2, .., 2, channels] of `rank` axes, or with the channels in front.
ExportedInput ImageOf(int rank, int64_t channels, bool last) {
  ExportedInput image;
  image.dims.assign(static_cast<size_t>(rank), 4);
  image.dims[0] = 1;
  image.dims[last ? static_cast<size_t>(rank) - 1 : 1] = channels;
  return image;
}
std::string Between(const std::string& node, const std::string& inputs, int rank,
                    const std::string& attributes, const std::string& data = "y_Transpose") {
  return MakeString("y_", node, " = ", node, "(", data, inputs, ")", attributes,
                    "\ny = Transpose(y_", node, ")", End(rank), "\n");
}

TEST(ChannelsLastExportTest, NormalizationsOfEachRank) {
  std::map<std::string, Tensor> weights;
  for (const char* name : {"s", "b", "m", "v"}) weights[name] = FloatWeight({3});
  for (const int rank : {3, 4, 5}) {
    SCOPED_TRACE(rank);
    const auto text = [&](const std::string& op) {
      return GraphText(Export({op, {{"x", ImageOf(rank, 3, true)}}, weights}));
    };
    const std::string before = "y_Transpose = Transpose(x)" + Front(rank) + "\n";
    EXPECT_EQ(text(Op("SpatialBN", kNhwc + I("is_test", 1), "x s b m v")),
              before + Between("BatchNormalization", ", s, b, m, v", rank, " epsilon=1e-05"));
    EXPECT_EQ(text(Op("InstanceNorm", kNhwc + F("epsilon", 0.5f), "x s b")),
              before + Between("InstanceNormalization", ", s, b", rank, " epsilon=0.5"));
    std::vector<int> channel(static_cast<size_t>(rank) - 1, 1);
    channel[0] = 3;
    std::string shape;
    for (const int dim : channel) shape += MakeString(shape.empty() ? "[" : ", ", dim);
    shape += "]";
    EXPECT_EQ(text(Op("GroupNorm", kNhwc + I("group", 3), "x s b", "y m v")),
              before +
                  "y_Reshape = Reshape(y_Transpose, [0, 3, -1])\n"
                  "y_InstanceNormalization = InstanceNormalization(y_Reshape, [1, 1, 1], [0, 0, "
                  "0]) epsilon=1e-05\ny_Shape = Shape(y_Transpose)\n"
                  "y_Reshape_1 = Reshape(y_InstanceNormalization, y_Shape)\n"
                  "y_Reshape_2 = Reshape(s, " +
                  shape + ")\ny_Mul = Mul(y_Reshape_1, y_Reshape_2)\ny_Reshape_3 = Reshape(b, " +
                  shape + ")\ny_Add = Add(y_Mul, y_Reshape_3)\ny = Transpose(y_Add)" + End(rank) +
                  "\n");
  }
}

TEST(ChannelsLastExportTest, OtherOutputsOfNormalizationsAreNotRead) {
  std::map<std::string, Tensor> weights;
  for (const char* name : {"s", "b", "m", "v"}) weights[name] = FloatWeight({3});
  const struct {
    std::string net;
    const char* output;
  } rows[] = {{Op("InstanceNorm", "", "x s b", "y p q"), "q"},
              {Op("GroupNorm", I("group", 3), "x s b", "y p q"), "p"},
              {Op("GroupNorm", I("group", 3), "x s b", "y p q"), "q"},
              {Op("Dropout", I("is_test", 1), "x", "y q"), "q"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.net);
    EXPECT_NO_THROW(Export({row.net, {{"x", ImageOf(4, 3, false)}}, weights}));
    EXPECT_THAT(MessageOf([&] {
                  Export({row.net, {{"x", ImageOf(4, 3, false)}}, weights, {"y", row.output}});
                }),
                ::testing::HasSubstr("has no counterpart in ONNX, and it is read"));
  }
}

TEST(ChannelsLastExportTest, PoolsOfEachRank) {
  const char* const kernels[] = {"[2]", "[2,2]", "[2,2,2]"};
  const char* const strides[] = {"[1]", "[1,1]", "[1,1,1]"};
  const char* const pads[] = {"[0,0]", "[0,0,0,0]", "[0,0,0,0,0,0]"};
  for (const int rank : {3, 4, 5}) {
    SCOPED_TRACE(rank);
    const auto text = [&](const std::string& args, const std::string& type = "MaxPool") {
      return GraphText(Export({Op(type + MakeString(rank - 2, "D"), kNhwc + args),
                               {{"x", ImageOf(rank, 2, true)}},
                               {},
                               {}}));
    };
    const std::string before = "y_Transpose = Transpose(x)" + Front(rank) + "\n";
    EXPECT_EQ(text(I("global_pooling", 1)), before + Between("GlobalMaxPool", "", rank, ""));
    EXPECT_EQ(text(I("kernel", 2)), before + Between("MaxPool", "", rank,
                                                     MakeString(" kernel_shape=", kernels[rank - 3],
                                                                " strides=", strides[rank - 3],
                                                                " pads=", pads[rank - 3])));
    EXPECT_EQ(text(I("global_pooling", 1), "AveragePool"),
              before + Between("GlobalAveragePool", "", rank, ""));
  }
}

TEST(ChannelsLastExportTest, ConvolutionsOfEachRank) {
  // The number of the last axis differs from the others.
  const char* const kernels[] = {"[3]", "[2,3]", "[2,2,3]"};
  const char* const ones[] = {"[1]", "[1,1]", "[1,1,1]"};
  const char* const zeros[] = {"[0]", "[0,0]", "[0,0,0]"};
  const char* const pads[] = {"[0,0]", "[0,0,0,0]", "[0,0,0,0,0,0]"};
  for (const int rank : {3, 4, 5}) {
    SCOPED_TRACE(rank);
    std::vector<int64_t> kernel(static_cast<size_t>(rank) - 2, 2), dims = {5};
    kernel.back() = 3;
    dims.insert(dims.end(), kernel.begin(), kernel.end());
    dims.push_back(2);
    const std::string before = "y_Transpose = Transpose(w)" + Front(rank) +
                               "\ny_Transpose_1 = Transpose(x)" + Front(rank) + "\n";
    EXPECT_EQ(GraphText(Export({Op("Conv", kNhwc + L("kernels", kernel), "x w"),
                                {{"x", ImageOf(rank, 2, true)}},
                                {{"w", FloatWeight(dims)}}})),
              before + Between("Conv", ", y_Transpose", rank,
                               MakeString(" kernel_shape=", kernels[rank - 3],
                                          " strides=", ones[rank - 3], " pads=", pads[rank - 3],
                                          " dilations=", ones[rank - 3], " group=1"),
                               "y_Transpose_1"));
    dims[0] = 2;
    dims.back() = 5;
    if (rank != 4) continue;  // ConvTranspose has two spatial axes
    EXPECT_EQ(GraphText(Export({Op("ConvTranspose", kNhwc + L("kernels", kernel), "x w"),
                                {{"x", ImageOf(rank, 2, true)}},
                                {{"w", FloatWeight(dims)}}})),
              before + Between("ConvTranspose", ", y_Transpose", rank,
                               MakeString(" kernel_shape=", kernels[rank - 3],
                                          " strides=", ones[rank - 3], " pads=", pads[rank - 3],
                                          " group=1 output_padding=", zeros[rank - 3]),
                               "y_Transpose_1"));
  }
}

// Padding SAME and rounding up, with two spatial axes that differ: each axis has its own needs.
TEST(ChannelsLastExportTest, PadsOfOldPoolsCountEachAxis) {
  // SAME, windows of 3 and 2 at distances of 2 and 3: 7 rows are 4 windows, (4 - 1) * 2 + 3 - 7 = 2 pads; 5
  // columns are 2 windows, (2 - 1) * 3 + 2 - 5 = 0 pads.
  const std::string window =
      I("kernel_h", 3) + I("kernel_w", 2) + I("stride_h", 2) + I("stride_w", 3);
  const std::string node = "kernel_shape=[3,2] strides=[2,3] pads=[1,0,1,0]";
  EXPECT_EQ(
      GraphText(Export({Op("MaxPool", window + I("legacy_pad", 2)), {{"x", {{1, 1, 7, 5}}}}})),
      "y = MaxPool(x) " + node + "\n");
  EXPECT_EQ(GraphText(Export(
                {Op("MaxPool", kNhwc + window + I("legacy_pad", 2)), {{"x", {{1, 7, 5, 1}}}}})),
            "y_Transpose = Transpose(x) perm=[0,3,1,2]\ny_MaxPool = MaxPool(y_Transpose) " + node +
                "\ny = Transpose(y_MaxPool) perm=[0,2,3,1]\n");
  // Rounded up from a stated head of 1: 6 rows and windows of 3 at a distance of 2 begin at -1, 1, 3 and 5, the
  // last of which ends at 8, two behind the image.
  EXPECT_EQ(GraphText(Export(
                {Op("MaxPool", I("kernel", 3) + I("stride", 2) + I("pad", 1) + I("legacy_pad", 3)),
                 {{"x", {{1, 1, 6, 6}}}}})),
            "y = MaxPool(x) kernel_shape=[3,3] strides=[2,2] pads=[1,1,2,2]\n");
}

// Concat and Split count the axis of an image's channels, whatever the rank is.
TEST(ChannelsLastExportTest, OrdersNameAnAxisOfImages) {
  for (const int rank : {4, 5}) {
    SCOPED_TRACE(rank);
    ExportedInput x = ImageOf(rank, 5, true), b = x;
    x.dims[3] = 6;
    b.dims[3] = 2;
    const OnnxExport concat =
        Export({Op("Concat", kNhwc, "x b", "y s"), {{"x", x}, {"b", b}}, {}, {"y", "s"}});
    EXPECT_EQ(GraphText(concat), "s = Cast([6, 2]) to=6\ny = Concat(x, b) axis=3\n");
    const auto& shape = concat.model.graph().output(0).type().tensor_type().shape();
    EXPECT_EQ(shape.dim(3).dim_value(), 8);
    EXPECT_EQ(GraphText(Export({Op("Split", kNhwc, "x", "y z"), {{"x", x}}, {}, {"y", "z"}})),
              "y, z = Split(x, [3, 3]) axis=3\n");
  }
}

// A parameter of a blob without channels to move in front: matrices and vectors.
TEST(ChannelsLastExportTest, ParametersOfChannelsFitTheRank) {
  const std::map<std::string, Tensor> two = {{"s", FloatWeight({3})}, {"b", FloatWeight({3})}};
  EXPECT_EQ(GraphText(Export({Op("AffineChannel", "", "x s b"), {{"x", {{2, 3}}}}, two})),
            "y_Mul = Mul(x, s)\ny = Add(y_Mul, b)\n");
  EXPECT_EQ(GraphText(Export({Op("AffineChannel", "", "x s b"), {{"x", {{2, 3, 4}}}}, two})),
            "y_Reshape = Reshape(s, [3, 1])\ny_Reshape_1 = Reshape(b, [3, 1])\n"
            "y_Mul = Mul(x, y_Reshape)\ny = Add(y_Mul, y_Reshape_1)\n");
  const OnnxExport slopes =
      Export({Op("PRelu", "", "x w"), {{"x", {{1, 3, 4, 4, 4}}}}, {{"w", FloatWeight({3})}}});
  EXPECT_THAT(slopes.model.graph().initializer(0).dims(), ElementsAre(3, 1, 1, 1));
  const OnnxExport one =
      Export({Op("PRelu", "", "x w"), {{"x", {{1, 3, 4, 4}}}}, {{"w", FloatWeight({1})}}});
  EXPECT_THAT(one.model.graph().initializer(0).dims(), ElementsAre(1));
}

// Orders in small letters mean the same.
TEST(ChannelsLastExportTest, OrdersInSmallLetters) {
  const std::string small = S("order", "nhwc");
  const ExportedInput image = {{1, 4, 4, 2}};
  for (const char* type : {"MaxPool", "Split", "ResizeNearest", "PadImage", "LRN"}) {
    const std::string args =
        I("kernel", 2) + I("group", 2) + I("size", 3) + I("pad", 1) + F("height_scale", 2);
    const std::string outputs = type == std::string("Split") ? "y z" : "y";
    const auto text = [&](const std::string& order) {
      return GraphText(Export({Op(type, order + args, "x", outputs), {{"x", image}}}));
    };
    EXPECT_EQ(text(small), text(kNhwc));
    EXPECT_EQ(text(S("order", "nchw")), text(S("order", "NCHW")));
    EXPECT_NE(text(small), text(S("order", "nchw")));
  }
  const OnnxExport slopes =
      Export({Op("PRelu", small, "x w"), {{"x", {{1, 3, 4, 3}}}}, {{"w", FloatWeight({3})}}});
  EXPECT_THAT(slopes.model.graph().initializer(0).dims(), ElementsAre(3));
}

TEST(ChannelsLastExportTest, ProductsHaveTheirAxes) {
  const std::map<std::string, Tensor> weights = {{"w", FloatWeight({5, 3})},
                                                 {"b", FloatWeight({5})}};
  // Axis 1 of three: the other two are one; axis -1: all but the last are kept.
  EXPECT_EQ(GraphText(Export({Op("FC", I("axis", -1), "x w b"), {{"x", {{2, 4, 3}}}}, weights})),
            "y_Flatten = Flatten(x) axis=2\ny_Gemm = Gemm(y_Flatten, w, b) transB=1\n"
            "y = Reshape(y_Gemm, [2, 4, 5])\n");
  EXPECT_EQ(GraphText(Export({Op("FC", "", "x w b"),
                              {{"x", {{2, 3, 1}}}},
                              {{"w", FloatWeight({5, 3})}, {"b", FloatWeight({5})}}})),
            "y_Flatten = Flatten(x) axis=1\ny = Gemm(y_Flatten, w, b) transB=1\n");
  // A weight of four axes is one matrix: [5, 12].
  const OnnxExport wide = Export({Op("FC", "", "x w b"),
                                  {{"x", {{2, 12}}}},
                                  {{"w", FloatWeight({5, 3, 2, 2})}, {"b", FloatWeight({5})}}});
  EXPECT_THAT(wide.model.graph().initializer(0).dims(), ElementsAre(5, 12));
  // axis_w 2: [2 * 3, 4] has the columns of x.
  const OnnxExport later = Export({Op("FC", I("axis_w", 2), "x w b"),
                                   {{"x", {{2, 4}}}},
                                   {{"w", FloatWeight({2, 3, 4})}, {"b", FloatWeight({6})}}});
  EXPECT_THAT(later.model.graph().initializer(0).dims(), ElementsAre(6, 4));
  EXPECT_EQ(
      GraphText(Export({Op("MatMul", I("trans_a", 1), "x b"), {{"x", {{3, 2}}}, {"b", {{3, 4}}}}})),
      "y_Transpose = Transpose(x) perm=[1,0]\ny = MatMul(y_Transpose, b)\n");
  EXPECT_EQ(GraphText(Export({Op("MatMul", I("axis_a", 2) + I("axis_b", -1), "x b"),
                              {{"x", {{2, 3, 4}}}, {"b", {{2, 2, 5}}}}})),
            "y_Flatten = Flatten(x) axis=2\ny_Flatten_1 = Flatten(b) axis=2\n"
            "y = MatMul(y_Flatten, y_Flatten_1)\n");
  EXPECT_EQ(GraphText(Export({Op("BatchMatMul", I("trans_a", 1) + I("trans_b", 1), "x b"),
                              {{"x", {{2, 3, 4}}}, {"b", {{2, 5, 3}}}}})),
            "y_Transpose = Transpose(x) perm=[0,2,1]\ny_Transpose_1 = Transpose(b) perm=[0,2,1]\n"
            "y = MatMul(y_Transpose, y_Transpose_1)\n");
  // Two axes are swapped, of a vector none.
  EXPECT_EQ(GraphText(Export(
                {Op("BatchMatMul", I("trans_b", 1), "x b"), {{"x", {{2, 3}}}, {"b", {{4, 3}}}}})),
            "y_Transpose = Transpose(b) perm=[1,0]\ny = MatMul(x, y_Transpose)\n");
  EXPECT_EQ(GraphText(Export(
                {Op("BatchMatMul", I("trans_b", 1), "x b"), {{"x", {{2, 3}}}, {"b", {{3}}}}})),
            "y_MatMul = MatMul(x, b)\ny = Reshape(y_MatMul, [2])\n");
}

}  // namespace
}  // namespace caffe2rt::test::channels_last_export_test
