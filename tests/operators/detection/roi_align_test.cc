#include <algorithm>
#include <cmath>
#include <limits>

#include "caffe2_core/base/thread_pool.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::roi_align_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::string RoIAlign(const std::string& args) {
  return R"(type: "RoIAlign" input: "X" input: "R" output: "Y" )" + args;
}
std::string Int(const std::string& name, int64_t value) {
  return "arg { name: \"" + name + "\" i: " + std::to_string(value) + " } ";
}
std::string Float(const std::string& name, double value) {
  return "arg { name: \"" + name + "\" f: " + std::to_string(value) + " } ";
}
std::string Bins(int64_t h, int64_t w) { return Int("pooled_h", h) + Int("pooled_w", w); }
const char* const kNhwc = R"(arg { name: "order" s: "NHWC" })";

// The definition: the average of all samples of a bin, each interpolated on its own.
struct Naive {
  int64_t channels, height, width, pooled_h, pooled_w;
  int ratio;
  double scale;
  bool aligned;

  static double Bilinear(const float* plane, int64_t height, int64_t width, double y, double x) {
    if (y < -1 || y > height || x < -1 || x > width) return 0;
    y = std::min(std::max(y, 0.0), height - 1.0);
    x = std::min(std::max(x, 0.0), width - 1.0);
    const int64_t top = std::min(static_cast<int64_t>(y), height - 1);
    const int64_t left = std::min(static_cast<int64_t>(x), width - 1);
    const int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
    const double dy = y - top, dx = x - left;
    return (1 - dy) * ((1 - dx) * plane[top * width + left] + dx * plane[top * width + right]) +
           dy * ((1 - dx) * plane[bottom * width + left] + dx * plane[bottom * width + right]);
  }

  // `x` and the result in order NCHW, RoIs with an image.
  std::vector<float> Run(const std::vector<float>& x, const std::vector<float>& rois) const {
    std::vector<float> y;
    for (size_t r = 0; r < rois.size(); r += 5) {
      const double offset = aligned ? 0.5 : 0;
      const double left = rois[r + 1] * scale - offset, top = rois[r + 2] * scale - offset;
      double w = rois[r + 3] * scale - offset - left, h = rois[r + 4] * scale - offset - top;
      if (!aligned) w = std::max(w, 1.0), h = std::max(h, 1.0);
      const double bin_w = w / pooled_w, bin_h = h / pooled_h;
      const int rows = ratio > 0 ? ratio : static_cast<int>(std::ceil(bin_h));
      const int columns = ratio > 0 ? ratio : static_cast<int>(std::ceil(bin_w));
      for (int64_t c = 0; c < channels; ++c) {
        const float* const plane =
            x.data() + (static_cast<int64_t>(rois[r]) * channels + c) * height * width;
        for (int64_t i = 0; i < pooled_h * pooled_w; ++i) {
          double sum = 0;
          for (int k = 0; k < rows * columns; ++k) {
            sum += Bilinear(plane, height, width,
                            top + (i / pooled_w + (k / columns + 0.5) / rows) * bin_h,
                            left + (i % pooled_w + (k % columns + 0.5) / columns) * bin_w);
          }
          y.push_back(static_cast<float>(sum / (rows * columns)));
        }
      }
    }
    return y;
  }
};

// From [N, C, P] to [N, P, C].
std::vector<float> ChannelsLast(const std::vector<float>& x, int64_t channels, int64_t positions) {
  std::vector<float> y(x.size());
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    const int64_t n = i / positions / channels, c = i / positions % channels, p = i % positions;
    y[static_cast<size_t>((n * positions + p) * channels + c)] = x[static_cast<size_t>(i)];
  }
  return y;
}

