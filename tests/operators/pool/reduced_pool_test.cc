#include "operators/pool/reduced_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "caffe2_core/base/thread_pool.h"

namespace caffe2rt::test::reduced_pool_test {
namespace {

struct Case {
  const char* name;
  int64_t batch, channels, height, width, kernel, stride, pad_head, out_height, out_width;
  int threads = 1;
};

const Case kCases[] = {{"no overlap", 1, 3, 4, 6, 2, 2, 0, 2, 3},
                       {"overlap and padding", 2, 70, 5, 7, 3, 2, 1, 3, 4},
                       {"a window larger than the rest", 1, 16, 6, 6, 3, 2, 0, 3, 3},
                       {"threads", 3, 130, 33, 31, 3, 2, 1, 17, 16, 2}};

PoolPlan PlanOf(const Case& c) {
  PoolPlan plan;
  plan.batch = c.batch;
  plan.channels = c.channels;
  for (size_t axis : {1u, 2u}) {
    plan.axis[axis].kernel = c.kernel;
    plan.axis[axis].stride = c.stride;
    plan.axis[axis].pad_head = c.pad_head;
    plan.axis[axis].in = axis == 1 ? c.height : c.width;
    plan.axis[axis].out = axis == 1 ? c.out_height : c.out_width;
  }
  return plan;
}

// For each element of Y, the elements of X under its window.
template <class T>
std::vector<std::vector<T>> Windows(const Case& c, const std::vector<T>& x) {
  std::vector<std::vector<T>> windows;
  for (int64_t i = 0; i < c.batch * c.out_height * c.out_width * c.channels; ++i) {
    const int64_t channel = i % c.channels, column = i / c.channels % c.out_width;
    const int64_t row = i / c.channels / c.out_width % c.out_height;
    const int64_t image = i / c.channels / c.out_width / c.out_height;
    std::vector<T> window;
    for (int64_t k = 0; k < c.kernel * c.kernel; ++k) {
      const int64_t h = row * c.stride - c.pad_head + k / c.kernel;
      const int64_t w = column * c.stride - c.pad_head + k % c.kernel;
      if (h < 0 || w < 0 || h >= c.height || w >= c.width) continue;
      const int64_t from = ((image * c.height + h) * c.width + w) * c.channels + channel;
      window.push_back(x[static_cast<size_t>(from)]);
    }
    windows.push_back(window);
  }
  return windows;
}

std::vector<uint8_t> BytesFor(const Case& c) {
  std::vector<uint8_t> x(static_cast<size_t>(c.batch * c.height * c.width * c.channels));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 37 % 251);
  return x;
}

uint16_t ToBf16(float value) {  // exact for the numbers of these tests
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
}
float FromBf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
std::vector<float> FloatsFor(const Case& c) {  // -64 to 61.5 in halves, which bf16 represents
  std::vector<float> x;
  for (const uint8_t byte : BytesFor(c)) x.push_back(static_cast<float>(byte) / 2 - 64);
  return x;
}
std::vector<uint16_t> ToBf16(const std::vector<float>& x) {
  std::vector<uint16_t> y;
  for (const float value : x) y.push_back(ToBf16(value));
  return y;
}

TEST(MaxPoolBytesTest, TakesTheLargestByteOfEachWindowInsideTheImage) {
  for (const Case& c : kCases) {
    SetNumThreads(c.threads);
    const std::vector<uint8_t> x = BytesFor(c);
    std::vector<uint8_t> want;
    for (const auto& window : Windows(c, x)) want.push_back(*std::ranges::max_element(window));
    std::vector<uint8_t> y(want.size());
    MaxPoolBytes(PlanOf(c), c.height, c.width, x.data(), y.data());
    EXPECT_EQ(y, want) << c.name;
  }
  SetNumThreads(1);
}

TEST(MaxPoolBfloat16sTest, TakesTheLargestNumberOfEachWindow) {
  for (const Case& c : kCases) {
    SetNumThreads(c.threads);
    const std::vector<float> x = FloatsFor(c);
    std::vector<uint16_t> want;
    for (const auto& window : Windows(c, x))
      want.push_back(ToBf16(*std::ranges::max_element(window)));
    std::vector<uint16_t> y(want.size());
    MaxPoolBfloat16s(PlanOf(c), c.height, c.width, ToBf16(x).data(), y.data());
    EXPECT_EQ(y, want) << c.name;
  }
  SetNumThreads(1);
}

TEST(MaxPoolBfloat16sTest, IgnoresNaNUnlessThereIsNothingElse) {
  PoolPlan plan;
  plan.batch = 1;
  plan.channels = 2;
  plan.whole = true;
  const std::vector<uint16_t> x = ToBf16({NAN, NAN, -3, -NAN, -INFINITY, NAN});
  std::vector<uint16_t> y(2);
  MaxPoolBfloat16s(plan, 3, 1, x.data(), y.data());
  EXPECT_EQ(FromBf16(y[0]), -3);
  EXPECT_TRUE(std::isnan(FromBf16(y[1])));
}

TEST(MeanPoolTest, RoundsTheMeanOfTheNumbersOfEachWindow) {
  constexpr int kZeroPoint = 100;
  for (const Case& c : kCases) {
    for (const bool include_pad : {false, true}) {
      SetNumThreads(c.threads);
      PoolPlan plan = PlanOf(c);
      plan.include_pad = include_pad;
      const std::vector<uint8_t> x = BytesFor(c);
      const std::vector<float> floats = FloatsFor(c);
      std::vector<double> bytes, numbers;
      const auto mean = [&](const auto& window, double zero) {
        double sum = 0;
        for (const auto value : window) sum += value - zero;
        const auto all = static_cast<size_t>(c.kernel * c.kernel);
        return zero + sum / static_cast<double>(include_pad ? all : window.size());
      };
      for (const auto& window : Windows(c, x)) bytes.push_back(mean(window, kZeroPoint));
      for (const auto& window : Windows(c, floats)) numbers.push_back(mean(window, 0));
      std::vector<uint8_t> y(bytes.size());
      MeanPoolBytes(plan, c.height, c.width, {2, kZeroPoint}, {2, kZeroPoint}, x.data(), y.data());
      for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], bytes[i], 0.5001) << c.name << i;
      std::vector<uint16_t> halves(numbers.size());
      MeanPoolBfloat16s(plan, c.height, c.width, ToBf16(floats).data(), halves.data());
      for (size_t i = 0; i < y.size(); ++i) {
        ASSERT_NEAR(FromBf16(halves[i]), numbers[i], std::abs(numbers[i]) / 256 + 1e-5) << i;
      }
    }
  }
  SetNumThreads(1);
}

