#include "operators/primitives/onednn_reorder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "caffe2_core/base/thread_pool.h"

namespace caffe2rt::onednn_reorder_test {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

memory::desc Desc(Tag tag, const memory::dims& dims) {
  return memory::desc(dims, memory::data_type::f32, tag);
}

// The index of an element of `dims` [N, C, H, W] in NCHW or NHWC.
int64_t IndexIn(Tag tag, const memory::dims& dims, int64_t n, int64_t c, int64_t y, int64_t x) {
  return tag == Tag::nchw ? ((n * dims[1] + c) * dims[2] + y) * dims[3] + x
                          : ((n * dims[2] + y) * dims[3] + x) * dims[1] + c;
}

int64_t CountOf(const memory::dims& dims) { return dims[0] * dims[1] * dims[2] * dims[3]; }

// Fills a tensor with its indices, converts it, and compares every element with the definition.
// What follows the tensor in memory must not change.
void ExpectConverted(OnednnReorder* reorder, Tag from, Tag to, const memory::dims& dims) {
  const auto count = static_cast<size_t>(CountOf(dims));
  constexpr size_t kBehind = 4096;
  constexpr float kUntouched = -1;
  std::vector<float> source(count + kBehind, -2), target(count + kBehind, kUntouched);
  for (size_t i = 0; i < count; ++i) source[i] = static_cast<float>(i);
  reorder->Run(source.data(), target.data());
  int64_t wrong = 0;
  for (int64_t n = 0; n < dims[0]; ++n) {
    for (int64_t c = 0; c < dims[1]; ++c) {
      for (int64_t y = 0; y < dims[2]; ++y) {
        for (int64_t x = 0; x < dims[3]; ++x) {
          const auto at = static_cast<size_t>(IndexIn(to, dims, n, c, y, x));
          wrong += target[at] != static_cast<float>(IndexIn(from, dims, n, c, y, x));
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(std::vector<float>(target.begin() + static_cast<std::ptrdiff_t>(count), target.end()),
            std::vector<float>(kBehind, kUntouched));
}

// One reorder is planned again for each shape and pair of layouts. If both layouts are the same
// memory, for example with one channel, it is a plain copy. Large tensors are divided by images or
// rows.
TEST(OnednnReorderTest, KeepsNothingOfAnEarlierPlan) {
  struct Plan {
    Tag from, to;
    memory::dims dims;
  };
  const Plan plans[] = {
      {Tag::nchw, Tag::nhwc, {2, 3, 4, 5}},  {Tag::nhwc, Tag::nchw, {1, 64, 33, 17}},
      {Tag::nchw, Tag::nhwc, {1, 1, 32, 9}},                                        // a copy
      {Tag::nchw, Tag::nhwc, {1, 3, 2, 2}},  {Tag::nchw, Tag::nchw, {3, 5, 7, 2}},  // a copy
      {Tag::nchw, Tag::nhwc, {0, 3, 2, 2}},  {Tag::nhwc, Tag::nchw, {17, 40, 8, 8}},
      {Tag::nchw, Tag::nchw, {1, 2, 1, 1}},  // a copy
      {Tag::nchw, Tag::nhwc, {0, 3, 2, 2}},
  };
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    OnednnReorder reorder;
    for (const Plan& plan : plans) {
      SCOPED_TRACE(testing::PrintToString(plan.dims));
      reorder.Plan(Desc(plan.from, plan.dims), Desc(plan.to, plan.dims));
      for (int run = 0; run < 2; ++run) ExpectConverted(&reorder, plan.from, plan.to, plan.dims);
    }
  }
  SetNumThreads(1);
}

}  // namespace
}  // namespace caffe2rt::onednn_reorder_test