TEST(RoIAlignTest, AveragesTheSamplesOfABin) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 4, 4});  // X[y, x] = 4 y + x, so a sample is 4 y + x as well
  Feed<float>(&ws, "R", {2, 4}, {0.5f, 1, 2.5f, 3, 1, 1, 1, 1});
  // The first RoI has bins of 1 x 1, and one sample in the middle of each.
  RunOp(&ws, RoIAlign(Bins(2, 2)));
  // The second one is as large as one pixel.
  ExpectTensor<float>(ws, "Y", {2, 1, 2, 2}, {7, 8, 11, 12, 6.25, 6.75, 8.25, 8.75}, 1e-6);
  ExpectShapeInferred(&ws, RoIAlign(Bins(2, 2)));
  // 0.5 less in both directions; the size of the second RoI is 0, its samples are at 0.5.
  RunOp(&ws, RoIAlign(Bins(2, 2) + Int("aligned", 1) + Int("sampling_ratio", 3)));
  ExpectTensor<float>(ws, "Y", {2, 1, 2, 2}, {4.5, 5.5, 8.5, 9.5, 2.5, 2.5, 2.5, 2.5}, 1e-5);
}

TEST(RoIAlignTest, ReadsOnePixelBeyondTheEdgeAsTheEdge) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 2}, 1);
  // One sample each, at (-1, -1), (2, 2), (-1.5, 0) and (0, 2.5).
  Feed<float>(&ws, "R", {4, 4}, {-2, -2, 0, 0, 1, 1, 3, 3, -1, -2, 1, -1, 2, -1, 3, 1});
  RunOp(&ws, RoIAlign(Int("sampling_ratio", 1)));
  ExpectTensor<float>(ws, "Y", {4, 1, 1, 1}, {1, 4, 0, 0});
}

TEST(RoIAlignTest, AgreesWithTheDefinition) {
  for (const int64_t channels : {1, 3, 16, 37}) {
    for (const int ratio : {0, 1, 3}) {
      for (const bool aligned : {false, true}) {
        const Naive naive{channels, 7, 9, 3, 2, ratio, 0.5, aligned};
        const std::vector<float> x = RandomValues(2 * channels * 63);
        std::vector<float> rois;
        const std::vector<float> corners = RandomValues(6 * 2, -6, 20, 7);
        const std::vector<float> sizes = RandomValues(6 * 2, 1, 14, 8);
        for (size_t i = 0; i < 6; ++i) {
          rois.insert(rois.end(),
                      {i % 3 == 0 ? 1.0f : 0.0f, corners[2 * i], corners[2 * i + 1],
                       corners[2 * i] + sizes[2 * i], corners[2 * i + 1] + sizes[2 * i + 1]});
        }
        const std::vector<float> want = naive.Run(x, rois);
        const std::string args = Bins(3, 2) + Int("sampling_ratio", ratio) +
                                 Int("aligned", aligned ? 1 : 0) + Float("spatial_scale", 0.5);
        SCOPED_TRACE(args + " channels " + std::to_string(channels));
        Workspace ws;
        Feed<float>(&ws, "R", {6, 5}, rois);
        Feed<float>(&ws, "X", {2, channels, 7, 9}, x);
        RunOp(&ws, RoIAlign(args));
        ExpectTensor<float>(ws, "Y", {6, channels, 3, 2}, want, 1e-5);
        Feed<float>(&ws, "X", {2, 7, 9, channels}, ChannelsLast(x, channels, 63));
        RunOp(&ws, RoIAlign(args + kNhwc));
        ExpectTensor<float>(ws, "Y", {6, 3, 2, channels}, ChannelsLast(want, channels, 6), 1e-5);
      }
    }
  }
}