// One window over each image of 2 x 3: there is no padding that could be included.
TEST(MeanPoolTest, WholeImagesHaveNoPadding) {
  for (const bool include_pad : {false, true}) {
    PoolPlan plan;
    plan.batch = 2;
    plan.channels = 1;
    plan.whole = true;
    plan.include_pad = include_pad;
    const std::vector<uint8_t> x = {10, 20, 30, 40, 50, 60, 0, 0, 0, 0, 0, 12};
    std::vector<uint8_t> y(2);
    MeanPoolBytes(plan, 2, 3, {1, 5}, {1, 5}, x.data(), y.data());
    EXPECT_THAT(y, testing::ElementsAre(35, 2));
    const std::vector<uint16_t> halves = ToBf16({1, 2, 3, 4, 5, 9, -1, -1, -1, -1, -1, -1});
    std::vector<uint16_t> means(2);
    MeanPoolBfloat16s(plan, 2, 3, halves.data(), means.data());
    EXPECT_EQ(FromBf16(means[0]), 4);
    EXPECT_EQ(FromBf16(means[1]), -1);
  }
}

// Halfway between two numbers with 8 bits, the mean becomes the even one.
TEST(MeanPoolTest, RoundsHalvesOfBfloat16sToEven) {
  PoolPlan plan;
  plan.batch = 1;
  plan.channels = 4;
  plan.whole = true;
  const std::vector<uint16_t> x = {0x3f80, 0x3f81, 0xbf81, 0x7f7f,  // 1, 1 + 1/128, and so on
                                   0x3f81, 0x3f82, 0xbf82, 0x7f7f};
  std::vector<uint16_t> y(4);
  MeanPoolBfloat16s(plan, 2, 1, x.data(), y.data());
  EXPECT_THAT(y, testing::ElementsAre(0x3f80, 0x3f82, 0xbf82, 0x7f80));
}

// Bytes of X in steps of 0.5 from -50, and of Y in steps of 0.2 from -10: numbers beyond -10 and 41 become the
// bounds.
TEST(MeanPoolTest, WritesBytesOfAnotherScale) {
  for (const Case& c : kCases) {
    SetNumThreads(c.threads);
    const std::vector<uint8_t> x = BytesFor(c);
    std::vector<double> want;
    for (const auto& window : Windows(c, x)) {
      double sum = 0;
      for (const uint8_t value : window) sum += (value - 100) * 0.5;
      want.push_back(std::clamp(sum / static_cast<double>(window.size()), -10.0, 41.0));
    }
    std::vector<uint8_t> y(want.size());
    MeanPoolBytes(PlanOf(c), c.height, c.width, {0.5f, 100}, {0.2f, 50}, x.data(), y.data());
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR((y[i] - 50) * 0.2, want[i], 0.1001) << c.name;
  }
  SetNumThreads(1);
}

// 257 elements are the most whose sum fits into 16 bits.
TEST(MeanPoolTest, AddsLargeBytesExactly) {
  PoolPlan plan;
  plan.batch = 1;
  plan.channels = 40;
  plan.whole = true;
  for (const int64_t height : {1, 257, 258, 1000}) {
    const std::vector<uint8_t> x(static_cast<size_t>(height * plan.channels), 255);
    std::vector<uint8_t> y(static_cast<size_t>(plan.channels));
    MeanPoolBytes(plan, height, 1, {1, 3}, {1, 3}, x.data(), y.data());
    EXPECT_THAT(y, testing::Each(255)) << height;
  }
}

TEST(MaxPoolBytesTest, PoolsWholeImages) {
  PoolPlan plan;
  plan.batch = 2;
  plan.channels = 2;
  plan.whole = true;
  const std::vector<uint8_t> x = {1, 9, 250, 3, 4, 5, 7, 6};  // of 1 x 2 pixels
  std::vector<uint8_t> y(4);
  MaxPoolBytes(plan, 1, 2, x.data(), y.data());
  EXPECT_THAT(y, testing::ElementsAre(250, 9, 7, 6));
}

}  // namespace
}  // namespace caffe2rt::test::reduced_pool_test
