#include "caffe2_core/tensor/tensor_stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt::test::tensor_stats_test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class T>
Tensor Vector(const std::vector<T>& values) {
  Tensor tensor({static_cast<int64_t>(values.size())}, CPU);
  T* const data = tensor.mutable_data<T>();
  for (size_t i = 0; i < values.size(); ++i) data[i] = values[i];
  return tensor;
}

TEST(TensorStatsTest, CountsNaNsAndInfinitiesAndLeavesNaNsOutOfTheRange) {
  const TensorStats stats = StatsOf(Vector<float>({1, kNaN, -3, 5, kNaN})).value();
  EXPECT_EQ(stats.count, 5);
  EXPECT_EQ(stats.nan, 2);
  EXPECT_EQ(stats.infinite, 0);
  EXPECT_EQ(stats.first_non_finite, 1);
  EXPECT_EQ(stats.min, -3);
  EXPECT_EQ(stats.max, 5);
  EXPECT_EQ(stats.mean, 1);
  EXPECT_FALSE(stats.finite());
}

TEST(TensorStatsTest, CountsInfinitiesInTheRange) {
  const TensorStats stats = StatsOf(Vector<double>({1, -kInfinity, 2})).value();
  EXPECT_EQ(stats.infinite, 1);
  EXPECT_EQ(stats.first_non_finite, 1);
  EXPECT_EQ(stats.min, -kInfinity);
  EXPECT_EQ(stats.max, 2);
  EXPECT_EQ(stats.mean, -kInfinity);
}

TEST(TensorStatsTest, HasNoRangeIfNoElementIsANumber) {
  for (const Tensor& tensor : {Vector<float>({}), Vector<float>({kNaN, kNaN})}) {
    const TensorStats stats = StatsOf(tensor).value();
    EXPECT_TRUE(std::isnan(stats.min));
    EXPECT_TRUE(std::isnan(stats.max));
    EXPECT_TRUE(std::isnan(stats.mean));
  }
}

TEST(TensorStatsTest, ReadsEveryTypeOfNumber) {
  const auto check = [](const Tensor& tensor) {
    const TensorStats stats = StatsOf(tensor).value();
    EXPECT_EQ(stats.min, 0) << tensor.meta().name();
    EXPECT_EQ(stats.max, 1) << tensor.meta().name();
    EXPECT_EQ(stats.mean, 0.5) << tensor.meta().name();
    EXPECT_TRUE(stats.finite()) << tensor.meta().name();
  };
  check(Vector<float>({0, 1}));
  check(Vector<double>({0, 1}));
  check(Vector<float16>({0.f, 1.f}));
  check(Vector<int64_t>({0, 1}));
  check(Vector<int32_t>({0, 1}));
  check(Vector<int16_t>({0, 1}));
  check(Vector<int8_t>({0, 1}));
  check(Vector<uint16_t>({0, 1}));
  check(Vector<uint8_t>({0, 1}));
  check(Vector<bool>({false, true}));
  check(Vector<uint32_t>({0, 1}));
  check(Vector<uint64_t>({0, 1}));
  check(Vector<bfloat16>({bfloat16(0.f), bfloat16(1.f)}));
  EXPECT_EQ(StatsOf(Vector<uint32_t>({0, UINT32_MAX}))->max, 4294967295.0);
  EXPECT_EQ(StatsOf(Vector<uint64_t>({0, UINT64_MAX}))->max, 0x1p64);
  EXPECT_EQ(StatsOf(Vector<int64_t>({INT64_MIN, 0}))->min, -0x1p63);
  EXPECT_EQ(StatsOf(Vector<bfloat16>({bfloat16(kNaN), bfloat16(2.f)}))->nan, 1);
}

TEST(TensorStatsTest, ReadsNoStringsAndNoMissingData) {
  EXPECT_FALSE(StatsOf(Vector<std::string>({"a"})).has_value());
  EXPECT_FALSE(StatsOf(Tensor(CPU)).has_value());
  EXPECT_FALSE(StatsOf(Tensor({2}, CPU)).has_value());
  Blob blob;
  EXPECT_FALSE(StatsOf(blob).has_value());
  *blob.GetMutable<std::string>() = "text";
  EXPECT_FALSE(StatsOf(blob).has_value());
}

TEST(TensorStatsTest, ReportsTheNumbersThatQuantizedElementsStandFor) {
  Blob blob;
  auto* const quantized = blob.GetMutable<Int8TensorCPU>();
  quantized->scale = 0.5f;
  quantized->zero_point = 10;
  quantized->t = Vector<uint8_t>({8, 14});
  const TensorStats stats = StatsOf(blob).value();
  EXPECT_EQ(stats.min, -1);
  EXPECT_EQ(stats.max, 2);
  EXPECT_EQ(stats.mean, 0.5);
}

TEST(TensorStatsTest, ANegativeScaleTurnsTheRangeRound) {
  Blob blob;
  auto* const quantized = blob.GetMutable<Int8TensorCPU>();
  quantized->scale = -0.5f;
  quantized->zero_point = 10;
  quantized->t = Vector<uint8_t>({8, 14, 8});
  const TensorStats stats = StatsOf(blob).value();
  EXPECT_EQ(stats.min, -2);
  EXPECT_EQ(stats.max, 1);
  EXPECT_EQ(stats.mean, 0);
}

TEST(TensorStatsTest, FindsNonFiniteElementsOfHalfPrecision) {
  Blob blob;
  *blob.GetMutable<Tensor>() = Vector<float16>({1.f, float16::FromBits(0x7c00)});
  EXPECT_FALSE(NonFiniteIn(blob).nan);
  EXPECT_TRUE(NonFiniteIn(blob).infinite);
  *blob.GetMutable<Tensor>() = Vector<float16>({1.f, float16::FromBits(0x7e00)});
  EXPECT_TRUE(NonFiniteIn(blob).nan);
  EXPECT_FALSE(NonFiniteIn(blob).infinite);
  *blob.GetMutable<Tensor>() = Vector<bfloat16>({bfloat16(kInfinity), bfloat16(1.f)});
  EXPECT_FALSE(NonFiniteIn(blob).nan);
  EXPECT_TRUE(NonFiniteIn(blob).infinite);
  *blob.GetMutable<Tensor>() = Vector<double>({kNaN, -kInfinity});
  EXPECT_TRUE(NonFiniteIn(blob).nan);
  EXPECT_TRUE(NonFiniteIn(blob).infinite);
  *blob.GetMutable<Tensor>() = Vector<int32_t>({-1});
  EXPECT_FALSE(NonFiniteIn(blob).nan || NonFiniteIn(blob).infinite);
}

TEST(TensorStatsTest, InfinitiesAloneAreARange) {
  const TensorStats high = StatsOf(Vector<float>({kInfinity, kInfinity, kNaN})).value();
  EXPECT_EQ(high.infinite, 2);
  EXPECT_EQ(high.min, kInfinity);
  EXPECT_EQ(high.max, kInfinity);
  EXPECT_EQ(high.mean, kInfinity);
  const TensorStats both = StatsOf(Vector<float>({kInfinity, -kInfinity})).value();
  EXPECT_EQ(both.min, -kInfinity);
  EXPECT_EQ(both.max, kInfinity);
  EXPECT_TRUE(std::isnan(both.mean));
}

}  // namespace
}  // namespace caffe2rt::test::tensor_stats_test
