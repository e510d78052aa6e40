#include "operators/conv/conv_choice.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "contexts/onednn/onednn_tensor.h"
#include "operators/common/channel_planes.h"
#include "operators/conv/conv_costs.h"
#include "operators/conv/ideep_conv.h"
#include "operators/primitives/float_lanes.h"

namespace caffe2rt {

namespace {

bool Contains(const std::vector<ConvCandidate>& list, ConvAlgorithm algorithm) {
  return std::any_of(list.begin(), list.end(),
                     [&](const ConvCandidate& c) { return c.algorithm == algorithm; });
}

// --- row-major tensors ---

std::vector<ConvAlgorithm> RuleOfThumb(const ConvShape& shape) {
  using enum ConvAlgorithm;
  if (shape.channels_last()) return {kOnednnPlain, kOnednnAny};
  std::vector<ConvAlgorithm> list;
  const WindowAxis& inner = shape.window.axis[static_cast<size_t>(shape.window.axes - 1)];
  if (shape.IsPointwise() && shape.in_group() >= 64) list.push_back(kGemm);
  if (inner.out >= 2 * kLanes && (shape.in_group() <= 32 || shape.out_group() <= 32)) {
    list.push_back(kPixels);
  }
  if (shape.MultiplyAdds() < 1e6) list.push_back(kChannels);
  list.insert(list.end(), {kOnednnLast, kOnednnBlocked, kOnednnAny, kPixels});
  return list;
}

// The model's estimate of what oneDNN computes between reorders.
std::optional<double> EstimateWithReorders(ConvAlgorithm algorithm, const ConvShape& shape,
                                           const ConvRates& rates) {
  if (shape.window.axes != 2 || shape.channels_last()) return std::nullopt;
  const auto count = [&](int64_t channels, int64_t size) {
    return static_cast<double>(shape.window.batch * channels * size);
  };
  const double x = ReorderMicroseconds(count(shape.window.channels, shape.window.in_size()), rates);
  const double y = ReorderMicroseconds(count(shape.out_channels, shape.window.out_size()), rates);
  const auto estimate = [&](ConvMethod method, double reorders) -> std::optional<double> {
    const ConvSize size = SizeOf(shape);
    if (!ConvMethodFits(size, method)) return std::nullopt;
    return ConvMicroseconds(size, method, rates) + reorders;
  };
  switch (algorithm) {
    case ConvAlgorithm::kOnednnLast:
      return estimate(ConvMethod::kNhwc, x + y);
    case ConvAlgorithm::kOnednnBlocked:
      return estimate(ConvMethod::kBlocked, x + y);
    case ConvAlgorithm::kOnednnMixed:
      return estimate(ConvMethod::kBlocked, y);
    default:
      return std::nullopt;
  }
}

class PlainChooser {
 public:
  PlainChooser(const ConvProblem& problem, const ConvRates& rates)
      : problem_(problem),
        rates_(rates),
        format_(problem.shape.channels_last() ? OnednnFormat::kNhwc : OnednnFormat::kNchw) {}

  ConvChoice Choose(const ConvTuning& tuning) {
    if (problem_.limits.any_machine) {
      Add(ConvAlgorithm::kIm2Col, ConvReason::kDeterministic);
      return std::move(choice_);
    }
    for (const ConvTuningRow* row : tuning.Near(problem_.shape, problem_.machine.isa)) {
      const bool same = IsSameShape(row->shape, problem_.shape);
      if (!same) AddWinograd();
      Add(row->algorithm, same ? ConvReason::kTable : ConvReason::kNearTable,
          same ? std::optional<double>(row->microseconds) : std::nullopt);
    }
    AddWinograd();
    for (const ConvAlgorithm algorithm : RuleOfThumb(problem_.shape)) {
      Add(algorithm, ConvReason::kRule);
    }
    Add(ConvAlgorithm::kIm2Col, ConvReason::kFallback);
    return std::move(choice_);
  }

 private:
  // Winograd on copies pays for batches, also if each run transforms the filter again, as in training. It
  // computes the same bits for every number of threads.
  void AddWinograd() {
    constexpr int64_t kLeastTiles = 64;
    constexpr double kMostTileFilling = 1.3;
    const ConvShape& shape = problem_.shape;
    if (shape.window.axes != 2 || shape.window.batch < 2 || shape.channels_last()) return;
    const ConvSize size = SizeOf(shape);
    if (!ConvMethodFits(size, ConvMethod::kWinograd)) return;
    const int64_t tiles = ((size.out_h + 3) / 4) * ((size.out_w + 3) / 4);
    const bool filled = static_cast<double>(16 * tiles) <=
                        kMostTileFilling * static_cast<double>(size.out_h * size.out_w);
    const bool fits = ConvFilterBytes(size, ConvMethod::kWinograd) <=
                      static_cast<double>(problem_.limits.winograd_filter_bytes);
    if (!filled || !fits || tiles * size.batch < kLeastTiles) return;
    Add(ConvAlgorithm::kCopiesWinograd, ConvReason::kRule);
  }

