// Operators on images over batches of several images and channels of odd sizes, against their
// definitions written down index by index.

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::image_batches_test {
namespace {

using namespace test;  // used throughout this file

// A tensor of rank 4 and its values.
struct Image4 {
  int64_t dims[4];
  std::vector<float> values;

  explicit Image4(const std::vector<int64_t>& d, float fill = 0)
      : dims{d[0], d[1], d[2], d[3]},
        values(static_cast<size_t>(d[0] * d[1] * d[2] * d[3]), fill) {}
  bool Has(int64_t a, int64_t b, int64_t c, int64_t d) const {
    return a >= 0 && a < dims[0] && b >= 0 && b < dims[1] && c >= 0 && c < dims[2] && d >= 0 &&
           d < dims[3];
  }
  float& At(int64_t a, int64_t b, int64_t c, int64_t d) {
    return values[static_cast<size_t>(((a * dims[1] + b) * dims[2] + c) * dims[3] + d)];
  }
  std::vector<int64_t> Dims() const { return {dims[0], dims[1], dims[2], dims[3]}; }
};

Image4 FeedImage4(Workspace* ws, const std::string& name, const std::vector<int64_t>& dims) {
  FeedRange<float>(ws, name, dims, 1);
  Image4 image(dims);
  image.values = Fetch<float>(*ws, name);
  return image;
}

template <class Function>
void ForEachIndex(const std::vector<int64_t>& dims, Function function) {
  for (int64_t a = 0; a < dims[0]; ++a) {
    for (int64_t b = 0; b < dims[1]; ++b) {
      for (int64_t c = 0; c < dims[2]; ++c) {
        for (int64_t d = 0; d < dims[3]; ++d) function(a, b, c, d);
      }
    }
  }
}

void ExpectImage(const Workspace& ws, const std::string& name, const Image4& want) {
  ExpectTensor<float>(ws, name, want.Dims(), want.values);
}

constexpr int kNoTop = -100;
struct BlocksRow {
  std::vector<int64_t> wide;
  int block, pad, top = kNoTop;
};

// wide[n, c, y * b + i - top, x * b + j - left] = narrow[(i * b + j) * N + n, c, y, x]
TEST(ImageBatchesTest, BlocksOfSeveralImagesAreOrderedByPlaceAndThenByImage) {
  for (const BlocksRow& row : {BlocksRow{{2, 3, 4, 6}, 2, 0},
                               {{3, 2, 3, 4}, 2, 1, 0},
                               {{2, 2, 7, 4}, 3, 1},
                               {{2, 1, 5, 6}, 2, -1, 0},
                               {{2, 2, 1, 1}, 3, 1, 1},
                               {{3, 1, 6, 2}, 2, 0, -2},
                               {{2, 2, 3, 5}, 1, 2, 3}}) {
    const int64_t b = row.block, top = row.top == kNoTop ? row.pad : row.top, left = row.pad;
    const std::string op =
        MakeString(" input: 'X' output: 'Y' arg { name: 'block_size' i: ", b,
                   " } arg { name: 'pad' i: ", row.pad, " } ",
                   row.top == kNoTop ? "" : MakeString("arg { name: 'pad_t' i: ", top, " }"));
    SCOPED_TRACE(op);
    Workspace ws;
    const int64_t N = row.wide[0];
    Image4 wide = FeedImage4(&ws, "X", row.wide);
    Image4 narrow({N * b * b, row.wide[1], (row.wide[2] + top + row.pad) / b,
                   (row.wide[3] + 2 * row.pad) / b});
    ForEachIndex(narrow.Dims(), [&](int64_t batch, int64_t c, int64_t y, int64_t x) {
      const int64_t n = batch % N, i = batch / N / b, j = batch / N % b;
      const int64_t wide_y = y * b + i - top, wide_x = x * b + j - left;
      if (wide.Has(n, c, wide_y, wide_x)) {
        narrow.At(batch, c, y, x) = wide.At(n, c, wide_y, wide_x);
      }
    });
    RunOp(&ws, "type: 'SpaceToBatch'" + op);
    ExpectImage(ws, "Y", narrow);
    // The other way, from other values.
    Image4 other = FeedImage4(&ws, "X", narrow.Dims()), whole(row.wide);
    ForEachIndex(narrow.Dims(), [&](int64_t batch, int64_t c, int64_t y, int64_t x) {
      const int64_t n = batch % N, i = batch / N / b, j = batch / N % b;
      const int64_t wide_y = y * b + i - top, wide_x = x * b + j - left;
      if (whole.Has(n, c, wide_y, wide_x)) {
        whole.At(n, c, wide_y, wide_x) = other.At(batch, c, y, x);
      }
    });
    RunOp(&ws, "type: 'BatchToSpace'" + op);
    ExpectImage(ws, "Y", whole);
    ExpectShapeInferred(&ws, "type: 'BatchToSpace'" + op);
  }
}

// The index that padding at `i` is copied from, or -1.
int64_t SourceOfPad(const std::string& mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size) return i;
  if (mode == "constant") return -1;
  if (mode == "edge") return i < 0 ? 0 : size - 1;
  return i < 0 ? -i : 2 * (size - 1) - i;
}

TEST(ImageBatchesTest, EveryImageIsPaddedOnEachSideByItsOwnPads) {
  constexpr int kPads[][4] = {{1, 2, 0, 3}, {0, 0, 2, 1}, {-1, 2, 1, -2}, {2, -1, -2, 3}};
  for (const char* mode : {"constant", "reflect", "edge"}) {
    for (const bool last : {false, true}) {
      for (const auto& pads : kPads) {
        const std::string op =
            MakeString(" output: 'Y' arg { name: 'mode' s: '", mode,
                       "' } arg { name: 'value' f: 7 } ", "arg { name: 'order' s: '",
                       last ? "NHWC" : "NCHW", "' } arg { name: 'pads' ints: ", pads[0],
                       " ints: ", pads[1], " ints: ", pads[2], " ints: ", pads[3], " }");
        SCOPED_TRACE(op);
        constexpr int64_t kHeight = 4, kWidth = 5;
        const int64_t height = kHeight + pads[0] + pads[2], width = kWidth + pads[1] + pads[3];
        Workspace ws;
        const std::vector<int64_t> in = last ? std::vector<int64_t>{2, kHeight, kWidth, 3}
                                             : std::vector<int64_t>{2, 3, kHeight, kWidth};
        const std::vector<int64_t> out = last ? std::vector<int64_t>{2, height, width, 3}
                                              : std::vector<int64_t>{2, 3, height, width};
        Image4 x = FeedImage4(&ws, "X", in), y(out, 7);
        Image4 dy = FeedImage4(&ws, "dY", out), dx(in);
        ForEachIndex(out, [&](int64_t a, int64_t b, int64_t c, int64_t d) {
          const int64_t row = SourceOfPad(mode, (last ? b : c) - pads[0], kHeight);
          const int64_t column = SourceOfPad(mode, (last ? c : d) - pads[1], kWidth);
          if (row < 0 || column < 0) return;
          y.At(a, b, c, d) = last ? x.At(a, row, column, d) : x.At(a, b, row, column);
          (last ? dx.At(a, row, column, d) : dx.At(a, b, row, column)) += dy.At(a, b, c, d);
        });
        RunOp(&ws, "type: 'PadImage' input: 'X'" + op);
        ExpectImage(ws, "Y", y);
        for (int run = 0; run < 2; ++run) {  // onto the same output
          RunOp(&ws, "type: 'PadImageGradient' input: 'dY'" + op);
          ExpectImage(ws, "Y", dx);
        }
      }
    }
  }
}

TEST(ImageBatchesTest, ChannelsOfEveryImageAreInterleaved) {
  for (const bool last : {false, true}) {
    for (const int64_t group : {1, 2, 3, 6}) {
      const std::string op =
          MakeString(" input: 'X' output: 'Y' arg { name: 'group' i: ", group,
                     " } arg { name: 'order' s: '", last ? "NHWC" : "NCHW", "' }");
      SCOPED_TRACE(op);
      Workspace ws;
      const std::vector<int64_t> dims =
          last ? std::vector<int64_t>{3, 2, 5, 6} : std::vector<int64_t>{3, 6, 2, 5};
      Image4 x = FeedImage4(&ws, "X", dims), y(dims), back(dims);
      ForEachIndex(dims, [&](int64_t a, int64_t b, int64_t c, int64_t d) {
        const int64_t channel = last ? d : b;  // i * group + g is channel g * C / group + i of X
        const int64_t source = channel % group * (6 / group) + channel / group;
        const float value = last ? x.At(a, b, c, source) : x.At(a, source, c, d);
        y.At(a, b, c, d) = value;
        (last ? back.At(a, b, c, source) : back.At(a, source, c, d)) = x.At(a, b, c, d);
      });
      RunOp(&ws, "type: 'ChannelShuffle'" + op);
      ExpectImage(ws, "Y", y);
      RunOp(&ws, "type: 'ChannelShuffleGradient'" + op);
      ExpectImage(ws, "Y", back);
    }
  }
}

TEST(ImageBatchesTest, GradientsOfRepeatedPixelsAreTheirSums) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3, 2, 3});
  for (const int64_t scale : {1, 2, 3}) {
    Image4 dy = FeedImage4(&ws, "dY", {2, 3, 2 * scale, 3 * scale}), dx({2, 3, 2, 3});
    ForEachIndex(dy.Dims(), [&](int64_t a, int64_t b, int64_t c, int64_t d) {
      dx.At(a, b, c / scale, d / scale) += dy.At(a, b, c, d);
    });
    const std::string args = MakeString("arg { name: 'scale' i: ", scale, " }");
    for (int run = 0; run < 2; ++run) {
      RunOp(&ws, "type: 'UpsampleNearestGradient' input: 'X' input: 'dY' output: 'dX' " + args);
      ExpectImage(ws, "dX", dx);
    }
    Image4 y({2, 3, 2 * scale, 3 * scale}), x({2, 3, 2, 3});
    x.values = Fetch<float>(ws, "X");
    ForEachIndex(y.Dims(), [&](int64_t a, int64_t b, int64_t c, int64_t d) {
      y.At(a, b, c, d) = x.At(a, b, c / scale, d / scale);
    });
    RunOp(&ws, "type: 'UpsampleNearest' input: 'X' output: 'Y' " + args);
    ExpectImage(ws, "Y", y);
  }
}

