#include <algorithm>
#include <cmath>

#include "tests/operators/detection/random_rois.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::ps_roi_pool_test {
namespace {

const std::string kPool =
    R"(type: "PSRoIPool" input: "X" input: "R" output: "Y" output: "C"
       arg { name: "group_size" i: 2 } arg { name: "output_dim" i: 2 } )";

// The definition of position-sensitive pooling (Dai et al. 2016, R-FCN): bin (i, j) of output channel
// c is the average of channel (c, i, j) over the pixels that the bin touches. Every pixel is tested
// on its own. A RoI is rounded, scaled, and at least 0.1 pixels wide and high.
struct NaivePositionPool {
  int64_t outputs, group, height, width;
  float scale;

  bool Touches(float low, float high, int64_t b, int64_t pixel) const {
    const float start = std::round(low) * scale, end = (std::round(high) + 1) * scale;
    const float size = std::max(end - start, 0.1f) / static_cast<float>(group);
    return static_cast<float>(b) * size + start < static_cast<float>(pixel + 1) &&
           static_cast<float>(b + 1) * size + start > static_cast<float>(pixel);
  }
  std::vector<size_t> PixelsOf(const float* roi, int64_t row, int64_t column) const {
    std::vector<size_t> pixels;
    for (int64_t p = 0; p < height * width; ++p) {
      if (Touches(roi[2], roi[4], row, p / width) && Touches(roi[1], roi[3], column, p % width)) {
        pixels.push_back(static_cast<size_t>(p));
      }
    }
    return pixels;
  }

  // Sets y, the channels, and dx, which has the size of x.
  void Run(const std::vector<float>& x, const std::vector<float>& rois,
           const std::vector<float>& dy, std::vector<float>* y, std::vector<int32_t>* channels,
           std::vector<float>* dx) const {
    dx->assign(x.size(), 0);
    for (size_t r = 0; r < rois.size(); r += 5) {
      for (int64_t i = 0; i < outputs * group * group; ++i) {
        const int64_t c = i / (group * group), row = i / group % group, column = i % group;
        const int64_t channel = (c * group + row) * group + column;
        const size_t plane = static_cast<size_t>(
            (static_cast<int64_t>(rois[r]) * outputs * group * group + channel) * height * width);
        const std::vector<size_t> pixels = PixelsOf(rois.data() + r, row, column);
        double sum = 0;
        for (const size_t p : pixels) {
          sum += x[plane + p];
          (*dx)[plane + p] += dy[y->size()] / static_cast<float>(pixels.size());
        }
        y->push_back(pixels.empty() ? 0 : static_cast<float>(sum / pixels.size()));
        channels->push_back(static_cast<int32_t>(channel));
      }
    }
  }
};

TEST(PSRoIPoolTest, AgreesWithTheDefinition) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const PoolCase c = RandomPoolCase(seed);
    const int64_t group = c.pooled_h, outputs = c.channels, planes = outputs * group * group;
    const NaivePositionPool naive{outputs, group, c.height, c.width, c.scale};
    const std::vector<float> x = RandomValues(c.images * planes * c.height * c.width, -1, 1, seed);
    const std::vector<float> dy = RandomValues(c.rois * planes, -1, 1, seed + 100);
    const std::vector<float> rois = RandomPoolRois(c, seed);
    std::vector<float> y, dx;
    std::vector<int32_t> channels;
    naive.Run(x, rois, dy, &y, &channels, &dx);
    Workspace ws;
    Feed<float>(&ws, "X", {c.images, planes, c.height, c.width}, x);
    Feed<float>(&ws, "R", {c.rois, 5}, rois);
    Feed<float>(&ws, "dY", {c.rois, outputs, group, group}, dy);
    const std::string args = "arg { name: 'group_size' i: " + std::to_string(group) +
                             " } arg { name: 'output_dim' i: " + std::to_string(outputs) +
                             " } arg { name: 'spatial_scale' f: " + std::to_string(c.scale) + " }";
    RunOp(&ws, "type: 'PSRoIPool' input: 'X' input: 'R' output: 'Y' output: 'C' " + args);
    ExpectTensor<float>(ws, "Y", {c.rois, outputs, group, group}, y, 1e-5);
    ExpectTensor<int32_t>(ws, "C", {c.rois, outputs, group, group}, channels);
    RunOp(&ws,
          "type: 'PSRoIPoolGradient' input: 'X' input: 'R' input: 'C' input: 'dY' output: 'dX' " +
              args);
    ExpectTensor<float>(ws, "dX", {c.images, planes, c.height, c.width}, dx, 1e-5);
  }
}

