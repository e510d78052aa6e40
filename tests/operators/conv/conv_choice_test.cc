// Which algorithm computes a convolution, and why; and what `deterministic` promises.
#include "operators/conv/conv_choice.h"

#include <absl/strings/str_cat.h>

#include <cstring>

#include "caffe2_core/runtime/net.h"
#include "operators/common/fused_activation.h"
#include "operators/conv/conv_costs.h"
#include "operators/conv/conv_plan.h"
#include "operators/conv/ideep_conv.h"
#include "operators/primitives/onednn_reorder.h"
#include "tests/operators/conv/conv_combinations.h"
#include "tests/support/activation_formulas.h"

namespace caffe2rt::test::conv_choice_test {
namespace {

using enum ConvAlgorithm;
using enum ConvReason;
using enum OnednnFormat;

// --- the choice ---

// Odd sizes of kernels are padded so that Y has the size of X, with stride 1.
ConvShape ShapeOfConv(int64_t channels, int64_t filters, int64_t size, int64_t kernel,
                      int64_t stride = 1, int64_t group = 1) {
  return ShapeOf({.batch = 1,
                  .channels = channels,
                  .height = size,
                  .width = size,
                  .filters = filters,
                  .kernel_h = kernel,
                  .kernel_w = kernel,
                  .stride_h = stride,
                  .stride_w = stride,
                  .top = kernel / 2,
                  .left = kernel / 2,
                  .bottom = kernel / 2,
                  .right = kernel / 2,
                  .group = group},
                 false);
}

// With one thread and AVX-512, the model estimates:
//   kWide: direct 231e6 / (0.93 * 170e3) = 1462 us
//          Winograd 36 * 196 tiles * (2 * 64 * 64 / 103e3 + 4 * (64 + 64) / 29e3) = 561 + 125 us
//          and 590e3 / 56e3 = 11 us for its filter
//   kDeep: direct 1462 us, Winograd 733 + 20 us and 37.7e6 / 56e3 = 674 us for its filter: shorter, but
//          not by 5 %
//   kSmall: direct 30 us, Winograd 11 + 3 us and 11 us for its filter
// with two threads
//   kSmall: direct 21 us, Winograd 7 + 3 us and 16 us for its filter
// and with AVX2 and one thread
//   kDeep: direct 2762 us, Winograd 1218 + 29 us and 786 us for its filter
const ConvShape kWide = ShapeOfConv(64, 64, 56, 3);
const ConvShape kDeep = ShapeOfConv(512, 512, 7, 3);
const ConvShape kSmall = ShapeOfConv(64, 64, 8, 3);
const ConvShape kStrided = ShapeOfConv(64, 64, 56, 3, 2);
const ConvShape kImage = ShapeOfConv(3, 32, 56, 3, 2);
const ConvShape kOdd = ShapeOfConv(60, 60, 28, 1);
const ConvShape kEach = ShapeOfConv(64, 64, 28, 3, 1, 64);     // depthwise
const ConvShape kOddEach = ShapeOfConv(60, 60, 28, 3, 1, 60);  // depthwise
const ConvShape kGroups = ShapeOfConv(64, 64, 28, 1, 1, 4);    // pointwise in groups of 16
constexpr int64_t kWideFilter = 36 * 64 * 64 * 4;              // bytes, prepared for Winograd

std::string Row(Isa isa, const ConvShape& shape, ConvAlgorithm algorithm, double us) {
  return ConvTuningLine({isa, shape, algorithm, us});
}

struct IdeepState {
  const char* name;
  ConvShape shape;
  Isa isa = Isa::kAvx512;
  int threads = 1;
  OnednnFormat format = kNhwc;
  ConvLimits limits = {};
  std::string table = {};
  const char* activation = "";
  // Expected.
  ConvAlgorithm algorithm;
  OnednnFormat x, y;
  ConvReason reason;
};

Activation ActivationOf(const std::string& name) {
  const OperatorDef op = ParseOp("type: \"ConvFusion\" " + FormulaOf(name).Text());
  return ReadActivation(ArgumentHelper(op));
}

ConvProblem ProblemOf(const IdeepState& state, int threads) {
  return {
      .shape = state.shape,
      .limits = state.limits,
      .ideep = ConvOnIdeep{.format = state.format, .activation = ActivationOf(state.activation)},
      .machine = {.isa = state.isa, .threads = threads}};
}

std::vector<IdeepState> IdeepStates() {
  using enum Isa;
  const ConvLimits deterministic{.deterministic = true};
  return {
      // clang-format off
      {.name = "model", .shape = kWide, .algorithm = kWinograd, .x = kNhwc, .y = kNhwc, .reason = kModel},
      {.name = "model, blocks", .shape = kWide, .format = kBlocked16,
       .algorithm = kWinograd, .x = kBlocked16, .y = kBlocked16, .reason = kModel},
      {.name = "Winograd is slower", .shape = kDeep, .algorithm = kOnednnDirect, .x = kNhwc, .y = kNhwc, .reason = kModel},
      {.name = "Winograd is faster with AVX2", .shape = kDeep, .isa = kAvx2,
       .algorithm = kWinograd, .x = kNhwc, .y = kNhwc, .reason = kModel},
      {.name = "one thread", .shape = kSmall, .algorithm = kWinograd, .x = kNhwc, .y = kNhwc, .reason = kModel},
      {.name = "two threads", .shape = kSmall, .threads = 2, .algorithm = kOnednnDirect, .x = kNhwc, .y = kNhwc, .reason = kModel},
      {.name = "two threads, deterministic", .shape = kSmall, .threads = 2, .limits = deterministic,
       .algorithm = kOnednnDirect, .x = kNhwc, .y = kNhwc, .reason = kDeterministic},
      {.name = "deterministic", .shape = kWide, .limits = deterministic,
       .algorithm = kOnednnDirect, .x = kNhwc, .y = kNhwc, .reason = kDeterministic},
      {.name = "deterministic, Winograd is slower", .shape = kDeep, .limits = deterministic,
       .algorithm = kOnednnDirect, .x = kNhwc, .y = kNhwc, .reason = kModel},
      {.name = "memory suffices", .shape = kWide, .limits = {.winograd_filter_bytes = kWideFilter},
       .algorithm = kWinograd, .x = kNhwc, .y = kNhwc, .reason = kModel},
      {.name = "memory", .shape = kWide, .limits = {.winograd_filter_bytes = kWideFilter - 1},
       .algorithm = kOnednnDirect, .x = kNhwc, .y = kNhwc, .reason = kWinogradMemory},
      {.name = "Winograd lacks the activation", .shape = kWide, .activation = "Elu",
       .algorithm = kOnednnDirect, .x = kNhwc, .y = kNhwc, .reason = kOnlyCandidate},
      {.name = "stride", .shape = kStrided, .algorithm = kOnednnDirect, .x = kNhwc, .y = kNhwc, .reason = kOnlyCandidate},
      {.name = "stride, blocks", .shape = kStrided, .format = kBlocked16,
       .algorithm = kOnednnDirect, .x = kBlocked16, .y = kBlocked16, .reason = kOnlyCandidate},
      {.name = "few channels, blocks", .shape = kImage, .format = kBlocked16,
       .algorithm = kOnednnDirect, .x = kNchw, .y = kBlocked16, .reason = kOnlyCandidate},
      {.name = "channels that do not fill blocks", .shape = kOdd, .format = kBlocked16,
       .algorithm = kOnednnDirect, .x = kNhwc, .y = kNhwc, .reason = kRule},
      {.name = "the same with AVX2", .shape = kOdd, .isa = kAvx2,
       .algorithm = kPointwise, .x = kNhwc, .y = kNhwc, .reason = kRule},
      {.name = "depthwise", .shape = kEach, .format = kBlocked16,
       .algorithm = kDepthwise, .x = kBlocked16, .y = kBlocked16, .reason = kRule},
      {.name = "depthwise, AVX2", .shape = kEach, .isa = kAvx2, .algorithm = kDepthwise, .x = kNhwc, .y = kNhwc, .reason = kRule},
      {.name = "depthwise, odd channels", .shape = kOddEach, .format = kBlocked16,
       .algorithm = kDepthwise, .x = kNhwc, .y = kNhwc, .reason = kRule},
      {.name = "depthwise, plain", .shape = kEach, .isa = kPlain,
       .algorithm = kOnednnDirect, .x = kNhwc, .y = kNhwc, .reason = kRule},
      {.name = "depthwise lacks the activation", .shape = kEach, .activation = "Elu",
       .algorithm = kOnednnDirect, .x = kNhwc, .y = kNhwc, .reason = kOnlyCandidate},
      {.name = "groups", .shape = kGroups, .algorithm = kOnednnDirect, .x = kNhwc, .y = kNhwc, .reason = kRule},
      {.name = "groups, AVX2", .shape = kGroups, .isa = kAvx2, .algorithm = kPointwise, .x = kNhwc, .y = kNhwc, .reason = kRule},
      {.name = "the table beats the model", .shape = kWide, .table = Row(kAvx512, kWide, kOnednnDirect, 5),
       .algorithm = kOnednnDirect, .x = kNhwc, .y = kNhwc, .reason = kTable},
      {.name = "the table wants what the model excludes", .shape = kDeep, .table = Row(kAvx512, kDeep, kWinograd, 5),
       .algorithm = kWinograd, .x = kNhwc, .y = kNhwc, .reason = kTable},
      {.name = "the table beats a rule", .shape = kGroups, .table = Row(kAvx512, kGroups, kPointwise, 5),
       .algorithm = kPointwise, .x = kNhwc, .y = kNhwc, .reason = kTable},
      {.name = "the first row counts", .shape = kWide,
       .table = Row(kAvx512, kWide, kOnednnDirect, 5) + Row(kAvx512, kWide, kWinograd, 1),
       .algorithm = kOnednnDirect, .x = kNhwc, .y = kNhwc, .reason = kTable},
      {.name = "a limit beats the table", .shape = kDeep, .limits = deterministic, .table = Row(kAvx512, kDeep, kWinograd, 5),
       .algorithm = kOnednnDirect, .x = kNhwc, .y = kNhwc, .reason = kModel},
      {.name = "row of another instruction set", .shape = kWide, .table = Row(kAvx2, kWide, kOnednnDirect, 5),
       .algorithm = kWinograd, .x = kNhwc, .y = kNhwc, .reason = kModel},
      {.name = "row of a near shape", .shape = kWide, .table = Row(kAvx512, ShapeOfConv(64, 80, 56, 3), kOnednnDirect, 5),
       .algorithm = kWinograd, .x = kNhwc, .y = kNhwc, .reason = kModel},
      {.name = "row for row-major tensors", .shape = kWide, .table = Row(kAvx512, kWide, kIm2Col, 5),
       .algorithm = kWinograd, .x = kNhwc, .y = kNhwc, .reason = kModel},
      // clang-format on
  };
}

TEST(ConvChoiceTest, ChoosesOnIdeep) {
  for (const IdeepState& state : IdeepStates()) {
    SCOPED_TRACE(state.name);
    const ConvChoice choice = ChooseConv(ProblemOf(state, state.threads), ConvTuning(state.table));
    const ConvCandidate& first = choice.candidates[0];
    EXPECT_STREQ(ConvAlgorithmName(first.algorithm), ConvAlgorithmName(state.algorithm));
    EXPECT_STREQ(ConvReasonName(first.reason), ConvReasonName(state.reason));
    EXPECT_EQ(first.x, state.x);
    EXPECT_EQ(first.y, state.y);
    EXPECT_EQ(first.table_us, state.reason == kTable ? std::optional<double>(5) : std::nullopt);
  }
}

struct PlainState {
  const char* name;
  ConvShape shape;
  bool deterministic = false;
  std::string table = {};
  ConvAlgorithm algorithm;
  ConvReason reason;
};

ConvShape Batch(int64_t images, ConvShape shape) {
  shape.window.batch = images;
  return shape;
}

std::vector<PlainState> PlainStates() {
  using enum Isa;
  const ConvShape near = ShapeOfConv(64, 96, 56, 3), far = ShapeOfConv(64, 64 * 64, 56, 3);
  const std::string winograd = Row(kAvx512, kWide, kOnednnWinograd, 12.5);
  return {
      // clang-format off
      {.name = "table", .shape = kWide, .table = winograd, .algorithm = kOnednnWinograd, .reason = kTable},
      {.name = "near shape", .shape = near, .table = winograd, .algorithm = kOnednnWinograd, .reason = kNearTable},
      {.name = "far shape", .shape = far, .table = winograd, .algorithm = kOnednnLast, .reason = kRule},
      {.name = "another instruction set", .shape = kWide, .table = Row(kAvx2, kWide, kOnednnWinograd, 1),
       .algorithm = kOnednnLast, .reason = kRule},
      {.name = "deterministic", .shape = kWide, .deterministic = true, .table = winograd,
       .algorithm = kOnednnLast, .reason = kDeterministic},
      {.name = "deterministic, next row", .shape = kWide, .deterministic = true, .table = winograd + Row(kAvx512, near, kPixels, 1),
       .algorithm = kPixels, .reason = kDeterministic},
      {.name = "deterministic, no Winograd", .shape = kWide, .deterministic = true, .table = Row(kAvx512, kWide, kPixels, 1) + winograd,
       .algorithm = kPixels, .reason = kTable},
      {.name = "row for IDEEP", .shape = kWide, .table = Row(kAvx512, kWide, kWinograd, 1), .algorithm = kOnednnLast, .reason = kRule},
      {.name = "pointwise", .shape = ShapeOfConv(64, 64, 28, 1), .algorithm = kGemm, .reason = kRule},
      {.name = "few channels", .shape = ShapeOfConv(3, 32, 56, 3), .algorithm = kPixels, .reason = kRule},
      {.name = "batch", .shape = Batch(8, kWide), .algorithm = kCopiesWinograd, .reason = kRule},
      {.name = "batch, deterministic", .shape = Batch(8, kWide), .deterministic = true, .algorithm = kCopiesWinograd, .reason = kRule},
      {.name = "batch, near shape", .shape = Batch(8, kWide), .table = winograd, .algorithm = kCopiesWinograd, .reason = kRule},
      {.name = "batch, table", .shape = Batch(8, kWide), .table = Row(kAvx512, Batch(8, kWide), kPixels, 1), .algorithm = kPixels, .reason = kTable},
      {.name = "batch of few tiles", .shape = Batch(15, ShapeOfConv(64, 64, 8, 3)), .algorithm = kOnednnLast, .reason = kRule},
      {.name = "batch of 64 tiles", .shape = Batch(16, ShapeOfConv(64, 64, 8, 3)), .algorithm = kCopiesWinograd, .reason = kRule},
      {.name = "batch of tiles that are mostly padding", .shape = Batch(80, ShapeOfConv(64, 64, 5, 3)), .algorithm = kOnednnLast, .reason = kRule},
      {.name = "batch with a stride", .shape = Batch(8, kStrided), .algorithm = kOnednnLast, .reason = kRule},
      // clang-format on
  };
}

// With two threads, kWide: direct in bf16 593 us, Winograd 501 us, and 3 * 15 us to convert Y. The other one:
// 139 us, 145 us and 3 * 7 us. Winograd is overestimated (conv_costs.h), but what reads Y would convert it.
TEST(ConvChoiceTest, WinogradMustPayForConvertingWhatWouldBeKeptInBf16) {
  const ConvShape narrow = ShapeOfConv(32, 128, 27, 3);
  const auto choose = [](const ConvShape& shape, bool kept, int threads = 2) {
    const ConvProblem problem{
        .shape = shape,
        .ideep =
            ConvOnIdeep{
                .format = kBlocked16, .bf16 = true, .bf16_result = kept, .bf16_source = true},
        .machine = {.isa = Isa::kAvx512, .threads = threads}};
    return ChooseConv(problem, ConvTuning("")).candidates[0].algorithm;
  };
  EXPECT_EQ(choose(kWide, false), kWinograd);
  EXPECT_EQ(choose(kWide, true), kWinograd);
  EXPECT_EQ(choose(narrow, false), kWinograd);
  EXPECT_EQ(choose(narrow, true), kOnednnDirect);
  EXPECT_EQ(choose(narrow, true, 1), kWinograd);
}

TEST(ConvChoiceTest, ChoosesForRowMajorTensors) {
  for (const PlainState& state : PlainStates()) {
    SCOPED_TRACE(state.name);
    for (const int threads : {1, 2}) {
      const ConvChoice choice = ChooseConv({.shape = state.shape,
                                            .limits = {.deterministic = state.deterministic},
                                            .machine = {.isa = Isa::kAvx512, .threads = threads}},
                                           ConvTuning(state.table));
      const ConvCandidate& first = choice.candidates[0];
      EXPECT_STREQ(ConvAlgorithmName(first.algorithm), ConvAlgorithmName(state.algorithm));
      EXPECT_STREQ(ConvReasonName(first.reason), ConvReasonName(state.reason));
      EXPECT_EQ(choice.candidates.back().algorithm, kIm2Col);
      for (const ConvCandidate& candidate : choice.candidates) {
        EXPECT_FALSE(state.deterministic && candidate.algorithm == kOnednnWinograd);
      }
    }
  }
}

TEST(ConvChoiceTest, DeterministicChoicesIgnoreTheNumberOfThreads) {
  for (IdeepState state : IdeepStates()) {
    SCOPED_TRACE(state.name);
    state.limits.deterministic = true;
    const ConvTuning table(state.table);
    const KernelChoice one = KernelChoiceOf(ChooseConv(ProblemOf(state, 1), table));
    for (const int threads : {2, 3, 64}) {
      const KernelChoice other = KernelChoiceOf(ChooseConv(ProblemOf(state, threads), table));
      ASSERT_EQ(other.candidates.size(), one.candidates.size());
      for (size_t i = 0; i < one.candidates.size(); ++i) {
        EXPECT_EQ(other.candidates[i].algorithm, one.candidates[i].algorithm);
        EXPECT_EQ(other.candidates[i].model_us, one.candidates[i].model_us);
      }
    }
  }
}

// --- the model ---

TEST(ConvCostsTest, ReportsWhatEachMethodSupports) {
  const ConvSize deep = SizeOf(kWide);
  for (const auto method : {ConvMethod::kNhwc, ConvMethod::kBlocked, ConvMethod::kWinograd}) {
    EXPECT_TRUE(ConvMethodFits(deep, method));
  }
  EXPECT_FALSE(ConvMethodFits(SizeOf(kStrided), ConvMethod::kWinograd));
  ConvSize groups = deep;  // of 20 channels
  groups.in_channels = groups.out_channels = 60;
  groups.group = 3;
  EXPECT_FALSE(ConvMethodFits(groups, ConvMethod::kBlocked));
  EXPECT_TRUE(ConvMethodFits(groups, ConvMethod::kNhwc));
  EXPECT_EQ(ConvFilterBytes(deep, ConvMethod::kWinograd),
            4 * ConvFilterBytes(deep, ConvMethod::kNhwc));
}

TEST(ConvCostsTest, EveryMachineHasRates) {
  for (const Isa isa : {Isa::kPlain, Isa::kAvx2, Isa::kAvx512}) {
    const ConvRates& one = RatesOf({.isa = isa, .threads = 1});
    const ConvRates& several = RatesOf({.isa = isa, .threads = 2});
    EXPECT_GT(several.flops_per_us, one.flops_per_us) << IsaName(isa);
    EXPECT_GT(one.winograd_flops_per_us, 0) << IsaName(isa);
    EXPECT_EQ(RatesOf({.isa = isa, .threads = 16}), several) << IsaName(isa);
  }
  EXPECT_GT(RatesOf({.isa = Isa::kAvx512}).flops_per_us, RatesOf({.isa = Isa::kAvx2}).flops_per_us);
}

TEST(ConvCostsTest, EstimatesTheFastestAlgorithmOfALayout) {
  const Machine machine{.isa = Isa::kAvx512, .threads = 1};
  const ConvRates& rates = RatesOf(machine);
  const ConvLayoutTimes any = EstimateConvLayouts(SizeOf(kWide), machine, false);
  EXPECT_EQ(any.nhwc_us, ConvMicroseconds(SizeOf(kWide), ConvMethod::kWinograd, rates));
  EXPECT_EQ(any.blocked_us, any.nhwc_us);
  const ConvLayoutTimes direct = EstimateConvLayouts(SizeOf(kWide), machine, true);
  EXPECT_EQ(direct.nhwc_us, ConvMicroseconds(SizeOf(kWide), ConvMethod::kNhwc, rates));
  EXPECT_EQ(direct.blocked_us, ConvMicroseconds(SizeOf(kWide), ConvMethod::kBlocked, rates));
  // oneDNN has blocks of 16 channels with AVX-512 only.
  EXPECT_EQ(EstimateConvLayouts(SizeOf(kWide), {.isa = Isa::kAvx2}, true).blocked_us, HUGE_VAL);
}

// --- what operators state ---

TEST(KernelChoiceTest, ConvolutionsStateWhatTheyRun) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 64, 56, 56}, -1, 1, 1);
  FeedRandom(&ws, "W", {64, 64, 3, 3}, -1, 1, 2);
  NetBase* const net = ws.CreateNet(ParseNet(R"(name: "n"
      op { type: "Conv" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 3 } }
      op { type: "CopyFromCPUInput" input: "X" output: "x" device_option { device_type: 5 } }
      op { type: "Conv" input: "x" input: "W" output: "y" arg { name: "kernel" i: 3 }
           arg { name: "deterministic" i: 1 } device_option { device_type: 5 } }
      op { type: "Relu" input: "Y" output: "Y" })"));
  const std::vector<OperatorBase*> operators = net->GetOperators();
  for (const OperatorBase* op : operators) EXPECT_FALSE(KernelOf(*op));
  ASSERT_TRUE(net->Run());
  const std::optional<KernelChoice> plain = KernelOf(*operators[0]),
                                    ideep = KernelOf(*operators[2]);
  ASSERT_TRUE(plain && ideep);
  EXPECT_EQ(plain->taken().x_layout, "nchw");
  EXPECT_FALSE(plain->taken().excluded);
  EXPECT_EQ(ideep->taken().algorithm, "onednn_direct");
  EXPECT_EQ(ideep->taken().implementation, "oneDNN");
  EXPECT_EQ(ideep->taken().y_layout, "nhwc");
  EXPECT_EQ(ideep->taken().reason, "deterministic");
  EXPECT_EQ(ideep->candidates.back().algorithm, "winograd");
  EXPECT_TRUE(ideep->candidates.back().excluded);
  EXPECT_FALSE(KernelOf(*operators[3]));
}

