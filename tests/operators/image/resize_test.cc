// Resize in all its modes, against a convolution written down from the definition of ONNX, and what
// an operator keeps from one run to the next.
#include <algorithm>
#include <cmath>
#include <limits>

#include "caffe2_core/runtime/net.h"
#include "operators/image/resize_axis.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::resize_test {
namespace {

using namespace test;  // used throughout this file

struct ResizeRow {
  std::string filter, coordinates;
  std::string rounding = "round_prefer_floor";
  bool antialias = false, exclude_outside = false;
  double a = -0.75;
  double begin = 0, end = 1;  // of the region of tf_crop_and_resize
};

constexpr float kOutsideValue = -7;

// The place in the input of output index `i` of `length`, which is not rounded.
double PlaceOf(const ResizeRow& row, double in, double length, double scale, int out, int i) {
  const double half_pixel = (i + 0.5) / scale - 0.5;
  if (row.coordinates == "half_pixel") return half_pixel;
  if (row.coordinates == "half_pixel_symmetric") {
    return in / 2 * (1 - out / length) + half_pixel;
  }
  if (row.coordinates == "pytorch_half_pixel") return length == 1 ? -0.5 : half_pixel;
  if (row.coordinates == "align_corners") return length == 1 ? 0 : i * (in - 1) / (length - 1);
  if (row.coordinates == "asymmetric") return i / scale;
  if (row.coordinates == "tf_half_pixel_for_nn") return (i + 0.5) / scale;
  const double span = (row.end - row.begin) * (in - 1);
  return row.begin * (in - 1) + (length == 1 ? span / 2 : i * span / (length - 1));
}

double FilterAt(const ResizeRow& row, double distance) {
  const double x = std::abs(distance), a = row.a;
  if (row.filter == "linear") return std::max(0.0, 1 - x);
  if (x < 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

double Sampled(const ResizeRow& row, const std::vector<double>& x, double scale, int out, int i) {
  const int in = static_cast<int>(x.size());
  const double place = PlaceOf(row, in, scale * in, scale, out, i);
  if (row.coordinates == "tf_crop_and_resize" && (place < 0 || place > in - 1)) {
    return kOutsideValue;
  }
  const auto element = [&](double index) {
    return x[static_cast<size_t>(std::clamp(index, 0.0, in - 1.0))];
  };
  if (row.filter == "nearest") {
    return element(row.rounding == "round_prefer_floor"  ? std::ceil(place - 0.5)
                   : row.rounding == "round_prefer_ceil" ? std::floor(place + 0.5)
                   : row.rounding == "floor"             ? std::floor(place)
                                                         : std::ceil(place));
  }
  const double stretch = row.antialias && scale < 1 ? scale : 1;
  double sum = 0, weights = 0;
  for (int j = static_cast<int>(std::floor(place)) - 40; j < place + 40; ++j) {
    if (row.exclude_outside && (j < 0 || j >= in)) continue;
    const double weight = FilterAt(row, stretch * (j - place));
    sum += weight * element(j);
    weights += weight;
  }
  return sum / weights;
}

std::string ResizeOp(const ResizeRow& row, const std::string& more) {
  return MakeString(R"(type: "Resize" input: "X" output: "Y" arg { name: "mode" s: ")", row.filter,
                    R"(" } arg { name: "coordinate_transformation_mode" s: ")", row.coordinates,
                    R"(" } arg { name: "nearest_mode" s: ")", row.rounding,
                    R"(" } arg { name: "antialias" i: )", row.antialias ? 1 : 0,
                    R"( } arg { name: "exclude_outside" i: )", row.exclude_outside ? 1 : 0,
                    R"( } arg { name: "cubic_coeff_a" f: )", row.a,
                    R"( } arg { name: "extrapolation_value" f: )", kOutsideValue,
                    R"( } arg { name: "roi" floats: )", row.begin, " floats: ", row.end, " } ",
                    more);
}

// Resizes dimension 1 of [2, in, inner].
void ExpectAsDefined(const ResizeRow& row, int in, float scale, int inner) {
  // A dimension that stays the same is copied, though this mode has places between its elements.
  if (scale == 1 && row.coordinates == "tf_half_pixel_for_nn") return;
  Workspace ws;
  const std::vector<float> x = RandomValues(2 * in * inner, -3, 3, static_cast<uint32_t>(in));
  Feed<float>(&ws, "X", {2, in, inner}, x);
  const std::string op = ResizeOp(
      row, MakeString(R"(arg { name: "axes" ints: 1 } arg { name: "scales" floats: )", scale, " }"));
  SCOPED_TRACE(MakeString(op, " of ", in, " elements"));
  RunOp(&ws, op);
  const int out = static_cast<int>(static_cast<double>(scale) * in);
  std::vector<float> want(static_cast<size_t>(2 * out * inner));
  for (int n = 0; n < 2; ++n) {
    for (int k = 0; k < inner; ++k) {
      std::vector<double> line;
      for (int i = 0; i < in; ++i) line.push_back(x[static_cast<size_t>((n * in + i) * inner + k)]);
      for (int i = 0; i < out; ++i) {
        want[static_cast<size_t>((n * out + i) * inner + k)] =
            static_cast<float>(Sampled(row, line, scale, out, i));
      }
    }
  }
  ExpectTensor<float>(ws, "Y", {2, out, inner}, want, 2e-5);
}

constexpr const char* kAllCoordinates[] = {
    "half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
    "asymmetric",    "tf_half_pixel_for_nn", "tf_crop_and_resize"};
struct InAndScale {
  int in;
  float scale;
};
// To one element, exactly and rounded down; to more; to as many, by a scale that is not 1; by 1.
constexpr InAndScale kScales[] = {{4, 0.25f}, {5, 0.25f}, {1, 3},       {3, 2},
                                  {4, 1.5f},  {4, 1.125f}, {7, 0.625f}, {5, 1}};

TEST(ResizeTest, NearestRoundsThePlaceInEveryMode) {
  for (const char* coordinates : kAllCoordinates) {
    for (const char* rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
      for (const InAndScale& size : kScales) {
        ExpectAsDefined({"nearest", coordinates, rounding}, size.in, size.scale, 2);
      }
    }
  }
}

TEST(ResizeTest, LinearAndCubicAreWeightedSumsInEveryMode) {
  for (const char* coordinates : kAllCoordinates) {
    for (const InAndScale& size : kScales) {
      for (const int inner : {1, 3}) {
        ExpectAsDefined({"linear", coordinates}, size.in, size.scale, inner);
        ExpectAsDefined({"cubic", coordinates}, size.in, size.scale, inner);
        ExpectAsDefined({.filter = "cubic", .coordinates = coordinates, .a = -0.5}, size.in,
                        size.scale, inner);
      }
    }
  }
}

// What makes the float of num / den of `in` elements is the whole number of elements next below num / den
// times as many, though the float may be a little less, and element x of them is element x * den / num.
TEST(ResizeTest, ScalesAndSizesMeanTheQuotientThatTheyRound) {
  for (int num = 1; num <= 21; ++num) {
    for (const int den : {3, 5, 7, 10}) {
      for (const int in : {1, 5, 10, 14, 16, 33}) {
        const int out = in * num / den;
        if (out == 0) continue;
        std::vector<float> x, by_scale, by_size;
        for (int i = 0; i < in; ++i) x.push_back(static_cast<float>(i));
        for (int i = 0; i < out; ++i) {
          by_scale.push_back(static_cast<float>(std::min(i * den / num, in - 1)));
          by_size.push_back(static_cast<float>(i * in / out));
        }
        const std::string op =
            R"(type: "Resize" input: "X" output: "Y" arg { name: "nearest_mode" s: "floor" }
               arg { name: "coordinate_transformation_mode" s: "asymmetric" } arg { name: )";
        SCOPED_TRACE(MakeString(in, " times ", num, " / ", den));
        Workspace ws;
        Feed<float>(&ws, "X", {in}, x);
        Feed<float>(&ws, "none", {0}, {});
        Feed<float>(&ws, "scales", {1}, {static_cast<float>(num) / static_cast<float>(den)});
        RunOp(&ws, op + R"("x" } input: "none" input: "scales")");
        ExpectTensor<float>(ws, "Y", {out}, by_scale);
        RunOp(&ws, MakeString(op, R"("sizes" ints: )", out, " }"));
        ExpectTensor<float>(ws, "Y", {out}, by_size);
      }
    }
  }
  Workspace ws;
  FeedRange<float>(&ws, "X", {5});
  const std::string half = R"(type: "Resize" input: "X" output: "Y" arg { name: "sizes" ints: 3 }
                              arg { name: "nearest_mode" s: )";
  // The places are 1/3, 2 and 11/3.
  RunOp(&ws, half + R"("floor" })");
  ExpectTensor<float>(ws, "Y", {3}, {0, 2, 3});
  RunOp(&ws, half + R"("ceil" })");
  ExpectTensor<float>(ws, "Y", {3}, {1, 2, 4});
}

TEST(ResizeTest, AntialiasStretchesTheFilterOnlyWhereADimensionShrinks) {
  for (const char* filter : {"linear", "cubic"}) {
    for (const char* coordinates : {"half_pixel", "align_corners", "asymmetric"}) {
      for (const bool exclude : {false, true}) {
        for (const InAndScale& size : kScales) {
          ExpectAsDefined({.filter = filter,
                           .coordinates = coordinates,
                           .antialias = true,
                           .exclude_outside = exclude},
                          size.in, size.scale, 2);
        }
      }
    }
  }
}

TEST(ResizeTest, ElementsOutsideCanBeLeftOut) {
  for (const char* filter : {"linear", "cubic"}) {
    for (const char* coordinates : kAllCoordinates) {
      // Beyond its end, tf_half_pixel_for_nn leaves nothing to weigh.
      if (coordinates == std::string("tf_half_pixel_for_nn")) continue;
      for (const InAndScale& size : kScales) {
        ExpectAsDefined({.filter = filter, .coordinates = coordinates, .exclude_outside = true},
                        size.in, size.scale, 1);
      }
    }
  }
}

TEST(ResizeTest, RegionsMayBeReversedAndLieOutside) {
  for (const char* filter : {"nearest", "linear", "cubic"}) {
    for (const auto& [begin, end] :
         {std::pair(0.25, 0.75), std::pair(-0.5, 1.0), std::pair(0.0, 1.5), std::pair(1.0, 0.0)}) {
      for (const InAndScale& size : kScales) {
        ExpectAsDefined({.filter = filter,
                         .coordinates = "tf_crop_and_resize",
                         .begin = begin,
                         .end = end},
                        size.in, size.scale, 2);
      }
    }
  }
}

// Each dimension is resized by itself: dimension 0 doubles, 2 shrinks to a half.
TEST(ResizeTest, ResizesEachDimensionByItsOwnScale) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 1, 4}, {0, 1, 2, 3, 8, 9, 10, 11});
  RunOp(&ws, R"(type: "Resize" input: "X" output: "Y" arg { name: "mode" s: "linear" }
                arg { name: "axes" ints: 2 ints: 0 } arg { name: "scales" floats: 0.5 floats: 2 })");
  // Rows 0, 1/4, 3/4 and 1 of the way from the first to the second; columns between 0 and 1, 2 and 3.
  ExpectTensor<float>(ws, "Y", {4, 1, 2}, {0.5f, 2.5f, 2.5f, 4.5f, 6.5f, 8.5f, 8.5f, 10.5f}, 1e-6);
}

