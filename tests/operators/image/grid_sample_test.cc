// GridSample in all its modes, against the definition of ONNX written down element by element.
#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/support/operator_test.h"

namespace caffe2rt::grid_sample_test {
namespace {

using namespace test;  // used throughout this file

struct GridRow {
  std::string mode, padding;
  bool align_corners = false;
};

// Mirrors `x` at both ends as often as needed.
double Mirrored(double x, double low, double high) {
  if (high <= low) return low;
  while (x < low || x > high) x = x < low ? low + (low - x) : high - (x - high);
  return x;
}

// The value at index `i` of a line, which may lie outside.
double ElementAt(const GridRow& row, const std::function<double(int)>& line, int size, int i) {
  if (i >= 0 && i < size) return line(i);
  if (row.padding == "zeros") return 0;
  if (row.padding == "border") return line(std::clamp(i, 0, size - 1));
  const double low = row.align_corners ? 0 : -0.5;
  const double at = Mirrored(i, low, size - 1 - low);
  return line(std::clamp(static_cast<int>(at), 0, size - 1));
}

double Cubic(double distance) {
  const double x = std::abs(distance), a = -0.75;
  if (x < 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

double LineAt(const GridRow& row, const std::function<double(int)>& line, int size,
              double coordinate) {
  const double from_zero = (coordinate + 1) / 2;
  double x = row.align_corners ? from_zero * (size - 1) : from_zero * size - 0.5;
  if (row.mode == "nearest") x = std::nearbyint(x);
  const double low = row.align_corners ? 0 : -0.5;
  if (row.padding == "border") x = std::clamp(x, 0.0, size - 1.0);
  if (row.padding == "reflection") x = Mirrored(x, low, size - 1 - low);
  const int floor = static_cast<int>(std::floor(x));
  if (row.mode == "nearest") return ElementAt(row, line, size, floor);
  double sum = 0;
  for (int i = floor - 1; i <= floor + 2; ++i) {
    const double weight =
        row.mode == "linear" ? std::max(0.0, 1 - std::abs(x - i)) : Cubic(x - i);
    sum += weight * ElementAt(row, line, size, i);
  }
  return sum;
}

// The image `x` of `dims` at a place, whose coordinates are those of the dimensions in order.
double ImageAt(const GridRow& row, const float* x, const std::vector<int>& dims, size_t axis,
               const std::vector<double>& place) {
  if (axis == dims.size()) return *x;
  int stride = 1;
  for (size_t i = axis + 1; i < dims.size(); ++i) stride *= dims[i];
  return LineAt(
      row, [&](int i) { return ImageAt(row, x + i * stride, dims, axis + 1, place); }, dims[axis],
      place[axis]);
}

std::string GridOp(const GridRow& row) {
  return MakeString(R"(type: "GridSample" input: "X" input: "grid" output: "Y"
                       arg { name: "mode" s: ")",
                    row.mode, R"(" } arg { name: "padding_mode" s: ")", row.padding,
                    R"(" } arg { name: "align_corners" i: )", row.align_corners ? 1 : 0, " }");
}

// Two images of two channels at nine places each, some of them outside.
void ExpectSampled(const GridRow& row, const std::vector<int>& dims) {
  SCOPED_TRACE(GridOp(row));
  constexpr int kImages = 2, kChannels = 2, kPlaces = 9;
  const int rank = static_cast<int>(dims.size());
  int plane = 1;
  std::vector<int64_t> x_dims = {kImages, kChannels}, grid_dims = {kImages, kPlaces},
                       y_dims = {kImages, kChannels, kPlaces};
  for (const int dim : dims) x_dims.push_back(dim), plane *= dim;
  for (int i = 1; i < rank; ++i) grid_dims.push_back(1), y_dims.push_back(1);
  grid_dims.push_back(rank);
  Workspace ws;
  const std::vector<float> x = RandomValues(kImages * kChannels * plane);
  std::vector<float> grid = RandomValues(kImages * kPlaces * rank, -2.6f, 2.6f, 7);
  for (int i = 0; i < rank; ++i) grid[static_cast<size_t>(i)] = i == 0 ? 1.0f : -1.0f;
  Feed<float>(&ws, "X", x_dims, x);
  Feed<float>(&ws, "grid", grid_dims, grid);
  RunOp(&ws, GridOp(row));
  std::vector<float> want;
  for (int n = 0; n < kImages; ++n) {
    for (int c = 0; c < kChannels; ++c) {
      for (int p = 0; p < kPlaces; ++p) {
        std::vector<double> place;  // the grid has the last dimension first
        for (int i = rank - 1; i >= 0; --i) {
          place.push_back(grid[static_cast<size_t>((n * kPlaces + p) * rank + i)]);
        }
        want.push_back(static_cast<float>(
            ImageAt(row, x.data() + (n * kChannels + c) * plane, dims, 0, place)));
      }
    }
  }
  ExpectTensor<float>(ws, "Y", y_dims, want, 1e-5);
  ExpectShapeInferred(&ws, GridOp(row));
}

TEST(GridSampleTest, ReadsImagesOfEveryRankInEveryMode) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      for (const bool align_corners : {false, true}) {
        const GridRow row{mode, padding, align_corners};
        ExpectSampled(row, {5});
        ExpectSampled(row, {1});
        ExpectSampled(row, {4, 3});
        ExpectSampled(row, {2, 3, 4});
      }
    }
  }
}

TEST(GridSampleTest, IsLinearBetweenBordersWithZerosOutsideByDefault) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 2}, {10, 30});
  // Without align_corners -1 is the outer border of the first element, half of which is outside.
  Feed<float>(&ws, "grid", {1, 4, 1}, {-1, -0.5f, 0, 1.5f});
  const std::string op = R"(type: "GridSample" input: "X" input: "grid" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 4}, {5, 10, 20, 0});
  for (const char* mode : {"linear", "bilinear"}) {
    RunOp(&ws, op + "arg { name: \"mode\" s: \"" + mode + "\" }");
    ExpectTensor<float>(ws, "Y", {1, 1, 4}, {5, 10, 20, 0});
  }
  for (const char* mode : {"cubic", "bicubic"}) {
    RunOp(&ws, op + "arg { name: \"mode\" s: \"" + mode + "\" }");
    // At -1 and 0: (19 * 10 - 3 * 30) / 32 and 19 / 32 * (10 + 30). 1.5 is a whole element outside.
    ExpectTensor<float>(ws, "Y", {1, 1, 4}, {3.125f, 10, 23.75f, 0}, 1e-6);
  }
}

