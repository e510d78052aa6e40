#include <cmath>
#include <limits>

#include "tests/operators/detection/random_rois.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::roi_pool_test {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::string Pool(const std::string& type, const std::string& args) {
  return "type: \"" + type + R"(" input: "X" input: "R" output: "Y" output: "A" )" + args;
}
const char* const kBins = R"(arg { name: "pooled_h" i: 2 } arg { name: "pooled_w" i: 2 } )";

// The definition of RoI max pooling (Girshick 2015, Fast R-CNN): a RoI of whole pixels is divided
// into equal bins, and the pixels of a bin are all that it touches. Every pixel is tested on its own.
struct NaivePool {
  int64_t channels, height, width, pooled_h, pooled_w;
  float scale;

  struct Result {
    std::vector<float> y, dx;
    std::vector<int32_t> argmax;
  };

  // Whether bin `b` of the pixels from `first` to `last` touches a pixel.
  static bool Touches(int64_t first, int64_t last, int64_t bins, int64_t b, int64_t pixel) {
    const float size = static_cast<float>(std::max<int64_t>(last - first + 1, 1)) / bins;
    return b * size < pixel - first + 1 && (b + 1) * size > pixel - first;
  }

  int32_t LargestOf(const float* plane, const float* roi, int64_t row, int64_t column,
                    float* largest) const {
    int32_t at = -1;
    bool empty = true;
    for (int64_t p = 0; p < height * width; ++p) {
      const bool inside = Touches(std::lround(roi[2] * scale), std::lround(roi[4] * scale),
                                  pooled_h, row, p / width) &&
                          Touches(std::lround(roi[1] * scale), std::lround(roi[3] * scale),
                                  pooled_w, column, p % width);
      if (!inside) continue;
      if (empty) *largest = kLowest;
      empty = false;
      if (plane[p] > *largest) *largest = plane[p], at = static_cast<int32_t>(p);
    }
    return at;
  }

  Result Run(const std::vector<float>& x, const std::vector<float>& rois,
             const std::vector<float>& dy) const {
    Result result;
    result.dx.assign(x.size(), 0);
    for (size_t r = 0; r < rois.size(); r += 5) {
      for (int64_t i = 0; i < channels * pooled_h * pooled_w; ++i) {
        const int64_t bin = i % (pooled_h * pooled_w), c = i / (pooled_h * pooled_w);
        const int64_t plane = (static_cast<int64_t>(rois[r]) * channels + c) * height * width;
        float largest = 0;
        const int32_t at =
            LargestOf(x.data() + plane, rois.data() + r, bin / pooled_w, bin % pooled_w, &largest);
        if (at >= 0) result.dx[static_cast<size_t>(plane + at)] += dy[result.y.size()];
        result.y.push_back(largest);
        result.argmax.push_back(at);
      }
    }
    return result;
  }
};

class RoIPoolTypesTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Types, RoIPoolTypesTest, testing::Values("RoIPool", "RoIPoolF"));

TEST_P(RoIPoolTypesTest, ReturnsTheLargestElementOfEachBin) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 2, 4, 5}, 19, -1);  // descending: the first element of a bin
  // 3 x 3 pixels from (1, 0): bins of 1.5 pixels, which touch 2 each. Then one pixel.
  Feed<float>(&ws, "R", {2, 5}, {0, 1, 0, 3, 2, 0, 4, 3, 4, 3});
  RunOp(&ws, Pool(GetParam(), kBins));
  ExpectTensor<int32_t>(ws, "A", {2, 2, 2, 2},
                        {1, 2, 6, 7, 1, 2, 6, 7, 19, 19, 19, 19, 19, 19, 19, 19});
  ExpectTensor<float>(ws, "Y", {2, 2, 2, 2},
                      {18, 17, 13, 12, -2, -3, -7, -8, 0, 0, 0, 0, -20, -20, -20, -20});
  ExpectShapeInferred(&ws, Pool(GetParam(), kBins));
}

TEST_P(RoIPoolTypesTest, RoundsRoIsAndClipsBins) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 1, 4, 4});
  // Scaled by 0.5 and rounded away from 0: (1, 1) to (2, 2) of image 1; inverted; outside; huge.
  Feed<float>(&ws, "R", {4, 5}, {1, 1,  1,  4.9f, 4.9f, 0, 6,      6,      1,     1,
                                 0, 90, 90, 95,   95,   0, -1e30f, -1e30f, 1e30f, 1e30f});
  RunOp(&ws, Pool(GetParam(), R"(arg { name: "spatial_scale" f: 0.5 })"));
  ExpectTensor<float>(ws, "Y", {4, 1, 1, 1}, {26, 15, 0, 15});
  ExpectTensor<int32_t>(ws, "A", {4, 1, 1, 1}, {10, 15, -1, 15});
}