TEST(RoIAlignTest, AcceptsEmptyTensors) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3, 4, 4});
  Feed<float>(&ws, "R", {0, 5}, {});
  RunOp(&ws, RoIAlign(Bins(2, 3)));
  ExpectTensor<float>(ws, "Y", {0, 3, 2, 3}, {});
  ExpectShapeInferred(&ws, RoIAlign(Bins(2, 3)));
  Feed<float>(&ws, "dY", {0, 3, 2, 3}, {});
  const std::string gradient =
      R"(type: "RoIAlignGradient" input: "X" input: "R" input: "dY" output: "dX" )" + Bins(2, 3);
  RunOp(&ws, gradient);
  ExpectTensor<float>(ws, "dX", {2, 3, 4, 4}, std::vector<float>(96, 0));
  ExpectShapeInferred(&ws, gradient);

  Feed<float>(&ws, "R", {1, 4}, {0, 0, 2, 2});
  RunOp(&ws, RoIAlign(Bins(0, 3)));
  ExpectTensor<float>(ws, "Y", {1, 3, 0, 3}, {});
  Feed<float>(&ws, "X", {1, 2, 0, 4}, {});  // no rows: every sample is outside
  RunOp(&ws, RoIAlign(Bins(1, 1)));
  ExpectTensor<float>(ws, "Y", {1, 2, 1, 1}, {0, 0});
}

TEST(RoIAlignTest, AlignedRoIsWithoutSizeHaveNoSamples) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 4, 4});
  Feed<float>(&ws, "R", {1, 4}, {2, 2, 2, 3});
  RunOp(&ws, RoIAlign(Int("aligned", 1)));
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 1}, {kNaN});
  Feed<float>(&ws, "dY", {1, 1, 1, 1}, {1});
  RunOp(&ws, R"(type: "RoIAlignGradient" input: "X" input: "R" input: "dY" output: "dX" )" +
                 Int("aligned", 1));
  ExpectTensor<float>(ws, "dX", {1, 1, 4, 4}, std::vector<float>(16, 0));
}

// The samples outside the image are not visited.
TEST(RoIAlignTest, HugeRoIsAreFast) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 2, 2}, {1, 1, 1, 1});
  Feed<float>(&ws, "R", {2, 4}, {-1, -1, 1023, 1023, 3e7f, 0, 3e7f, 1});
  RunOp(&ws, RoIAlign(""));
  // 3 of 1024 samples along each axis are at most one pixel outside.
  ExpectTensor<float>(ws, "Y", {2, 1, 1, 1}, {9.0f / 1048576, 0}, 1e-9);
  Feed<float>(&ws, "R", {1, 4}, {-1e6f, -1e6f, 1e6f, 1e6f});
  RunOp(&ws, RoIAlign(""));
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 1}, {0}, 1e-9);
}

// The weights of so many pixels are computed for a part of the RoIs at a time.
TEST(RoIAlignTest, ManyRoIsOfAWideImageAgree) {
  constexpr int64_t kRois = 1300, kWidth = 4096;
  Workspace ws;
  Tensor* const x = FeedRange<float>(&ws, "X", {2, 1, 1, kWidth}, 1, 0);
  x->mutable_data<float>()[kWidth + 5] = 1 + kWidth;  // the mean of image 1 is 2
  std::vector<float> rois, want;
  for (int64_t r = 0; r < kRois; ++r) {
    rois.insert(rois.end(), {static_cast<float>(r % 2), 0, 0, kWidth, 1});
    want.push_back(static_cast<float>(1 + r % 2));
  }
  Feed<float>(&ws, "R", {kRois, 5}, rois);
  RunOp(&ws, RoIAlign(""));
  ExpectTensor<float>(ws, "Y", {kRois, 1, 1, 1}, want, 1e-3);
  Feed<float>(&ws, "dY", {kRois, 1, 1, 1}, std::vector<float>(kRois, 1));
  RunOp(&ws, R"(type: "RoIAlignGradient" input: "X" input: "R" input: "dY" output: "dX")");
  // Samples are in the middle between two pixels; the last one belongs to the last pixel alone.
  std::vector<float> dx(2 * kWidth, kRois / 2.0f / kWidth);
  dx[0] = dx[kWidth] = 0.5f * dx[1];
  dx[kWidth - 1] = dx[2 * kWidth - 1] = 1.5f * dx[1];
  ExpectTensor<float>(ws, "dX", {2, 1, 1, kWidth}, dx, 1e-4);
}