// Weights of a linear or cubic filter at half pixels, without antialias.
double HalfPixelWeight(bool cubic, double place, int64_t index, int64_t in) {
  const auto filter = [&](double distance) {
    const double x = std::abs(distance), a = -0.75;
    if (!cubic) return std::max(0.0, 1 - x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? a * (((x - 5) * x + 8) * x - 4) : 0;
  };
  double sum = 0;
  for (int64_t i = -4; i < in + 4; ++i) {
    if (std::clamp<int64_t>(i, 0, in - 1) == index) sum += filter(place - static_cast<double>(i));
  }
  return sum;
}

// [2, 3, 4, 2] by two scales in dimensions 1 and 2, element by element.
template <class T>
void ExpectResized(bool cubic, double low, double high, double rounding) {
  SCOPED_TRACE(MakeString(cubic ? "cubic " : "linear ", TypeMeta::Make<T>().name()));
  Workspace ws;
  const std::vector<float> random = RandomValues(48, 0, 1, 5);
  std::vector<T> x;
  for (const float value : random) {
    // Extreme values are frequent, so that cubic sums go beyond them.
    const double clipped = std::clamp(1.6 * static_cast<double>(value) - 0.3, 0.0, 1.0);
    x.push_back(static_cast<T>(static_cast<float>(std::nearbyint(low + clipped * (high - low)))));
  }
  Feed<T>(&ws, "X", {2, 3, 4, 2}, x);
  const std::string op = MakeString(
      "type: 'Resize' input: 'X' output: 'Y' arg { name: 'mode' s: '", cubic ? "cubic" : "linear",
      "' } arg { name: 'axes' ints: 1 ints: 2 } ", "arg { name: 'scales' floats: 2 floats: 0.75 }");
  for (int run = 0; run < 2; ++run) RunOp(&ws, op);
  EXPECT_EQ(DimsOf(ws, "Y"), (std::vector<int64_t>{2, 6, 3, 2}));
  const std::vector<T> got = Fetch<T>(ws, "Y");
  size_t at = 0;
  ForEachIndex({2, 6, 3, 2}, [&](int64_t a, int64_t b, int64_t c, int64_t d) {
    double want = 0;
    for (int64_t y = 0; y < 3; ++y) {
      for (int64_t z = 0; z < 4; ++z) {
        want += HalfPixelWeight(cubic, (static_cast<double>(b) + 0.5) / 2 - 0.5, y, 3) *
                HalfPixelWeight(cubic, (static_cast<double>(c) + 0.5) / 0.75 - 0.5, z, 4) *
                static_cast<double>(
                    static_cast<float>(x[static_cast<size_t>(((a * 3 + y) * 4 + z) * 2 + d)]));
      }
    }
    if constexpr (std::is_integral_v<T>) {
      want = std::clamp(want, static_cast<double>(std::numeric_limits<T>::min()),
                        static_cast<double>(std::numeric_limits<T>::max()));
    }
    EXPECT_NEAR(static_cast<double>(static_cast<float>(got[at++])), want, rounding);
  });
}

TEST(ImageBatchesTest, TwoDimensionsOfEveryTypeAreResized) {
  for (const bool cubic : {false, true}) {
    ExpectResized<float>(cubic, -9, 9, 1e-4);
    ExpectResized<double>(cubic, -9, 9, 1e-5);
    ExpectResized<float16>(cubic, -9, 9, 0.01);
    ExpectResized<uint8_t>(cubic, 0, 255, 0.501);
    ExpectResized<int8_t>(cubic, -128, 127, 0.501);
    ExpectResized<int16_t>(cubic, -32768, 32767, 0.51);
    ExpectResized<uint16_t>(cubic, 0, 65535, 0.51);
    ExpectResized<int32_t>(cubic, -1000000, 1000000, 0.51);
    ExpectResized<int64_t>(cubic, -1000000, 1000000, 0.51);
  }
}

// Places of a grid with two dimensions, in double.
TEST(ImageBatchesTest, GridsOfTwoDimensionsGiveTheirShape) {
  Workspace ws;
  Feed<double>(&ws, "X", {1, 2, 2, 2}, {0, 1, 2, 3, 10, 11, 12, 13});
  // Corners, the middle, and points between, x first.
  Feed<double>(&ws, "grid", {1, 2, 3, 2}, {-1, -1, 1, -1, 0, 0, -1, 1, 0.5, -1, 1, -0.5});
  const std::string op =
      "type: 'GridSample' input: 'X' input: 'grid' output: 'Y' arg { name: 'align_corners' i: 1 }";
  RunOp(&ws, op);
  ExpectTensor<double>(ws, "Y", {1, 2, 2, 3},
                       {0, 1, 1.5, 2, 0.75, 1.5, 10, 11, 11.5, 12, 10.75, 11.5}, 1e-12);
  ExpectShapeInferred(&ws, op);
}

// The largest number of a double that is above INT64_MAX is that of INT64_MAX.
TEST(ImageBatchesTest, TheLargestIntegersStayWhenResized) {
  Workspace ws;
  const std::string op = R"(type: "Resize" input: "X" output: "Y" arg { name: "mode" s: "linear" }
                            arg { name: "scales" floats: 2 })";
  Feed<int64_t>(&ws, "X", {2}, {INT64_MAX, INT64_MAX});
  RunOp(&ws, op);
  ExpectTensor<int64_t>(ws, "Y", {4}, std::vector<int64_t>(4, INT64_MAX));
  Feed<int64_t>(&ws, "X", {2}, {INT64_MIN, INT64_MIN});
  RunOp(&ws, op);
  ExpectTensor<int64_t>(ws, "Y", {4}, std::vector<int64_t>(4, INT64_MIN));
}