// Each bin has the average of its own channel.
TEST(PSRoIPoolTest, AveragesTheChannelOfEachBin) {
  Workspace ws;
  Tensor* const x = FeedRange<float>(&ws, "X", {1, 8, 4, 4});
  // Channel c is 100 c + 4 y + x.
  for (int i = 0; i < 128; ++i)
    x->mutable_data<float>()[i] = static_cast<float>(100 * (i / 16) + i % 16);
  // 4 x 4 pixels, in bins of 2 x 2. Then one pixel, (3, 3), in bins of half a pixel.
  Feed<float>(&ws, "R", {2, 5}, {0, 0, 0, 3, 3, 0, 3, 3, 3, 3});
  RunOp(&ws, kPool);
  ExpectTensor<int32_t>(ws, "C", {2, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7});
  ExpectTensor<float>(ws, "Y", {2, 2, 2, 2},
                      {2.5, 104.5, 210.5, 312.5, 402.5, 504.5, 610.5, 712.5,  //
                       15, 115, 215, 315, 415, 515, 615, 715},
                      1e-6);
  ExpectShapeInferred(&ws, kPool);
}

TEST(PSRoIPoolTest, RoundsBeforeItScalesAndClips) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 1, 4, 4});
  // 2.6 is rounded to 3: from 1.5 to (4 + 1) / 2 = 2.5, which touches pixels 1 and 2 of image 1.
  // Outside. Beyond the edge: only pixel (3, 3) is left. Inverted: 0.1 pixels at (1, 1).
  Feed<float>(&ws, "R", {4, 5},
              {1, 2.6f, 2.6f, 4, 4, 0, 80, 80, 90, 90, 0, 6, 6, 40, 40, 0, 2, 2, 0, 0});
  RunOp(
      &ws,
      R"(type: "PSRoIPool" input: "X" input: "R" output: "Y" output: "C" arg { name: "spatial_scale" f: 0.5 })");
  ExpectTensor<float>(ws, "Y", {4, 1, 1, 1}, {16 + (5 + 6 + 9 + 10) / 4.0f, 0, 15, 5});
}

TEST(PSRoIPoolTest, GradientMatchesDifferences) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 8, 4, 5});
  Feed<float>(&ws, "R", {4, 5}, {1, 0, 0, 3, 3, 0, 3, 2, 9, 9, 0, 1, 1, 1, 1, 1, 70, 70, 80, 80});
  ExpectGradientMatches(&ws, kPool, {.inputs = {"X"}});
  EXPECT_EQ(DescribeGradient(kPool),
            "PSRoIPoolGradient(X,R,C,Y_grad)->X_grad group_size=2 output_dim=2 | X_grad -");
}

TEST(PSRoIPoolTest, AcceptsNoRoIs) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 8, 2, 2});
  Feed<float>(&ws, "R", {0, 5}, {});
  RunOp(&ws, kPool);
  ExpectTensor<float>(ws, "Y", {0, 2, 2, 2}, {});
  ExpectTensor<int32_t>(ws, "C", {0, 2, 2, 2}, {});
}

TEST(PSRoIPoolTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 7, 2, 2});
  Feed<float>(&ws, "R", {1, 5}, {0, 0, 0, 1, 1});
  ExpectThrows([&] { RunOp(&ws, kPool); }, "channels of input 0 (X)");
  FeedRandom(&ws, "X", {1, 8, 2, 2});
  Feed<float>(&ws, "R", {1, 5}, {1, 0, 0, 1, 1});
  ExpectThrows([&] { RunOp(&ws, kPool); }, "of an image that does not exist");
  Feed<float>(&ws, "R", {1, 4}, {0, 0, 1, 1});
  ExpectThrows([&] { RunOp(&ws, kPool); }, "want 5 columns");
  ExpectThrows(
      [&] {
        RunOp(
            &ws,
            R"(type: "PSRoIPool" input: "X" input: "R" output: "Y" output: "C" arg { name: "group_size" i: 0 })");
      },
      "want above 0");
  Feed<float>(&ws, "R", {1, 5}, {0, 0, 0, 1, 1});
  Feed<int32_t>(&ws, "C", {1, 2, 2, 2}, std::vector<int32_t>(8));
  FeedRandom(&ws, "dY", {1, 8});
  ExpectThrows(
      [&] {
        RunOp(&ws,
              R"(type: "PSRoIPoolGradient" input: "X" input: "R" input: "C" input: "dY" output: "dX"
                      arg { name: "group_size" i: 2 } arg { name: "output_dim" i: 2 })");
      },
      "input 3 (dY) has shape [1, 8]");
}

}  // namespace
}  // namespace caffe2rt::test::ps_roi_pool_test