  void Add(ConvAlgorithm algorithm, ConvReason reason, std::optional<double> table_us = {}) {
    if (IsOnIdeep(algorithm) || Contains(choice_.candidates, algorithm) ||
        Contains(choice_.excluded, algorithm)) {
      return;
    }
    ConvCandidate candidate{.algorithm = algorithm,
                            .x = format_,
                            .y = format_,
                            .reason = reason,
                            .model_us = EstimateWithReorders(algorithm, problem_.shape, rates_),
                            .table_us = table_us};
    if (problem_.limits.deterministic && algorithm == ConvAlgorithm::kOnednnWinograd) {
      candidate.reason = ConvReason::kDeterministic;
      choice_.excluded.push_back(candidate);
      return;
    }
    // What runs instead of Winograd.
    if (choice_.candidates.empty() && !choice_.excluded.empty()) {
      candidate.reason = ConvReason::kDeterministic;
    }
    choice_.candidates.push_back(candidate);
  }

  const ConvProblem& problem_;
  const ConvRates& rates_;
  const OnednnFormat format_;
  ConvChoice choice_;
};

// --- IDEEP ---

// With AVX2, oneDNN has no optimized implementation for groups, nor for channels that do not fill
// its vectors of 8.
bool PointwisePays(const ConvShape& shape, Isa isa) {
  const bool fills = shape.in_group() % 8 == 0 && shape.out_group() % 8 == 0;
  return isa == Isa::kAvx2 && (shape.group > 1 || !fills);
}

// Whether the candidate may not run, however fast it is.
bool IsLimit(ConvReason reason) {
  return reason == ConvReason::kDeterministic || reason == ConvReason::kWinogradMemory;
}

class IdeepChooser {
 public:
  IdeepChooser(const ConvProblem& problem, const ConvRates& rates)
      : problem_(problem),
        rates_(rates),
        size_(SizeOf(problem.shape)),
        blocked_(problem.ideep->format == OnednnFormat::kBlocked16) {}

  ConvChoice Choose(const ConvTuning& tuning) {
    if (problem_.ideep->int8_speed > 0) AddInt8();
    if (problem_.limits.any_machine) {  // what remains is computed on row-major copies
      AddDepthwise();
      AddPointwise();
      return std::move(choice_);
    }
    if (problem_.ideep->bf16) {
      AddWinograd();
      AddBf16();
    }
    AddDepthwise();
    AddPointwise();
    if (!problem_.ideep->bf16) AddWinograd();
    AddDirect();
    ApplyTable(tuning);
    return std::move(choice_);
  }

 private:
  void Add(bool use, ConvAlgorithm algorithm, OnednnFormat x, OnednnFormat y, ConvReason reason,
           std::optional<double> model_us = {}) {
    (use ? choice_.candidates : choice_.excluded)
        .push_back(
            {.algorithm = algorithm, .x = x, .y = y, .reason = reason, .model_us = model_us});
  }

  void AddDepthwise() {
    if (!DepthwiseFits(problem_.shape, *problem_.ideep)) return;
    // The operators that follow could not use padded blocks.
    const bool fills = problem_.shape.window.channels % kChannelBlock == 0;
    const OnednnFormat format = fills ? problem_.ideep->format : OnednnFormat::kNhwc;
    Add(problem_.machine.isa != Isa::kPlain, ConvAlgorithm::kDepthwise, format, format,
        ConvReason::kRule);
  }

  void AddPointwise() {
    if (!problem_.shape.IsPointwise()) return;
    Add(problem_.limits.any_machine || PointwisePays(problem_.shape, problem_.machine.isa),
        ConvAlgorithm::kPointwise, OnednnFormat::kNhwc, OnednnFormat::kNhwc, ConvReason::kRule);
  }