TEST(GridSampleTest, NearestRoundsToEven) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 5}, {1, 2, 3, 4, 5});
  // With align_corners, x is 2 (c + 1): places 0.5, 1.5, 2.5 and 3.5.
  Feed<float>(&ws, "grid", {1, 4, 1}, {-0.75f, -0.25f, 0.25f, 0.75f});
  RunOp(&ws, GridOp({"nearest", "zeros", true}));
  ExpectTensor<float>(ws, "Y", {1, 1, 4}, {1, 3, 3, 5});
}

TEST(GridSampleTest, PlacesThatAreNoNumbersAreOutside) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 2}, {10, 30});
  Feed<float>(&ws, "grid", {1, 3, 1}, {NAN, INFINITY, -INFINITY});
  RunOp(&ws, GridOp({"linear", "zeros"}));
  ExpectTensor<float>(ws, "Y", {1, 1, 3}, {0, 0, 0});
  RunOp(&ws, GridOp({"nearest", "border"}));
  ExpectTensor<float>(ws, "Y", {1, 1, 3}, {10, 30, 10});
}

// All places of one element are that element, unless there are zeros outside.
TEST(GridSampleTest, AnyPlaceOfOneElementIsThatElement) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const bool align_corners : {false, true}) {
      SCOPED_TRACE(MakeString(mode, align_corners));
      Workspace ws;
      Feed<float>(&ws, "X", {1, 1, 1}, {7});
      Feed<float>(&ws, "grid", {1, 6, 1}, {NAN, INFINITY, -INFINITY, 0, -9, 1e30f});
      for (const char* padding : {"border", "reflection"}) {
        RunOp(&ws, GridOp({mode, padding, align_corners}));
        ExpectTensor<float>(ws, "Y", {1, 1, 6}, {7, 7, 7, 7, 7, 7}, 1e-5);
      }
      // With align_corners all numbers are the place of the element.
      const float outside = align_corners ? 7.0f : 0.0f;
      RunOp(&ws, GridOp({mode, "zeros", align_corners}));
      ExpectTensor<float>(ws, "Y", {1, 1, 6}, {0, 0, 0, 7, outside, outside}, 1e-5);
    }
  }
}

TEST(GridSampleTest, EmptyTensorsGiveNothing) {
  Workspace ws;
  const std::string op = GridOp({"linear", "zeros"});
  Feed<float>(&ws, "X", {0, 2, 3}, {});
  Feed<float>(&ws, "grid", {0, 4, 1}, {});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {0, 2, 4}, {});
  Feed<float>(&ws, "X", {1, 0, 3}, {});
  Feed<float>(&ws, "grid", {1, 4, 1}, {0, 0, 0, 0});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 0, 4}, {});
  Feed<float>(&ws, "X", {1, 1, 0}, {});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of an image of input 0 (X) of shape [1, 1, 0]");
}

TEST(GridSampleTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2});
  FeedRange<float>(&ws, "grid", {1, 1, 1});
  ExpectThrows([&] { RunOp(&ws, GridOp({"area", "zeros"})); },
               "argument \"mode\" is \"area\", want linear, bilinear, cubic, bicubic or nearest");
  ExpectThrows([&] { RunOp(&ws, GridOp({"linear", "wrap"})); },
               "argument \"padding_mode\" is \"wrap\", want zeros, border or reflection");
  FeedRange<int32_t>(&ws, "X", {1, 1, 2});
  FeedRange<int32_t>(&ws, "grid", {1, 1, 1});
  ExpectThrows([&] { RunOp(&ws, GridOp({"linear", "zeros"})); }, "int32");
}

TEST(GridSampleTest, ThreadsDoNotChangeTheResult) {
  Workspace ws;
  FeedRandom(&ws, "X", {3, 7, 9, 11});
  FeedRandom(&ws, "grid", {3, 31, 17, 2}, -1.2f, 1.2f);
  ExpectSameBitsForAllThreads(&ws, GridOp({"cubic", "reflection"}));
}

}  // namespace
}  // namespace caffe2rt::grid_sample_test