TEST(ResizeTest, OneScaleForAllAxesIsTheLeastOrTheLargest) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3, 2});
  const auto dims_of = [&](const std::string& policy, const std::string& more) {
    RunOp(&ws, R"(type: "Resize" input: "X" output: "Y" arg { name: "keep_aspect_ratio_policy" s: ")" +
                   policy + R"(" } arg { name: "axes" ints: 0 ints: 1 } )" + more);
    return DimsOf(ws, "Y");
  };
  const std::string sizes = R"(arg { name: "sizes" ints: 5 ints: 9 })";  // by 2.5 and 3
  using Dims = std::vector<int64_t>;
  EXPECT_EQ(dims_of("stretch", sizes), (Dims{5, 9, 2}));
  EXPECT_EQ(dims_of("not_larger", sizes), (Dims{5, 8, 2}));  // 7.5 is rounded up
  EXPECT_EQ(dims_of("not_smaller", sizes), (Dims{6, 9, 2}));
  // Scales count as they are.
  EXPECT_EQ(dims_of("not_larger", R"(arg { name: "scales" floats: 2.5 floats: 3 })"),
            (Dims{5, 9, 2}));
  FeedRange<float>(&ws, "X", {4, 4, 2});
  const std::string less = R"(arg { name: "sizes" ints: 1 ints: 2 })";  // by 1/4 and 1/2
  EXPECT_EQ(dims_of("not_larger", less), (Dims{1, 1, 2}));
  EXPECT_EQ(dims_of("not_smaller", less), (Dims{2, 2, 2}));
  const std::string both = R"(arg { name: "sizes" ints: 2 ints: 8 })";  // by 1/2 and 2
  EXPECT_EQ(dims_of("not_larger", both), (Dims{2, 2, 2}));
  EXPECT_EQ(dims_of("not_smaller", both), (Dims{8, 8, 2}));
}

