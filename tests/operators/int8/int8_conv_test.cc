#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/int8/int8_blobs.h"

namespace caffe2rt::int8_conv_test {
namespace {

using namespace test;  // used throughout this file

struct Case {
  std::vector<int64_t> x = {1, 5, 6, 3};
  int64_t outputs = 4, group = 1;
  int64_t kernel_h = 3, kernel_w = 3, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t top = 0, left = 0, bottom = 0, right = 0;
};

std::string Arguments(const Case& c) {
  return StringArg("order", "NHWC") + IntArg("group", c.group) +
         IntsArg("kernels", {c.kernel_h, c.kernel_w}) +
         IntsArg("strides", {c.stride_h, c.stride_w}) +
         IntsArg("dilations", {c.dilation_h, c.dilation_w}) +
         IntsArg("pads", {c.top, c.left, c.bottom, c.right});
}

constexpr float kXScale = 0.04f, kFilterScale = 0.02f, kYScale = 0.3f;
constexpr int kXZero = 100, kFilterZero = 120, kYZero = 110;

void FeedCase(const Case& c, Workspace* ws) {
  const int64_t channels = c.x[3] / c.group;
  const std::vector<int64_t> filter = {c.outputs, c.kernel_h, c.kernel_w, channels};
  FeedInt8(ws, "X", c.x, RandomBytes(CheckedProduct(c.x), 1), kXScale, kXZero);
  FeedInt8(ws, "W", filter, RandomBytes(CheckedProduct(filter), 2), kFilterScale, kFilterZero);
  FeedInt8<int32_t>(ws, "b", {c.outputs}, RandomBiases(c.outputs, 3000, 3), 0.0008f, 0);
}

// One element of the output, by the definition.
int64_t PlainSum(const Case& c, const Workspace& ws, int64_t n, int64_t row, int64_t column,
                 int64_t m) {
  const std::vector<uint8_t> x = FetchInt8(ws, "X"), w = FetchInt8(ws, "W");
  const int64_t channels = c.x[3] / c.group, first = m / (c.outputs / c.group) * channels;
  int64_t sum = Int8Of(ws, "b").t.data<int32_t>()[m];
  for (int64_t i = 0; i < c.kernel_h; ++i) {
    for (int64_t j = 0; j < c.kernel_w; ++j) {
      const int64_t y = row * c.stride_h - c.top + i * c.dilation_h;
      const int64_t z = column * c.stride_w - c.left + j * c.dilation_w;
      if (y < 0 || y >= c.x[1] || z < 0 || z >= c.x[2]) continue;
      for (int64_t k = 0; k < channels; ++k) {
        const int64_t x_at = ((n * c.x[1] + y) * c.x[2] + z) * c.x[3] + first + k;
        const int64_t w_at = ((m * c.kernel_h + i) * c.kernel_w + j) * channels + k;
        sum +=
            (x[static_cast<size_t>(x_at)] - kXZero) * (w[static_cast<size_t>(w_at)] - kFilterZero);
      }
    }
  }
  return sum;
}

int64_t OutSize(int64_t in, int64_t pads, int64_t kernel, int64_t dilation, int64_t stride) {
  return (in + pads - dilation * (kernel - 1) - 1) / stride + 1;
}

// Runs the operator on the blobs in `ws`.
void ExpectConvIn(const Case& c, bool relu, Workspace* workspace) {
  Workspace& ws = *workspace;
  const std::string op =
      Int8Op(relu ? "Int8ConvRelu" : "Int8Conv", "X W b", "Y", kYScale, kYZero, Arguments(c));
  RunOp(&ws, op);
  const std::vector<int64_t> dims = {
      c.x[0], OutSize(c.x[1], c.top + c.bottom, c.kernel_h, c.dilation_h, c.stride_h),
      OutSize(c.x[2], c.left + c.right, c.kernel_w, c.dilation_w, c.stride_w), c.outputs};
  std::vector<uint8_t> want;
  const float factor = kXScale * kFilterScale / kYScale;
  for (int64_t i = 0; i < CheckedProduct(dims); ++i) {
    const int64_t m = i % dims[3], column = i / dims[3] % dims[2];
    const int64_t row = i / dims[3] / dims[2] % dims[1], n = i / dims[3] / dims[2] / dims[1];
    want.push_back(
        ExpectedElement(PlainSum(c, ws, n, row, column, m), factor, kYZero, relu ? kYZero : 0));
  }
  ExpectInt8(ws, "Y", dims, want, kYScale, kYZero);
}

void ExpectConv(const Case& c, bool relu) {
  Workspace ws;
  FeedCase(c, &ws);
  ExpectConvIn(c, relu, &ws);
}

// Regression: the name of the prepared filter did not tell the number of groups.
TEST(Int8ConvTest, OperatorsWithOtherGroupsShareAFilter) {
  // Both have a filter of shape [4, 1, 1, 2].
  const Case one = {.x = {1, 3, 3, 2}, .kernel_h = 1, .kernel_w = 1};
  const Case two = {.x = {1, 3, 3, 4}, .group = 2, .kernel_h = 1, .kernel_w = 1};
  Workspace ws;
  FeedCase(one, &ws);
  ExpectConvIn(one, false, &ws);
  FeedInt8(&ws, "X", two.x, RandomBytes(36, 5), kXScale, kXZero);
  ExpectConvIn(two, false, &ws);
}

TEST(Int8ConvTest, AddsProductsWithoutZeroPoints) {
  Workspace ws;
  FeedInt8(&ws, "X", {1, 1, 2, 2}, {101, 102, 98, 100}, 0.5f, 100);
  FeedInt8(&ws, "W", {1, 1, 1, 2}, {5, 1}, 0.5f, 3);
  FeedInt8<int32_t>(&ws, "b", {1}, {8}, 0.25f, 0);
  // Sums: 1 * 2 + 2 * -2 + 8 = 6, -2 * 2 + 0 + 8 = 4; times 0.25 / 0.5.
  RunOp(&ws, Int8Op("Int8Conv", "X W b", "Y", 0.5f, 10,
                    StringArg("order", "NHWC") + IntArg("kernel", 1)));
  ExpectInt8(ws, "Y", {1, 1, 2, 1}, {13, 12}, 0.5f, 10);
}

TEST(Int8ConvTest, AgreesWithTheDefinition) {
  const std::vector<Case> cases = {
      {},
      {.x = {2, 4, 5, 8}, .outputs = 33, .kernel_h = 1, .kernel_w = 1},
      {.x = {2, 5, 5, 5}, .outputs = 3, .kernel_h = 1, .kernel_w = 1, .stride_h = 2, .stride_w = 2},
      {.x = {1, 5, 5, 4}, .kernel_h = 1, .kernel_w = 1, .top = 1, .right = 2},
      {.kernel_h = 1, .kernel_w = 3, .stride_w = 2, .left = 2, .right = 1},
      // Whole groups of four channels, without padding.
      {.x = {1, 5, 6, 4}},
      {.x = {1, 5, 6, 4}, .kernel_w = 1},
      {.x = {1, 5, 6, 8}, .group = 2, .kernel_h = 1},
      {.dilation_h = 2, .dilation_w = 3, .top = 2, .left = 3, .bottom = 1, .right = 2},
      {.x = {1, 4, 4, 6}, .outputs = 4, .group = 2, .top = 1, .left = 1, .bottom = 1, .right = 1},
      {.x = {1, 4, 4, 2}, .outputs = 6, .group = 2, .top = 1},
      {.x = {2, 5, 4, 70},
       .outputs = 70,
       .group = 70,
       .top = 1,
       .left = 1,
       .bottom = 1,
       .right = 1},
      {.x = {1, 5, 6, 5}, .outputs = 5, .group = 5, .stride_h = 2, .dilation_w = 2, .left = 3},
      {.x = {1, 3, 3, 2}, .kernel_h = 3, .kernel_w = 3, .top = 5, .left = 6, .bottom = 4},
      {.x = {1, 6, 6, 2}, .top = -1, .left = -2, .bottom = 1},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    ExpectConv(cases[i], false);
    ExpectConv(cases[i], true);
  }
}

TEST(Int8ConvTest, ReluKeepsAZeroPointOf255) {
  Workspace ws;
  FeedCase({}, &ws);
  RunOp(&ws, Int8Op("Int8ConvRelu", "X W b", "Y", kYScale, 255, Arguments({})));
  EXPECT_THAT(FetchInt8(ws, "Y"), testing::Each(255));
}

TEST(Int8ConvTest, DoesNotDependOnTheNumberOfThreads) {
  const std::vector<Case> cases = {
      {.x = {1, 1, 1, 20}, .outputs = 100, .kernel_h = 1, .kernel_w = 1},
      {.x = {2, 9, 9, 3}, .outputs = 40, .top = 1},
      {.x = {2, 9, 9, 8}, .outputs = 8, .group = 8}};
  for (const Case& c : cases) {
    const std::string op = Int8Op("Int8Conv", "X W b", "Y", kYScale, kYZero, Arguments(c));
    Workspace ws;
    FeedCase(c, &ws);
    RunOp(&ws, op);
    const std::vector<uint8_t> alone = FetchInt8(ws, "Y");
    SetNumThreads(3);
    RunOp(&ws, op);
    SetNumThreads(1);
    EXPECT_EQ(FetchInt8(ws, "Y"), alone);
  }
}

TEST(Int8ConvTest, SeesFiltersAndShapesThatChange) {
  Workspace ws;
  const Case c;
  FeedCase(c, &ws);
  const auto op =
      CreateOperator(ParseOp(Int8Op("Int8Conv", "X W b", "Y", kYScale, kYZero, Arguments(c))), &ws);
  ASSERT_TRUE(op->Run());
  const auto expect_current = [&](const Case& now) {
    ASSERT_TRUE(op->Run());
    const float factor = kXScale * kFilterScale / kYScale;
    EXPECT_EQ(FetchInt8(ws, "Y")[0],
              ExpectedElement(PlainSum(now, ws, 0, 0, 0, 0), factor, kYZero));
  };
  auto* filter = ws.GetBlob("W")->GetMutable<Int8TensorCPU>();
  for (int64_t i = 0; i < filter->t.numel(); ++i) filter->t.mutable_data<uint8_t>()[i] ^= 1;
  expect_current(c);
  Case wider;
  wider.x = {1, 5, 9, 3};
  FeedInt8(&ws, "X", wider.x, RandomBytes(135, 8), kXScale, kXZero);
  expect_current(wider);
}

TEST(Int8ConvTest, EmptyTensorsStayEmpty) {
  Workspace ws;
  Case c;
  c.x = {0, 5, 6, 3};
  FeedCase(c, &ws);
  RunOp(&ws, Int8Op("Int8Conv", "X W b", "Y", kYScale, kYZero, Arguments(c)));
  ExpectInt8(ws, "Y", {0, 3, 4, 4}, {}, kYScale, kYZero);
  c.x = {1, 5, 6, 3};
  c.outputs = 0;
  FeedCase(c, &ws);
  RunOp(&ws, Int8Op("Int8Conv", "X W b", "Y", kYScale, kYZero, Arguments(c)));
  ExpectInt8(ws, "Y", {1, 3, 4, 0}, {}, kYScale, kYZero);
}

TEST(Int8ConvTest, InfersTheShape) {
  Workspace ws;
  FeedCase({}, &ws);
  const std::vector<TensorShape> shapes = InferShapes(
      ws, ParseOp(Int8Op("Int8Conv", "X W b", "Y", kYScale, kYZero, Arguments({.top = 1}))));
  EXPECT_EQ(GetDimsVector(shapes.at(0)), (std::vector<int64_t>{1, 4, 4, 4}));
  EXPECT_EQ(shapes.at(0).data_type(), TensorProto::UINT8);
}

TEST(Int8ConvTest, NamesWhatDoesNotFit) {
  Workspace ws;
  const auto expect_throws = [&](const std::string& more, const std::string& part) {
    ExpectThrows([&] { RunOp(&ws, Int8Op("Int8Conv", "X W b", "Y", kYScale, kYZero, more)); },
                 part);
  };
  const std::string nhwc = StringArg("order", "NHWC");
  FeedCase({}, &ws);
  expect_throws(IntArg("kernel", 3), "argument order is NCHW, want NHWC");
  expect_throws(nhwc + IntArg("kernel", 2),
                "input 1 (filter) has shape [4, 3, 3, 3], want [4, 2, 2, 3]");
  expect_throws(nhwc + IntArg("kernel", 3) + IntArg("group", 2), "modulo argument group 2");
  expect_throws(nhwc + IntArg("kernel", 3) + IntArg("dilation", 0), "dilation");
  expect_throws(nhwc + IntArg("kernel", 3) + IntArg("stride", 0), "stride");
  expect_throws(nhwc + IntArg("kernel", 9), "want at least its dilated kernel");
  FeedInt8<int32_t>(&ws, "b", {3}, {1, 2, 3}, 1, 0);
  expect_throws(nhwc + IntArg("kernel", 3), "(bias), want one for each output channel");
  FeedInt8(&ws, "b", {4}, {1, 2, 3, 4}, 1, 0);
  expect_throws(nhwc + IntArg("kernel", 3), "(bias) has elements of type");
  FeedCase({}, &ws);
  ExpectThrows(
      [&] { RunOp(&ws, Int8Op("Int8Conv", "X W b", "Y", 0.0001f, 0, Arguments({}))); },
      "scale of input 0 (X) times that of input 1 (filter) divided by argument Y_scale is 8");
  ExpectThrows([&] { RunOp(&ws, Int8Op("Int8Conv", "X W", "Y", 1, 0, Arguments({}))); }, "inputs");
  FeedInt8(&ws, "X", {5, 6, 3}, RandomBytes(90, 1), kXScale, kXZero);
  expect_throws(nhwc + IntArg("kernel", 3), "want [N, H, W, C]");
}

TEST(Int8ConvTest, ChecksItsQuantization) {
  Workspace ws;
  FeedCase({}, &ws);
  ExpectChecksInt8Input(&ws, Int8Op("Int8Conv", "X W b", "Y", 1, 0, Arguments({})));
  for (const float scale : {0.0f, -1.0f}) {
    ExpectThrows([&] { RunOp(&ws, Int8Op("Int8Conv", "X W b", "Y", scale, 0, Arguments({}))); },
                 "argument \"Y_scale\" is");
  }
  for (const int zero_point : {-1, 256}) {
    ExpectThrows(
        [&] { RunOp(&ws, Int8Op("Int8Conv", "X W b", "Y", 1, zero_point, Arguments({}))); },
        "argument \"Y_zero_point\" is");
  }
}

}  // namespace
}  // namespace caffe2rt::int8_conv_test
