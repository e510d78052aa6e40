#include "operators/common/softmax_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "contexts/cpu/cpu_context.h"

namespace caffe2rt::softmax_rows_test {
namespace {

// Regression: the cost of a row, which overflowed, was computed although there was no row. UBSAN
// sees it.
TEST(SoftmaxRowsTest, AcceptsAHugeDimensionOfNoElements) {
  CPUContext context;
  SoftmaxRows(context, 0, INT64_MAX, nullptr, nullptr);
  SoftmaxRows(context, INT64_MAX, 0, nullptr, nullptr);
  SoftmaxRowsGradient(context, 0, INT64_MAX, nullptr, nullptr, nullptr);
  SoftmaxChannels(context, 0, INT64_MAX, 1, nullptr, nullptr);
  SoftmaxChannels(context, 1, 0, INT64_MAX, nullptr, nullptr);
}

// Rows of each length, some of which are computed in blocks of sixteen, far from 0 on either side.
TEST(SoftmaxRowsTest, DependsOnlyOnDifferences) {
  CPUContext context;
  for (const int64_t n : {1, 2, 3, 5, 8, 15, 16, 17, 31, 32, 33, 64, 100}) {
    for (const int64_t rows : {1, 15, 16, 17, 33}) {
      const auto difference = [&](int64_t r, int64_t i) { return (r * 7 + i * 3) % 5 - 4.0; };
      for (const float base : {0.0f, -1000.0f, -200.0f, 200.0f, 1000.0f}) {
        SCOPED_TRACE(testing::Message() << n << " columns, " << rows << " rows at " << base);
        std::vector<float> x, y(static_cast<size_t>(rows * n));
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t i = 0; i < n; ++i) x.push_back(base + static_cast<float>(difference(r, i)));
        }
        SoftmaxRows(context, rows, n, x.data(), y.data());
        for (int64_t r = 0; r < rows; ++r) {
          double sum = 0;
          for (int64_t i = 0; i < n; ++i) sum += std::exp(difference(r, i));
          for (int64_t i = 0; i < n; ++i) {
            ASSERT_NEAR(y[static_cast<size_t>(r * n + i)], std::exp(difference(r, i)) / sum, 1e-6)
                << r << ", " << i;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace caffe2rt::softmax_rows_test
