// Rows of tables of timings: how they are read and written, which shapes are near, and how shapes are timed.
#include "operators/conv/conv_tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "operators/conv/conv_tune.h"
#include "tests/operators/conv/conv_images.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::conv_tuning_test {
namespace {

using testing::ElementsAre;

TEST(ConvTuningRowsTest, EachFieldIsReadAndWritten) {
  const std::string text =
      "# a comment\n\n"
      "plain\tNCHW\t2x12x20x30\t8\t3x2\t2x1\t1x0\t4x-1\t1x5\t4\tim2col\t12.5\n"
      "avx2\tNHWC\t3x6x9x7\t10\t2x3\t1x2\t0x2\t1x0\t2x1\t2\tonednn_any\t1000.0\n"
      "avx512\tNCHW\t1x4x31\t5\t3\t2\t1\t0\t2\t1\tchannels\t0.3\n"
      "avx512\tNCHW\t1x2x5x6x7\t3\t1x2x3\t1x2x1\t0x1x2\t0x0x1\t1x2x1\t1\tdepthwise\t7.0\n";
  const ConvTuning table(text);
  ASSERT_EQ(table.rows().size(), 4u);
  std::string written;
  for (const ConvTuningRow& row : table.rows()) written += ConvTuningLine(row);
  EXPECT_EQ(written, text.substr(text.find("plain")));
  const ConvTuningRow& first = table.rows()[0];
  EXPECT_EQ(first.isa, Isa::kPlain);
  EXPECT_EQ(first.shape, ShapeOf({.batch = 2,
                                  .channels = 12,
                                  .height = 20,
                                  .width = 30,
                                  .filters = 8,
                                  .kernel_h = 3,
                                  .kernel_w = 2,
                                  .stride_h = 2,
                                  .stride_w = 1,
                                  .top = 1,
                                  .left = 0,
                                  .bottom = 4,
                                  .right = -1,
                                  .dilation_h = 1,
                                  .dilation_w = 5,
                                  .group = 4},
                                 false));
  EXPECT_EQ(first.algorithm, ConvAlgorithm::kIm2Col);
  EXPECT_EQ(first.microseconds, 12.5);
  const ConvTuningRow& second = table.rows()[1];
  EXPECT_EQ(second.isa, Isa::kAvx2);
  EXPECT_EQ(second.shape, ShapeOf({.batch = 3,
                                   .channels = 6,
                                   .height = 9,
                                   .width = 7,
                                   .filters = 10,
                                   .kernel_h = 2,
                                   .kernel_w = 3,
                                   .stride_h = 1,
                                   .stride_w = 2,
                                   .top = 0,
                                   .left = 2,
                                   .bottom = 1,
                                   .right = 0,
                                   .dilation_h = 2,
                                   .dilation_w = 1,
                                   .group = 2,
                                   .channels_last = true},
                                  false));
  EXPECT_EQ(table.rows()[2].shape.window.axes, 1);
  EXPECT_EQ(table.rows()[2].shape.window.axis[0].out, (31 + 1 - 5) / 2 + 1);
  EXPECT_EQ(table.rows()[3].shape.window.axes, 3);
  EXPECT_FALSE(table.plain_layouts());
}

TEST(ConvTuningRowsTest, TheLastLineOfLayoutsCounts) {
  EXPECT_TRUE(ConvTuning("layouts\tplain").plain_layouts());
  EXPECT_FALSE(ConvTuning("layouts\tplain\nlayouts\tonednn\n").plain_layouts());
  EXPECT_FALSE(ConvTuning("").plain_layouts());
}

TEST(ConvTuningRowsTest, TheSameShapeMayDifferInTheBias) {
  const NaiveImage image{2, 12, 20, 30, 8, 3, 2};
  EXPECT_TRUE(IsSameShape(ShapeOf(image, true), ShapeOf(image, false)));
  NaiveImage other = image;
  other.batch = 3;
  EXPECT_FALSE(IsSameShape(ShapeOf(image, true), ShapeOf(other, true)));
  other = image, other.bottom = 1;
  EXPECT_FALSE(IsSameShape(ShapeOf(image, true), ShapeOf(other, true)));
  ConvShape group = ShapeOf(image, true);
  group.group = 4;
  EXPECT_FALSE(IsSameShape(ShapeOf(image, true), group));
}

// The rows of `images`, by position, that are near the shape of `image`.
std::vector<int> NearOf(const NaiveImage& image, const std::vector<NaiveImage>& images) {
  std::string text;
  for (size_t i = 0; i < images.size(); ++i) {
    text += ConvTuningLine({.isa = Isa::kAvx2,
                            .shape = ShapeOf(images[i], false),
                            .algorithm = ConvAlgorithm::kIm2Col,
                            .microseconds = static_cast<double>(i)});
  }
  const ConvTuning table(text);
  EXPECT_TRUE(table.Near(ShapeOf(image, false), Isa::kAvx512).empty());
  std::vector<int> near;
  for (const ConvTuningRow* const row : table.Near(ShapeOf(image, true), Isa::kAvx2)) {
    near.push_back(static_cast<int>(row->microseconds));
  }
  return near;
}

// An image whose Y has the given size.
NaiveImage ImageOf(int64_t batch, int64_t channels, int64_t filters, int64_t out_h, int64_t out_w,
                   int64_t kernel_h, int64_t kernel_w, int64_t group = 1) {
  return {.batch = batch,
          .channels = channels,
          .height = out_h + kernel_h - 1,
          .width = out_w + kernel_w - 1,
          .filters = filters,
          .kernel_h = kernel_h,
          .kernel_w = kernel_w,
          .group = group};
}

// The distance is a sum of octaves: 2 for those of a kernel, 1 for those of the channels and filters of a group,
// 1/2 for those of Y and of the group, 1/4 for those of the batch. The rows are at a distance of 4, and beyond it.
TEST(ConvTuningRowsTest, NearShapesAreWithinFourWeightedOctaves) {
  const NaiveImage base = ImageOf(2, 4, 6, 3, 5, 2, 3);
  struct Row {
    const char* name;
    NaiveImage within, beyond;
  };
  const Row rows[] = {
      {"kernel rows", ImageOf(2, 4, 6, 3, 5, 8, 3), ImageOf(2, 4, 6, 3, 5, 9, 3)},
      {"kernel columns", ImageOf(2, 4, 6, 3, 5, 2, 12), ImageOf(2, 4, 6, 3, 5, 2, 13)},
      {"rows", ImageOf(2, 4, 6, 3 * 256, 5, 2, 3), ImageOf(2, 4, 6, 3 * 256 + 1, 5, 2, 3)},
      {"columns", ImageOf(2, 4, 6, 3, 5 * 256, 2, 3), ImageOf(2, 4, 6, 3, 5 * 256 + 1, 2, 3)},
      {"channels", ImageOf(2, 64, 6, 3, 5, 2, 3), ImageOf(2, 65, 6, 3, 5, 2, 3)},
      {"filters", ImageOf(2, 4, 96, 3, 5, 2, 3), ImageOf(2, 4, 97, 3, 5, 2, 3)},
      {"batch", ImageOf(2 << 16, 4, 6, 3, 5, 2, 3), ImageOf((2 << 16) + 1, 4, 6, 3, 5, 2, 3)},
  };
  for (const Row& row : rows) {
    EXPECT_THAT(NearOf(base, {row.beyond, row.within}), ElementsAre(1)) << row.name;
    EXPECT_THAT(NearOf(row.within, {base}), ElementsAre(0)) << row.name;
    EXPECT_THAT(NearOf(row.beyond, {base}), ElementsAre()) << row.name;
  }
  // Of groups, those of the channels of one group count.
  const NaiveImage groups = ImageOf(2, 8, 12, 3, 5, 2, 3, 2);
  EXPECT_THAT(NearOf(groups, {ImageOf(2, 4 * 512, 6 * 512, 3, 5, 2, 3, 512),
                              ImageOf(2, 4 * 513, 6 * 513, 3, 5, 2, 3, 513)}),
              ElementsAre(0));
}

TEST(ConvTuningRowsTest, ShapesOfAnotherKindAreFar) {
  const auto changed = [](auto change) {
    NaiveImage image = ImageOf(2, 4, 6, 12, 15, 2, 3);
    change(image);
    return image;
  };
  using Image = NaiveImage&;
  const NaiveImage base = changed([](Image) {});
  const std::vector<NaiveImage> others = {
      changed([](Image p) { p.stride_h = 2; }),   changed([](Image p) { p.stride_w = 2; }),
      changed([](Image p) { p.dilation_h = 2; }), changed([](Image p) { p.dilation_w = 2; }),
      changed([](Image p) { p.kernel_h = 1; }),   changed([](Image p) { p.kernel_w = 1; }),
      changed([](Image p) { p.group = 2; }),      changed([](Image p) { p.channels_last = true; }),
  };
  EXPECT_THAT(NearOf(base, others), ElementsAre());
  for (const NaiveImage& other : others) EXPECT_THAT(NearOf(other, {base}), ElementsAre());
  const NaiveImage each = ImageOf(2, 6, 6, 12, 15, 2, 3, 6),
                   pairs = ImageOf(2, 12, 12, 12, 15, 2, 3, 6);
  EXPECT_THAT(NearOf(each, {pairs}), ElementsAre()) << "depthwise";
  // Two dilations that are not 1 are of one kind.
  NaiveImage two = base, three = base;
  two.dilation_h = 2, three.dilation_h = 3, three.height += 1;
  EXPECT_THAT(NearOf(two, {three}), ElementsAre(0));
  const ConvTuning line("avx2\tNCHW\t2x4x12\t6\t3\t1\t0\t0\t1\t1\tim2col\t1\n");
  EXPECT_TRUE(line.Near(ShapeOf(base, false), Isa::kAvx2).empty()) << "one axis";
  EXPECT_EQ(line.Near(line.rows()[0].shape, Isa::kAvx2).size(), 1u);
}

TEST(ConvTuningRowsTest, TheNearestRowComesFirst) {
  const NaiveImage base = ImageOf(2, 16, 32, 12, 15, 3, 3);
  NaiveImage padded = base;  // of the same size
  padded.top = 1, padded.height -= 1;
  NaiveImage padded_twice = padded;
  padded_twice.left = 1, padded_twice.width -= 1;
  const NaiveImage half = ImageOf(1, 16, 32, 12, 15, 3, 3);     // 0.25
  const NaiveImage rows = ImageOf(2, 16, 32, 24, 15, 3, 3);     // 0.5
  const NaiveImage channels = ImageOf(2, 8, 32, 12, 15, 3, 3);  // 1
  const NaiveImage filters = ImageOf(2, 16, 64, 12, 15, 3, 3);  // 1
  const NaiveImage kernel = ImageOf(2, 16, 32, 12, 15, 6, 3);   // 2
  EXPECT_THAT(NearOf(base, {kernel, filters, channels, rows, half, padded_twice, padded, base}),
              ElementsAre(7, 6, 5, 4, 3, 1, 2, 0));
}

TEST(ConvTuningRowsTest, RowsOfAnotherTableFollow) {
  const std::string first = "avx2\tNCHW\t2x4x12\t6\t3\t1\t0\t0\t1\t1\tim2col\t1.0\n";
  const std::string second = "avx2\tNCHW\t2x4x12\t6\t3\t1\t0\t0\t1\t1\tgemm\t2.0\n";
  ConvTuning table(first);
  table.Append(ConvTuning(second));
  ASSERT_EQ(table.rows().size(), 2u);
  EXPECT_EQ(ConvTuningLine(table.rows()[0]), first);
  EXPECT_EQ(ConvTuningLine(table.rows()[1]), second);
}

class UseConvTuningTest : public testing::Test {
 protected:
  ~UseConvTuningTest() override { SetConvTuning(nullptr); }
};

TEST_F(UseConvTuningTest, CountsTheRowsOfThisMachineAndPutsThemFirst) {
  const size_t compiled_in = ConvTuning(ShippedConvTuning()).rows().size();
  const Isa other = CpuIsa() == Isa::kAvx2 ? Isa::kAvx512 : Isa::kAvx2;
  const auto row = [](Isa isa, double us) {
    return ConvTuningLine({.isa = isa,
                           .shape = ShapeOf({1, 3, 9, 9, 5, 3, 3}, false),
                           .algorithm = ConvAlgorithm::kIm2Col,
                           .microseconds = us});
  };
  const std::string text = std::string(kConvTuningVersionLine) + "\n" + row(other, 1) +
                           row(CpuIsa(), 2) + row(other, 3) + row(CpuIsa(), 4) + row(other, 5);
  EXPECT_EQ(UseConvTuning(text), 2u);
  const auto used = GetConvTuning();
  ASSERT_EQ(used->rows().size(), 5 + compiled_in);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(used->rows()[i].microseconds, i + 1.0);
  SetConvTuning(nullptr);
  EXPECT_EQ(GetConvTuning()->rows().size(), compiled_in);
  EXPECT_EQ(GetConvTuning(), GetConvTuning());
  // A table that cannot be read leaves the one in use.
  UseConvTuning(text);
  EXPECT_ANY_THROW(UseConvTuning(text + "avx2\n"));
  EXPECT_EQ(GetConvTuning()->rows().size(), 5 + compiled_in);
}

TEST(ReadConvTuningTest, ReadsRowsOfAFileWithoutAVersion) {
  const TempDir dir;
  const std::string line = "avx2\tNCHW\t2x4x12\t6\t3\t1\t0\t0\t1\t1\tim2col\t1.0\n";
  const auto table = ReadConvTuning(dir.Write("rows.tsv", line));
  ASSERT_EQ(table->rows().size(), 1u);
  EXPECT_EQ(ConvTuningLine(table->rows()[0]), line);
}

TEST_F(UseConvTuningTest, NamesTheFileAndTheLineThatCannotBeRead) {
  const TempDir dir;
  const std::string path = dir.Write("rows.tsv", std::string(kConvTuningVersionLine) + "\navx2\n");
  try {
    LoadConvTuning(path);
    ADD_FAILURE() << "the file was read";
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(error.message(), testing::HasSubstr("file \"" + path + "\": line 2"));
  }
}

// --- timing ---

const NaiveImage kTimed{2, 16, 6, 5, 32, 3, 3, 1, 1, 1, 1, 1, 1};
const ConvTuneOptions kShort{.milliseconds = 0.001, .rounds = 2};

TEST(TimeConvolutionTest, TimesEachAlgorithmThatSupportsTheShape) {
  const ConvShape shape = ShapeOf(kTimed, false);
  const std::vector<ConvTiming> timings = TimeConvolution(shape, kShort);
  ConvShape biased = shape;
  biased.bias = true;
  for (const ConvAlgorithm algorithm : kPlainConvAlgorithms) {
    const auto timed = std::count_if(timings.begin(), timings.end(),
                                     [&](const ConvTiming& t) { return t.algorithm == algorithm; });
    EXPECT_EQ(timed, NewConvKernel(algorithm, biased) != nullptr) << ConvAlgorithmName(algorithm);
  }
  for (size_t i = 0; i < timings.size(); ++i) {
    SCOPED_TRACE(ConvAlgorithmName(timings[i].algorithm));
    EXPECT_GT(timings[i].microseconds, 0);
    EXPECT_LT(timings[i].microseconds, 1e6);
    if (i > 0) EXPECT_GE(timings[i].microseconds, timings[i - 1].microseconds);
    EXPECT_GE(timings[i].error, 0);
    EXPECT_LT(timings[i].error, 1e-4);
    if (timings[i].algorithm == ConvAlgorithm::kIm2Col) EXPECT_EQ(timings[i].error, 0);
    if (timings[i].algorithm == ConvAlgorithm::kCopiesWinograd) EXPECT_GT(timings[i].error, 1e-9);
  }
}

TEST(TuneConvolutionsTest, WritesTheFastestThatIsExactEnough) {
  const std::vector<ConvShape> shapes = {ShapeOf(kTimed, false),
                                         ShapeOf({1, 4, 3, 3, 5, 1, 1}, false)};
  std::vector<std::vector<ConvTiming>> reported;
  std::ostringstream out;
  TuneConvolutions(shapes, kShort, out, [&](const ConvShape& shape, const auto& timings) {
    EXPECT_EQ(shape, shapes[reported.size()]);
    reported.push_back(timings);
  });
  ASSERT_EQ(reported.size(), 2u);
  const ConvTuning table(out.str());
  ASSERT_EQ(table.rows().size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(table.rows()[i].isa, CpuIsa());
    EXPECT_EQ(table.rows()[i].shape, shapes[i]);
    EXPECT_EQ(table.rows()[i].algorithm, reported[i][0].algorithm);
    EXPECT_NEAR(table.rows()[i].microseconds, reported[i][0].microseconds, 0.051);
  }
  // Only im2col, which the errors are relative to, has none.
  std::ostringstream exact, none;
  ConvTuneOptions options = kShort;
  options.tolerance = 0;
  TuneConvolutions({shapes[0]}, options, exact, nullptr);
  ASSERT_EQ(ConvTuning(exact.str()).rows().size(), 1u);
  options.tolerance = -1;
  TuneConvolutions({shapes[0]}, options, none, nullptr);
  EXPECT_EQ(none.str(), "");
}

}  // namespace
}  // namespace caffe2rt::test::conv_tuning_test