// X is resized by 1.5 in both dimensions, to 3 rows of 6, not to 4 rows as its sizes say.
TEST(ResizeTest, TheCommonScaleIsThatOfThePlaces) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 4}, {0, 0, 0, 0, 10, 10, 10, 10});
  const std::string op = R"(type: "Resize" input: "X" output: "Y" arg { name: "mode" s: "linear" }
      arg { name: "keep_aspect_ratio_policy" s: "not_larger" }
      arg { name: "sizes" ints: 4 ints: 6 })";
  RunOp(&ws, op);
  // The places of rows 0 to 2 are -1/6, 1/2 and 7/6.
  ExpectTensor<float>(ws, "Y", {3, 6},
                      {0, 0, 0, 0, 0, 0, 5, 5, 5, 5, 5, 5, 10, 10, 10, 10, 10, 10}, 1e-5);
  ExpectShapeInferred(&ws, op);
}

TEST(ResizeTest, FiltersAreNotWiderThanMemoryAllows) {
  AxisSamples samples;
  ExpectThrows(
      [&] {
        samples.Fill({.in = 1 << 25, .out = 1, .scale = 0x1p-25},
                     {.filter = ResizeFilter::kLinear, .antialias = true});
      },
      "elements under the filter of a dimension scaled by 2.98023e-08");
}

