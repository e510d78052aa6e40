// All candidates of choices between algorithms for convolutions of row-major tensors, in order.
#include <gtest/gtest.h>

#include "contexts/onednn/onednn_tensor.h"
#include "operators/conv/conv_choice.h"
#include "operators/conv/conv_costs.h"
#include "tests/operators/conv/conv_images.h"

namespace caffe2rt::test::conv_plain_candidates_test {
namespace {

using enum OnednnFormat;

ConvTuningRow TimedRow(const ConvShape& shape, ConvAlgorithm algorithm) {
  return {.isa = Isa::kAvx512, .shape = shape, .algorithm = algorithm, .microseconds = 3};
}

struct PlainRow {
  const char* name;
  NaiveImage image;
  const char* algorithms;
  std::vector<ConvTuningRow> table = {};
  ConvLimits limits = {};
};

std::string NamesOf(const ConvChoice& choice) {
  std::string text;
  for (const ConvCandidate& c : choice.candidates) {
    text += std::string(text.empty() ? "" : " ") + ConvAlgorithmName(c.algorithm);
    if (c.reason == ConvReason::kTable) text += "=";
    if (c.reason == ConvReason::kNearTable) text += "~";
    if (c.reason == ConvReason::kDeterministic) text += "!";
    if (c.reason == ConvReason::kFallback) text += ".";
  }
  return text;
}

NaiveImage Square(int64_t batch, int64_t channels, int64_t filters, int64_t out_h, int64_t out_w,
                  int64_t kernel = 3, int64_t group = 1) {
  return {batch,
          channels,
          out_h + kernel - 1,
          out_w + kernel - 1,
          filters,
          kernel,
          kernel,
          1,
          1,
          0,
          0,
          0,
          0,
          1,
          1,
          group};
}

std::vector<PlainRow> PlainRows() {
  using enum ConvAlgorithm;
  const NaiveImage wide = Square(1, 64, 64, 56, 56), batch = Square(8, 64, 64, 56, 56);
  NaiveImage last = wide;
  last.channels_last = true;
  const auto timed = [](const NaiveImage& image, ConvAlgorithm algorithm) {
    return TimedRow(ShapeOf(image, false), algorithm);
  };
  return {
      {"many channels", wide, "onednn_last onednn_blocked onednn_any pixels im2col."},
      {"NHWC", last, "onednn_plain onednn_any im2col."},
      {"few channels", Square(1, 32, 64, 32, 32),
       "pixels onednn_last onednn_blocked onednn_any im2col."},
      {"few filters", Square(1, 64, 32, 32, 32),
       "pixels onednn_last onednn_blocked onednn_any im2col."},
      {"33 of both", Square(1, 33, 33, 32, 32),
       "onednn_last onednn_blocked onednn_any pixels im2col."},
      {"32 columns", Square(1, 32, 64, 20, 32),
       "pixels onednn_last onednn_blocked onednn_any im2col."},
      {"31 columns", Square(1, 32, 64, 40, 31),
       "onednn_last onednn_blocked onednn_any pixels im2col."},
      {"groups of few channels", Square(1, 64, 128, 32, 32, 3, 2),
       "pixels onednn_last onednn_blocked onednn_any im2col."},
      {"pointwise, 64 channels", Square(1, 64, 64, 28, 28, 1),
       "gemm onednn_last onednn_blocked onednn_any pixels im2col."},
      {"pointwise, 63 channels", Square(1, 63, 64, 28, 28, 1),
       "onednn_last onednn_blocked onednn_any pixels im2col."},
      {"pointwise, 63 channels in a group", Square(1, 126, 128, 28, 28, 1, 2),
       "onednn_last onednn_blocked onednn_any pixels im2col."},
      {"a million multiplications", Square(1, 100, 100, 10, 10, 1),
       "gemm onednn_last onednn_blocked onednn_any pixels im2col."},
      {"fewer multiplications", Square(1, 100, 99, 10, 10, 1),
       "gemm channels onednn_last onednn_blocked onednn_any pixels im2col."},
      {"any machine", wide, "im2col!", {timed(wide, kPixels)}, {.any_machine = true}},
      {"a batch", batch, "winograd_copies onednn_last onednn_blocked onednn_any pixels im2col."},
      {"a batch, by the table",
       batch,
       "pixels= winograd_copies onednn_any~ onednn_last onednn_blocked im2col.",
       {timed(wide, kOnednnAny), timed(batch, kPixels)}},
      {"the table has no other algorithm twice",
       batch,
       "pixels= onednn_any= winograd_copies onednn_last onednn_blocked im2col.",
       {timed(batch, kPixels), timed(batch, kOnednnAny), timed(batch, kPixels)}},
      {"a filter that fits",
       batch,
       "winograd_copies onednn_last onednn_blocked onednn_any pixels im2col.",
       {},
       {.winograd_filter_bytes = 36 * 64 * 64 * 4}},
      {"a filter that does not fit",
       batch,
       "onednn_last onednn_blocked onednn_any pixels im2col.",
       {},
       {.winograd_filter_bytes = 36 * 64 * 64 * 4 - 1}},
      // 4 tiles of 16 results for 60 of them, then 2 for 24.
      {"64 tiles of one row", Square(16, 64, 64, 4, 15),
       "winograd_copies onednn_last onednn_blocked onednn_any pixels im2col."},
      {"64 tiles of one column", Square(16, 64, 64, 15, 4),
       "winograd_copies onednn_last onednn_blocked onednn_any pixels im2col."},
      {"60 tiles", Square(15, 64, 64, 4, 15),
       "onednn_last onednn_blocked onednn_any pixels im2col."},
      {"tiles with a third of padding", Square(64, 64, 64, 4, 6),
       "onednn_last onednn_blocked onednn_any pixels im2col."},
      {"tiles with less padding", Square(64, 64, 64, 4, 7),
       "winograd_copies onednn_last onednn_blocked onednn_any pixels im2col."},
      {"deterministic, Winograd of a near row",
       wide,
       "onednn_any! onednn_last onednn_blocked pixels im2col.",
       {timed(Square(1, 64, 72, 56, 56), kOnednnWinograd),
        timed(Square(1, 64, 80, 56, 56), kOnednnAny)},
       {.deterministic = true}},
      {"deterministic, Winograd is second",
       wide,
       "onednn_any= onednn_last onednn_blocked pixels im2col.",
       {timed(wide, kOnednnAny), timed(wide, kOnednnWinograd)},
       {.deterministic = true}},
  };
}

TEST(ConvPlainCandidatesTest, AreListedInOrderForRowMajorTensors) {
  for (const PlainRow& row : PlainRows()) {
    SCOPED_TRACE(row.name);
    std::string table;
    for (const ConvTuningRow& timed : row.table) table += ConvTuningLine(timed);
    const ConvShape shape = ShapeOf(row.image, true);
    const ConvChoice choice =
        ChooseConv({.shape = shape, .limits = row.limits, .machine = {.isa = Isa::kAvx512}},
                   ConvTuning(table));
    EXPECT_EQ(NamesOf(choice), row.algorithms);
    for (const ConvCandidate& c : choice.candidates) {
      EXPECT_EQ(c.x, row.image.channels_last ? kNhwc : kNchw);
      EXPECT_EQ(c.y, c.x);
      EXPECT_EQ(c.table_us,
                c.reason == ConvReason::kTable ? std::optional<double>(3) : std::nullopt);
    }
    for (const ConvCandidate& c : choice.excluded) {
      EXPECT_EQ(c.algorithm, ConvAlgorithm::kOnednnWinograd);
      EXPECT_EQ(c.reason, ConvReason::kDeterministic);
    }
    const bool excludes = std::string(row.name).find("deterministic") == 0;
    EXPECT_EQ(choice.excluded.size(), excludes ? 1u : 0u);
  }
}

TEST(ConvPlainCandidatesTest, OnednnIsEstimatedWithItsReorders) {
  using enum ConvAlgorithm;
  NaiveImage image = Square(3, 32, 48, 11, 13);
  const auto estimates = [](const ConvShape& shape) {
    std::string table;
    for (const ConvAlgorithm algorithm : kPlainConvAlgorithms) {
      table += ConvTuningLine(TimedRow(shape, algorithm));
    }
    return ChooseConv({.shape = shape, .machine = {.isa = Isa::kAvx512, .threads = 2}},
                      ConvTuning(table))
        .candidates;
  };
  const ConvRates& rates = RatesOf({.isa = Isa::kAvx512, .threads = 2});
  const auto us = [&](ConvMethod method) {
    return ConvMicroseconds(SizeOf(ShapeOf(image, false)), method, rates);
  };
  const double x = ReorderMicroseconds(3 * 32 * 13 * 15, rates);
  const double y = ReorderMicroseconds(3 * 48 * 11 * 13, rates);
  for (const ConvCandidate& c : estimates(ShapeOf(image, false))) {
    SCOPED_TRACE(ConvAlgorithmName(c.algorithm));
    if (c.algorithm == kOnednnLast) {
      EXPECT_DOUBLE_EQ(c.model_us.value_or(-1), us(ConvMethod::kNhwc) + x + y);
    } else if (c.algorithm == kOnednnBlocked) {
      EXPECT_DOUBLE_EQ(c.model_us.value_or(-1), us(ConvMethod::kBlocked) + x + y);
    } else if (c.algorithm == kOnednnMixed) {
      EXPECT_DOUBLE_EQ(c.model_us.value_or(-1), us(ConvMethod::kBlocked) + y);
    } else {
      EXPECT_FALSE(c.model_us.has_value());
    }
  }
  image.filters = 49;  // blocks would have much padding
  for (const ConvCandidate& c : estimates(ShapeOf(image, false))) {
    EXPECT_EQ(c.model_us.has_value(), c.algorithm == kOnednnLast) << ConvAlgorithmName(c.algorithm);
  }
  image.channels_last = true;
  for (const ConvCandidate& c : estimates(ShapeOf(image, false))) EXPECT_FALSE(c.model_us);
  ConvShape line = ShapeOf(Square(3, 32, 48, 11, 13), false);
  line.window.axes = 1;
  for (const ConvCandidate& c : estimates(line)) EXPECT_FALSE(c.model_us);
}

}  // namespace
}  // namespace caffe2rt::test::conv_plain_candidates_test