  void AddWinograd() {
    if (!WinogradFits(problem_.shape, *problem_.ideep)) return;
    const bool bf16 = problem_.ideep->bf16;
    const double us = ConvMicroseconds(size_, ConvMethod::kWinograd, rates_) +
                      (bf16 && problem_.ideep->bf16_source ? ReorderOfX() : 0) +
                      (KeepsBf16() ? kConversionsOfY * ReorderOfY() : 0);
    const ConvMethod method = blocked_ ? ConvMethod::kBlocked : ConvMethod::kNhwc;
    const double direct = bf16 ? Bf16Us(method) : ConvMicroseconds(size_, method, rates_);
    const double margin = KeepsBf16() ? 1 : bf16 ? kWinogradMarginOverBf16 : kWinogradMargin;
    const bool pays = us < margin * direct;
    const ConvReason reason = pays ? LimitOnWinograd() : ConvReason::kModel;
    Add(pays && !IsLimit(reason), ConvAlgorithm::kWinograd, problem_.ideep->format,
        problem_.ideep->format, reason, us);
  }

  double CountOfX() const {
    const WindowGeometry& window = problem_.shape.window;
    return static_cast<double>(window.batch * window.channels * window.in_size());
  }
  // Whether all that read Y want it in bf16, which Winograd does not write. A Concat then converts the
  // other images that it joins, copies all of them, and what reads them converts once more. With several
  // threads these copies cost more than Winograd gains by its margin; with one, GoogLeNet, Inception and
  // ResNet-50 took 2 to 4 % longer without the margin.
  static constexpr double kConversionsOfY = 3;
  bool KeepsBf16() const {
    return problem_.ideep->bf16 && problem_.ideep->bf16_result && problem_.machine.threads > 1;
  }
  double ReorderOfY() const {
    const WindowGeometry& window = problem_.shape.window;
    return Bf16ReorderMicroseconds(
        static_cast<double>(window.batch * problem_.shape.out_channels * window.out_size()),
        rates_);
  }
  double ReorderOfX() const { return Bf16ReorderMicroseconds(CountOfX(), rates_); }
  double Bf16Us(ConvMethod method) const {
    return Bf16ConvMicroseconds(size_, method, rates_) +
           (problem_.ideep->bf16_source ? 0 : ReorderOfX());
  }

  void AddInt8() {
    const ConvOnIdeep& ideep = *problem_.ideep;
    const double us = Int8ConvMicroseconds(size_, ConvMethod::kNhwc, rates_, ideep.int8_speed) +
                      (ideep.int8_source ? 0 : QuantizeMicroseconds(CountOfX(), rates_));
    if (std::isinf(us)) return;
    const bool winograd =
        WinogradFits(problem_.shape, ideep) && LimitOnWinograd() == ConvReason::kModel;
    const double others =
        std::min({ConvMicroseconds(size_, ConvMethod::kNhwc, rates_),
                  ideep.bf16 ? Bf16Us(ConvMethod::kNhwc) : HUGE_VAL,
                  winograd ? ConvMicroseconds(size_, ConvMethod::kWinograd, rates_) : HUGE_VAL});
    (us < others ? choice_.candidates : choice_.excluded)
        .push_back({.algorithm = ConvAlgorithm::kOnednnDirect,
                    .x = OnednnFormat::kNhwc,
                    .y = OnednnFormat::kNhwc,
                    .int8 = true,
                    .reason = ConvReason::kPrecision,
                    .model_us = us});
  }

  void AddBf16() {
    using enum OnednnFormat;
    const auto add = [&](OnednnFormat x, OnednnFormat y, ConvMethod method) {
      const bool pays = Bf16Us(method) < ConvMicroseconds(size_, method, rates_);
      (pays ? choice_.candidates : choice_.excluded)
          .push_back({.algorithm = ConvAlgorithm::kOnednnDirect,
                      .x = x,
                      .y = y,
                      .bf16 = true,
                      .reason = ConvReason::kPrecision,
                      .model_us = Bf16Us(method)});
    };
    if (blocked_ && ConvMethodFits(size_, ConvMethod::kBlocked)) {
      add(BlockedConvReadsNchw(size_) ? kNchw : kBlocked16, kBlocked16, ConvMethod::kBlocked);
    }
    add(kNhwc, kNhwc, ConvMethod::kNhwc);
  }

  // The limit that excludes Winograd, or kModel.
  ConvReason LimitOnWinograd() const {
    if (problem_.limits.deterministic) return ConvReason::kDeterministic;
    const bool fits = ConvFilterBytes(size_, ConvMethod::kWinograd) <=
                      static_cast<double>(problem_.limits.winograd_filter_bytes);
    return fits ? ConvReason::kModel : ConvReason::kWinogradMemory;
  }

