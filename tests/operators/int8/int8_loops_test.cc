// Pools and moves of quantized elements agree with plain loops, for windows, axes and orders that
// differ in each dimension.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "caffe2_core/base/thread_pool.h"
#include "tests/operators/int8/int8_blobs.h"

namespace caffe2rt::int8_loops_test {
namespace {

using namespace test;  // used throughout this file

struct PoolCase {
  std::vector<int64_t> x = {2, 7, 5, 3};
  int64_t kernel_h = 2, kernel_w = 3, stride_h = 1, stride_w = 1;
  int64_t top = 0, left = 0, bottom = 0, right = 0;
};

// The pixels of an axis under window `i`: [first, second).
std::pair<int64_t, int64_t> Under(int64_t i, int64_t stride, int64_t pad, int64_t kernel,
                                  int64_t size) {
  const int64_t begin = i * stride - pad;
  return {std::max<int64_t>(begin, 0), std::min(begin + kernel, size)};
}

void ExpectPools(const PoolCase& c) {
  constexpr float kXScale = 0.05f, kYScale = 0.03f;
  constexpr int kXZero = 120, kYZero = 100;
  const std::vector<uint8_t> x = RandomBytes(CheckedProduct(c.x), 1);
  Workspace ws;
  FeedInt8(&ws, "X", c.x, x, kXScale, kXZero);
  const std::string window = StringArg("order", "NHWC") +
                             IntsArg("kernels", {c.kernel_h, c.kernel_w}) +
                             IntsArg("strides", {c.stride_h, c.stride_w}) +
                             IntsArg("pads", {c.top, c.left, c.bottom, c.right});
  const int64_t rows = (c.x[1] + c.top + c.bottom - c.kernel_h) / c.stride_h + 1,
                columns = (c.x[2] + c.left + c.right - c.kernel_w) / c.stride_w + 1;
  const std::vector<int64_t> dims = {c.x[0], rows, columns, c.x[3]};
  const float factor = kXScale / (kYScale * static_cast<float>(c.kernel_h * c.kernel_w));
  std::vector<uint8_t> largest, largest_relu, means, means_relu;
  for (int64_t k = 0; k < CheckedProduct(dims); ++k) {
    const int64_t channel = k % c.x[3], column = k / c.x[3] % columns;
    const int64_t row = k / c.x[3] / columns % rows, n = k / c.x[3] / columns / rows;
    const auto [top, bottom] = Under(row, c.stride_h, c.top, c.kernel_h, c.x[1]);
    const auto [left, right] = Under(column, c.stride_w, c.left, c.kernel_w, c.x[2]);
    int most = 0, sum = 0;
    for (int64_t i = top; i < bottom; ++i) {
      for (int64_t j = left; j < right; ++j) {
        const int element =
            x[static_cast<size_t>(((n * c.x[1] + i) * c.x[2] + j) * c.x[3] + channel)];
        most = std::max(most, element);
        sum += element - kXZero;
      }
    }
    largest.push_back(static_cast<uint8_t>(most));
    largest_relu.push_back(static_cast<uint8_t>(std::max(most, kXZero)));
    // The product has less than 53 bits.
    const double mean = std::round(sum * double{factor}) + kYZero;
    means.push_back(static_cast<uint8_t>(std::clamp(mean, 0.0, 255.0)));
    means_relu.push_back(static_cast<uint8_t>(std::clamp(mean, double{kYZero}, 255.0)));
  }
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    RunOp(&ws, Int8Op("Int8MaxPool", "X", "Y", kXScale, kXZero, window));
    ExpectInt8(ws, "Y", dims, largest, kXScale, kXZero);
    RunOp(&ws, Int8Op("Int8MaxPoolRelu", "X", "Y", kXScale, kXZero, window));
    ExpectInt8(ws, "Y", dims, largest_relu, kXScale, kXZero);
    RunOp(&ws, Int8Op("Int8AveragePool", "X", "Y", kYScale, kYZero, window));
    ExpectInt8(ws, "Y", dims, means, kYScale, kYZero);
    RunOp(&ws, Int8Op("Int8AveragePoolRelu", "X", "Y", kYScale, kYZero, window));
    ExpectInt8(ws, "Y", dims, means_relu, kYScale, kYZero);
  }
  SetNumThreads(1);
}

TEST(Int8LoopsTest, PoolsAgreeForWindowsOfAllSides) {
  for (const PoolCase& c :
       {PoolCase{}, PoolCase{.stride_h = 3, .stride_w = 2}, PoolCase{.top = 1, .right = 2},
        PoolCase{.stride_w = 3, .left = 2, .bottom = 1},
        PoolCase{.x = {1, 4, 9, 17}, .kernel_h = 4, .kernel_w = 1, .top = 3, .bottom = 2},
        PoolCase{.x = {3, 2, 2, 1}, .kernel_h = 1, .kernel_w = 2, .stride_h = 2, .right = 1}}) {
    SCOPED_TRACE(
        MakeString(c.x, " ", c.kernel_h, "x", c.kernel_w, " ", c.top, c.left, c.bottom, c.right));
    ExpectPools(c);
  }
}

TEST(Int8LoopsTest, TransposeAgreesForAllOrdersOfFourDimensions) {
  const std::vector<int64_t> dims = {2, 3, 4, 5};
  const std::vector<uint8_t> x = RandomBytes(120, 2);
  Workspace ws;
  FeedInt8(&ws, "X", dims, x, 0.5f, 3);
  std::vector<int64_t> axes = {0, 1, 2, 3};
  do {
    std::vector<int64_t> y_dims;
    for (const int64_t axis : axes) y_dims.push_back(dims[static_cast<size_t>(axis)]);
    std::vector<uint8_t> want;
    for (int64_t k = 0; k < 120; ++k) {
      std::array<int64_t, 4> index = {};
      int64_t rest = k;
      for (size_t d = 4; d-- > 0; rest /= y_dims[d]) {
        index[static_cast<size_t>(axes[d])] = rest % y_dims[d];
      }
      want.push_back(
          x[static_cast<size_t>(((index[0] * 3 + index[1]) * 4 + index[2]) * 5 + index[3])]);
    }
    RunOp(&ws, Int8Op("Int8Transpose", "X", "Y", 0.5f, 3, IntsArg("axes", axes)));
    ExpectInt8(ws, "Y", y_dims, want, 0.5f, 3);
  } while (std::next_permutation(axes.begin(), axes.end()));
}

// Position `at` of an element of [2, 3, 4] along the axis, and the positions before and after it.
TEST(Int8LoopsTest, SliceAndConcatAgreeForAllAxes) {
  const std::vector<int64_t> dims = {2, 3, 4};
  const std::vector<uint8_t> x = RandomBytes(24, 3), z = RandomBytes(24, 4);
  Workspace ws;
  FeedInt8(&ws, "X", dims, x, 0.5f, 3);
  FeedInt8(&ws, "Z", dims, z, 2, 9);  // only the quantization of the first input counts
  for (int axis = 0; axis < 3; ++axis) {
    const auto at = static_cast<size_t>(axis);
    const int64_t size = dims[at];
    int64_t inner = 1;
    for (size_t d = at + 1; d < 3; ++d) inner *= dims[d];
    std::vector<uint8_t> joined;
    for (int64_t outer = 0; outer < 24 / size / inner; ++outer) {
      for (const auto* part : {&x, &z, &x}) {
        const auto begin = part->begin() + outer * size * inner;
        joined.insert(joined.end(), begin, begin + size * inner);
      }
    }
    std::vector<int64_t> joined_dims = dims;
    joined_dims[at] *= 3;
    RunOp(&ws, Int8Op("Int8Concat", "X Z X", "Y", 0.5f, 3, IntArg("axis", axis)));
    ExpectInt8(ws, "Y", joined_dims, joined, 0.5f, 3);
    for (int64_t first = 0; first <= size; ++first) {
      for (int64_t end = first; end <= size; ++end) {
        std::vector<uint8_t> part;
        for (size_t k = 0; k < 24; ++k) {
          const int64_t place = static_cast<int64_t>(k) / inner % size;
          if (place >= first && place < end) part.push_back(x[k]);
        }
        std::vector<int64_t> part_dims = dims;
        part_dims[at] = end - first;
        // The end may also be counted from one past the end.
        for (const int64_t stated : {end, end - size - 1}) {
          RunOp(&ws, Int8Op("Int8Slice", "X", "Y", 0.5f, 3,
                            IntArg("dim", axis) + IntArg("start_idx", first) +
                                IntArg("end_idx", stated)));
          ExpectInt8(ws, "Y", part_dims, part, 0.5f, 3);
        }
      }
    }
  }
}

TEST(Int8LoopsTest, ImagesAreResizedAndShuffledInEachBatch) {
  const std::vector<int64_t> dims = {2, 3, 4, 6};
  const std::vector<uint8_t> x = RandomBytes(144, 5);
  Workspace ws;
  FeedInt8(&ws, "X", dims, x, 0.5f, 3);
  for (const auto& [height, width] : {std::pair(1.0f, 1.0f), std::pair(2.5f, 0.5f),
                                      std::pair(0.7f, 1.75f), std::pair(1.4f, 3.0f)}) {
    const auto rows = static_cast<int64_t>(3 * height), columns = static_cast<int64_t>(4 * width);
    std::vector<uint8_t> want;
    for (int64_t k = 0; k < 2 * rows * columns * 6; ++k) {
      const int64_t c = k % 6, j = k / 6 % columns, i = k / 6 / columns % rows;
      const int64_t n = k / 6 / columns / rows;
      const auto row = std::min<int64_t>(2, static_cast<int64_t>(static_cast<float>(i) / height));
      const auto column = std::min<int64_t>(3, static_cast<int64_t>(static_cast<float>(j) / width));
      want.push_back(x[static_cast<size_t>(((n * 3 + row) * 4 + column) * 6 + c)]);
    }
    RunOp(&ws, Int8Op("Int8ResizeNearest", "X", "Y", 0.5f, 3,
                      FloatArg("height_scale", height) + FloatArg("width_scale", width)));
    ExpectInt8(ws, "Y", {2, rows, columns, 6}, want, 0.5f, 3);
  }
  for (const int64_t group : {1, 2, 3, 6}) {
    std::vector<uint8_t> want;
    for (int64_t k = 0; k < 144; ++k) {
      // Channel c of the result is channel c / group of group c % group.
      const int64_t c = k % 6;
      want.push_back(x[static_cast<size_t>(k - c + c % group * (6 / group) + c / group)]);
    }
    RunOp(&ws, Int8Op("Int8ChannelShuffle", "X", "Y", 0.5f, 3,
                      StringArg("order", "NHWC") + IntArg("kernel", 1) + IntArg("group", group)));
    ExpectInt8(ws, "Y", dims, want, 0.5f, 3);
  }
}

// Rows of up to 9000 elements, whose exponentials are integers with a sum below 2^32. The sums of
// rounded shares are near 256.
TEST(Int8LoopsTest, SoftmaxAgreesForShortAndLongRows) {
  for (const int64_t size : {1, 2, 255, 600, 9000}) {
    for (const float scale : {0.001f, 0.05f, 3.0f}) {
      SCOPED_TRACE(MakeString(size, " ", scale));
      const std::vector<uint8_t> x = RandomBytes(2 * size, 6);
      Workspace ws;
      FeedInt8(&ws, "X", {2, size}, x, scale, 77);
      RunOp(&ws, Int8Op("Int8Softmax", "X", "Y", 0.00390625f, 0));
      const std::vector<uint8_t> y = FetchInt8(ws, "Y");
      for (int64_t row = 0; row < 2; ++row) {
        const auto begin = static_cast<size_t>(row * size), end = begin + static_cast<size_t>(size);
        double sum = 0;
        for (size_t i = begin; i < end; ++i) sum += std::exp(double{scale} * (x[i] - 255));
        int wrong = 0;
        for (size_t i = begin; i < end; ++i) {
          const double want = std::min(256 * std::exp(double{scale} * (x[i] - 255)) / sum, 255.0);
          wrong += std::abs(y[i] - want) > 0.52;
        }
        EXPECT_EQ(wrong, 0);
      }
    }
  }
}

}  // namespace
}  // namespace caffe2rt::int8_loops_test
