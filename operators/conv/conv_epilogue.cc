#include "operators/conv/conv_epilogue.h"

#include <algorithm>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/base/thread_pool.h"
#include "operators/primitives/elementary.h"

namespace caffe2rt {

namespace {

// With fewer elements than this, a second thread costs more than it saves.
constexpr int64_t kEpilogueWorthCutting = 32768;

struct EpilogueName {
  const char* type;
  ConvActivation activation;
};
constexpr EpilogueName kEpilogueNames[] = {
    {"", ConvActivation::kNone},     {"Relu", ConvActivation::kRelu},
    {"Clip", ConvActivation::kClip}, {"LeakyRelu", ConvActivation::kLeakyRelu},
    {"Elu", ConvActivation::kElu},   {"Sigmoid", ConvActivation::kSigmoid},
    {"Tanh", ConvActivation::kTanh}, {"Swish", ConvActivation::kSwish}};

template <ConvActivation kActivation>
CAFFE2RT_SIMD_INLINE inline float Activated(float x, const ConvEpilogue& epilogue) {
  if constexpr (kActivation == ConvActivation::kRelu) return x < 0.0f ? 0.0f : x;
  if constexpr (kActivation == ConvActivation::kClip) {
    const float raised = x < epilogue.min ? epilogue.min : x;
    return raised > epilogue.max ? epilogue.max : raised;
  }
  if constexpr (kActivation == ConvActivation::kLeakyRelu) {
    return x < 0.0f ? epilogue.alpha * x : x;
  }
  if constexpr (kActivation == ConvActivation::kElu) {
    return x < 0.0f ? epilogue.alpha * (math::Exp(x) - 1.0f) : x;
  }
  if constexpr (kActivation == ConvActivation::kSigmoid) return math::Logistic(x);
  if constexpr (kActivation == ConvActivation::kTanh) return math::Tanh(x);
  if constexpr (kActivation == ConvActivation::kSwish) return x * math::Logistic(x);
  return x;
}

template <ConvActivation kActivation>
struct EpilogueLoop {
  ConvEpilogue epilogue;
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const float* s, float* y) const {
    if (epilogue.sum) {
      CAFFE2RT_SIMD_LOOP
      for (int64_t i = 0; i < n; ++i) y[i] = Activated<kActivation>(y[i] + s[i], epilogue);
    } else {
      CAFFE2RT_SIMD_LOOP
      for (int64_t i = 0; i < n; ++i) y[i] = Activated<kActivation>(y[i], epilogue);
    }
  }
};

void RunEpilogueRange(const ConvEpilogue& epilogue, int64_t n, const float* s, float* y) {
  using enum ConvActivation;
  switch (epilogue.activation) {
    case kNone:
      return RunSimd(EpilogueLoop<kNone>{epilogue}, n, s, y);
    case kRelu:
      return RunSimd(EpilogueLoop<kRelu>{epilogue}, n, s, y);
    case kClip:
      return RunSimd(EpilogueLoop<kClip>{epilogue}, n, s, y);
    case kLeakyRelu:
      return RunSimd(EpilogueLoop<kLeakyRelu>{epilogue}, n, s, y);
    case kElu:
      return RunSimd(EpilogueLoop<kElu>{epilogue}, n, s, y);
    case kSigmoid:
      return RunSimd(EpilogueLoop<kSigmoid>{epilogue}, n, s, y);
    case kTanh:
      return RunSimd(EpilogueLoop<kTanh>{epilogue}, n, s, y);
    case kSwish:
      return RunSimd(EpilogueLoop<kSwish>{epilogue}, n, s, y);
  }
}

}  // namespace

bool ParseConvActivation(const std::string& type, ConvActivation* activation) {
  for (const EpilogueName& name : kEpilogueNames) {
    if (type != name.type) continue;
    *activation = name.activation;
    return true;
  }
  return false;
}

bool SetBounds(const ConvEpilogue& epilogue, float* lowest, float* highest) {
  *lowest = -std::numeric_limits<float>::infinity();
  *highest = std::numeric_limits<float>::infinity();
  switch (epilogue.activation) {
    case ConvActivation::kNone:
      return true;
    case ConvActivation::kRelu:
      *lowest = 0;
      return true;
    case ConvActivation::kClip:
      *lowest = epilogue.min;
      *highest = epilogue.max;
      return true;
    default:
      return false;
  }
}

void DeclareConvEpilogue(OpSchema& schema) {
  schema.Args(kFusedActivation, kFusedMin, kFusedMax, kFusedAlpha, kFusedSum);
}

ConvEpilogue ReadConvEpilogue(const ArgumentHelper& args) {
  ConvEpilogue epilogue;
  (void)ParseConvActivation(args.Read(kFusedActivation), &epilogue.activation);
  epilogue.min = args.Read(kFusedMin);
  epilogue.max = args.Read(kFusedMax);
  epilogue.alpha = args.Read(kFusedAlpha);
  epilogue.sum = args.Read(kFusedSum) != 0;
  return epilogue;
}

void RunConvEpilogue(const ConvEpilogue& epilogue, int64_t count, const float* s, float* y) {
  if (epilogue.empty()) return;
  const int64_t pieces = count < kEpilogueWorthCutting ? 1 : GetNumThreads();
  ParallelFor(static_cast<int>(pieces), [&](int i) {
    const int64_t first = count * i / pieces, last = count * (i + 1) / pieces;
    RunEpilogueRange(epilogue, last - first, s != nullptr ? s + first : nullptr, y + first);
  });
}

}  // namespace caffe2rt
