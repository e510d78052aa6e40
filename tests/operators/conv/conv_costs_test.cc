// The estimated times of convolutions, worked out by hand, and the shapes that each method supports.
#include "operators/conv/conv_costs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "operators/conv/onednn_int8.h"
#include "tests/operators/conv/conv_images.h"

namespace caffe2rt::test::conv_costs_test {
namespace {

constexpr ConvRates kRoundRates = {.flops_per_us = 1000,
                                   .weight_bytes_per_us = 100,
                                   .reorder_bytes_per_us = 10,
                                   .winograd_flops_per_us = 500,
                                   .transform_bytes_per_us = 50,
                                   .overhead_us = 2};

ConvSize SizeWith(int64_t in, int64_t out, int64_t kernel_h, int64_t kernel_w, int64_t group = 1) {
  return {.batch = 2,
          .in_channels = in,
          .out_channels = out,
          .group = group,
          .out_h = 5,
          .out_w = 6,
          .kernel_h = kernel_h,
          .kernel_w = kernel_w};
}
ConvSize Vector(int64_t in, int64_t out) {
  return {.in_channels = in, .out_channels = out, .out_h = 1, .out_w = 1};
}

struct CostRow {
  const char* name;
  ConvSize size;
  ConvMethod method;
  double us;
};

TEST(ConvCostsTest, EstimatesFollowSizesAndRates) {
  using enum ConvMethod;
  ConvSize rows_of_tiles = SizeWith(32, 48, 3, 3);  // 3 x 2 tiles in each of 3 images
  rows_of_tiles.batch = 3, rows_of_tiles.out_h = 9, rows_of_tiles.out_w = 8;
  const CostRow rows[] = {
      // Two operations for each of 2 * 48 * 5 * 6 results, channel and tap.
      {"full vectors", SizeWith(32, 48, 3, 3), kNhwc, 2 + 1658880 / 930.0},
      {"the same in blocks", SizeWith(32, 48, 3, 3), kBlocked, 2 + 1658880 / 930.0},
      {"8 channels", SizeWith(8, 48, 3, 3), kNhwc, 2 + 414720 / (930 * 0.7)},
      {"16 filters", SizeWith(32, 16, 3, 3), kNhwc, 2 + 552960 / (930 * 0.8)},
      {"another kernel", SizeWith(32, 48, 2, 5), kNhwc, 2 + 1843200 / 930.0},
      {"pointwise", SizeWith(32, 48, 1, 1), kNhwc, 2 + 184320 / 930.0},
      {"pointwise in blocks", SizeWith(32, 48, 1, 1), kBlocked, 2 + 184320 / (930 * 0.95)},
      {"a column in blocks", SizeWith(32, 48, 3, 1), kBlocked, 2 + 552960 / 930.0},
      {"depthwise", SizeWith(48, 48, 3, 3, 48), kNhwc, 2 + 51840 / 300.0},
      {"two filters for each channel", SizeWith(48, 96, 3, 3, 48), kNhwc,
       2 + 103680 / (930 * 0.6125 * 0.625)},
      {"groups", SizeWith(64, 96, 3, 3, 2), kNhwc, 2 + 3317760 / 930.0},
      // 4 bytes for each weight
      {"large weights", Vector(512, 256), kNhwc, 2 + 5242.88},
      // 8 tiles: 36 products each, 36 elements of each channel to and fro, and 36 weights for 9.
      {"Winograd", SizeWith(32, 48, 3, 3), kWinograd, 2 + 1769.472 + 1843.2 + 2211.84},
      {"Winograd, 18 tiles", rows_of_tiles, kWinograd, 2 + 3981.312 + 4147.2 + 2211.84},
      {"Winograd with a stride", SizeOf(ShapeOf({1, 16, 9, 9, 16, 3, 3, 2, 2}, false)), kWinograd,
       HUGE_VAL},
  };
  for (const CostRow& row : rows) {
    const double us = ConvMicroseconds(row.size, row.method, kRoundRates);
    if (std::isinf(row.us)) {
      EXPECT_EQ(us, row.us) << row.name;
    } else {
      EXPECT_NEAR(us, row.us, 1e-9 * row.us) << row.name;
    }
  }
}

TEST(ConvCostsTest, OtherElementsMultiplyAndReadFaster) {
  const ConvSize compute = SizeWith(32, 48, 3, 3), weights = Vector(512, 256);
  const auto bf16 = [](const ConvSize& size) {
    return Bf16ConvMicroseconds(size, ConvMethod::kNhwc, kRoundRates);
  };
  EXPECT_NEAR(bf16(compute), 2 + 1658880 / 930.0 / 1.75, 1e-6);
  EXPECT_NEAR(bf16(weights), 2 + 5242.88 / 2, 1e-6);
  const auto int8 = [](const ConvSize& size, double speed) {
    return Int8ConvMicroseconds(size, ConvMethod::kNhwc, kRoundRates, speed);
  };
  EXPECT_NEAR(int8(compute, 3), 2 + 1658880 / 930.0 / 3, 1e-6);
  EXPECT_NEAR(int8(compute, 0.5), 2 + 1658880 / 930.0 * 2, 1e-6);
  EXPECT_NEAR(int8(weights, 3), 2 + 5242.88 / 4, 1e-6);
  EXPECT_EQ(int8(compute, 0), HUGE_VAL);
  EXPECT_EQ(int8(compute, -1), HUGE_VAL);
  EXPECT_NEAR(int8(SizeWith(1, 48, 3, 3), 3), 2 + 51840 / (930 * 0.6125) / 3, 1e-6)
      << "one channel without groups";
}

TEST(ConvCostsTest, ConversionsTakeTheTimeOfTheirBytes) {
  EXPECT_DOUBLE_EQ(QuantizeMicroseconds(40, kRoundRates), 10);
  EXPECT_DOUBLE_EQ(Bf16ReorderMicroseconds(60, kRoundRates), 8);
  EXPECT_DOUBLE_EQ(ReorderMicroseconds(40, kRoundRates), 34);
  for (const Isa isa : {Isa::kPlain, Isa::kAvx2, Isa::kAvx512}) {
    for (const int threads : {1, 2}) {
      const Machine machine{.isa = isa, .threads = threads};
      EXPECT_DOUBLE_EQ(EstimateReorder(1e6, machine), ReorderMicroseconds(1e6, RatesOf(machine)));
    }
    EXPECT_NE(RatesOf({.isa = isa, .threads = 1}), RatesOf({.isa = isa, .threads = 2}));
  }
  EXPECT_EQ(RatesOf({.isa = Isa::kPlain, .threads = 1}),
            RatesOf({.isa = Isa::kAvx2, .threads = 1}));
  EXPECT_EQ(RatesOf({.isa = Isa::kPlain, .threads = 3}),
            RatesOf({.isa = Isa::kAvx2, .threads = 2}));
}

// Depthwise convolutions of bytes: 3 x 3 or 5 x 5 taps, one stride of 1 or 2, at least 16 channels.
TEST(ConvCostsTest, OnlyTheBuiltInKernelComputesGroupsOfOneChannelInBytes) {
  struct Row {
    const char* name;
    bool has;
    ConvSize size;
  };
  const auto depthwise = [](int64_t channels, int64_t kernel_h, int64_t kernel_w, int64_t stride_h,
                            int64_t stride_w, int64_t dilation_h = 1, int64_t dilation_w = 1) {
    ConvSize size = SizeWith(channels, channels, kernel_h, kernel_w, channels);
    size.stride_h = stride_h, size.stride_w = stride_w;
    size.dilation_h = dilation_h, size.dilation_w = dilation_w;
    return size;
  };
  const Row rows[] = {
      {"3 x 3", true, depthwise(16, 3, 3, 1, 1)},
      {"5 x 5", true, depthwise(48, 5, 5, 2, 2)},
      {"15 channels", false, depthwise(15, 3, 3, 1, 1)},
      {"7 x 7", false, depthwise(48, 7, 7, 1, 1)},
      {"3 x 5", false, depthwise(48, 3, 5, 1, 1)},
      {"5 x 3", false, depthwise(48, 5, 3, 1, 1)},
      {"pointwise", false, depthwise(48, 1, 1, 1, 1)},
      {"stride 3", false, depthwise(48, 3, 3, 3, 3)},
      {"strides 1 and 2", false, depthwise(48, 3, 3, 1, 2)},
      {"dilated rows", false, depthwise(48, 3, 3, 1, 1, 2, 1)},
      {"dilated columns", false, depthwise(48, 3, 3, 1, 1, 1, 2)},
      {"two filters for each channel", false, SizeWith(48, 96, 3, 3, 48)},
  };
  for (const Row& row : rows) {
    const double us = Int8ConvMicroseconds(row.size, ConvMethod::kNhwc, kRoundRates, 3);
    EXPECT_EQ(std::isfinite(us), row.has) << row.name;
    for (const char* const bounds : {"", "Relu", "ReluN", "Clip"}) {
      EXPECT_EQ(HasInt8Conv(row.size, bounds, false), row.has) << row.name << bounds;
      EXPECT_FALSE(HasInt8Conv(row.size, bounds, true)) << row.name << bounds;
    }
    EXPECT_FALSE(HasInt8Conv(row.size, "Elu", false)) << row.name;
  }
  for (const bool sum : {false, true}) {
    EXPECT_TRUE(HasInt8Conv(SizeWith(48, 48, 3, 3, 2), "Elu", sum));
    EXPECT_TRUE(HasInt8Conv(SizeWith(1, 48, 7, 7), "", sum));
  }
}

TEST(ConvCostsTest, BlocksHaveLittlePadding) {
  struct Row {
    int64_t in, out, group;
    bool fits, reads_nchw;
  };
  const Row rows[] = {
      // One channel of padding in 33 is little.
      {32, 48, 1, true, false},   {32, 47, 1, true, false},
      {47, 32, 1, true, false},   {32, 31, 1, false, false},
      {31, 32, 1, false, false},  {32, 78, 1, true, false},  // 2 * 33 <= 78
      {32, 62, 1, false, false},                             // 2 * 33 > 62
      {32, 49, 1, false, false},  {49, 32, 1, false, false},
      {4, 32, 1, true, true},     {1, 32, 1, true, true},
      {5, 32, 1, false, false},   {3, 30, 1, false, true},
      {48, 48, 48, true, false},  {47, 47, 47, true, false},
      {31, 31, 31, false, false}, {64, 96, 2, true, false},
      {94, 96, 2, false, false},  // groups have no padding
      {96, 94, 2, false, false},  {4, 32, 2, false, false},
      {32, 32, 4, false, false},  {16, 64, 2, false, false},
      {64, 16, 2, false, false},  {64, 128, 4, true, false},
  };
  for (const Row& row : rows) {
    const ConvSize size = SizeWith(row.in, row.out, 3, 3, row.group);
    EXPECT_EQ(ConvMethodFits(size, ConvMethod::kBlocked), row.fits) << row.in << " " << row.out;
    EXPECT_EQ(BlockedConvReadsNchw(size), row.reads_nchw) << row.in << " " << row.out;
    EXPECT_TRUE(ConvMethodFits(size, ConvMethod::kNhwc));
    EXPECT_EQ(std::isfinite(ConvMicroseconds(size, ConvMethod::kBlocked, kRoundRates)), row.fits);
  }
}

TEST(ConvCostsTest, WinogradNeedsThreeTapsAndFullBlocks) {
  EXPECT_TRUE(ConvMethodFits(SizeWith(16, 32, 3, 3), ConvMethod::kWinograd));
  struct Row {
    const char* name;
    int64_t ConvSize::*field;
    int64_t value;
  };
  const Row rows[] = {
      {"group", &ConvSize::group, 2},
      {"in_channels", &ConvSize::in_channels, 24},
      {"out_channels", &ConvSize::out_channels, 40},
      {"kernel_h", &ConvSize::kernel_h, 5},
      {"kernel_w", &ConvSize::kernel_w, 1},
      {"stride_h", &ConvSize::stride_h, 2},
      {"stride_w", &ConvSize::stride_w, 2},
      {"dilation_h", &ConvSize::dilation_h, 2},
      {"dilation_w", &ConvSize::dilation_w, 2},
  };
  for (const Row& row : rows) {
    ConvSize size = SizeWith(16, 32, 3, 3);
    size.*row.field = row.value;
    EXPECT_FALSE(ConvMethodFits(size, ConvMethod::kWinograd)) << row.name;
  }
}

TEST(ConvCostsTest, FiltersHaveTheBytesOfTheirTaps) {
  EXPECT_EQ(ConvFilterBytes(SizeWith(32, 48, 3, 5), ConvMethod::kNhwc), 4 * 15 * 32 * 48);
  EXPECT_EQ(ConvFilterBytes(SizeWith(32, 48, 3, 5, 2), ConvMethod::kBlocked), 4 * 15 * 16 * 48);
  EXPECT_EQ(ConvFilterBytes(SizeWith(32, 48, 3, 3), ConvMethod::kWinograd), 4 * 36 * 32 * 48);
}

TEST(ConvCostsTest, SizesAreThoseOfTheShape) {
  const ConvSize size = SizeOf(ShapeOf({.batch = 5,
                                        .channels = 12,
                                        .height = 40,
                                        .width = 30,
                                        .filters = 8,
                                        .kernel_h = 3,
                                        .kernel_w = 2,
                                        .stride_h = 2,
                                        .stride_w = 3,
                                        .top = 1,
                                        .left = 4,
                                        .dilation_h = 5,
                                        .dilation_w = 7,
                                        .group = 4},
                                       true));
  EXPECT_EQ(size.batch, 5);
  EXPECT_EQ(size.in_channels, 12);
  EXPECT_EQ(size.out_channels, 8);
  EXPECT_EQ(size.group, 4);
  EXPECT_EQ(size.out_h, (40 + 1 - 11) / 2 + 1);
  EXPECT_EQ(size.out_w, (30 + 4 - 8) / 3 + 1);
  EXPECT_EQ(size.kernel_h, 3);
  EXPECT_EQ(size.kernel_w, 2);
  EXPECT_EQ(size.stride_h, 2);
  EXPECT_EQ(size.stride_w, 3);
  EXPECT_EQ(size.dilation_h, 5);
  EXPECT_EQ(size.dilation_w, 7);
}

TEST(ConvCostsTest, LayoutsWithoutAnAlgorithmTakeForever) {
  const ConvSize odd = SizeWith(32, 49, 3, 3), winograd = SizeWith(64, 64, 3, 3);
  const Machine avx512{.isa = Isa::kAvx512}, avx2{.isa = Isa::kAvx2};
  EXPECT_EQ(EstimateConvLayouts(odd, avx512, false).blocked_us, HUGE_VAL);
  EXPECT_EQ(EstimateConvLayouts(odd, avx512, false).nhwc_us,
            ConvMicroseconds(odd, ConvMethod::kNhwc, RatesOf(avx512)));
  const ConvSize pointwise = SizeWith(32, 48, 1, 1);
  EXPECT_EQ(EstimateConvLayouts(pointwise, avx512, false).blocked_us,
            ConvMicroseconds(pointwise, ConvMethod::kBlocked, RatesOf(avx512)));
  // With AVX2, only Winograd computes blocks.
  EXPECT_EQ(EstimateConvLayouts(winograd, avx2, false).blocked_us,
            ConvMicroseconds(winograd, ConvMethod::kWinograd, RatesOf(avx2)));
  EXPECT_EQ(EstimateConvLayouts(pointwise, avx2, false).blocked_us, HUGE_VAL);
}

TEST(Int8ConvPaysTest, IfFasterThanAllOtherAlgorithms) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  const auto vector = [](int64_t in, int64_t out, int64_t h, int64_t w, int64_t kernel_h = 1,
                         int64_t kernel_w = 1) {
    return ConvSize{.in_channels = in,
                    .out_channels = out,
                    .out_h = h,
                    .out_w = w,
                    .kernel_h = kernel_h,
                    .kernel_w = kernel_w};
  };
  const Machine machine{.isa = Isa::kAvx512, .threads = 2};
  for (const bool deterministic : {false, true}) {
    EXPECT_TRUE(Int8ConvPays(vector(1024, 1024, 1, 1), machine, deterministic));
    EXPECT_FALSE(Int8ConvPays(vector(1024, 1023, 1, 1), machine, deterministic)) << "a gate";
    EXPECT_TRUE(Int8ConvPays(vector(512, 128, 1, 2), machine, deterministic));
    EXPECT_TRUE(Int8ConvPays(vector(512, 128, 2, 1), machine, deterministic));
    EXPECT_TRUE(Int8ConvPays(vector(512, 128, 1, 1, 3, 1), machine, deterministic));
    EXPECT_TRUE(Int8ConvPays(vector(512, 128, 1, 1, 1, 3), machine, deterministic));
    EXPECT_FALSE(Int8ConvPays(SizeWith(48, 48, 7, 7, 48), machine, deterministic));
    // Winograd takes less than half of the time of the direct method, but is not deterministic.
    for (const int64_t channels : {64, 256}) {
      ConvSize size = vector(channels, channels, 56, 56, 3, 3);
      const Machine on = deterministic ? Machine{.isa = Isa::kAvx2, .threads = 1} : machine;
      const double direct = ConvMicroseconds(size, ConvMethod::kNhwc, RatesOf(on));
      const double winograd = ConvMicroseconds(size, ConvMethod::kWinograd, RatesOf(on));
      const double bytes =
          Int8ConvMicroseconds(size, ConvMethod::kNhwc, RatesOf(on), Int8ConvSpeed(deterministic));
      EXPECT_EQ(Int8ConvPays(size, machine, deterministic),
                bytes < (deterministic ? direct : std::min(direct, winograd)))
          << channels;
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::conv_costs_test