constexpr char kByInputs[] = R"(name: "resize" op { type: "Resize" input: "X" input: "roi"
    input: "scales" input: "sizes" output: "Y" arg { name: "mode" s: "linear" }
    arg { name: "coordinate_transformation_mode" s: "tf_crop_and_resize" }
    arg { name: "extrapolation_value" f: -1 } })";

// The tables of the last run are used again only if nothing has changed that they depend on.
TEST(ResizeTest, LaterRunsFollowChangedInputs) {
  Workspace ws;
  Feed<float>(&ws, "X", {4}, {0, 10, 20, 30});
  Feed<float>(&ws, "roi", {2}, {0, 1});
  Feed<float>(&ws, "scales", {0}, {});
  Feed<int64_t>(&ws, "sizes", {1}, {3});
  NetBase* const net = ws.CreateNet(ParseNet(kByInputs));
  const auto expect = [&](const std::vector<float>& want) {
    ASSERT_TRUE(net->Run());
    ExpectTensor<float>(ws, "Y", {static_cast<int64_t>(want.size())}, want, 1e-5);
  };
  expect({0, 15, 30});
  Feed<float>(&ws, "roi", {2}, {0, 2});
  expect({0, 30, -1});
  Feed<float>(&ws, "roi", {2}, {1, 2});
  expect({30, -1, -1});
  Feed<float>(&ws, "roi", {2}, {0, 1});
  Feed<int32_t>(&ws, "sizes", {1}, {2});
  expect({0, 30});
  Feed<float>(&ws, "X", {2}, {0, 10});
  expect({0, 10});
  Feed<float>(&ws, "X", {4}, {0, 10, 20, 30});
  Feed<int64_t>(&ws, "sizes", {0}, {});
  Feed<double>(&ws, "scales", {1}, {0.75});  // 3 elements
  expect({0, 15, 30});
  Feed<float16>(&ws, "scales", {1}, {float16(0.875f)});  // as many, 30 / 2.5 apart
  expect({0, 12, 24});
}

