#include "operators/distributed/element_sum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/float16.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::element_sum_test {
namespace {

using testing::ElementsAre;

template <class T>
std::vector<T> Sums(const std::vector<T>& a, const std::vector<T>& b) {
  const ElementSum& sum = ElementSumOf(TypeMeta::Make<T>());
  EXPECT_EQ(sum.type, TypeMeta::Make<T>());
  EXPECT_EQ(sum.bytes, sizeof(T));
  std::vector<T> to(a.size(), T());
  sum.add(to.data(), a.data(), b.data(), a.size());
  return to;
}

template <class T>
void ExpectWrapsAround() {
  constexpr T kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
  EXPECT_THAT(Sums<T>({kMost, 100, kLeast}, {1, 20, kMost}),
              ElementsAre(kLeast, 120, static_cast<T>(kLeast + kMost)));
}

TEST(ElementSumTest, IntegersOfEachSizeWrapAround) {
  ExpectWrapsAround<int8_t>();
  ExpectWrapsAround<uint8_t>();
  ExpectWrapsAround<int16_t>();
  ExpectWrapsAround<uint16_t>();
  ExpectWrapsAround<int32_t>();
  ExpectWrapsAround<uint32_t>();
  ExpectWrapsAround<int64_t>();
  ExpectWrapsAround<uint64_t>();
}

TEST(ElementSumTest, FloatingPointNumbersKeepTheirPrecision) {
  EXPECT_THAT(Sums<float>({1.5f, -3}, {0x1p-20f, 3}), ElementsAre(1.5f + 0x1p-20f, 0));
  EXPECT_THAT(Sums<double>({1, 1e300}, {0x1p-50, 1e300}), ElementsAre(1 + 0x1p-50, 2e300));
}

// 1 + 2^-11 is halfway between 1 and the next float16 and goes to the even 1; a little more goes up.
TEST(ElementSumTest, HalfNumbersAreRoundedOnceToNearestEven) {
  const auto sums = Sums<float16>({1.f, 1.f, 60000.f}, {0x1p-11f, 0x1.8p-11f, 60000.f});
  EXPECT_EQ(float(sums[0]), 1);
  EXPECT_EQ(float(sums[1]), 1 + 0x1p-10f);
  EXPECT_EQ(float(sums[2]), std::numeric_limits<float>::infinity());
}

TEST(ElementSumTest, BrainNumbersAreRoundedOnceToNearestEven) {
  const auto sums = Sums<bfloat16>({1.f, 1.f, 1 + 0x1p-7f}, {0x1p-8f, 0x1.8p-8f, 0x1p-8f});
  EXPECT_EQ(float(sums[0]), 1);
  EXPECT_EQ(float(sums[1]), 1 + 0x1p-7f);
  EXPECT_EQ(float(sums[2]), 1 + 0x1p-6f);
}

TEST(ElementSumTest, SumsReplaceEitherOperandAndNothingElse) {
  const ElementSum& sum = ElementSumOf(TypeMeta::Make<int>());
  int left[3] = {1, 2, 3}, right[3] = {10, 20, 30};
  sum.add(left, left, right, 2);
  EXPECT_THAT(left, ElementsAre(11, 22, 3));
  sum.add(right, left, right, 2);
  EXPECT_THAT(right, ElementsAre(21, 42, 30));
  sum.add(nullptr, nullptr, nullptr, 0);
}

TEST(ElementSumTest, OtherTypesAreRejected) {
  for (const TypeMeta type : {TypeMeta::Make<bool>(), TypeMeta::Make<std::string>()}) {
    EXPECT_EQ(
        MessageOf([&] { (void)ElementSumOf(type); }),
        MakeString("elements of type ", type.name(),
                   " cannot be added, want float, double, float16, bfloat16, or integers of 8 "
                   "to 64 bits"));
  }
}

}  // namespace
}  // namespace caffe2rt::test::element_sum_test
