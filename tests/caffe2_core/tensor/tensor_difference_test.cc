#include "caffe2_core/tensor/tensor_difference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt::test::tensor_difference_test {
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

template <class T>
TensorDifference Compare(const std::vector<T>& first, const std::vector<T>& second,
                         const Tolerance& tolerance = {}) {
  return CompareTensors(Vector(first), Vector(second), tolerance);
}

TEST(TensorDifferenceTest, MeasuresAbsoluteAndRelativeDifference) {
  const TensorDifference found = Compare<double>({1, 10, 0.5}, {1, 8, 0.125});
  EXPECT_EQ(found.count, 3);
  EXPECT_EQ(found.max_absolute, 2);
  EXPECT_EQ(found.max_relative, 3);
  EXPECT_EQ(found.largest, 8);
  EXPECT_EQ(found.worst, 1);
  EXPECT_EQ(found.beyond, 2);
  EXPECT_FALSE(found.within());
}

TEST(TensorDifferenceTest, MeasuresTheRatioOfSignalToNoiseOfTheSecond) {
  const TensorDifference found = Compare<double>({10, 1, -2}, {10, 0, 0});
  EXPECT_EQ(found.signal, 100);
  EXPECT_EQ(found.noise, 5);
  EXPECT_NEAR(found.SnrDb(), 13.0103, 1e-4);  // 10 log10(20)
  EXPECT_NEAR(Compare<int64_t>({0, 101}, {0, 100}).SnrDb(), 40, 1e-9);
  EXPECT_EQ(Compare<float>({1, 2}, {1, 2}).SnrDb(), HUGE_VAL);
  EXPECT_EQ(Compare<float>({0, 0}, {0, 0}).SnrDb(), HUGE_VAL);
  EXPECT_EQ(Compare<float>({1}, {0}).SnrDb(), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(Compare<float>({1, kNaN}, {1, 2}).SnrDb()));
  EXPECT_TRUE(std::isnan(Compare<float>({1, kInfinity}, {2, kInfinity}).SnrDb()));
  EXPECT_EQ(Compare<float>({1, kInfinity}, {1, kInfinity}).SnrDb(), HUGE_VAL);
  // Infinite noise alone, of one infinity or of two that differ.
  EXPECT_TRUE(std::isnan(Compare<float>({1, kInfinity}, {1, 2}).SnrDb()));
  EXPECT_TRUE(std::isnan(Compare<float>({-kInfinity}, {3}).SnrDb()));
  EXPECT_TRUE(std::isnan(Compare<float>({kInfinity, 1}, {-kInfinity, 1}).SnrDb()));
}

TEST(TensorDifferenceTest, AddsTheAbsoluteAndTheRelativeToleranceOfTheSecond) {
  const Tolerance tolerance{.absolute = 1, .relative = 0.5};
  EXPECT_EQ(Compare<double>({6}, {10}, tolerance).beyond, 0);    // 4 <= 1 + 5
  EXPECT_EQ(Compare<double>({4}, {10}, tolerance).beyond, 0);    // 6 <= 1 + 5
  EXPECT_EQ(Compare<double>({10}, {4}, tolerance).beyond, 1);    // 6 > 1 + 2
  EXPECT_EQ(Compare<double>({-10}, {10}, tolerance).beyond, 1);  // 20 > 6
}

TEST(TensorDifferenceTest, LeavesZerosOutOfTheRelativeDifference) {
  const TensorDifference found = Compare<float>({0.5f, 1}, {0, 1});
  EXPECT_EQ(found.max_absolute, 0.5);
  EXPECT_EQ(found.max_relative, 0);
  EXPECT_EQ(found.beyond, 1);
}

TEST(TensorDifferenceTest, ComparesIntegersWithTheAbsoluteToleranceOnly) {
  EXPECT_EQ(Compare<int32_t>({1000000}, {1000001}).beyond, 1);
  EXPECT_EQ(Compare<int32_t>({1000000}, {1000001}, {.absolute = 1}).beyond, 0);
  EXPECT_EQ(Compare<uint8_t>({0}, {255}).max_absolute, 255);
  EXPECT_EQ(Compare<int64_t>({1, 2}, {-9, 2}).largest, 9);
  EXPECT_EQ(Compare<bool>({true}, {false}).beyond, 1);
  EXPECT_EQ(Compare<uint32_t>({UINT32_MAX}, {0}).max_absolute, 4294967295);
  EXPECT_EQ(Compare<uint64_t>({10}, {12}, {.absolute = 1, .relative = 1}).beyond, 1);
}