  void AddDirect() {
    using enum OnednnFormat;
    ConvReason reason = ConvReason::kFallback;
    if (choice_.candidates.empty()) {
      // Winograd, if it fits, is the last one.
      reason =
          choice_.excluded.empty() ? ConvReason::kOnlyCandidate : choice_.excluded.back().reason;
    }
    if (blocked_ && ConvMethodFits(size_, ConvMethod::kBlocked)) {
      Add(true, ConvAlgorithm::kOnednnDirect, BlockedConvReadsNchw(size_) ? kNchw : kBlocked16,
          kBlocked16, reason, ConvMicroseconds(size_, ConvMethod::kBlocked, rates_));
      reason = ConvReason::kFallback;
    }
    Add(true, ConvAlgorithm::kOnednnDirect, kNhwc, kNhwc, reason,
        ConvMicroseconds(size_, ConvMethod::kNhwc, rates_));
  }

  // Puts the algorithm of the table's row for this shape first, unless a limit excludes it.
  void ApplyTable(const ConvTuning& tuning) {
    for (const ConvTuningRow& row : tuning.rows()) {
      if (IsOnIdeep(row.algorithm) && row.isa == problem_.machine.isa &&
          IsSameShape(row.shape, problem_.shape) && MoveToFront(row)) {
        return;
      }
    }
  }

  bool MoveToFront(const ConvTuningRow& row) {
    for (auto* const list : {&choice_.candidates, &choice_.excluded}) {
      const auto found = std::find_if(list->begin(), list->end(), [&](const ConvCandidate& c) {
        return c.algorithm == row.algorithm;
      });
      if (found == list->end()) continue;
      if (row.algorithm == ConvAlgorithm::kWinograd && IsLimit(LimitOnWinograd())) return false;
      ConvCandidate candidate = *found;
      candidate.reason = ConvReason::kTable;
      candidate.table_us = row.microseconds;
      list->erase(found);
      choice_.candidates.insert(choice_.candidates.begin(), candidate);
      return true;
    }
    return false;
  }

  const ConvProblem& problem_;
  const ConvRates& rates_;
  const ConvSize size_;
  const bool blocked_;
  ConvChoice choice_;
};

bool IsOfOnednn(ConvAlgorithm algorithm) {
  return std::string_view(ConvAlgorithmName(algorithm)).starts_with("onednn_");
}

}  // namespace

const char* ConvReasonName(ConvReason reason) {
  switch (reason) {
    case ConvReason::kTable:
      return "table";
    case ConvReason::kNearTable:
      return "table, near shape";
    case ConvReason::kModel:
      return "model";
    case ConvReason::kRule:
      return "rule";
    case ConvReason::kOnlyCandidate:
      return "only candidate";
    case ConvReason::kFallback:
      return "fallback";
    case ConvReason::kDeterministic:
      return "deterministic";
    case ConvReason::kWinogradMemory:
      return "memory for Winograd";
    case ConvReason::kPrecision:
      return "precision";
  }
  return "unknown";
}

ConvChoice ChooseConv(const ConvProblem& problem, const ConvTuning& tuning) {
  Machine machine =
      problem.limits.deterministic ? problem.machine.WithOneThread() : problem.machine;
  if (problem.limits.any_machine) machine = Machine::Any();
  const ConvRates& rates = RatesOf(machine);
  if (problem.ideep) return IdeepChooser(problem, rates).Choose(tuning);
  return PlainChooser(problem, rates).Choose(tuning);
}

int64_t PiecesOfConv(const ConvShape& shape, bool deterministic) {
  // Below this number of multiply-adds, a second thread costs more than it saves.
  constexpr double kWorthCutting = 1e6;
  constexpr int64_t kDeterministicPieces = 4;
  if (shape.MultiplyAdds() < kWorthCutting) return 1;
  return deterministic ? kDeterministicPieces : GetNumThreads();
}

KernelChoice KernelChoiceOf(const ConvChoice& choice) {
  KernelChoice report{.position = choice.position};
  const auto add = [&](const ConvCandidate& candidate, bool excluded) {
    report.candidates.push_back({.algorithm = ConvAlgorithmName(candidate.algorithm),
                                 .implementation = candidate.int8                    ? "oneDNN int8"
                                                   : candidate.bf16                  ? "oneDNN bf16"
                                                   : IsOfOnednn(candidate.algorithm) ? "oneDNN"
                                                                                     : "built-in",
                                 .x_layout = OnednnFormatName(candidate.x),
                                 .y_layout = OnednnFormatName(candidate.y),
                                 .reason = ConvReasonName(candidate.reason),
                                 .excluded = excluded,
                                 .model_us = candidate.model_us,
                                 .table_us = candidate.table_us});
  };
  for (const ConvCandidate& candidate : choice.candidates) add(candidate, false);
  for (const ConvCandidate& candidate : choice.excluded) add(candidate, true);
  return report;
}

}  // namespace caffe2rt
