#include "operators/common/softmax_rows.h"

#include <gtest/gtest.h>

#include <cstdint>

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

}  // namespace
}  // namespace caffe2rt::softmax_rows_test
