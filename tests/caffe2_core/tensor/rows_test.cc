#include "caffe2_core/tensor/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::rows_test {
namespace {

Tensor Numbers(const std::vector<int64_t>& dims, float first) {
  Tensor tensor(dims, CPU);
  float* const to = tensor.mutable_data<float>();
  for (int64_t i = 0; i < tensor.numel(); ++i) to[i] = first + static_cast<float>(i);
  return tensor;
}

TEST(RowsTest, JoinsAndSplits) {
  const Tensor one = Numbers({1, 2}, 0), two = Numbers({2, 2}, 2), none = Numbers({0, 2}, 0);
  const Tensor joined = JoinRows({&one, &none, &two});
  EXPECT_EQ(joined.dims(), (std::vector<int64_t>{3, 2}));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(joined.data<float>()[i], static_cast<float>(i));
  const std::vector<Tensor> parts = SplitRows(joined, {1, 0, 2});
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].dims(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(parts[1].dims(), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(parts[2].data<float>()[0], 2);
  EXPECT_EQ(parts[2].data<float>()[3], 5);
}

// Strings have no bytes that could be copied. Their offsets count objects.
TEST(RowsTest, JoinsAndSplitsStrings) {
  const auto strings = [](int64_t rows, const std::vector<std::string>& values) {
    Tensor tensor(std::vector<int64_t>{rows, 2}, CPU);
    std::copy(values.begin(), values.end(), tensor.mutable_data<std::string>());
    return tensor;
  };
  const std::string longer(40, 'x');
  const Tensor none = strings(0, {}), one = strings(1, {"a", longer});
  const Tensor two = strings(2, {"", "b", "c", longer + "d"});
  const Tensor joined = JoinRows({&none, &two, &none, &one});
  EXPECT_EQ(joined.dims(), (std::vector<int64_t>{3, 2}));
  const std::vector<std::string> all = {"", "b", "c", longer + "d", "a", longer};
  EXPECT_EQ(std::vector<std::string>(joined.data<std::string>(), joined.data<std::string>() + 6),
            all);
  const std::vector<Tensor> parts = SplitRows(joined, {0, 1, 0, 1, 1});
  ASSERT_EQ(parts.size(), 5u);
  size_t at = 0;
  for (const Tensor& part : parts) {
    ASSERT_TRUE(part.IsType<std::string>());
    for (int64_t i = 0; i < part.numel(); ++i) {
      EXPECT_EQ(part.data<std::string>()[i], all.at(at++));
    }
  }
  EXPECT_EQ(at, all.size());
  EXPECT_EQ(joined.data<std::string>()[3], longer + "d");  // copied, not moved
}

TEST(RowsTest, RowsWithoutElementsCount) {
  const Tensor two = Numbers({2, 0, 3}, 0), one = Numbers({1, 0, 3}, 0);
  EXPECT_EQ(JoinRows({&two, &one}).dims(), (std::vector<int64_t>{3, 0, 3}));
  const std::vector<Tensor> parts = SplitRows(two, {0, 2});
  EXPECT_EQ(parts[0].dims(), (std::vector<int64_t>{0, 0, 3}));
  EXPECT_EQ(parts[1].dims(), (std::vector<int64_t>{2, 0, 3}));
  EXPECT_TRUE(parts[1].IsType<float>());
  EXPECT_TRUE(SplitRows(Numbers({0, 4}, 0), {}).empty());
}

TEST(RowsTest, AScalarIsOneRow) {
  const Tensor scalar = Numbers({}, 4);
  EXPECT_EQ(RowsOf(scalar), 1);
  EXPECT_FALSE(HasRows(scalar, 1));
  EXPECT_TRUE(HasRows(Numbers({3, 2}, 0), 3));
  EXPECT_FALSE(HasRows(Numbers({3, 2}, 0), 2));
  EXPECT_EQ(JoinRows({&scalar, &scalar}).dims(), (std::vector<int64_t>{2}));
  const Tensor numbers = Numbers({2}, 5), joined = JoinRows({&scalar, &numbers});
  ASSERT_EQ(joined.dims(), std::vector<int64_t>{3});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(joined.data<float>()[i], static_cast<float>(4 + i));
  const std::vector<Tensor> parts = SplitRows(scalar, {1, 0});
  EXPECT_EQ(parts[0].dims(), std::vector<int64_t>{1});
  EXPECT_EQ(parts[0].data<float>()[0], 4);
  EXPECT_EQ(parts[1].dims(), std::vector<int64_t>{0});
  EXPECT_FALSE(HasRows(Tensor(CPU), 0));  // without a shape
}

TEST(RowsTest, RejectsRowsThatDiffer) {
  const Tensor a = Numbers({1, 2}, 0), b = Numbers({1, 3}, 0);
  Tensor integers(std::vector<int64_t>{1, 2}, CPU);
  integers.mutable_data<int64_t>();
  ExpectThrows([&] { JoinRows({&a, &b}); }, "cannot join rows of float [3] to rows of float [2]");
  ExpectThrows([&] { JoinRows({&a, &integers}); }, "cannot join rows of ");
  ExpectThrows([] { JoinRows({}); }, "no tensors to join");
  ExpectThrows([&] { SplitRows(a, {2}); }, "rows of the tensor to split");
}

}  // namespace
}  // namespace caffe2rt::test::rows_test
