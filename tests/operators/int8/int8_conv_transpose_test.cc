#include "caffe2_core/base/thread_pool.h"
#include "tests/operators/int8/int8_blobs.h"

namespace caffe2rt::int8_conv_transpose_test {
namespace {

using namespace test;  // used throughout this file

struct Case {
  std::vector<int64_t> x = {2, 4, 3, 3};
  int64_t outputs = 2;
  int64_t kernel_h = 3, kernel_w = 3, stride_h = 1, stride_w = 1;
  int64_t top = 0, left = 0, bottom = 0, right = 0, adj_h = 0, adj_w = 0;
};

std::string Arguments(const Case& c) {
  return StringArg("order", "NHWC") + IntsArg("kernels", {c.kernel_h, c.kernel_w}) +
         IntsArg("strides", {c.stride_h, c.stride_w}) + IntsArg("adjs", {c.adj_h, c.adj_w}) +
         IntsArg("pads", {c.top, c.left, c.bottom, c.right});
}

constexpr float kXScale = 0.04f, kFilterScale = 0.02f, kYScale = 0.2f;
constexpr int kXZero = 90, kFilterZero = 120, kYZero = 110;

void FeedCase(const Case& c, Workspace* ws) {
  const std::vector<int64_t> filter = {c.x[3], c.kernel_h, c.kernel_w, c.outputs};
  FeedInt8(ws, "X", c.x, RandomBytes(CheckedProduct(c.x), 1), kXScale, kXZero);
  FeedInt8(ws, "W", filter, RandomBytes(CheckedProduct(filter), 2), kFilterScale, kFilterZero);
  FeedInt8<int32_t>(ws, "b", {c.outputs}, RandomBiases(c.outputs, 3000, 3), 0.0008f, 0);
}

void ExpectConvTranspose(const Case& c) {
  Workspace ws;
  FeedCase(c, &ws);
  RunOp(&ws, Int8Op("Int8ConvTranspose", "X W b", "Y", kYScale, kYZero, Arguments(c)));
  const std::vector<int64_t> dims = {
      c.x[0], (c.x[1] - 1) * c.stride_h + c.kernel_h + c.adj_h - c.top - c.bottom,
      (c.x[2] - 1) * c.stride_w + c.kernel_w + c.adj_w - c.left - c.right, c.outputs};
  const std::vector<uint8_t> x = FetchInt8(ws, "X"), w = FetchInt8(ws, "W");
  const int32_t* bias = Int8Of(ws, "b").t.data<int32_t>();
  std::vector<uint8_t> want;
  for (int64_t at = 0; at < CheckedProduct(dims); ++at) {
    const int64_t m = at % dims[3], column = at / dims[3] % dims[2];
    const int64_t row = at / dims[3] / dims[2] % dims[1], n = at / dims[3] / dims[2] / dims[1];
    int64_t sum = bias[m];
    for (int64_t i = 0; i < c.x[1] * c.x[2]; ++i) {
      const int64_t tap_row = row + c.top - i / c.x[2] * c.stride_h;
      const int64_t tap_column = column + c.left - i % c.x[2] * c.stride_w;
      if (tap_row < 0 || tap_row >= c.kernel_h || tap_column < 0 || tap_column >= c.kernel_w) {
        continue;
      }
      for (int64_t k = 0; k < c.x[3]; ++k) {
        const int64_t x_at = (n * c.x[1] * c.x[2] + i) * c.x[3] + k;
        const int64_t w_at = ((k * c.kernel_h + tap_row) * c.kernel_w + tap_column) * c.outputs + m;
        sum +=
            (x[static_cast<size_t>(x_at)] - kXZero) * (w[static_cast<size_t>(w_at)] - kFilterZero);
      }
    }
    want.push_back(ExpectedElement(sum, kXScale * kFilterScale / kYScale, kYZero));
  }
  ExpectInt8(ws, "Y", dims, want, kYScale, kYZero);
}

TEST(Int8ConvTransposeTest, AgreesWithTheDefinition) {
  const std::vector<Case> cases = {
      {},
      {.x = {1, 2, 2, 8},
       .outputs = 20,
       .kernel_h = 2,
       .kernel_w = 2,
       .stride_h = 2,
       .stride_w = 2},
      {.stride_h = 2,
       .stride_w = 2,
       .top = 1,
       .left = 1,
       .bottom = 1,
       .right = 1,
       .adj_h = 1,
       .adj_w = 1},
      {.kernel_h = 1, .kernel_w = 2, .stride_h = 3, .stride_w = 1, .right = 1},
      {.top = 2, .left = 2, .bottom = 2, .right = 1},
      {.top = 2, .right = 1},
      {.left = 1, .bottom = 2},
      {.x = {1, 3, 5, 16},
       .outputs = 5,
       .kernel_h = 2,
       .kernel_w = 4,
       .stride_h = 1,
       .stride_w = 3,
       .top = 1,
       .left = 2,
       .right = 1,
       .adj_w = 2},
      {.x = {3, 5, 2, 3}, .kernel_h = 4, .kernel_w = 1, .stride_h = 3, .bottom = 3, .adj_h = 1},
      {.x = {1, 4, 4, 1}, .outputs = 17, .kernel_w = 2, .stride_w = 2, .left = 3, .right = 3}};
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    ExpectConvTranspose(cases[i]);
    for (const int threads : {2, 3}) {
      SetNumThreads(threads);
      ExpectConvTranspose(cases[i]);
    }
    SetNumThreads(1);
  }
}

TEST(Int8ConvTransposeTest, InfersTheShapeAndKeepsEmptyTensors) {
  Workspace ws;
  Case c;
  c.x = {0, 4, 3, 3};
  FeedCase(c, &ws);
  const std::string op = Int8Op("Int8ConvTranspose", "X W b", "Y", kYScale, kYZero, Arguments(c));
  RunOp(&ws, op);
  ExpectInt8(ws, "Y", {0, 6, 5, 2}, {}, kYScale, kYZero);
  const std::vector<TensorShape> shapes = InferShapes(ws, ParseOp(op));
  EXPECT_EQ(GetDimsVector(shapes.at(0)), (std::vector<int64_t>{0, 6, 5, 2}));
}

TEST(Int8ConvTransposeTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedCase({}, &ws);
  const auto expect_throws = [&](float scale, const std::string& more, const std::string& part) {
    ExpectThrows(
        [&] { RunOp(&ws, Int8Op("Int8ConvTranspose", "X W b", "Y", scale, kYZero, more)); }, part);
  };
  const std::string nhwc = StringArg("order", "NHWC");
  expect_throws(kYScale, IntArg("kernel", 3), "argument order is NCHW, want NHWC");
  expect_throws(kYScale, nhwc + IntArg("kernel", 2),
                "input 1 (filter) has shape [3, 3, 3, 2], want [3, 2, 2, 2]");
  expect_throws(kYScale, nhwc + IntArg("kernel", 3) + IntArg("group", 3),
                "argument group of Int8ConvTranspose");
  expect_throws(0.0001f, Arguments({}), "divided by argument Y_scale is 8");
  FeedInt8<int32_t>(&ws, "b", {3}, {1, 2, 3}, 1, 0);
  expect_throws(kYScale, Arguments({}), "(bias), want one for each output channel");
  FeedCase({}, &ws);
  ExpectChecksInt8Input(&ws,
                        Int8Op("Int8ConvTranspose", "X W b", "Y", kYScale, kYZero, Arguments({})));
}

}  // namespace
}  // namespace caffe2rt::int8_conv_transpose_test