// 36 transformed weights for each pair of channels.
TEST(KernelChoiceTest, ConvolutionsOnIdeepKeepToTheMemoryForWinograd) {
  for (const char* const type : {"Conv", "ConvFusion"}) {
    for (const bool fits : {true, false}) {
      SCOPED_TRACE(absl::StrCat(type, " ", fits));
      Workspace ws;
      FeedRandom(&ws, "X", {1, 64, 56, 56}, -1, 1, 1);
      FeedRandom(&ws, "W", {64, 64, 3, 3}, -1, 1, 2);
      NetBase* const net = ws.CreateNet(ParseNet(absl::StrCat(
          R"(name: "n"
             op { type: "CopyFromCPUInput" input: "X" output: "x" device_option { device_type: 5 } }
             op { type: ")",
          type, R"(" input: "x" input: "W" output: "y" arg { name: "kernel" i: 3 }
             device_option { device_type: 5 } arg { name: "winograd_filter_bytes" i: )",
          36 * 64 * 64 * 4 - (fits ? 0 : 1), " } }")));
      ASSERT_TRUE(net->Run());
      const std::optional<KernelChoice> choice = KernelOf(*net->GetOperators()[1]);
      ASSERT_TRUE(choice);
      EXPECT_EQ(choice->taken().reason == "memory for Winograd", !fits);
      EXPECT_EQ(choice->candidates.back().algorithm == "winograd" &&
                    choice->candidates.back().excluded &&
                    choice->candidates.back().reason == "memory for Winograd",
                !fits);
    }
  }
}

TEST(KernelChoiceTest, ConvolutionsThatNothingOnIdeepSupportsAreComputedOnCopies) {
  // Windows that lie entirely in the padding. Y has 105 elements.
  const NaiveImage p = CombinedImage({16, 7, 3, 5}, kConvWindows[6], 1);
  const ConvOnIdeep ideep{.format = kNhwc, .activation = Elu{.alpha = 1}, .sum = true};
  const ConvProblem problem{.shape = ShapeOf(p, false), .ideep = ideep};
  ConvChoice choice = ChooseConv(problem, *GetConvTuning());
  const size_t on_ideep = choice.candidates.size();
  Tensor x({p.batch, p.channels, p.height, p.width}, CPU), on_device(IDEEP);
  std::fill_n(x.mutable_data<float>(), x.numel(), 1.f);
  on_device.CopyFrom(x);
  const auto conv = NewIdeepConv(problem, on_device, &choice);
  Tensor filter({7, 16, 3, 1}, CPU);
  std::fill_n(filter.mutable_data<float>(), filter.numel(), 0.f);
  std::vector<float> y(105 + 64, -77.f);
  std::fill_n(y.data(), 105, 2.f);
  conv->Run(on_device, filter, nullptr, y.data());
  EXPECT_EQ(std::count(y.begin(), y.begin() + 105, 2.f), 105);
  EXPECT_EQ(std::count(y.begin() + 105, y.end(), -77.f), 64);
  EXPECT_EQ(conv->layout(), nullptr);
  EXPECT_GE(choice.position, on_ideep);
  EXPECT_FALSE(IsOnIdeep(choice.taken().algorithm));
}

// --- bytes ---

struct DeterministicCase {
  ConvBody body;
  ConvWindow window;
};
// Work that is divided among threads in each way, with many terms in a sum.
const DeterministicCase kDeterministicCases[] = {
    {{512, 512, 7, 7}, kConvWindows[0]},      {{256, 64, 14, 13}, kConvWindows[0]},
    {{512, 256, 7, 7}, kConvWindows[1]},      {{128, 64, 13, 11}, kConvWindows[3]},
    {{256, 256, 5, 7}, kConvWindows[3]},      {{64, 48, 29, 30}, kConvWindows[2]},
    {{128, 256, 6, 5}, kConvWindows[7]},      {{3, 64, 40, 41}, kConvWindows[7]},
    {{40, 24, 17, 16, 2}, kConvWindows[3]},   {{64, 64, 21, 20, 2}, kConvWindows[0]},
    {{96, 96, 21, 20, 96}, kConvWindows[3]},  {{1024, 1000, 1, 1}, kConvWindows[0]},
    {{128, 128, 14, 13, 4}, kConvWindows[3]}, {{128, 128, 14, 13, 8}, kConvWindows[2]},
    {{128, 256, 14, 13, 4}, kConvWindows[0]}, {{512, 512, 14, 13, 32}, kConvWindows[3]},
    {{96, 96, 41, 40, 3}, kConvWindows[3]},   {{96, 96, 41, 40, 3}, kConvWindows[0]},
    {{1024, 512, 14, 14}, kConvWindows[0]},   {{2048, 40, 3, 3}, kConvWindows[0]},
    {{60, 72, 28, 28}, kConvWindows[3]},
};

// Elu excludes the built-in kernels.
std::vector<float> RunOnIdeep(const NaiveImage& p, const ConvInputs& t, OnednnFormat format,
                              const Activation& activation = NoActivation()) {
  Tensor plain({p.batch, p.channels, p.height, p.width}, CPU), x(IDEEP), y(IDEEP), result(CPU);
  std::copy(t.x.begin(), t.x.end(), plain.mutable_data<float>());
  const dnnl::memory::desc desc = DescIn(format, plain.dims());
  Reorder(DescIn(kNchw, plain.dims()), plain.data<float>(), desc,
          PrepareOutput(&x, plain.dims(), OnednnLayout::New(desc)));
  Tensor filter({p.filters, p.channels / p.group, p.kernel_h, p.kernel_w}, CPU);
  std::copy(t.filter.begin(), t.filter.end(), filter.mutable_data<float>());
  const ConvProblem problem{.shape = ShapeOf(p, true),
                            .limits = {.deterministic = true},
                            .ideep = ConvOnIdeep{.format = format, .activation = activation}};
  ConvChoice choice = ChooseConv(problem, *GetConvTuning());
  const auto conv = NewIdeepConv(problem, x, &choice);
  conv->Run(x, filter, t.bias_data(),
            PrepareOutput(&y, {p.batch, p.filters, p.out_h(), p.out_w()}, conv->layout()));
  result.CopyFrom(y);
  return {result.data<float>(), result.data<float>() + result.numel()};
}

std::vector<float> RunOnCpu(const NaiveImage& p, const ConvInputs& t) {
  Tensor filter(std::vector<int64_t>{static_cast<int64_t>(t.filter.size())}, CPU);
  std::copy(t.filter.begin(), t.filter.end(), filter.mutable_data<float>());
  std::vector<float> y(static_cast<size_t>(p.batch * p.filters * p.out_h() * p.out_w()));
  ConvPlan(ShapeOf(p, true), {.deterministic = true})
      .Run(t.x.data(), filter, t.bias_data(), y.data());
  return y;
}

class DeterministicConvTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, DeterministicConvTest, testing::Values(2, 3, 4));

