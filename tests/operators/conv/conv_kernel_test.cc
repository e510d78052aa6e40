// Checks that every algorithm computes the convolution by definition, for every shape it supports.
#include "operators/conv/conv_kernel.h"

#include "operators/common/conv_geometry.h"
#include "operators/conv/conv_tuning.h"
#include "tests/operators/conv/naive_conv.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::conv_kernel_test {

namespace {

const NaivePicture kPictures[] = {
    {.batch = 1,
     .channels = 3,
     .height = 12,
     .width = 12,
     .filters = 10,
     .kernel_h = 3,
     .kernel_w = 3},
    {.batch = 2,
     .channels = 5,
     .height = 9,
     .width = 40,
     .filters = 7,
     .kernel_h = 3,
     .kernel_w = 3,
     .top = 1,
     .left = 1,
     .bottom = 1,
     .right = 1},
    {.batch = 1,
     .channels = 16,
     .height = 8,
     .width = 8,
     .filters = 32,
     .kernel_h = 3,
     .kernel_w = 3,
     .top = 1,
     .left = 1,
     .bottom = 1,
     .right = 1},
    {.batch = 2,
     .channels = 3,
     .height = 37,
     .width = 41,
     .filters = 33,
     .kernel_h = 7,
     .kernel_w = 7,
     .stride_h = 2,
     .stride_w = 2,
     .top = 3,
     .left = 3,
     .bottom = 3,
     .right = 3},
    {.batch = 1,
     .channels = 4,
     .height = 20,
     .width = 70,
     .filters = 6,
     .kernel_h = 3,
     .kernel_w = 1,
     .stride_w = 3,
     .top = 4,
     .bottom = 4,
     .dilation_h = 4},
    {.batch = 2,
     .channels = 64,
     .height = 6,
     .width = 7,
     .filters = 19,
     .kernel_h = 1,
     .kernel_w = 1},
    {.batch = 3,
     .channels = 8,
     .height = 1,
     .width = 1,
     .filters = 4,
     .kernel_h = 1,
     .kernel_w = 1},
    {.batch = 1,
     .channels = 12,
     .height = 11,
     .width = 33,
     .filters = 12,
     .kernel_h = 3,
     .kernel_w = 3,
     .stride_h = 2,
     .stride_w = 1,
     .top = 1,
     .left = 0,
     .bottom = 0,
     .right = 2,
     .group = 12},
    {.batch = 1,
     .channels = 12,
     .height = 10,
     .width = 10,
     .filters = 24,
     .kernel_h = 3,
     .kernel_w = 3,
     .top = 2,
     .left = 2,
     .bottom = 2,
     .right = 2,
     .dilation_h = 2,
     .dilation_w = 2,
     .group = 3},
    {.batch = 1,
     .channels = 4,
     .height = 9,
     .width = 9,
     .filters = 5,
     .kernel_h = 3,
     .kernel_w = 3,
     .top = -1,
     .left = 0,
     .bottom = 1,
     .right = -2},
    {.batch = 1,
     .channels = 2,
     .height = 5,
     .width = 5,
     .filters = 3,
     .kernel_h = 2,
     .kernel_w = 2,
     .top = 3,
     .left = 3,
     .bottom = 3,
     .right = 3},
    {.batch = 1,
     .channels = 2,
     .height = 5,
     .width = 5,
     .filters = 3,
     .kernel_h = 3,
     .kernel_w = 3,
     .dilation_h = 0,
     .dilation_w = 0},
    {.batch = 2,
     .channels = 6,
     .height = 8,
     .width = 9,
     .filters = 10,
     .kernel_h = 3,
     .kernel_w = 3,
     .top = 1,
     .left = 1,
     .bottom = 1,
     .right = 1,
     .group = 2,
     .channels_last = true},
    {.batch = 2,
     .channels = 8,
     .height = 6,
     .width = 5,
     .filters = 9,
     .kernel_h = 1,
     .kernel_w = 1,
     .channels_last = true},
    {.batch = 2,
     .channels = 6,
     .height = 11,
     .width = 13,
     .filters = 4,
     .kernel_h = 3,
     .kernel_w = 2,
     .stride_h = 1,
     .stride_w = 2,
     .top = 2,
     .left = 1,
     .bottom = 1,
     .right = 3,
     .dilation_h = 2,
     .dilation_w = 3,
     .group = 2,
     .channels_last = true},
    {.batch = 1,
     .channels = 5,
     .height = 9,
     .width = 8,
     .filters = 5,
     .kernel_h = 2,
     .kernel_w = 3,
     .top = 1,
     .left = 3,
     .right = 2,
     .dilation_h = 4,
     .dilation_w = 2,
     .group = 5,
     .channels_last = true},
    {.batch = 1,
     .channels = 7,
     .height = 10,
     .width = 9,
     .filters = 3,
     .kernel_h = 3,
     .kernel_w = 3,
     .top = -1,
     .left = 2,
     .bottom = 2,
     .right = -1,
     .dilation_h = 2,
     .dilation_w = 3,
     .channels_last = true},
    {.batch = 1,
     .channels = 17,
     .height = 16,
     .width = 16,
     .filters = 16,
     .kernel_h = 5,
     .kernel_w = 5,
     .stride_h = 4,
     .stride_w = 4,
     .channels_last = true},
};

ConvShape ShapeOf(const NaivePicture& p, bool bias) {
  WindowArguments window;
  window.order = p.channels_last ? StorageOrder::NHWC : StorageOrder::NCHW;
  window.kernel = {p.kernel_h, p.kernel_w};
  window.stride = {p.stride_h, p.stride_w};
  window.dilation = {p.dilation_h, p.dilation_w};
  window.adj = {0, 0};
  window.pads = {p.top, p.left, p.bottom, p.right};
  const std::vector<int64_t> dims =
      p.channels_last ? std::vector<int64_t>{p.batch, p.height, p.width, p.channels}
                      : std::vector<int64_t>{p.batch, p.channels, p.height, p.width};
  return {MakeWindowGeometry(window, dims), p.filters, p.group, bias};
}

class ConvKernelTest : public testing::TestWithParam<std::tuple<ConvAlgorithm, bool>> {};

TEST_P(ConvKernelTest, GivesTheValuesOfTheDefinition) {
  const auto [algorithm, with_bias] = GetParam();
  int taken = 0;
  for (const NaivePicture& p : kPictures) {
    SCOPED_TRACE(&p - kPictures);
    const ConvShape shape = ShapeOf(p, with_bias);
    const std::unique_ptr<ConvKernel> kernel = NewConvKernel(algorithm, shape);
    if (kernel == nullptr) continue;
    ++taken;
    const auto x = RandomValues(p.batch * p.channels * p.height * p.width, -1, 1, 1);
    const auto filter =
        RandomValues(p.filters * p.channels / p.group * p.kernel_h * p.kernel_w, -1, 1, 2);
    const auto bias = with_bias ? RandomValues(p.filters, -1, 1, 3) : std::vector<float>();
    const std::vector<float> want = NaiveConv(p, x, filter, bias);
    std::vector<float> got(want.size(), -77.f);
    std::shared_ptr<const void> prepared;
    if (!kernel->FilterForm().empty()) prepared = kernel->PrepareFilter(filter.data());
    for (int run = 0; run < 2; ++run) {
      kernel->Run(x.data(), prepared != nullptr ? prepared.get() : filter.data(),
                  with_bias ? bias.data() : nullptr, got.data());
    }
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 2e-4) << "at " << i;
  }
  if (taken == 0) GTEST_SKIP() << "this machine has no " << ConvAlgorithmName(algorithm);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, ConvKernelTest,
                         testing::Combine(testing::ValuesIn(kAllConvAlgorithms), testing::Bool()),
                         [](const auto& info) {
                           return std::string(ConvAlgorithmName(std::get<0>(info.param))) +
                                  (std::get<1>(info.param) ? "_bias" : "_plain");
                         });