TEST(ResizeTest, ElementsOutsideAreOfTheTypeOfTheInputInModeNearest) {
  Workspace ws;
  Feed<int16_t>(&ws, "X", {3}, {-300, 5, 300});
  const ResizeRow row{.filter = "nearest", .coordinates = "tf_crop_and_resize", .end = 2};
  RunOp(&ws, ResizeOp(row, R"(arg { name: "sizes" ints: 5 })"));
  ExpectTensor<int16_t>(ws, "Y", {5}, {-300, 5, 300, -7, -7});
}

template <class T>
void ExpectRounded(const std::vector<T>& x, const std::string& mode, const std::vector<T>& want) {
  Workspace ws;
  Feed<T>(&ws, "X", {static_cast<int64_t>(x.size())}, x);
  RunOp(&ws, MakeString(R"(type: "Resize" input: "X" output: "Y" arg { name: "mode" s: ")", mode,
                        R"(" } arg { name: "coordinate_transformation_mode" s: "asymmetric" }
                           arg { name: "scales" floats: 2 })"));
  ExpectTensor<T>(ws, "Y", {static_cast<int64_t>(want.size())}, want);
}

// Every second element lies in the middle between two others.
TEST(ResizeTest, IntegersAreRoundedToEvenAndSaturate) {
  ExpectRounded<uint8_t>({0, 1, 2, 3}, "linear", {0, 0, 1, 2, 2, 2, 3, 3});
  ExpectRounded<int8_t>({0, -1, -2, -3}, "linear", {0, 0, -1, -2, -2, -2, -3, -3});
  ExpectRounded<uint16_t>({0, 65535}, "linear", {0, 32768, 65535, 65535});
  ExpectRounded<int32_t>({0, 2147483647}, "linear", {0, 1073741824, 2147483647, 2147483647});
  // In float, 16777217 would be 16777216.
  ExpectRounded<int32_t>({16777217, 16777217}, "linear", {16777217, 16777217, 16777217, 16777217});
  ExpectRounded<int64_t>({1LL << 40, (1LL << 40) + 2}, "linear",
                         {1LL << 40, (1LL << 40) + 1, (1LL << 40) + 2, (1LL << 40) + 2});
  // In the middle the weights are -3/32, 19/32, 19/32, -3/32, so that 1, 1 between 0, 0 is 19/16.
  ExpectRounded<int8_t>({-128, 127, 127, -128}, "cubic", {-128, 0, 127, 127, 127, 0, -128, -128});
  ExpectRounded<int8_t>({127, -128, -128, 127}, "cubic", {127, 0, -128, -128, -128, 0, 127, 127});
  ExpectRounded<int16_t>({0, 30000, 30000, 0}, "cubic",
                         {0, 15000, 30000, 32767, 30000, 15000, 0, -2812});
}

