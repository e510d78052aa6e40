#pragma once
// The choice of the algorithm for a convolution on the CPU and on IDEEP: lists what can compute it,
// asks the table of timings (conv_tuning.h), then the model (conv_costs.h), and states the reasons.
//
//   const ConvChoice choice = ChooseConv({.shape = shape}, *GetConvTuning());
//   for (const ConvCandidate& candidate : choice.candidates) ...  // the first that works is used
//
// The choice is a pure function of its arguments. The number of threads has an effect only if
// ConvLimits::deterministic is not set.

#include <cstdint>
#include <optional>
#include <vector>

#include "caffe2_core/base/machine.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/base/work_scope.h"
#include "caffe2_core/runtime/kernel_choice.h"
#include "contexts/onednn/onednn_quantization.h"
#include "operators/conv/conv_kernel.h"
#include "operators/conv/conv_tuning.h"
#include "operators/primitives/activation.h"

namespace caffe2rt {

enum class OnednnFormat;  // contexts/onednn/onednn_tensor.h

// What may not be chosen.
struct ConvLimits {
  // Exclude oneDNN's Winograd and that on IDEEP, and choose the same for every number of threads.
  bool deterministic = false;
  // Choose the same on all machines, algorithms with the same results on them (base/work_scope.h).
  bool any_machine = WorksForAnyMachine();
  // On IDEEP, the maximum number of bytes of the prepared filter for which Winograd is chosen, which
  // stores a 3x3 filter four times.
  int64_t winograd_filter_bytes = INT64_MAX;
};

// A convolution on IDEEP. Its shape is NCHW with two axes.
struct ConvOnIdeep {
  // The layout that Y should have, kNhwc or kBlocked16. Y gets another one if the algorithm or the
  // number of channels does not suit it.
  OnednnFormat format;
  // What follows the convolution in the same operator.
  Activation activation = {};
  bool sum = false;
  // Whether X and the filter may be rounded to bf16, whether Y should then be kept in bf16, and
  // whether X is bf16 already.
  bool bf16 = false, bf16_result = false, bf16_source = false;
  // X and the filter may be quantized to bytes, whose products are added this many times as fast as
  // those of floats. 0: they may not.
  double int8_speed = 0;
  // Whether Y should then be quantized, and whether X is so already.
  bool int8_result = false, int8_source = false;
  OnednnQuantization x_quantization = {}, y_quantization = {};
};

struct ConvProblem {
  ConvShape shape;
  ConvLimits limits = {};
  std::optional<ConvOnIdeep> ideep = {};  // empty: X and Y are row-major
  Machine machine = {.isa = CpuIsa(), .threads = GetNumThreads()};
};

enum class ConvReason {
  kTable,           // the table has a row for this shape
  kNearTable,       // the table has a row for a near shape of the same kind
  kModel,           // by the estimates of the model
  kRule,            // by a rule for the kind of shape and the instruction set
  kOnlyCandidate,   // nothing else computes the shape in the wanted layout
  kFallback,        // for shapes that the candidates before it do not support
  kDeterministic,   // Winograd would be used, but is not deterministic
  kWinogradMemory,  // Winograd would be used, but its filter is too large
  kPrecision,       // bf16 or int8 is asked for, and faster by the estimates of the model
};
// Such as "table" and "deterministic".
const char* ConvReasonName(ConvReason reason);

struct ConvCandidate {
  ConvAlgorithm algorithm = ConvAlgorithm::kIm2Col;
  // The layouts in which it reads X and writes Y. X in another layout is converted.
  OnednnFormat x, y;
  bool bf16 = false;  // X and the filter are rounded to bf16
  bool int8 = false;  // X and the filter are quantized to bytes
  // Why it is used if those before it do not support the shape, or why it is excluded.
  ConvReason reason = ConvReason::kRule;
  std::optional<double> model_us = {};  // the estimate; empty if the model does not cover it
  std::optional<double> table_us = {};  // empty if the table has no row for this shape
};

struct ConvChoice {
  // Best first. For row-major tensors, the last one supports every shape.
  std::vector<ConvCandidate> candidates;
  std::vector<ConvCandidate> excluded = {};  // never used
  size_t position = 0;  // of the candidate that is used; set by those who try them

  const ConvCandidate& taken() const { return candidates[position]; }
};

ConvChoice ChooseConv(const ConvProblem& problem, const ConvTuning& tuning);

// The number of pieces into which a plan divides the work if it can: the number of threads, or, with
// `deterministic`, a number that depends on the shape alone. The sizes of a piece may change the order
// in which GEMM and oneDNN add.
int64_t PiecesOfConv(const ConvShape& shape, bool deterministic);

// For reports.
KernelChoice KernelChoiceOf(const ConvChoice& choice);

}  // namespace caffe2rt