TEST_P(RoIPoolTypesTest, IgnoresNaN) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 1, 2}, {kNaN, -3, kNaN, kNaN});
  Feed<float>(&ws, "R", {1, 5}, {0, 0, 0, 1, 0});
  RunOp(&ws, Pool(GetParam(), ""));
  ExpectTensor<float>(ws, "Y", {1, 2, 1, 1}, {-3, kLowest});
  ExpectTensor<int32_t>(ws, "A", {1, 2, 1, 1}, {1, -1});
}

TEST_P(RoIPoolTypesTest, ReturnsTheFirstOfEqualElements) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 3, 2, 2}, {5, 5, 5, 5, 1, 7, 7, 2, -2, -3, -3, -2});
  Feed<float>(&ws, "R", {1, 5}, {0, 0, 0, 1, 1});
  RunOp(&ws, Pool(GetParam(), ""));
  ExpectTensor<float>(ws, "Y", {1, 3, 1, 1}, {5, 7, -2});
  ExpectTensor<int32_t>(ws, "A", {1, 3, 1, 1}, {0, 1, 0});
}

TEST_P(RoIPoolTypesTest, AcceptsEmptyTensors) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 2, 3, 3});
  Feed<float>(&ws, "R", {0, 5}, {});
  RunOp(&ws, Pool(GetParam(), kBins));
  ExpectTensor<float>(ws, "Y", {0, 2, 2, 2}, {});
  ExpectTensor<int32_t>(ws, "A", {0, 2, 2, 2}, {});
  Feed<float>(&ws, "X", {1, 2, 0, 3}, {});
  Feed<float>(&ws, "R", {1, 5}, {0, 0, 0, 1, 1});
  RunOp(&ws, Pool(GetParam(), ""));
  ExpectTensor<float>(ws, "Y", {1, 2, 1, 1}, {0, 0});
  ExpectTensor<int32_t>(ws, "A", {1, 2, 1, 1}, {-1, -1});
}

TEST_P(RoIPoolTypesTest, GradientGoesToTheLargestElements) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 1, 2, 3});
  Feed<float>(&ws, "R", {3, 5}, {1, 0, 0, 2, 1, 1, 2, 1, 2, 1, 0, 0, 0, 0, 0});
  Feed<int32_t>(&ws, "A", {3, 1, 1, 2}, {4, 5, 5, -1, 0, 0});
  Feed<float>(&ws, "dY", {3, 1, 1, 2}, {1, 2, 3, 4, 5, 6});
  const std::string gradient =
      std::string("type: \"") + GetParam() +
      R"(Gradient" input: "X" input: "R" input: "A" input: "dY" output: "dX" arg { name: "pooled_w" i: 2 })";
  RunOp(&ws, gradient);
  ExpectTensor<float>(ws, "dX", {2, 1, 2, 3}, {11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 5});
  ExpectShapeInferred(&ws, gradient);
  EXPECT_EQ(DescribeGradient(Pool(GetParam(), "")),
            std::string(GetParam()) + "Gradient(X,R,A,Y_grad)->X_grad | X_grad -");
}

TEST_P(RoIPoolTypesTest, AgreesWithTheDefinition) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const PoolCase c = RandomPoolCase(seed);
    const NaivePool naive{c.channels, c.height, c.width, c.pooled_h, c.pooled_w, c.scale};
    const std::vector<float> x =
        RandomValues(c.images * c.channels * c.height * c.width, -1, 1, seed);
    const std::vector<int64_t> dims{c.rois, c.channels, c.pooled_h, c.pooled_w};
    const std::vector<float> dy =
        RandomValues(c.rois * c.channels * c.pooled_h * c.pooled_w, -1, 1, seed + 100);
    const std::vector<float> rois = RandomPoolRois(c, seed);
    Workspace ws;
    Feed<float>(&ws, "X", {c.images, c.channels, c.height, c.width}, x);
    Feed<float>(&ws, "R", {c.rois, 5}, rois);
    Feed<float>(&ws, "dY", dims, dy);
    const std::string args = "arg { name: 'pooled_h' i: " + std::to_string(c.pooled_h) +
                             " } arg { name: 'pooled_w' i: " + std::to_string(c.pooled_w) +
                             " } arg { name: 'spatial_scale' f: " + std::to_string(c.scale) + " }";
    const NaivePool::Result want = naive.Run(x, rois, dy);
    RunOp(&ws, Pool(GetParam(), args));
    ExpectTensor<float>(ws, "Y", dims, want.y);
    ExpectTensor<int32_t>(ws, "A", dims, want.argmax);
    RunOp(&ws, std::string("type: '") + GetParam() +
                   "Gradient' input: 'X' input: 'R' input: 'A' input: 'dY' output: 'dX' " + args);
    ExpectTensor<float>(ws, "dX", {c.images, c.channels, c.height, c.width}, want.dx, 1e-5);
  }
}

