// im2col in pieces: images whose columns exceed the buffer, of which some rows are made at a time.
#include "operators/conv/conv_columns.h"

#include <gtest/gtest.h>

#include "operators/conv/conv_gradient_kernel.h"
#include "operators/conv/conv_kernel.h"
#include "tests/operators/conv/conv_combinations.h"

namespace caffe2rt::test::conv_columns_test {
namespace {

struct ColumnsRow {
  const char* name;
  NaiveImage image;
  bool one_axis = false;  // the columns of the image alone
};

// The buffer has 2^18 floats.
const ColumnsRow kColumnsRows[] = {
    // 400 taps, so 6 of 19 rows of 101 columns at a time
    {"rows", {2, 16, 23, 105, 3, 5, 5}},
    {"rows with strides and padding", {1, 18, 41, 150, 4, 5, 3, 2, 1, 3, 0, 1, 2}},
    {"rows of groups", {1, 32, 20, 100, 4, 5, 5, 1, 1, 2, 2, 2, 2, 1, 1, 2}},
    {"rows with dilation", {1, 16, 28, 110, 3, 5, 5, 1, 1, 2, 1, 0, 3, 2, 3}},
    {"rows in NHWC",
     {.batch = 1,
      .channels = 20,
      .height = 23,
      .width = 105,
      .filters = 3,
      .kernel_h = 5,
      .kernel_w = 5,
      .top = 2,
      .left = 1,
      .channels_last = true}},
    // 1024 taps, so 256 of 600 results at a time
    {"columns", {1, 64, 1, 615, 4, 1, 16}, true},
    {"columns with strides and padding", {2, 64, 1, 1190, 3, 1, 16, 1, 2, 0, 9, 0, 7}, true},
    {"columns in NHWC",
     {.batch = 1,
      .channels = 64,
      .height = 1,
      .width = 611,
      .filters = 3,
      .kernel_h = 1,
      .kernel_w = 16,
      .left = 3,
      .right = 2,
      .channels_last = true},
     true},
};

ConvShape ShapeOfColumns(const ColumnsRow& row, bool bias) {
  ConvShape shape = ShapeOf(row.image, bias);
  if (!row.one_axis) return shape;
  shape.window.axes = 1;
  shape.window.axis[0] = shape.window.axis[1];
  shape.window.axis[1] = {};
  return shape;
}

TEST(ConvColumnsTest, AreMadeInPiecesOfRows) {
  for (const ColumnsRow& row : kColumnsRows) {
    SCOPED_TRACE(row.name);
    const NaiveImage& p = row.image;
    const ConvShape shape = ShapeOfColumns(row, true);
    EXPECT_LT(ConvColumns(shape).rows_at_once(), shape.window.axis[0].out);
    const ConvInputs t(p, true);
    const auto kernel = NewConvKernel(ConvAlgorithm::kIm2Col, shape);
    std::vector<float> y(static_cast<size_t>(p.batch * p.filters * p.out_h() * p.out_w()), -77.f);
    ThreadScratch scratch;
    kernel->Run(t.x.data(), t.filter.data(), t.bias_data(), y.data(),
                scratch.ForPieces(kernel->ScratchParts(), kernel->ScratchSize()));
    ExpectClose(y, NaiveConv(p, t.x, t.filter, t.bias), "Y");

    const auto dy = ConvValues(static_cast<int64_t>(y.size()), 500);
    const NaiveGradients want = NaiveConvGradients(p, t.x, t.filter, dy);
    const auto gradient =
        NewConvGradientKernel(ConvGradientAlgorithm::kIm2Col, shape, {.filter = true, .x = true});
    std::vector<float> dfilter(t.filter.size(), -77.f), dx(t.x.size(), -77.f);
    gradient->Run(t.x.data(), t.filter.data(), dy.data(), dfilter.data(), dx.data(),
                  scratch.Floats(gradient->ScratchSize()));
    EXPECT_LE(LargestDifference(dfilter, want.filter), 1e-3f);
    ExpectClose(dx, want.x, "dX");
  }
}

}  // namespace
}  // namespace caffe2rt::test::conv_columns_test