TEST(TensorDifferenceTest, DistinguishesLargeIntegersThatDoubleRounds) {
  const int64_t large = (int64_t{1} << 53) + 1;
  const TensorDifference found = Compare<int64_t>({large}, {large - 1});
  EXPECT_EQ(found.max_absolute, 1);
  EXPECT_EQ(found.beyond, 1);
  EXPECT_EQ(Compare<int64_t>({INT64_MIN}, {INT64_MAX}).max_absolute, 0x1p64);
  const TensorDifference bits = Compare<uint64_t>({UINT64_MAX, 5}, {UINT64_MAX - 1, 5});
  EXPECT_EQ(bits.max_absolute, 1);
  EXPECT_EQ(bits.beyond, 1);
  EXPECT_EQ(bits.worst, 0);
  EXPECT_EQ(Compare<uint64_t>({3}, {7}).max_absolute, 4);
  EXPECT_EQ(Compare<uint64_t>({UINT64_MAX}, {0}).max_absolute, 0x1p64);
  EXPECT_TRUE(Compare<uint64_t>({UINT64_MAX}, {UINT64_MAX}).within());
}

TEST(TensorDifferenceTest, TreatsNaNAsEqualOnlyOnDemand) {
  const TensorDifference found = Compare<float>({1, kNaN}, {1, kNaN});
  EXPECT_EQ(found.beyond, 1);
  EXPECT_EQ(found.worst, 1);
  EXPECT_TRUE(std::isnan(found.max_absolute));
  EXPECT_TRUE(std::isnan(found.max_relative));
  EXPECT_EQ(found.largest, 1);
  EXPECT_TRUE(Compare<float>({1, kNaN}, {1, kNaN}, {.nan_equals_nan = true}).within());
  EXPECT_EQ(Compare<float>({kNaN, 1}, {1, kNaN}, {.nan_equals_nan = true}).beyond, 2);
}

TEST(TensorDifferenceTest, AcceptsEqualInfinitiesOnly) {
  EXPECT_TRUE(Compare<float>({kInfinity}, {kInfinity}).within());
  for (const float other : {-kInfinity, 1.f}) {
    EXPECT_EQ(Compare<float>({kInfinity}, {other}).beyond, 1);
    EXPECT_EQ(Compare<float>({other}, {kInfinity}).beyond, 1);
    EXPECT_EQ(Compare<float>({other}, {kInfinity}).max_absolute, kInfinity);
    EXPECT_EQ(Compare<float>({other}, {kInfinity}).max_relative, kInfinity);
    EXPECT_EQ(Compare<float>({kInfinity}, {other}).max_relative, kInfinity);
  }
}

TEST(TensorDifferenceTest, ComparesHalfPrecisionAndStrings) {
  EXPECT_EQ(Compare<bfloat16>({bfloat16(1.f), bfloat16(2.f)}, {bfloat16(1.f), bfloat16(4.f)})
                .max_absolute,
            2);
  EXPECT_EQ(Compare<float16>({1.f, 2.f}, {1.f, 4.f}).max_absolute, 2);
  const TensorDifference strings = Compare<std::string>({"a", "b", "c"}, {"a", "x", "y"});
  EXPECT_EQ(strings.beyond, 2);
  EXPECT_EQ(strings.worst, 1);
}

TEST(TensorDifferenceTest, ReportsOtherShapesAndTypes) {
  EXPECT_EQ(Compare<float>({1}, {1, 2}).mismatch, "shape [1] instead of [2]");
  const TensorDifference types = CompareTensors(Vector<float>({1}), Vector<float16>({1.f}), {});
  EXPECT_EQ(types.mismatch, "type float instead of float16");
  EXPECT_FALSE(types.within());
  EXPECT_EQ(CompareTensors(Tensor(CPU), Vector<float>({1}), {}).mismatch,
            "a tensor without shape instead of a tensor");
  // Also of tensors that have as many elements, or none.
  using Dims = std::vector<int64_t>;
  const auto compared = [](const Dims& first, const Dims& second) {
    Tensor a(first, CPU), b(second, CPU);
    std::fill_n(a.mutable_data<float>(), a.numel(), 1.0f);
    std::fill_n(b.mutable_data<float>(), b.numel(), 1.0f);
    return CompareTensors(a, b, {}).mismatch;
  };
  EXPECT_EQ(compared({0, 2}, {2, 0}), "shape [0, 2] instead of [2, 0]");
  EXPECT_EQ(compared({0}, {0, 1}), "shape [0] instead of [0, 1]");
  EXPECT_EQ(compared({2, 3}, {3, 2}), "shape [2, 3] instead of [3, 2]");
  EXPECT_EQ(compared({}, {1}), "shape [] instead of [1]");
  EXPECT_EQ(compared({0, 3}, {0, 3}), "");
}

