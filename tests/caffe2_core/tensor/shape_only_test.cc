#include "caffe2_core/tensor/shape_only.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "caffe2_core/base/float16.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::shape_only_test {
namespace {

using enum ReadableElements;

TEST(ShapeOnlyTensorTest, HasShapeAndTypeButNoElements) {
  const Tensor tensor = ShapeOnlyTensor({2, int64_t{1} << 40}, TypeMeta::Make<int64_t>());
  EXPECT_EQ(tensor.dims(), (std::vector<int64_t>{2, int64_t{1} << 40}));
  EXPECT_TRUE(tensor.IsType<int64_t>());
  EXPECT_THROW((void)tensor.data<int64_t>(), NoElements);
  EXPECT_THROW((void)tensor.raw_data(), NoElements);
  EXPECT_THROW((void)tensor.Clone(), NoElements);
  Tensor view(tensor.dims(), CPU);
  EXPECT_THROW(view.ShareData(tensor), NoElements);
}

TEST(ShapeOnlyTensorTest, RejectsAnotherTypeBeforeItStops) {
  const Tensor tensor = ShapeOnlyTensor({2}, TypeMeta::Make<int64_t>());
  ExpectThrows([&] { (void)tensor.data<float>(); },
               "the tensor holds elements of type int64, want float");
}

TEST(ShapeOnlyTensorTest, ReadsOnlyFloatsOfSmallTensors) {
  const Tensor numbers = ShapeOnlyTensor({3}, TypeMeta::Make<float>(), kZeroFloats);
  EXPECT_THAT(std::vector<float>(numbers.data<float>(), numbers.data<float>() + 3),
              testing::Each(0.0f));
  EXPECT_NO_THROW((void)ShapeOnlyTensor({3}, TypeMeta::Make<float16>(), kZeroFloats).raw_data());
  const Tensor others = ShapeOnlyTensor({3}, TypeMeta::Make<double>(), kPositiveFloats);
  EXPECT_THAT(std::vector<double>(others.data<double>(), others.data<double>() + 3),
              testing::Each(testing::Gt(1.0)));
  EXPECT_THROW((void)ShapeOnlyTensor({3}, TypeMeta::Make<int32_t>(), kZeroFloats).raw_data(),
               NoElements);
  const int64_t many = static_cast<int64_t>(kMostReadableBytes / sizeof(float));
  EXPECT_NO_THROW((void)ShapeOnlyTensor({many}, TypeMeta::Make<float>(), kZeroFloats).raw_data());
  EXPECT_THROW((void)ShapeOnlyTensor({many + 1}, TypeMeta::Make<float>(), kZeroFloats).raw_data(),
               NoElements);
}

TEST(ShapeOnlyTensorTest, IsReadableIfItIsEmpty) {
  const Tensor empty = ShapeOnlyTensor({0, 4}, TypeMeta::Make<int32_t>());
  EXPECT_NO_THROW((void)empty.data<int32_t>());
}

TEST(ShapeOnlyScopeTest, LimitsTheMemoryOfItsThread) {
  Tensor first(CPU), second(CPU);
  first.Resize(6);
  second.Resize(3);
  {
    const ShapeOnlyScope scope(32);
    EXPECT_NO_THROW(first.mutable_data<float>());  // 24 of 32 bytes
    EXPECT_THROW(second.mutable_data<float>(), NoElements);
    {
      const ShapeOnlyScope inner(12);
      EXPECT_NO_THROW(second.mutable_data<float>());
    }
    // The outer one holds again, with the 8 bytes that are left of its own.
    Tensor third(std::vector<int64_t>{3}, CPU), fourth(std::vector<int64_t>{2}, CPU);
    EXPECT_THROW(third.mutable_data<float>(), NoElements);
    EXPECT_NO_THROW(fourth.mutable_data<float>());
    EXPECT_THROW(Tensor(std::vector<int64_t>{1}, CPU).mutable_data<float>(), NoElements);
  }
  first.Resize(1000);
  EXPECT_NO_THROW(first.mutable_data<float>());
}

TEST(ShapeOnlyScopeTest, GivesAnInputThatIsAnOutputNoMemory) {
  Tensor in_place = ShapeOnlyTensor({2}, TypeMeta::Make<float>());
  Tensor zeros = ShapeOnlyTensor({2}, TypeMeta::Make<float>(), kZeroFloats);
  const ShapeOnlyScope scope(1000);
  EXPECT_THROW(in_place.mutable_data<float>(), NoElements);
  const ShapeOnlyScope nothing(0);
  EXPECT_THROW(zeros.mutable_data<float>(), NoElements);
}

}  // namespace
}  // namespace caffe2rt::test::shape_only_test
