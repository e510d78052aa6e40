#include "operators/pool/byte_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/base/thread_pool.h"

namespace caffe2rt::test::byte_pool_test {
namespace {

struct Case {
  const char* name;
  int64_t batch, channels, height, width, kernel, stride, pad_head, out_height, out_width;
  int threads = 1;
};

const Case kCases[] = {{"no overlap", 1, 3, 4, 6, 2, 2, 0, 2, 3},
                       {"overlap and padding", 2, 70, 5, 7, 3, 2, 1, 3, 4},
                       {"a window larger than the rest", 1, 16, 6, 6, 3, 2, 0, 3, 3},
                       {"threads", 3, 130, 33, 31, 3, 2, 1, 17, 16, 2}};

TEST(MaxPoolBytesTest, TakesTheLargestByteOfEachWindowInsideTheImage) {
  for (const Case& c : kCases) {
    SetNumThreads(c.threads);
    std::vector<uint8_t> x(static_cast<size_t>(c.batch * c.height * c.width * c.channels));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 37 % 251);
    std::vector<uint8_t> want;
    for (int64_t n = 0; n < c.batch; ++n) {
      for (int64_t oh = 0; oh < c.out_height; ++oh) {
        for (int64_t ow = 0; ow < c.out_width; ++ow) {
          for (int64_t ch = 0; ch < c.channels; ++ch) {
            uint8_t largest = 0;
            for (int64_t kh = 0; kh < c.kernel; ++kh) {
              for (int64_t kw = 0; kw < c.kernel; ++kw) {
                const int64_t h = oh * c.stride - c.pad_head + kh,
                              w = ow * c.stride - c.pad_head + kw;
                if (h < 0 || w < 0 || h >= c.height || w >= c.width) continue;
                largest = std::max(
                    largest,
                    x[static_cast<size_t>(((n * c.height + h) * c.width + w) * c.channels + ch)]);
              }
            }
            want.push_back(largest);
          }
        }
      }
    }
    PoolPlan plan;
    plan.batch = c.batch;
    plan.channels = c.channels;
    for (size_t axis : {1u, 2u}) {
      plan.axis[axis].kernel = c.kernel;
      plan.axis[axis].stride = c.stride;
      plan.axis[axis].pad_head = c.pad_head;
      plan.axis[axis].in = axis == 1 ? c.height : c.width;
      plan.axis[axis].out = axis == 1 ? c.out_height : c.out_width;
    }
    std::vector<uint8_t> y(want.size());
    MaxPoolBytes(plan, c.height, c.width, x.data(), y.data());
    EXPECT_EQ(y, want) << c.name;
  }
  SetNumThreads(1);
}

TEST(MaxPoolBytesTest, PoolsWholeImages) {
  PoolPlan plan;
  plan.batch = 2;
  plan.channels = 2;
  plan.whole = true;
  const std::vector<uint8_t> x = {1, 9, 250, 3, 4, 5, 7, 6};  // of 1 x 2 pixels
  std::vector<uint8_t> y(4);
  MaxPoolBytes(plan, 1, 2, x.data(), y.data());
  EXPECT_THAT(y, testing::ElementsAre(250, 9, 7, 6));
}

}  // namespace
}  // namespace caffe2rt::test::byte_pool_test
