// The axes of the image kernels, which CUDA uses in both directions: from an output index to its
// source, and from an input index to the outputs that are made from it.
#include <algorithm>

#include "operators/image/pad_image.h"
#include "operators/image/resize_nearest_kernels.h"
#include "operators/image/upsample_bilinear_kernels.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::image_axes_test {
namespace {

struct OutputRange {
  int64_t from = -1, to = -1;
  friend bool operator==(const OutputRange&, const OutputRange&) = default;
};
void PrintTo(const OutputRange& range, std::ostream* out) {
  *out << "[" << range.from << ", " << range.to << ")";
}

// The outputs for which `uses` is true, which are neighbours; only their number counts if there are none.
template <class Uses>
int64_t ExpectRange(const OutputRange& got, int64_t out, const Uses& uses) {
  int64_t count = 0;
  for (int64_t o = 0; o < out; ++o) {
    const bool inside = o >= got.from && o < got.to;
    EXPECT_EQ(inside, uses(o)) << "output " << o;
    count += inside;
  }
  EXPECT_LE(0, got.from);
  EXPECT_LE(got.from, got.to);
  EXPECT_LE(got.to, out);
  return count;
}

TEST(ImageAxesTest, NearestOutputsAreThoseWithTheSource) {
  const float scales[] = {1, 2, 3, 1.5f, 1.7f, 0.5f, 0.7f, 0.3f, 0.1f, 2.1f, 7.3f};
  for (int64_t in = 1; in <= 12; ++in) {
    for (const float scale : scales) {
      const NearestAxis axis{in, static_cast<int64_t>(static_cast<float>(in) * scale), scale};
      SCOPED_TRACE(MakeString(in, " by ", scale));
      int64_t copied = 0;
      for (int64_t i = 0; i < in; ++i) {
        OutputRange range;
        axis.Targets(i, &range.from, &range.to);
        copied += ExpectRange(range, axis.out, [&](int64_t o) { return axis.Source(o) == i; });
      }
      EXPECT_EQ(copied, axis.out);  // each output has one source
    }
  }
}

TEST(ImageAxesTest, NearestSourcesAreQuotientsAtMostTheLastIndex) {
  const NearestAxis half{5, 2, 0.5f};
  EXPECT_EQ(half.Source(0), 0);
  EXPECT_EQ(half.Source(1), 2);
  // 10 / 1.25 is 8: the output is larger than the scale makes it.
  const NearestAxis beyond{5, 11, 1.25f};
  EXPECT_EQ(beyond.Source(5), 4);
  EXPECT_EQ(beyond.Source(10), 4);
  OutputRange range;
  beyond.Targets(4, &range.from, &range.to);
  EXPECT_EQ(range, (OutputRange{5, 11}));
}

TEST(ImageAxesTest, RepeatedPixelsHaveOutputsOfTheirOwn) {
  // The product of size and scale is exact, where floats would round.
  constexpr int64_t kLarge = (int64_t{1} << 25) + 1;
  const NearestAxis axis{.in = kLarge, .out = 3 * kLarge, .repeat = 3};
  EXPECT_EQ(axis.Source(3 * kLarge - 4), kLarge - 2);
  EXPECT_EQ(axis.Source(3 * kLarge - 3), kLarge - 1);
  OutputRange range;
  axis.Targets(kLarge - 1, &range.from, &range.to);
  EXPECT_EQ(range, (OutputRange{3 * kLarge - 3, 3 * kLarge}));
  axis.Targets(0, &range.from, &range.to);
  EXPECT_EQ(range, (OutputRange{0, 3}));
  // A gradient whose output ends early: the others have none.
  const NearestAxis cut{.in = 4, .out = 5, .repeat = 2};
  cut.Targets(2, &range.from, &range.to);
  EXPECT_EQ(range, (OutputRange{4, 5}));
  cut.Targets(3, &range.from, &range.to);
  EXPECT_EQ(range, (OutputRange{5, 5}));
}

TEST(ImageAxesTest, InterpolatedPixelsLieEvenlyBetweenTheFirstAndTheLast) {
  for (int64_t in = 1; in <= 9; ++in) {
    for (int64_t out = 1; out <= 20; ++out) {
      SCOPED_TRACE(MakeString(in, " to ", out));
      const LinearAxis axis(in, out);
      for (int64_t o = 0; o < out; ++o) {
        const LinearSource source = axis.Source(o);
        const double want =
            out > 1 ? static_cast<double>(o * (in - 1)) / static_cast<double>(out - 1) : 0;
        EXPECT_NEAR(source.first + source.share, want, 1e-5);
        EXPECT_EQ(source.second, std::min<int64_t>(source.first + 1, in - 1));
        float weights = 0;
        for (int64_t i = 0; i < in; ++i) {
          weights += source.Weight(i);
          if (i != source.first && i != source.second) EXPECT_EQ(source.Weight(i), 0);
        }
        EXPECT_NEAR(weights, 1, 1e-6);
      }
    }
  }
}

TEST(ImageAxesTest, InterpolatedOutputsAreThoseThatReadTheIndex) {
  for (int64_t in = 1; in <= 9; ++in) {
    for (int64_t out = 1; out <= 20; ++out) {
      SCOPED_TRACE(MakeString(in, " to ", out));
      const LinearAxis axis(in, out);
      for (int64_t i = 0; i < in; ++i) {
        OutputRange range;
        axis.Targets(i, &range.from, &range.to);
        // Those between i - 1 and i + 1: the first of their two indices is i - 1 or i.
        ExpectRange(range, out, [&](int64_t o) {
          const int64_t first = axis.Source(o).first;
          return first == i - 1 || first == i;
        });
      }
    }
  }
}

TEST(ImageAxesTest, PaddedOutputsAreThoseCopiedFromTheIndex) {
  for (const PadMode mode : {PadMode::kConstant, PadMode::kReflect, PadMode::kEdge}) {
    for (int64_t in = 1; in <= 6; ++in) {
      for (int64_t head = -in; head <= 4; ++head) {
        for (int64_t tail = -in; tail <= 4; ++tail) {
          const PadAxis axis{in, in + head + tail, head};
          if (axis.out <= 0) continue;
          // Padding before the input may be reflected twice, padding after it only once.
          if (mode == PadMode::kReflect && (head > 2 * in - 2 || tail >= in)) continue;
          SCOPED_TRACE(MakeString(static_cast<int>(mode), ": ", head, " + ", in, " + ", tail));
          std::vector<int64_t> sources;  // by output
          for (int64_t o = 0; o < axis.out; ++o) sources.push_back(PadSource(o - head, in, mode));
          std::vector<int64_t> got(sources.size(), -1);
          for (int64_t i = 0; i < in; ++i) {
            int64_t before = -1;
            for (int part = 0; part < PadAxis::kParts; ++part) {
              const PadRange range = axis.Targets(i, mode, part);
              for (int64_t o = range.from; o < range.to; ++o) {
                ASSERT_TRUE(o > before && o < axis.out);  // ascending, and each once
                before = o;
                EXPECT_EQ(got[static_cast<size_t>(o)], -1);
                got[static_cast<size_t>(o)] = i;
              }
            }
          }
          EXPECT_EQ(got, sources);
        }
      }
    }
  }
}

TEST(ImageAxesTest, PaddingMirrorsWithoutTheBorderOrRepeatsIt) {
  const auto sources = [](PadMode mode) {
    std::vector<int64_t> of;
    for (int64_t i = -3; i <= 6; ++i) of.push_back(PadSource(i, 4, mode));
    return of;
  };
  using Indices = std::vector<int64_t>;
  EXPECT_EQ(sources(PadMode::kConstant), (Indices{-1, -1, -1, 0, 1, 2, 3, -1, -1, -1}));
  EXPECT_EQ(sources(PadMode::kReflect), (Indices{3, 2, 1, 0, 1, 2, 3, 2, 1, 0}));
  EXPECT_EQ(sources(PadMode::kEdge), (Indices{0, 0, 0, 0, 1, 2, 3, 3, 3, 3}));
  // Before the input, it is reflected at its end too. Farther away there is no source.
  EXPECT_EQ(PadSource(-4, 4, PadMode::kReflect), 2);
  EXPECT_EQ(PadSource(-6, 4, PadMode::kReflect), 0);
  EXPECT_LT(PadSource(-7, 4, PadMode::kReflect), 0);
  EXPECT_LT(PadSource(7, 4, PadMode::kReflect), 0);
}

}  // namespace
}  // namespace caffe2rt::image_axes_test