TEST(TensorDifferenceTest, ComparesNumbersOfOtherTypesOnDemand) {
  const Tolerance any{.any_type = true};
  EXPECT_TRUE(CompareTensors(Vector<float>({1}), Vector<float16>({1.f}), any).within());
  EXPECT_EQ(CompareTensors(Vector<int32_t>({3}), Vector<double>({1}), any).max_absolute, 2);
  EXPECT_EQ(CompareTensors(Vector<std::string>({"1"}), Vector<double>({1}), any).mismatch,
            "type string instead of double");
}

// The numbers 0, 1 and 1, and 1, 0 and 0 as elements of any type.
template <class T>
void ExpectComparable(const std::vector<Tensor>& others) {
  const auto vector = [](float first, float second, float third) {
    if constexpr (std::is_same_v<T, bool>) {
      return Vector<bool>({first != 0, second != 0, third != 0});
    } else {
      return Vector<T>({static_cast<T>(first), static_cast<T>(second), static_cast<T>(third)});
    }
  };
  for (const Tensor& other : others) {
    SCOPED_TRACE(MakeString(TypeMeta::Make<T>().name(), " and ", other.meta().name()));
    const Tolerance any{.any_type = true};
    const TensorDifference found = CompareTensors(vector(0, 1, 0), other, any);
    EXPECT_EQ(found.mismatch, "");
    EXPECT_EQ(found.count, 3);
    EXPECT_EQ(found.beyond, 1);
    EXPECT_EQ(found.worst, 2);
    EXPECT_EQ(found.max_absolute, 1);
    EXPECT_EQ(found.max_relative, 1);
    EXPECT_EQ(found.largest, 1);
    EXPECT_EQ(found.signal, 2);
    EXPECT_EQ(found.noise, 1);
    EXPECT_TRUE(CompareTensors(vector(0, 1, 1), other, any).within());
    const TensorDifference turned = CompareTensors(other, vector(0, 1, 0), any);
    EXPECT_EQ(turned.worst, 2);
    EXPECT_EQ(turned.max_relative, 0);  // of none but zeros
    EXPECT_EQ(turned.signal, 1);
    const bool same = other.meta() == TypeMeta::Make<T>();
    EXPECT_EQ(CompareTensors(other, vector(0, 1, 1), {}).mismatch.empty(), same);
  }
}

TEST(TensorDifferenceTest, EveryTwoTypesOfNumbersCompare) {
  const std::vector<Tensor> others = {
      Vector<float>({0, 1, 1}),
      Vector<double>({0, 1, 1}),
      Vector<float16>({0.f, 1.f, 1.f}),
      Vector<bfloat16>({bfloat16(0.f), bfloat16(1.f), bfloat16(1.f)}),
      Vector<int64_t>({0, 1, 1}),
      Vector<int32_t>({0, 1, 1}),
      Vector<int16_t>({0, 1, 1}),
      Vector<int8_t>({0, 1, 1}),
      Vector<uint8_t>({0, 1, 1}),
      Vector<uint16_t>({0, 1, 1}),
      Vector<uint32_t>({0, 1, 1}),
      Vector<uint64_t>({0, 1, 1}),
      Vector<bool>({false, true, true})};
  ExpectComparable<float>(others);
  ExpectComparable<double>(others);
  ExpectComparable<float16>(others);
  ExpectComparable<bfloat16>(others);
  ExpectComparable<int64_t>(others);
  ExpectComparable<int32_t>(others);
  ExpectComparable<int16_t>(others);
  ExpectComparable<int8_t>(others);
  ExpectComparable<uint8_t>(others);
  ExpectComparable<uint16_t>(others);
  ExpectComparable<uint32_t>(others);
  ExpectComparable<uint64_t>(others);
  ExpectComparable<bool>(others);
}

