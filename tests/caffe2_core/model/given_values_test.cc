#include "caffe2_core/model/given_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::given_values_test {
namespace {

using test::ExpectThrows;
using ::testing::ElementsAre;

Tensor Floats(const std::vector<float>& values) {
  return Tensor({static_cast<int64_t>(values.size())}, values, nullptr);
}

TEST(GivenValuesTest, ReturnsTheTensorOfADefOnce) {
  const OperatorDef a, b;
  const GivenValues outer(a, Floats({1, 2}));
  {
    const GivenValues inner(b, Floats({3}));
    EXPECT_EQ(GivenValues::Take(a).numel(), 2) << "of an outer scope";
    EXPECT_TRUE(outer.taken());
    EXPECT_FALSE(inner.taken());
  }
  EXPECT_FALSE(GivenValues::Take(a).IsShaped()) << "taken already";
  EXPECT_FALSE(GivenValues::Take(b).IsShaped()) << "the scope has ended";
}

TEST(GivenValuesTest, MovesTheMemoryIntoAnEmptyOutput) {
  Tensor values = Floats({1, 2, 3, 4});
  const void* memory = values.raw_data();
  Tensor output(std::vector<int64_t>{2, 2}, CPU);
  MoveGivenValues(std::move(values), &output);
  EXPECT_EQ(output.raw_data(), memory);
  EXPECT_THAT(output.dims(), ElementsAre(2, 2));
}

TEST(GivenValuesTest, CopiesIntoMemoryThatOthersMayUse) {
  Tensor output = Floats({0, 0, 0});
  const Tensor alias = output;
  output.Resize(2);
  MoveGivenValues(Floats({1, 2, 3}), &output);
  EXPECT_THAT(std::vector<float>(alias.data<float>(), alias.data<float>() + 3),
              ElementsAre(1, 2, 0));
}

TEST(GivenValuesTest, InnerScopesOfTheSameDefAreTakenFirst) {
  const OperatorDef a, equal;
  const GivenValues outer(a, Floats({1, 2}));
  const GivenValues inner(a, Floats({3}));
  EXPECT_FALSE(GivenValues::Take(equal).IsShaped()) << "another def of the same content";
  EXPECT_EQ(GivenValues::Take(a).numel(), 1);
  EXPECT_FALSE(outer.taken());
  EXPECT_EQ(GivenValues::Take(a).numel(), 2);
  EXPECT_FALSE(GivenValues::Take(a).IsShaped());
}

TEST(GivenValuesTest, GivesAnOutputItsFirstElements) {
  Tensor output(std::vector<int64_t>{2, 1}, CPU);
  Tensor values = Floats({5, 6, 7});
  MoveGivenValues(std::move(values), &output);
  EXPECT_THAT(output.dims(), ElementsAre(2, 1));
  EXPECT_THAT(std::vector<float>(output.data<float>(), output.data<float>() + 2),
              ElementsAre(5, 6));
  Tensor none(std::vector<int64_t>{0, 3}, CPU);
  MoveGivenValues(Floats({1}), &none);
  EXPECT_THAT(none.dims(), ElementsAre(0, 3));
  EXPECT_TRUE(none.IsType<float>());
  // The type is that of the values.
  Tensor integers(std::vector<int64_t>{2}, CPU);
  integers.mutable_data<int64_t>()[1] = 9;
  Tensor reused = Floats({0, 0});
  MoveGivenValues(std::move(integers), &reused);
  ASSERT_TRUE(reused.IsType<int64_t>());
  EXPECT_EQ(reused.data<int64_t>()[1], 9);
}

TEST(GivenValuesTest, RejectsTooFewElements) {
  Tensor output(std::vector<int64_t>{3}, CPU);
  ExpectThrows([&] { MoveGivenValues(Floats({1, 2}), &output); }, "shape [3]: 2");
  EXPECT_EQ(test::MessageOf([&] {
              MoveGivenValues(Floats({1, 2}), &output);
            }),
            "elements given for an output of shape [3]: 2");
  EXPECT_FALSE(output.HasData());
}

}  // namespace
}  // namespace caffe2rt::given_values_test