TEST(ConvKernelTest, NamesOfAlgorithmsAreReadBack) {
  for (const ConvAlgorithm algorithm : kAllConvAlgorithms) {
    ConvAlgorithm read{};
    ASSERT_TRUE(ParseConvAlgorithm(ConvAlgorithmName(algorithm), &read));
    EXPECT_EQ(read, algorithm);
  }
  ConvAlgorithm read{};
  EXPECT_FALSE(ParseConvAlgorithm("fft", &read));
}

constexpr const char* kRow =
    "avx512\tNCHW\t1x64x56x56\t64\t3x3\t1x1\t1x1\t1x1\t1x1\t1\tonednn_winograd\t12.5\n";

TEST(ConvTuningTest, TakesTheAlgorithmOfTheSameShape) {
  const ConvTuning tuning(kRow);
  ASSERT_EQ(tuning.rows().size(), 1u);
  EXPECT_EQ(ConvTuningLine(tuning.rows()[0]), kRow);
  const ConvShape& shape = tuning.rows()[0].shape;
  EXPECT_EQ(tuning.Choose(shape, Isa::kAvx512, false)[0], ConvAlgorithm::kOnednnWinograd);
  EXPECT_NE(tuning.Choose(shape, Isa::kAvx2, false)[0], ConvAlgorithm::kOnednnWinograd);
}

TEST(ConvTuningTest, TakesTheAlgorithmOfANearShapeOnly) {
  const ConvTuning tuning(kRow);
  ConvShape shape = tuning.rows()[0].shape;
  shape.out_channels = 96;
  EXPECT_EQ(tuning.Choose(shape, Isa::kAvx512, false)[0], ConvAlgorithm::kOnednnWinograd);
  shape.out_channels = 64 * 64;
  EXPECT_NE(tuning.Choose(shape, Isa::kAvx512, false)[0], ConvAlgorithm::kOnednnWinograd);
}

TEST(ConvTuningTest, LeavesWinogradOutOfDirectChoicesAndEndsWithWhatDoesAnyShape) {
  const ConvTuning tuning(kRow);
  for (const ConvAlgorithm algorithm : tuning.Choose(tuning.rows()[0].shape, Isa::kAvx512, true)) {
    EXPECT_NE(algorithm, ConvAlgorithm::kOnednnWinograd);
  }
  EXPECT_EQ(tuning.Choose(tuning.rows()[0].shape, Isa::kPlain, true).back(),
            ConvAlgorithm::kIm2Col);
}

TEST(ConvTuningTest, NamesTheLineThatIsNoRow) {
  ExpectThrows([] { ConvTuning("# fine\navx512\tNCHW\n"); }, "line 2");
  ExpectThrows([] { ConvTuning("sse\tNCHW\t1x1x1x1\t1\t1x1\t1x1\t0x0\t0x0\t1x1\t1\tim2col\t1\n"); },
               "sse");
  ExpectThrows(
      [] { ConvTuning("avx2\tNCHW\t1x1x1x1\t1\t0x1\t1x1\t0x0\t0x0\t1x1\t1\tim2col\t1\n"); },
      "kernel");
  ExpectThrows([] { ConvTuning("avx2\tNCHW\t1x1x1x1\t1\t1x1\t1x1\t0x0\t0x0\t1x1\t1\tfft\t1\n"); },
               "fft");
}

TEST(ConvTuningTest, ShippedTableIsRead) { EXPECT_GT(GetConvTuning()->rows().size(), 100u); }

}  // namespace
}  // namespace caffe2rt::test::conv_kernel_test