TEST_P(DeterministicConvTest, GivesTheBytesOfOneThreadWithThreads) {
  for (const DeterministicCase& c : kDeterministicCases) {
    for (const int64_t batch : {1, 2, 3}) {
      const NaiveImage p = CombinedImage(c.body, c.window, batch);
      SCOPED_TRACE(DescribeConv(p, GetParam()));
      const ConvInputs t(p, true);
      const auto run = [&](int threads) {
        const ThreadsOfTest scope(threads);
        return std::vector<std::vector<float>>{RunOnCpu(p, t), RunOnIdeep(p, t, kNhwc),
                                               RunOnIdeep(p, t, kBlocked16),
                                               RunOnIdeep(p, t, kNhwc, Elu{.alpha = 1}),
                                               RunOnIdeep(p, t, kBlocked16, Elu{.alpha = 1})};
      };
      const auto one = run(1), several = run(GetParam());
      constexpr const char* kPlaces[] = {"row-major", "NHWC", "blocks", "NHWC, Elu", "blocks, Elu"};
      for (size_t i = 0; i < one.size(); ++i) {
        ASSERT_EQ(one[i].size(), several[i].size());
        EXPECT_EQ(std::memcmp(one[i].data(), several[i].data(), one[i].size() * sizeof(float)), 0)
            << kPlaces[i];
      }
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::conv_choice_test