// As in Caffe2.
TEST(RoIAlignTest, OrderIsNhwcUnlessItIsNchw) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 2, 2, 3}, 0);
  Feed<float>(&ws, "R", {1, 4}, {0, 0, 0, 0});  // the average of the four pixels
  for (const char* const order : {"NHWC", "nhwc", "window", ""}) {
    RunOp(&ws, RoIAlign(MakeString("arg { name: 'order' s: '", order, "' }")));
    ExpectTensor<float>(ws, "Y", {1, 1, 1, 3}, {4.5f, 5.5f, 6.5f}, 1e-6);
  }
}

TEST(RoIAlignTest, AcceptsAnyTypeWithoutRoIs) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 2, 3, 3});
  Feed<double>(&ws, "R", {0, 5}, {});
  RunOp(&ws, RoIAlign(""));
  ExpectTensor<float>(ws, "Y", {0, 2, 1, 1}, {});
}

TEST(RoIAlignTest, GradientRejectsNegativeSizesWithoutImages) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 1, 3, 3}, {});
  Feed<float>(&ws, "R", {2, 4}, {0, 0, 2, 2, 0, 2, 2, 1});
  FeedRandom(&ws, "dY", {2, 1, 1, 1});
  const std::string gradient =
      R"(type: "RoIAlignGradient" input: "X" input: "R" input: "dY" output: "dX" )";
  RunOp(&ws, gradient);
  ExpectThrows([&] { RunOp(&ws, gradient + Int("aligned", 1)); },
               "RoI 1 of input 1 (RoIs) has a negative size");
  for (const std::vector<float>& box :
       {std::vector<float>{2, 0, 1, 2}, {0, 2, 2, 1}, {2, 2, 1, 1}}) {
    Feed<float>(&ws, "R", {1, 4}, box);
    FeedRandom(&ws, "dY", {1, 1, 1, 1});
    ExpectThrows([&] { RunOp(&ws, gradient + Int("aligned", 1)); },
                 "RoI 0 of input 1 (RoIs) has a negative size");
  }
}

TEST(RoIAlignTest, GradientAcceptsEmptyTensors) {
  const char* const gradient =
      R"(type: "RoIAlignGradient" input: "X" input: "R" input: "dY" output: "dX" )";
  Workspace ws;
  FeedRandom(&ws, "X", {1, 2, 1, 1});
  Feed<float>(&ws, "R", {0, 5}, {});
  Feed<float>(&ws, "dY", {0, 2, 2, 2}, {});
  RunOp(&ws, gradient);
  ExpectTensor<float>(ws, "dX", {1, 2, 1, 1}, {0, 0});
  Feed<float>(&ws, "X", {0, 2, 3, 3}, {});
  Feed<float>(&ws, "R", {1, 4}, {0, 0, 2, 2});
  Feed<float>(&ws, "dY", {1, 2, 0, 1}, {});
  RunOp(&ws, gradient);
  ExpectTensor<float>(ws, "dX", {0, 2, 3, 3}, {});
}

TEST(RoIAlignTest, RejectsInvalidRoIs) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 1, 4, 4});
  const auto expect = [&](const std::vector<float>& roi, const std::string& args,
                          const std::string& part) {
    Feed<float>(&ws, "R", {1, 5}, roi);
    ExpectThrows([&] { RunOp(&ws, RoIAlign(args)); }, part);
  };
  expect({2, 0, 0, 1, 1}, "",
         "RoI 0 of input 1 (RoIs) is of an image that does not exist, want at least 0 and below 2");
  expect({-1, 0, 0, 1, 1}, "", "does not exist");
  expect({kNaN, 0, 0, 1, 1}, "", "does not exist");
  expect({0, 0, kNaN, 1, 1}, "", "is not finite");
  expect({0, 0, 0, kInf, 1}, "", "is not finite");
  expect({0, -3e38f, 0, 3e38f, 1}, "", "is not finite");
  expect({0, 0, 0, 1e30f, 1}, "", "is too large");
  expect({0, 2, 0, 1, 1}, Int("aligned", 1), "has a negative size");
}