// As many bins as pixels: every bin is a pixel. From 65 rows and columns of bins on, the operator
// keeps their places on the heap.
TEST_P(RoIPoolTypesTest, AcceptsAnyNumberOfBins) {
  for (const auto& [rows, columns] :
       {std::pair<int64_t, int64_t>{32, 32}, {33, 32}, {40, 40}, {64, 64}, {1, 200}, {200, 1}}) {
    SCOPED_TRACE(MakeString(rows, " x ", columns, " bins"));
    Workspace ws;
    FeedRange<float>(&ws, "X", {1, 1, rows, columns});
    Feed<float>(&ws, "R", {1, 5},
                {0, 0, 0, static_cast<float>(columns - 1), static_cast<float>(rows - 1)});
    RunOp(&ws, Pool(GetParam(), MakeString("arg { name: 'pooled_h' i: ", rows,
                                           " } arg { name: 'pooled_w' i: ", columns, " }")));
    ExpectTensor<float>(ws, "Y", {1, 1, rows, columns}, Fetch<float>(ws, "X"));
  }
}

TEST_P(RoIPoolTypesTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 1, 2, 2});
  const auto expect = [&](const std::vector<float>& roi, const std::string& args,
                          const std::string& part) {
    Feed<float>(&ws, "R", {1, static_cast<int64_t>(roi.size())}, roi);
    ExpectThrows([&] { RunOp(&ws, Pool(GetParam(), args)); }, part);
  };
  expect({1, 0, 0, 1, 1}, "", "of an image that does not exist, want at least 0 and below 1");
  expect({0, 0, kNaN, 1, 1}, "", "is not finite");
  expect({0, 0, 1, 1}, "", "input 1 (RoIs) has shape [1, 4], want 5 columns");
  expect({0, 0, 0, 1, 1}, R"(arg { name: "pooled_w" i: 0 })", "want above 0");
  expect({0, 0, 0, 1, 1}, R"(arg { name: "spatial_scale" f: 0 })", "want finite and above 0");
  FeedRandom(&ws, "X", {1, 2, 2});
  expect({0, 0, 0, 1, 1}, "", "rank of input 0 (X)");
}

TEST(RoIPoolTest, RejectsArgmaxesOutOfRange) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 1, 2, 2});
  Feed<float>(&ws, "R", {1, 5}, {0, 0, 0, 1, 1});
  FeedRandom(&ws, "dY", {1, 1, 1, 1});
  for (const int32_t argmax : {-2, 4}) {
    Feed<int32_t>(&ws, "A", {1, 1, 1, 1}, {argmax});
    ExpectThrows(
        [&] {
          RunOp(
              &ws,
              R"(type: "RoIPoolGradient" input: "X" input: "R" input: "A" input: "dY" output: "dX")");
        },
        "want -1 to 3");
  }
}

TEST(RoIPoolTest, HasNoArgmaxesInTests) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 2});
  Feed<float>(&ws, "R", {1, 5}, {0, 0, 0, 1, 1});
  const std::string one = R"(type: "RoIPool" input: "X" input: "R" output: "Y" )";
  RunOp(&ws, one + R"(arg { name: "is_test" i: 1 })");
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 1}, {3});
  ExpectShapeInferred(&ws, one + R"(arg { name: "is_test" i: 1 })");
  ExpectThrows([&] { RunOp(&ws, one); }, "number of outputs is 1, want 2 without argument is_test");
  ExpectThrows([&] { RunOp(&ws, Pool("RoIPool", R"(arg { name: "is_test" i: 1 })")); },
               "number of outputs is 2, want 1 with argument is_test");
  ExpectThrows([&] { RunOp(&ws, Pool("RoIPool", R"(arg { name: "order" s: "NHWC" })")); },
               "argument order is NHWC, want NCHW");
}

}  // namespace
}  // namespace caffe2rt::test::roi_pool_test
