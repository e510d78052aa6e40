// Columns of windows, and transposed and scaled images, compared with loops over all indices. Every size, stride,
// dilation and pad differs from the others, so that none can take another's place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "contexts/cpu/cpu_context.h"
#include "operators/math/binary.h"
#include "operators/math/images.h"
#include "operators/math/reductions.h"

namespace caffe2rt::math::window_columns_test {
namespace {

using ::testing::ElementsAre;

constexpr int kChannels = 2, kHeight = 5, kWidth = 7;
constexpr int kKernelH = 2, kKernelW = 3, kDilationH = 3, kDilationW = 1;
constexpr int kTop = 1, kLeft = 0, kBottom = 3, kRight = 2, kStrideH = 2, kStrideW = 3;
// (5 + 1 + 3 - 4) / 2 + 1 and (7 + 0 + 2 - 3) / 3 + 1
constexpr int kOutH = 3, kOutW = 3;
constexpr size_t kImageSize = kChannels * kHeight * kWidth;
constexpr size_t kColumns = kChannels * kKernelH * kKernelW * kOutH * kOutW;

std::vector<float> Numbers(size_t n) {
  std::vector<float> x(n);
  std::iota(x.begin(), x.end(), 1.0f);
  return x;
}

// Calls f(place in the image or -1, place in the columns).
template <class F>
void ForEachElementOfWindows(bool channels_first, const F& f) {
  for (int c = 0; c < kChannels; ++c) {
    for (int kh = 0; kh < kKernelH; ++kh) {
      for (int kw = 0; kw < kKernelW; ++kw) {
        for (int oh = 0; oh < kOutH; ++oh) {
          for (int ow = 0; ow < kOutW; ++ow) {
            const int h = oh * kStrideH + kh * kDilationH - kTop;
            const int w = ow * kStrideW + kw * kDilationW - kLeft;
            const bool inside = h >= 0 && h < kHeight && w >= 0 && w < kWidth;
            const int image =
                channels_first ? (c * kHeight + h) * kWidth + w : (h * kWidth + w) * kChannels + c;
            const int column =
                channels_first
                    ? (((c * kKernelH + kh) * kKernelW + kw) * kOutH + oh) * kOutW + ow
                    : (((oh * kOutW + ow) * kKernelH + kh) * kKernelW + kw) * kChannels + c;
            f(inside ? image : -1, static_cast<size_t>(column));
          }
        }
      }
    }
  }
}

template <StorageOrder kOrder>
void ExpectColumnsOfAnImage() {
  constexpr bool kFirst = kOrder == NCHW;
  CPUContext context;
  const std::vector<float> image = Numbers(kImageSize), columns = Numbers(kColumns);
  std::vector<float> want(kColumns, 0), want_image(kImageSize, 0);
  ForEachElementOfWindows(kFirst, [&](int from, size_t to) {
    if (from < 0) return;
    want[to] = image[static_cast<size_t>(from)];
    want_image[static_cast<size_t>(from)] += columns[to];
  });
  std::vector<float> got(kColumns, -1), got_image(kImageSize, -1);
  Im2Col<float, CPUContext, kOrder>(kChannels, kHeight, kWidth, kKernelH, kKernelW, kDilationH,
                                    kDilationW, kTop, kLeft, kBottom, kRight, kStrideH, kStrideW,
                                    image.data(), got.data(), &context);
  EXPECT_EQ(got, want);
  Col2Im<float, CPUContext, kOrder>(kChannels, kHeight, kWidth, kKernelH, kKernelW, kDilationH,
                                    kDilationW, kTop, kLeft, kBottom, kRight, kStrideH, kStrideW,
                                    columns.data(), got_image.data(), &context);
  EXPECT_EQ(got_image, want_image);
  // The same by the functions for any number of axes.
  constexpr int kRows = kChannels * kKernelH * kKernelW;
  const std::vector<int> image_shape = kFirst ? std::vector<int>{kChannels, kHeight, kWidth}
                                              : std::vector<int>{kHeight, kWidth, kChannels};
  const std::vector<int> column_shape =
      kFirst ? std::vector<int>{kRows, kOutH, kOutW} : std::vector<int>{kOutH, kOutW, kRows};
  const int kernel[] = {kKernelH, kKernelW}, stride[] = {kStrideH, kStrideW},
            dilation[] = {kDilationH, kDilationW}, pad[] = {kTop, kLeft, kBottom, kRight};
  std::fill(got.begin(), got.end(), -1.0f);
  std::fill(got_image.begin(), got_image.end(), -1.0f);
  Im2ColNd<float, CPUContext, kOrder>(2, kImageSize, kColumns, image_shape.data(),
                                      column_shape.data(), kernel, stride, dilation, pad,
                                      image.data(), got.data(), &context);
  EXPECT_EQ(got, want);
  Col2ImNd<float, CPUContext, kOrder>(2, kImageSize, kColumns, image_shape.data(),
                                      column_shape.data(), kernel, stride, dilation, pad,
                                      columns.data(), got_image.data(), &context);
  EXPECT_EQ(got_image, want_image);
}

TEST(WindowColumnsTest, FollowEachNumberOfTheWindows) {
  ExpectColumnsOfAnImage<NCHW>();
  ExpectColumnsOfAnImage<NHWC>();
}

TEST(WindowColumnsTest, HaveOneOrThreeAxes) {
  CPUContext context;
  // [1 2 3 4 5] with a pad of one, windows of two elements, two apart, in steps of three: 0 2 | 3 5.
  const std::vector<float> line = Numbers(5);
  const int line_shape[] = {1, 5}, line_columns[] = {2, 2}, two[] = {2}, three[] = {3}, one[] = {1};
  std::vector<float> got(4, -1);
  Im2ColNd<float, CPUContext, NCHW>(1, 5, 4, line_shape, line_columns, two, three, two, one,
                                    line.data(), got.data(), &context);
  EXPECT_THAT(got, ElementsAre(0, 3, 2, 5));
  // A volume of 2 x 1 x 3 with windows of 2 x 1 x 2.
  const std::vector<float> volume = Numbers(6);
  const int shape[] = {1, 2, 1, 3}, columns[] = {4, 1, 1, 2}, kernel[] = {2, 1, 2},
            ones[] = {1, 1, 1}, none[] = {0, 0, 0, 0, 0, 0};
  std::vector<float> wide(8, -1);
  Im2ColNd<float, CPUContext, NCHW>(3, 6, 8, shape, columns, kernel, ones, ones, none,
                                    volume.data(), wide.data(), &context);
  EXPECT_THAT(wide, ElementsAre(1, 2, 2, 3, 4, 5, 5, 6));
  std::vector<float> back(6, -1);
  Col2ImNd<float, CPUContext, NCHW>(3, 6, 8, shape, columns, kernel, ones, ones, none, wide.data(),
                                    back.data(), &context);
  EXPECT_THAT(back, ElementsAre(1, 4, 3, 4, 10, 6));
}

TEST(WindowColumnsTest, TransposeFourAxes) {
  CPUContext context;
  const int dims[] = {2, 3, 4, 5};
  const std::vector<float> x = Numbers(120);
  std::vector<int> axes = {0, 1, 2, 3};
  do {
    std::vector<float> y(120, -1), want(120);
    Transpose<float, CPUContext>(4, dims, axes.data(), x.data(), y.data(), &context);
    size_t to = 0;
    int at[4];  // by the axis of x
    for (at[axes[0]] = 0; at[axes[0]] < dims[axes[0]]; ++at[axes[0]]) {
      for (at[axes[1]] = 0; at[axes[1]] < dims[axes[1]]; ++at[axes[1]]) {
        for (at[axes[2]] = 0; at[axes[2]] < dims[axes[2]]; ++at[axes[2]]) {
          for (at[axes[3]] = 0; at[axes[3]] < dims[axes[3]]; ++at[axes[3]]) {
            want[to++] = x[static_cast<size_t>(((at[0] * 3 + at[1]) * 4 + at[2]) * 5 + at[3])];
          }
        }
      }
    }
    EXPECT_EQ(y, want) << axes[0] << axes[1] << axes[2] << axes[3];
  } while (std::next_permutation(axes.begin(), axes.end()));
}

TEST(WindowColumnsTest, ScaleChannelsOfSeveralImages) {
  CPUContext context;
  const std::vector<float> x = Numbers(12);
  const float scale[] = {1, 10, 100}, bias[] = {0.5f, 0.25f, 0};
  std::vector<float> y(12);
  AffineChannel<float, CPUContext, NCHW>(2, 3, 2, x.data(), scale, bias, y.data(), &context);
  EXPECT_THAT(y,
              ElementsAre(1.5, 2.5, 30.25, 40.25, 500, 600, 7.5, 8.5, 90.25, 100.25, 1100, 1200));
  AffineChannel<float, CPUContext, NHWC>(2, 3, 2, x.data(), scale, bias, y.data(), &context);
  EXPECT_THAT(y,
              ElementsAre(1.5, 20.25, 300, 4.5, 50.25, 600, 7.5, 80.25, 900, 10.5, 110.25, 1200));
  NCHW2NHWC<float, CPUContext>(2, 3, 2, x.data(), y.data(), &context);
  EXPECT_THAT(y, ElementsAre(1, 3, 5, 2, 4, 6, 7, 9, 11, 8, 10, 12));
  std::vector<float> back(12);
  NHWC2NCHW<float, CPUContext>(2, 3, 2, y.data(), back.data(), &context);
  EXPECT_EQ(back, x);
}

// Operands of different ranks, each with a dimension of 1 that the other has.
TEST(WindowColumnsTest, BroadcastBothOperands) {
  CPUContext context;
  const std::vector<float> x = Numbers(6), y = {10, 20};  // [2, 1, 3] and [2, 1]
  const int x_dims[] = {2, 1, 3}, y_dims[] = {2, 1};
  std::vector<float> z(12);
  Sub<float, CPUContext>(3, x_dims, 2, y_dims, x.data(), y.data(), z.data(), &context);
  EXPECT_THAT(z, ElementsAre(-9, -8, -7, -19, -18, -17, -6, -5, -4, -16, -15, -14));
  Sub<float, CPUContext>(2, y_dims, 3, x_dims, y.data(), x.data(), z.data(), &context);
  EXPECT_THAT(z, ElementsAre(9, 8, 7, 19, 18, 17, 6, 5, 4, 16, 15, 14));
  // Moments of the outer axes, of a variance that a sum of squares in float would lose.
  const std::vector<float> far = {10000, 5, 10002, 5, 10000, 7, 10002, 7};  // [2, 2, 2]
  const int dims[] = {2, 2, 2}, kept[] = {1, 1, 2};
  std::vector<float> mean(2), var(2);
  Moments<float, CPUContext>(3, dims, kept, far.data(), mean.data(), var.data(), &context);
  EXPECT_THAT(mean, ElementsAre(10001, 6));
  EXPECT_THAT(var, ElementsAre(1, 1));
}

}  // namespace
}  // namespace caffe2rt::math::window_columns_test
