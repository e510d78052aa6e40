// What follows a convolution, on one thread and on several.
#include "operators/conv/conv_epilogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "caffe2_core/base/thread_pool.h"

namespace caffe2rt::test::conv_epilogue_test {
namespace {

TEST(ConvEpilogueTest, AddsEveryElementOfLargeSums) {
  for (const int threads : {1, 2, 3}) {
    SetNumThreads(threads);
    for (const int64_t count : {0, 1, 100, 32767, 32768, 50001}) {
      SCOPED_TRACE(testing::Message() << count << " on " << threads);
      std::vector<float> s(static_cast<size_t>(count)), before(s.size()), sums(s.size());
      for (size_t i = 0; i < s.size(); ++i) {
        s[i] = static_cast<float>(i % 11) - 5;
        before[i] = static_cast<float>(i % 7) - 3;
        sums[i] = before[i];
      }
      std::vector<float> clipped = sums, plain = sums;
      RunConvEpilogue({.activation = Relu{}, .sum = true}, count, s.data(), sums.data());
      RunConvEpilogue({.activation = Relu{}}, count, nullptr, clipped.data());
      RunConvEpilogue({.sum = true}, count, s.data(), plain.data());
      for (size_t i = 0; i < s.size(); ++i) {
        ASSERT_EQ(sums[i], std::max(before[i] + s[i], 0.f)) << i;
        ASSERT_EQ(clipped[i], std::max(before[i], 0.f)) << i;
        ASSERT_EQ(plain[i], before[i] + s[i]) << i;
      }
    }
  }
  SetNumThreads(1);
}

}  // namespace
}  // namespace caffe2rt::test::conv_epilogue_test