TEST(RoIAlignTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 1, 4, 4});
  Feed<float>(&ws, "R", {1, 4}, {0, 0, 1, 1});
  ExpectThrows([&] { RunOp(&ws, RoIAlign(Int("pooled_h", -1))); }, "want at least 0");
  ExpectThrows([&] { RunOp(&ws, RoIAlign(Int("sampling_ratio", 5000))); }, "want at most 4096");
  FeedRandom(&ws, "R", {1, 6});
  ExpectThrows([&] { RunOp(&ws, RoIAlign("")); },
               "input 1 (RoIs) has shape [1, 6], want 5 columns, or one less without the image");
  FeedRandom(&ws, "R", {4});
  ExpectThrows([&] { RunOp(&ws, RoIAlign("")); }, "rank of input 1 (RoIs)");
  FeedRandom(&ws, "R", {1, 4});
  FeedRandom(&ws, "X", {1, 4, 4});
  ExpectThrows([&] { RunOp(&ws, RoIAlign("")); }, "rank of input 0 (X)");
  FeedRandom(&ws, "X", {1, 1, 4, 4});
  FeedRandom(&ws, "dY", {1, 1, 2, 1});
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "RoIAlignGradient" input: "X" input: "R" input: "dY" output: "dX")");
      },
      "input 2 (dY) has shape [1, 1, 2, 1], want that of the output [1, 1, 1, 1]");
}

TEST(RoIAlignTest, GradientMatchesDifferences) {
  for (const char* const order : {"", kNhwc}) {
    for (const char* const args :
         {"", R"(arg { name: "sampling_ratio" i: 2 })", R"(arg { name: "aligned" i: 1 })"}) {
      Workspace ws;
      FeedRandom(
          &ws, "X",
          *order == '\0' ? std::vector<int64_t>{2, 17, 3, 4} : std::vector<int64_t>{2, 3, 4, 17});
      Feed<float>(&ws, "R", {4, 5},
                  {1, -1, 0, 3, 4, 0, 0.3f, 0.2f, 2.1f, 1.5f, 1, 2, 2, 2.5f, 9, 0, 8, 8, 9, 9});
      ExpectGradientMatches(&ws, RoIAlign(Bins(2, 3) + args + order), {.inputs = {"X"}});
    }
  }
  EXPECT_EQ(DescribeGradient(RoIAlign("")), "RoIAlignGradient(X,R,Y_grad)->X_grad | X_grad -");
}

TEST(DetectionGradientTest, DoesNotDependOnTheNumberOfThreads) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 70, 9, 8});
  FeedRandom(&ws, "A", {5, 70, 2, 2});
  Feed<float>(&ws, "R", {5, 5},
              {0, 0, 0, 7, 8, 1, 1, 1, 3, 3, 0, 2, 2, 4, 4, 0, 5, 5, 8, 8, 1, 0, 0, 9, 9});
  const std::string gradient =
      R"(type: "RoIAlignGradient" input: "X" input: "R" input: "A" output: "dX" )" + Bins(2, 2);
  RunOp(&ws, RoIAlign(Bins(2, 2)));
  RunOp(&ws, gradient);
  const std::vector<float> y = Fetch<float>(ws, "Y"), dx = Fetch<float>(ws, "dX");
  SetNumThreads(3);
  RunOp(&ws, RoIAlign(Bins(2, 2)));
  RunOp(&ws, gradient);
  SetNumThreads(1);
  EXPECT_EQ(Fetch<float>(ws, "Y"), y);
  EXPECT_EQ(Fetch<float>(ws, "dX"), dx);
}

}  // namespace
}  // namespace caffe2rt::test::roi_align_test
