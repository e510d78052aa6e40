// All candidates of choices between algorithms for convolutions on IDEEP, in order, with their reasons and estimates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "contexts/onednn/onednn_tensor.h"
#include "operators/conv/conv_choice.h"
#include "operators/conv/conv_costs.h"
#include "tests/operators/conv/conv_images.h"

namespace caffe2rt::test::conv_candidates_test {
namespace {

using enum OnednnFormat;

// The layouts of X and Y, the algorithm, the type and the reason. Those that are excluded have a "!".
std::string DescribeCandidates(const ConvChoice& choice) {
  std::string text;
  const KernelChoice report = KernelChoiceOf(choice);
  for (const KernelCandidate& c : report.candidates) {
    text += std::string(c.excluded ? "!" : "") + c.algorithm + " " + c.x_layout;
    if (c.y_layout != c.x_layout) text += std::string(">") + c.y_layout;
    if (c.implementation.find("int8") != std::string::npos) text += " int8";
    if (c.implementation.find("bf16") != std::string::npos) text += " bf16";
    text += std::string(": ") + c.reason + "\n";
  }
  return text;
}

ConvShape SquareConv(int64_t channels, int64_t filters, int64_t size, int64_t kernel,
                     int64_t stride = 1, int64_t group = 1) {
  const int64_t pad = kernel / 2;
  return ShapeOf({1, channels, size, size, filters, kernel, kernel, stride, stride, pad, pad, pad,
                  pad, 1, 1, group},
                 false);
}

struct IdeepRow {
  const char* name;
  ConvShape shape;
  ConvOnIdeep ideep;
  const char* candidates;
  ConvLimits limits = {};
  Isa isa = Isa::kAvx512;
  std::vector<ConvTuningRow> table = {};
};

// Estimates with AVX-512 and one thread of kWide: direct 1463 us, in bf16 837 us and 20 us for X; Winograd
// 698 us. Of kStrided: 367, 210 and 20 us. Quantizing X takes 37 us.
const ConvShape kWide = SquareConv(64, 64, 56, 3);
const ConvShape kDeep = SquareConv(512, 512, 7, 3);  // Winograd takes 0.98 of the direct time
const ConvShape kStrided = SquareConv(64, 64, 56, 3, 2);
const ConvShape kImage = SquareConv(3, 32, 56, 3, 2);
const ConvShape kOneFilter = SquareConv(64, 1, 56, 1);  // 5.6 us
const ConvShape kEach = SquareConv(64, 64, 28, 3, 1, 64);
const ConvShape kGroups = SquareConv(64, 64, 28, 1, 1, 4);

ConvTuningRow TimedRow(const ConvShape& shape, ConvAlgorithm algorithm, Isa isa = Isa::kAvx512) {
  return {.isa = isa, .shape = shape, .algorithm = algorithm, .microseconds = 3};
}

std::vector<IdeepRow> IdeepRows() {
  using enum ConvAlgorithm;
  const ConvLimits deterministic{.deterministic = true}, any{.any_machine = true};
  return {
      {"model",
       kWide,
       {.format = kNhwc},
       "winograd nhwc: model\n"
       "onednn_direct nhwc: fallback\n"},
      {"blocks",
       kWide,
       {.format = kBlocked16},
       "winograd nChw16c: model\n"
       "onednn_direct nChw16c: fallback\n"
       "onednn_direct nhwc: fallback\n"},
      {"deterministic",
       kWide,
       {.format = kBlocked16},
       "onednn_direct nChw16c: deterministic\n"
       "onednn_direct nhwc: fallback\n"
       "!winograd nChw16c: deterministic\n",
       deterministic},
      {"Winograd is slower",
       kDeep,
       {.format = kBlocked16},
       "onednn_direct nChw16c: model\n"
       "onednn_direct nhwc: fallback\n"
       "!winograd nChw16c: model\n"},
      {"few channels",
       kImage,
       {.format = kBlocked16},
       "onednn_direct nchw>nChw16c: only candidate\n"
       "onednn_direct nhwc: fallback\n"},
      {"depthwise",
       kEach,
       {.format = kBlocked16},
       "depthwise nChw16c: rule\n"
       "onednn_direct nChw16c: fallback\n"
       "onednn_direct nhwc: fallback\n"},
      {"depthwise without vectors",
       kEach,
       {.format = kNhwc},
       "onednn_direct nhwc: rule\n"
       "!depthwise nhwc: rule\n",
       {},
       Isa::kPlain},
      {"pointwise",
       kGroups,
       {.format = kNhwc},
       "onednn_direct nhwc: rule\n"
       "!pointwise nhwc: rule\n"},
      {"pointwise with AVX2",
       kGroups,
       {.format = kNhwc},
       "pointwise nhwc: rule\n"
       "onednn_direct nhwc: fallback\n",
       {},
       Isa::kAvx2},
      {"pointwise without groups, with AVX2",
       SquareConv(64, 72, 28, 1),
       {.format = kNhwc},
       "onednn_direct nhwc: rule\n"
       "!pointwise nhwc: rule\n",
       {},
       Isa::kAvx2},
      {"filters that do not fill vectors of 8",
       SquareConv(64, 68, 28, 1),
       {.format = kNhwc},
       "pointwise nhwc: rule\n"
       "onednn_direct nhwc: fallback\n",
       {},
       Isa::kAvx2},
      {"channels that do not fill vectors of 8",
       SquareConv(68, 64, 28, 1),
       {.format = kNhwc},
       "pointwise nhwc: rule\n"
       "onednn_direct nhwc: fallback\n",
       {},
       Isa::kAvx2},
      // --- bf16 ---
      {"bf16",
       kWide,
       {.format = kBlocked16, .bf16 = true},
       "winograd nChw16c: model\n"
       "onednn_direct nChw16c bf16: precision\n"
       "onednn_direct nhwc bf16: precision\n"
       "onednn_direct nChw16c: fallback\n"
       "onednn_direct nhwc: fallback\n"},
      {"bf16, deterministic",
       kWide,
       {.format = kNhwc, .bf16 = true},
       "onednn_direct nhwc bf16: precision\n"
       "onednn_direct nhwc: fallback\n"
       "!winograd nhwc: deterministic\n",
       deterministic},
      {"bf16 of few channels",
       kImage,
       {.format = kBlocked16, .bf16 = true},
       "onednn_direct nchw>nChw16c bf16: precision\n"
       "onednn_direct nhwc bf16: precision\n"
       "onednn_direct nchw>nChw16c: fallback\n"
       "onednn_direct nhwc: fallback\n"},
      {"bf16, where X takes longer to convert",
       kOneFilter,
       {.format = kNhwc, .bf16 = true},
       "onednn_direct nhwc: rule\n"
       "!onednn_direct nhwc bf16: precision\n"
       "!pointwise nhwc: rule\n"},
      {"the same of X in bf16",
       kOneFilter,
       {.format = kNhwc, .bf16 = true, .bf16_source = true},
       "onednn_direct nhwc bf16: precision\n"
       "onednn_direct nhwc: fallback\n"
       "!pointwise nhwc: rule\n"},
      {"depthwise in bf16",
       kEach,
       {.format = kNhwc, .bf16 = true, .bf16_source = true},
       "onednn_direct nhwc bf16: precision\n"
       "depthwise nhwc: rule\n"
       "onednn_direct nhwc: fallback\n"},
      // --- bytes ---
      {"bytes",
       kWide,
       {.format = kBlocked16, .int8_speed = 3.6},
       "onednn_direct nhwc int8: precision\n"
       "winograd nChw16c: model\n"
       "onednn_direct nChw16c: fallback\n"
       "onednn_direct nhwc: fallback\n"},
      {"bytes against Winograd",
       kWide,
       {.format = kNhwc, .int8_speed = 2},
       "winograd nhwc: model\n"
       "onednn_direct nhwc: fallback\n"
       "!onednn_direct nhwc int8: precision\n"},
      {"bytes against Winograd that is not deterministic",
       kWide,
       {.format = kNhwc, .int8_speed = 2},
       "onednn_direct nhwc int8: precision\n"
       "onednn_direct nhwc: fallback\n"
       "!winograd nhwc: deterministic\n",
       deterministic},
      {"bytes against Winograd that is too large",
       kWide,
       {.format = kNhwc, .int8_speed = 2},
       "onednn_direct nhwc int8: precision\n"
       "onednn_direct nhwc: fallback\n"
       "!winograd nhwc: memory for Winograd\n",
       {.winograd_filter_bytes = 1000}},
      {"bytes against Winograd that lacks the activation",
       kWide,
       {.format = kNhwc, .activation = Elu{.alpha = 1}, .int8_speed = 2},
       "onednn_direct nhwc int8: precision\n"
       "onednn_direct nhwc: fallback\n"},
      {"2.2 times as fast, X to be quantized",
       kWide,
       {.format = kNhwc, .int8_speed = 2.2},
       "winograd nhwc: model\n"
       "onednn_direct nhwc: fallback\n"
       "!onednn_direct nhwc int8: precision\n"},
      {"2.2 times as fast, X in bytes",
       kWide,
       {.format = kNhwc, .int8_speed = 2.2, .int8_source = true},
       "onednn_direct nhwc int8: precision\n"
       "winograd nhwc: model\n"
       "onednn_direct nhwc: fallback\n"},
      {"bytes",
       kStrided,
       {.format = kNhwc, .int8_speed = 1.5},
       "onednn_direct nhwc int8: precision\n"
       "onednn_direct nhwc: fallback\n"},
      {"bytes against bf16",
       kStrided,
       {.format = kNhwc, .bf16 = true, .int8_speed = 1.5},
       "onednn_direct nhwc bf16: precision\n"
       "onednn_direct nhwc: fallback\n"
       "!onednn_direct nhwc int8: precision\n"},
      {"depthwise bytes",
       kEach,
       {.format = kNhwc, .int8_speed = 3},
       "onednn_direct nhwc int8: precision\n"
       "depthwise nhwc: rule\n"
       "onednn_direct nhwc: fallback\n"},
      {"no kernel for bytes",
       SquareConv(64, 64, 28, 7, 1, 64),
       {.format = kNhwc, .int8_speed = 3},
       "onednn_direct nhwc: only candidate\n"},
      // --- any machine: only what gives the same bits everywhere ---
      {"any machine", kWide, {.format = kNhwc, .bf16 = true}, "", any},
      {"any machine, depthwise", kEach, {.format = kBlocked16}, "depthwise nChw16c: rule\n", any},
      {"any machine, pointwise", kGroups, {.format = kNhwc}, "pointwise nhwc: rule\n", any},
      {"any machine, bytes",
       kStrided,
       {.format = kNhwc, .int8_speed = 3},
       "onednn_direct nhwc int8: precision\n",
       any,
       Isa::kAvx512,
       {TimedRow(kStrided, kOnednnDirect)}},
      // --- the table ---
      {"the table moves what the model excludes",
       kDeep,
       {.format = kNhwc},
       "winograd nhwc: table\n"
       "onednn_direct nhwc: model\n",
       {},
       Isa::kAvx512,
       {TimedRow(kDeep, kWinograd)}},
      {"the row after one that a limit excludes",
       kWide,
       {.format = kNhwc},
       "onednn_direct nhwc: table\n"
       "!winograd nhwc: deterministic\n",
       deterministic,
       Isa::kAvx512,
       {TimedRow(kWide, kWinograd), TimedRow(kWide, kOnednnDirect)}},
      {"the row after one that does not compute the shape",
       kWide,
       {.format = kNhwc},
       "onednn_direct nhwc: table\n"
       "winograd nhwc: model\n",
       {},
       Isa::kAvx512,
       {TimedRow(kWide, kPointwise), TimedRow(kWide, kOnednnDirect)}},
  };
}

// What the model says of a candidate.
double EstimateOf(const ConvCandidate& c, const IdeepRow& row, const ConvRates& rates) {
  const ConvSize size = SizeOf(row.shape);
  const WindowGeometry& window = row.shape.window;
  const double x = static_cast<double>(window.batch * window.channels * window.in_size());
  const ConvMethod method = c.y == kBlocked16 ? ConvMethod::kBlocked : ConvMethod::kNhwc;
  if (c.int8) {
    return Int8ConvMicroseconds(size, ConvMethod::kNhwc, rates, row.ideep.int8_speed) +
           (row.ideep.int8_source ? 0 : QuantizeMicroseconds(x, rates));
  }
  if (c.bf16) {
    return Bf16ConvMicroseconds(size, method, rates) +
           (row.ideep.bf16_source ? 0 : Bf16ReorderMicroseconds(x, rates));
  }
  if (c.algorithm == ConvAlgorithm::kWinograd) {
    return ConvMicroseconds(size, ConvMethod::kWinograd, rates);
  }
  return ConvMicroseconds(size, method, rates);
}

TEST(ConvCandidatesTest, AreListedInOrderOnIdeep) {
  for (const IdeepRow& row : IdeepRows()) {
    SCOPED_TRACE(row.name);
    std::string table;
    for (const ConvTuningRow& timed : row.table) table += ConvTuningLine(timed);
    const Machine machine{.isa = row.isa, .threads = 1};
    const ConvChoice choice = ChooseConv(
        {.shape = row.shape, .limits = row.limits, .ideep = row.ideep, .machine = machine},
        ConvTuning(table));
    EXPECT_EQ(DescribeCandidates(choice), row.candidates);
    EXPECT_EQ(choice.position, 0u);
    const ConvRates& rates = RatesOf(row.limits.any_machine ? Machine::Any() : machine);
    for (const auto* const list : {&choice.candidates, &choice.excluded}) {
      for (const ConvCandidate& c : *list) {
        EXPECT_EQ(c.table_us.has_value(), c.reason == ConvReason::kTable);
        if (c.algorithm == ConvAlgorithm::kDepthwise || c.algorithm == ConvAlgorithm::kPointwise) {
          EXPECT_FALSE(c.model_us.has_value());
        } else {
          EXPECT_DOUBLE_EQ(c.model_us.value_or(-1), EstimateOf(c, row, rates));
        }
      }
    }
  }
}

// X in bf16 is converted for Winograd; with several threads, so is a Y that is kept in bf16, three times.
TEST(ConvCandidatesTest, WinogradIsEstimatedWithItsConversions) {
  const auto winograd = [](bool bf16, bool source, bool kept, int threads) {
    const ConvChoice choice = ChooseConv(
        {.shape = SquareConv(64, 48, 56, 3),
         .ideep =
             ConvOnIdeep{.format = kNhwc, .bf16 = bf16, .bf16_result = kept, .bf16_source = source},
         .machine = {.isa = Isa::kAvx512, .threads = threads}},
        ConvTuning(""));
    for (const auto* const list : {&choice.candidates, &choice.excluded}) {
      for (const ConvCandidate& c : *list) {
        if (c.algorithm == ConvAlgorithm::kWinograd) return c.model_us.value_or(-1);
      }
    }
    return -2.0;
  };
  for (const int threads : {1, 2}) {
    const ConvRates& rates = RatesOf({.isa = Isa::kAvx512, .threads = threads});
    const double us =
        ConvMicroseconds(SizeOf(SquareConv(64, 48, 56, 3)), ConvMethod::kWinograd, rates);
    const double x = Bf16ReorderMicroseconds(64 * 56 * 56, rates);
    const double y = threads == 1 ? 0 : 3 * Bf16ReorderMicroseconds(48 * 56 * 56, rates);
    EXPECT_DOUBLE_EQ(winograd(false, false, false, threads), us);
    EXPECT_DOUBLE_EQ(winograd(false, true, true, threads), us) << "without bf16";
    EXPECT_DOUBLE_EQ(winograd(true, false, false, threads), us);
    EXPECT_DOUBLE_EQ(winograd(true, true, false, threads), us + x);
    EXPECT_DOUBLE_EQ(winograd(true, false, true, threads), us + y);
    EXPECT_DOUBLE_EQ(winograd(true, true, true, threads), us + x + y);
  }
}

TEST(ConvCandidatesTest, ReportsNameTheImplementation) {
  const ConvChoice choice =
      ChooseConv({.shape = kStrided,
                  .ideep = ConvOnIdeep{.format = kNhwc, .bf16 = true, .int8_speed = 3.6},
                  .machine = {.isa = Isa::kAvx512, .threads = 1}},
                 ConvTuning(ConvTuningLine(TimedRow(kStrided, ConvAlgorithm::kOnednnDirect))));
  const KernelChoice report = KernelChoiceOf(choice);
  ASSERT_EQ(report.candidates.size(), 3u);
  EXPECT_EQ(report.candidates[0].implementation, "oneDNN int8");
  EXPECT_EQ(report.candidates[0].table_us, 3);
  EXPECT_EQ(report.candidates[0].model_us, choice.candidates[0].model_us);
  EXPECT_EQ(report.candidates[1].implementation, "oneDNN bf16");
  EXPECT_EQ(report.candidates[2].implementation, "oneDNN");
  ConvChoice depthwise =
      ChooseConv({.shape = kEach, .ideep = ConvOnIdeep{.format = kNhwc}}, ConvTuning(""));
  depthwise.position = 1;
  EXPECT_EQ(KernelChoiceOf(depthwise).candidates[0].implementation, "built-in");
  EXPECT_EQ(KernelChoiceOf(depthwise).position, 1u);
}

}  // namespace
}  // namespace caffe2rt::test::conv_candidates_test