// Halves are computed in float and doubles in double.
TEST(ResizeTest, FloatsKeepTheirPrecision) {
  Workspace ws;
  Feed<double>(&ws, "X", {2}, {1, 1 + 0x1p-50});
  const std::string op = R"(type: "Resize" input: "X" output: "Y" arg { name: "mode" s: "linear" }
      arg { name: "coordinate_transformation_mode" s: "asymmetric" }
      arg { name: "scales" floats: 2 })";
  RunOp(&ws, op);
  ExpectTensor<double>(ws, "Y", {4}, {1, 1 + 0x1p-51, 1 + 0x1p-50, 1 + 0x1p-50});
  Feed<float16>(&ws, "X", {2}, {float16(1.0f), float16(2048.0f)});
  RunOp(&ws, op);
  // 1024.5 lies between the halves 1024 and 1025.
  EXPECT_THAT((std::vector<float>{Fetch<float16>(ws, "Y")[0], Fetch<float16>(ws, "Y")[1]}),
              testing::ElementsAre(1, 1024));
}

TEST(ResizeTest, NearestMovesElementsOfAnyType) {
  Workspace ws;
  Feed<bool>(&ws, "X", {1, 2}, {true, false});
  const std::string op =
      R"(type: "Resize" input: "X" output: "Y" arg { name: "scales" floats: 2 floats: 2 })";
  RunOp(&ws, op);
  ExpectTensor<bool>(ws, "Y", {2, 4}, {true, true, false, false, true, true, false, false});
  Feed<bool>(&ws, "X", {1, 2}, {true, false});
  ExpectThrows([&] { RunOp(&ws, op + R"(arg { name: "mode" s: "linear" })"); },
               "input 0 (X) has elements of type bool");
}

TEST(ResizeTest, NumbersHaveToBeVectorsThatFit) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2}, {1, 2});
  Feed<float>(&ws, "none", {0}, {});
  Feed<float>(&ws, "square", {1, 2}, {2, 2});
  const std::string op = R"(type: "Resize" input: "X" input: "none" input: "square" output: "Y")";
  ExpectThrows([&] { RunOp(&ws, op); }, "rank of input 2 (scales), want a vector");
  ExpectThrows([&] { RunOp(&ws, R"(type: "Resize" input: "X" output: "Y")"); },
               "want either of them, for 2 axes");
  const std::string by_axes = R"(type: "Resize" input: "X" output: "Y"
                                 arg { name: "scales" floats: 2 } arg { name: "axes" ints: )";
  RunOp(&ws, by_axes + "-2 }");
  ExpectTensor<float>(ws, "Y", {2, 2}, {1, 2, 1, 2});
  ExpectShapeInferred(&ws, by_axes + "-2 }");
  ExpectThrows([&] { RunOp(&ws, by_axes + "2 }"); }, "2");
  ExpectThrows([&] { RunOp(&ws, by_axes + "0 ints: 0 }"); }, "");
  ExpectThrows([&] { RunOp(&ws, by_axes + R"(0 } arg { name: "nearest_mode" s: "up" })"); },
               "round_prefer_floor, round_prefer_ceil, floor or ceil");
  ExpectThrows([&] { RunOp(&ws, by_axes + R"(0 } arg { name: "mode" s: "linear" }
                                 arg { name: "coordinate_transformation_mode" s: "corners" })"); },
               "argument \"coordinate_transformation_mode\" is \"corners\"");
  ExpectThrows(
      [&] {
        RunOp(&ws, by_axes + R"(0 } arg { name: "keep_aspect_ratio_policy" s: "keep" })");
      },
      "argument \"keep_aspect_ratio_policy\" is \"keep\"");
}

TEST(ResizeTest, ThreadsDoNotChangeTheResult) {
  Workspace ws;
  FeedRandom(&ws, "X", {3, 5, 31, 41});
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    ExpectSameBitsForAllThreads(
        &ws, MakeString(R"(type: "Resize" input: "X" output: "Y" arg { name: "axes" ints: 2 ints: 3 }
                           arg { name: "scales" floats: 1.5 floats: 0.6 } arg { name: "mode" s: ")",
                        mode, "\" }"));
  }
}

}  // namespace
}  // namespace caffe2rt::resize_test
