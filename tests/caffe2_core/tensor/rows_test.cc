#include "caffe2_core/tensor/rows.h"

#include <gtest/gtest.h>

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

TEST(RowsTest, AScalarIsOneRow) {
  const Tensor scalar = Numbers({}, 4);
  EXPECT_EQ(RowsOf(scalar), 1);
  EXPECT_FALSE(HasRows(scalar, 1));
  EXPECT_TRUE(HasRows(Numbers({3, 2}, 0), 3));
  EXPECT_FALSE(HasRows(Numbers({3, 2}, 0), 2));
  EXPECT_EQ(JoinRows({&scalar, &scalar}).dims(), (std::vector<int64_t>{2}));
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