// Of two types, one of which is no integer, the relative tolerance counts.
TEST(TensorDifferenceTest, OnlyTwoIntegersHaveNoRelativeTolerance) {
  const Tolerance half{.absolute = 0, .relative = 0.5, .any_type = true};
  const Tensor ten = Vector<int32_t>({10}), small = Vector<int8_t>({6}), real = Vector<float>({6}),
               ten_real = Vector<double>({10});
  EXPECT_EQ(CompareTensors(small, ten, half).beyond, 1);
  EXPECT_EQ(CompareTensors(real, ten, half).beyond, 0);
  EXPECT_EQ(CompareTensors(small, ten_real, half).beyond, 0);
  EXPECT_EQ(CompareTensors(Vector<bool>({true}), Vector<uint8_t>({2}), half).beyond, 1);
}

TEST(TensorDifferenceTest, AcceptsEmptyTensors) { EXPECT_TRUE(Compare<float>({}, {}).within()); }

TEST(TensorDifferenceTest, ComparesTheNumbersThatQuantizedElementsStandFor) {
  Blob first, second, plain;
  const auto fill = [](Blob* blob, float scale, uint8_t stored) {
    auto* const quantized = blob->GetMutable<Int8TensorCPU>();
    quantized->scale = scale;
    quantized->t = Vector<uint8_t>({stored});
  };
  fill(&first, 0.5f, 4);
  fill(&second, 0.25f, 8);
  EXPECT_TRUE(CompareBlobs(first, second, {}).within());
  fill(&second, 0.25f, 4);
  EXPECT_EQ(CompareBlobs(first, second, {}).max_absolute, 1);
  *plain.GetMutable<Tensor>() = Vector<float>({2});
  EXPECT_EQ(CompareBlobs(first, plain, {}).mismatch, "a quantized tensor instead of a tensor");
  EXPECT_EQ(CompareBlobs(plain, first, {}).mismatch, "a tensor instead of a quantized tensor");
  // Whichever of them is quantized: 0.5 * 4 = 2, 0.25 * 4 = 1.
  EXPECT_TRUE(CompareBlobs(first, plain, {.any_type = true}).within());
  EXPECT_TRUE(CompareBlobs(plain, first, {.any_type = true}).within());
  for (const bool is_first : {false, true}) {
    const TensorDifference found =
        CompareBlobs(is_first ? second : plain, is_first ? plain : second, {.any_type = true});
    EXPECT_EQ(found.max_absolute, 1) << is_first;
    EXPECT_EQ(found.largest, is_first ? 2 : 1) << is_first;
  }
  second.GetMutable<Int8TensorCPU>()->zero_point = -4;  // 0.25 * 8 = 2
  EXPECT_TRUE(CompareBlobs(plain, second, {.any_type = true}).within());
}

TEST(TensorDifferenceTest, ComparesStringsAndOnlyTheTypesOfOtherBlobs) {
  Blob empty, text, other;
  *text.GetMutable<std::string>() = "a";
  *other.GetMutable<std::string>() = "b";
  EXPECT_TRUE(CompareBlobs(text, text, {}).within());
  EXPECT_FALSE(CompareBlobs(text, other, {}).within());
  EXPECT_FALSE(CompareBlobs(empty, text, {}).within());
  *empty.GetMutable<int>() = 1;
  *other.GetMutable<int>() = 2;
  EXPECT_TRUE(CompareBlobs(empty, other, {}).within());
}

TEST(TensorDifferenceTest, TheLargestMagnitudeIsANumber) {
  EXPECT_EQ(Compare<float>({1, 2, 7}, {kInfinity, -3, 2}).largest, 3);
  EXPECT_EQ(Compare<float>({1, 2}, {-kInfinity, kNaN}).largest, 0);
}

// Quantized elements stand for numbers, which have a relative tolerance, too.
TEST(TensorDifferenceTest, QuantizedNumbersHaveARelativeTolerance) {
  const auto quantized = [](uint8_t value) {
    Blob blob;
    auto* const tensor = blob.GetMutable<Int8TensorCPU>();
    tensor->scale = 0.5f;
    tensor->zero_point = 10;
    tensor->t = Vector<uint8_t>({value});
    return blob;
  };
  const Blob first = quantized(121), second = quantized(110);  // 55.5 and 50
  EXPECT_EQ(CompareBlobs(first, second, {.relative = 0.12}).beyond, 0);
  EXPECT_EQ(CompareBlobs(first, second, {.relative = 0.1}).beyond, 1);
  EXPECT_EQ(CompareBlobs(first, second, {.absolute = 5.5}).beyond, 0);
  // Their elements alone are integers.
  EXPECT_EQ(Compare<uint8_t>({121}, {110}, {.relative = 0.5}).beyond, 1);
}

}  // namespace
}  // namespace caffe2rt::test::tensor_difference_test