// Nothing is read of what is empty, however little it fits.
TEST(ImageBatchesTest, EmptyBatchesFitEveryPaddingAndGrid) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 1, 2, 2}, {});
  for (const char* mode : {"constant", "reflect", "edge"}) {
    const std::string op =
        MakeString("type: 'PadImage' input: 'X' output: 'Y' arg { name: 'mode' s: '", mode,
                   "' } arg { name: 'pad' i: 3 }");
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "Y", {0, 1, 8, 8}, {});
    ExpectShapeInferred(&ws, op);
  }
  const std::string sample = "type: 'GridSample' input: 'X' input: 'grid' output: 'Y'";
  const auto expect = [&](const std::vector<int64_t>& x, const std::vector<int64_t>& grid,
                          const std::vector<int64_t>& y) {
    FeedRange<float>(&ws, "X", x);
    FeedRange<float>(&ws, "grid", grid);
    RunOp(&ws, sample);
    ExpectTensor<float>(ws, "Y", y, {});
  };
  expect({1, 0, 0}, {1, 4, 1}, {1, 0, 4});
  expect({2, 3, 0}, {2, 0, 1}, {2, 3, 0});
  expect({0, 2, 0, 4}, {0, 5, 6, 2}, {0, 2, 5, 6});
}

}  // namespace
}  // namespace caffe2rt::image_batches_test
