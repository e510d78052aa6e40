#include "operators/math/images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::math::images_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// [1 2 3; 4 5 6; 7 8 9], used with windows of 2 x 2.
constexpr float kImage[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

TEST(ImagesTest, LaysWindowsOutAsColumnsAndAddsThemBack) {
  CPUContext context;
  std::array<float, 16> col;
  Im2Col<float, CPUContext, NCHW>(1, 3, 3, 2, 2, 1, 1, 0, 0, 0, 0, 1, 1, kImage, col.data(),
                                  &context);
  EXPECT_THAT(col, ElementsAre(1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9));
  std::array<float, 9> back;
  Col2Im<float, CPUContext, NCHW>(1, 3, 3, 2, 2, 1, 1, 0, 0, 0, 0, 1, 1, col.data(), back.data(),
                                  &context);
  // Each value times the number of windows that contain it.
  EXPECT_THAT(back, ElementsAre(1, 4, 3, 8, 20, 12, 7, 16, 9));
}

TEST(ImagesTest, PadsWindowsBeyondTheImageWithZeros) {
  CPUContext context;
  std::array<float, 4> col;
  // Windows of 1 x 1 with stride 3, and one row and one column of padding: only the last window is
  // inside the image.
  Im2Col<float, CPUContext, NCHW>(1, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0, 3, 3, kImage, col.data(),
                                  &context);
  EXPECT_THAT(col, ElementsAre(0, 0, 0, 9));
}

TEST(ImagesTest, AgreesBetweenTheFormsForAnyRankAndForTwoAxes) {
  CPUContext context;
  const float image[] = {1, 10, 2, 20, 3, 30, 4, 40};  // [2, 2] with 2 channels, channels last
  std::array<float, 8> two, any;
  Im2Col<float, CPUContext, NHWC>(2, 2, 2, 2, 1, 1, 1, 0, 0, 0, 0, 1, 1, image, two.data(),
                                  &context);
  EXPECT_THAT(two, ElementsAre(1, 10, 3, 30, 2, 20, 4, 40));
  const int img[] = {2, 2, 2}, col[] = {1, 2, 4}, kernel[] = {2, 1}, ones[] = {1, 1},
            pad[] = {0, 0, 0, 0};
  Im2ColNd<float, CPUContext, NHWC>(2, 8, 8, img, col, kernel, ones, ones, pad, image, any.data(),
                                    &context);
  EXPECT_EQ(any, two);
  std::array<float, 8> back;
  Col2ImNd<float, CPUContext, NHWC>(2, 8, 8, img, col, kernel, ones, ones, pad, any.data(),
                                    back.data(), &context);
  EXPECT_THAT(back, ElementsAre(1, 10, 2, 20, 3, 30, 4, 40));
}

TEST(ImagesTest, RejectsWindowsThatAreNotPositive) {
  CPUContext context;
  const int img[] = {1, 3, 3}, col[] = {4, 2, 2}, pad[] = {0, 0, 0, 0};
  std::array<float, 9> image{};
  std::array<float, 64> columns{};
  // Kernel, stride and dilation of both axes, one of which is not positive.
  for (int bad = 0; bad < 12; ++bad) {
    const int property = bad % 3, axis = bad / 3 % 2;
    int window[3][2] = {{2, 2}, {1, 1}, {1, 1}};
    window[property][axis] = bad < 6 ? 0 : -1;
    const std::string message =
        MakeString("kernel ", window[0][axis], ", stride ", window[1][axis], ", dilation ",
                   window[2][axis], " of axis ", axis, ", want all of them positive");
    test::ExpectThrows(
        [&] {
          Im2ColNd<float, CPUContext, NCHW>(2, 9, 16, img, col, window[0], window[1], window[2],
                                            pad, image.data(), columns.data(), &context);
        },
        message);
    test::ExpectThrows(
        [&] {
          Col2ImNd<float, CPUContext, NCHW>(2, 9, 16, img, col, window[0], window[1], window[2],
                                            pad, columns.data(), image.data(), &context);
        },
        message);
  }
  for (const int dilation : {0, -1}) {
    test::ExpectThrows(
        [&] {
          Im2Col<float, CPUContext, NHWC>(1, 3, 3, 2, 2, 1, dilation, 0, 0, 0, 0, 1, 1,
                                          image.data(), columns.data(), &context);
        },
        "of axis 1, want all of them positive");
    test::ExpectThrows(
        [&] {
          Col2Im<float, CPUContext, NHWC>(1, 3, 3, 2, 2, dilation, 1, 0, 0, 0, 0, 1, 1,
                                          columns.data(), image.data(), &context);
        },
        "of axis 0, want all of them positive");
  }
}

TEST(ImagesTest, AddsBiasesAndScalesChannels) {
  CPUContext context;
  std::array<float, 4> image = {1, 2, 3, 4};
  const float bias[] = {10, 20}, scale[] = {2, 3};
  BiasCHW<float, CPUContext>(bias, 2, 2, image.data(), &context);
  EXPECT_THAT(image, ElementsAre(11, 12, 23, 24));
  std::array<float, 4> y;
  AffineChannel<float, CPUContext, NCHW>(1, 2, 2, image.data(), scale, bias, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(32, 34, 89, 92));
  AffineChannel<float, CPUContext, NHWC>(1, 2, 2, image.data(), scale, bias, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(32, 56, 56, 92));
}

TEST(ImagesTest, ChangesLayoutsAndAxes) {
  CPUContext context;
  const float x[] = {1, 2, 3, 4, 5, 6};
  std::array<float, 6> y, z;
  NCHW2NHWC<float, CPUContext>(1, 2, 3, x, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(1, 4, 2, 5, 3, 6));
  NHWC2NCHW<float, CPUContext>(1, 2, 3, y.data(), z.data(), &context);
  EXPECT_THAT(z, ElementsAre(1, 2, 3, 4, 5, 6));
  const int dims[] = {2, 3}, axes[] = {1, 0}, bad[] = {1, 2};
  Transpose<float, CPUContext>(2, dims, axes, x, z.data(), &context);
  EXPECT_EQ(z, y);
  const int64_t wide[] = {2, 3};
  Transpose<int64_t, float, CPUContext>(2, wide, axes, x, z.data(), &context);
  EXPECT_EQ(z, y);
  EXPECT_THROW((Transpose<float, CPUContext>(2, dims, bad, x, z.data(), &context)), EnforceNotMet);
}

TEST(ImagesTest, DrawsFromTheContextsGenerator) {
  DeviceOption option;
  option.set_random_seed(1);
  CPUContext context(option);
  std::array<float, 2> r;
  RandUniform<float, CPUContext>(2, 0, 1, r.data(), &context);
  EXPECT_NEAR(r[0], 0.7576316f, 1e-6);
  EXPECT_NEAR(r[1], 0.2793109f, 1e-6);
  CPUContext again(option);
  RandGaussian<float, CPUContext>(2, 0, 1, r.data(), &again);
  EXPECT_NEAR(r[0], 0.0387955f, 1e-6);
  std::array<int, 4> unique;
  const int avoid[] = {2};
  RandUniformUnique<int, CPUContext>(4, 0, 4, unique.data(), 1, avoid, &context);
  EXPECT_EQ(std::set<int>(unique.begin(), unique.end()), (std::set<int>{0, 1, 3, 4}));
  EXPECT_THROW((RandUniformUnique<int, CPUContext>(5, 0, 4, unique.data(), 1, avoid, &context)),
               EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::math::images_test
