// A few neighbouring pixels are processed together. The squares of all of their channels go to a
// buffer, with a margin of zeros on both sides; the sum over a window then adds unaligned vectors of
// the buffer, so that it does not matter where blocks of channels end.

#include "operators/norm/lrn_planes.h"

#include <cmath>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "caffe2_core/base/simd_fma.h"
#include "caffe2_core/base/work_scope.h"
#include "operators/primitives/lanes.h"

namespace caffe2rt {

namespace {

using math::kLanes;
using math::Lanes;

constexpr int64_t kPixels = 8;  // processed together

// scale[i] = scale[i]^-beta for n floats, a multiple of 16.
void ToPower(int64_t n, float beta, float* scale) {
  for (int64_t i = 0; i < n; ++i) scale[i] = std::pow(scale[i], -beta);
}
// For the exponents that are common in nets, square roots suffice.
CAFFE2RT_SIMD_FMA void ToPowerOfRoots(int64_t n, float beta, float* scale) {
  if (beta == 0.75f) {
    for (int64_t i = 0; i < n; ++i) {
      const float root = __builtin_sqrtf(scale[i]);
      scale[i] = 1.0f / (root * __builtin_sqrtf(root));
    }
  } else {
    for (int64_t i = 0; i < n; ++i) scale[i] = 1.0f / __builtin_sqrtf(scale[i]);
  }
}

#if defined(__x86_64__)
// 1 / sqrt(x) to 2 units in the last place, for normal numbers: an estimate and one step of Newton's
// method.
CAFFE2RT_TARGET_AVX512 inline __m512 InverseRoot(__m512 x) {
  // The form without a mask makes g++ 12 warn of an uninitialized variable.
  const __m512 estimate = _mm512_maskz_rsqrt14_ps(0xffff, x);
  const __m512 half = _mm512_mul_ps(_mm512_set1_ps(0.5f), _mm512_mul_ps(x, estimate));
  return _mm512_mul_ps(estimate, _mm512_fnmadd_ps(half, estimate, _mm512_set1_ps(1.5f)));
}
// beta is 0.75 or 0.5. Roots and divisions would take most of the time of the operator.
CAFFE2RT_TARGET_AVX512 void ToPowerByEstimates(int64_t n, float beta, float* scale) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const __m512 x = _mm512_loadu_ps(scale + i);
    const __mmask16 normal = _mm512_cmp_ps_mask(x, _mm512_set1_ps(1e-30f), _CMP_GT_OQ) &
                             _mm512_cmp_ps_mask(x, _mm512_set1_ps(1e30f), _CMP_LT_OQ);
    if (normal != 0xffff) {
      ToPowerOfRoots(kLanes, beta, scale + i);
      continue;
    }
    __m512 power = InverseRoot(x);
    // x^-0.75 = x^-0.5 * x^-0.5 * x^0.25
    if (beta == 0.75f) power = _mm512_mul_ps(_mm512_mul_ps(power, power), InverseRoot(power));
    _mm512_storeu_ps(scale + i, power);
  }
}
#else
constexpr auto* ToPowerByEstimates = ToPowerOfRoots;
#endif

using PowerFunction = void(int64_t n, float beta, float* scale);
PowerFunction* PowerFunctionFor(float beta) {
  if (beta != 0.75f && beta != 0.5f) return ToPower;
  if (WorksForAnyMachine()) return ToPowerOfRoots;  // estimates differ between machines
  return PickByIsa<PowerFunction>(ToPowerByEstimates, ToPowerOfRoots, ToPowerOfRoots);
}

// The channels of a pixel as vectors of 16.
struct PixelVectors {
  int64_t vectors, stride;  // number of vectors and distance between them
  int64_t rest;             // channels in the last vector
  bool padded;              // the last vector has 16 floats, too
  CAFFE2RT_SIMD_INLINE bool IsPartial(int64_t v) const { return v + 1 == vectors && rest < kLanes; }
};

// The memory for kPixels pixels.
struct PixelBuffer {
  float* squares = nullptr;  // rows of `row` floats, whose margins are zero
  int64_t row = 0;
  alignas(64) float scale[kPixels * kLanes] = {};
};

struct NormalizePixels {
  // `n` pixels at distance `pixel`. scales may be null.
  CAFFE2RT_SIMD_INLINE void operator()(const PixelVectors* at, const LRNWindow* window,
                                       PowerFunction* power, int64_t n, int64_t pixel,
                                       PixelBuffer* buffer, const float* x, float* y,
                                       float* scales) const {
    const int64_t size = window->before + window->after + 1, row = buffer->row;
    Lanes v, scale, bias, alpha;
    math::Fill(window->bias, bias);
    math::Fill(window->alpha, alpha);
    for (int64_t i = 0; i < at->vectors; ++i) {
      for (int64_t p = 0; p < n; ++p) {
        LoadVector(*at, i, x + p * pixel, v);
        v *= v;
        math::Store(v, buffer->squares + p * row + window->before + i * kLanes);
      }
    }
    for (int64_t i = 0; i < at->vectors; ++i) {
      for (int64_t p = 0; p < n; ++p) {
        const float* const first = buffer->squares + p * row + i * kLanes;
        math::Load(first, scale);
        for (int64_t j = 1; j < size; ++j) {
          math::Load(first + j, v);
          scale += v;
        }
        scale = bias + alpha * scale;
        math::Store(scale, buffer->scale + p * kLanes);
        if (scales != nullptr) StoreVector(*at, i, scale, scales + p * pixel);
      }
      power(n * kLanes, window->beta, buffer->scale);
      for (int64_t p = 0; p < n; ++p) {
        LoadVector(*at, i, x + p * pixel, v);
        math::Load(buffer->scale + p * kLanes, scale);
        v *= scale;
        StoreVector(*at, i, v, y + p * pixel);
      }
    }
  }

 private:
  CAFFE2RT_SIMD_INLINE static void LoadVector(const PixelVectors& at, int64_t i, const float* x,
                                              Lanes& v) {
    if (at.IsPartial(i)) {
      math::LoadFirst(x + i * at.stride, at.rest, 0, v);
    } else {
      math::Load(x + i * at.stride, v);
    }
  }
  CAFFE2RT_SIMD_INLINE static void StoreVector(const PixelVectors& at, int64_t i, Lanes& v,
                                               float* y) {
    if (!at.IsPartial(i)) {
      math::Store(v, y + i * at.stride);
    } else if (at.padded) {
      for (int64_t k = at.rest; k < kLanes; ++k) v[k] = 0;
      math::Store(v, y + i * at.stride);
    } else {
      math::StoreFirst(v, at.rest, y + i * at.stride);
    }
  }
};

}  // namespace

void NormalizeLocally(const ChannelPlanes& planes, const LRNWindow& window, const float* x,
                      std::vector<float>* scratch, float* y, float* scale) {
  constexpr int64_t kCost = 8;
  const int64_t vectors = planes.vectors(), pixels = planes.pixels(), count = planes.batch * pixels;
  const PixelVectors vectors_at{vectors, planes.vector_stride(),
                                planes.channels - (vectors - 1) * kLanes, planes.blocked};
  // A window may be longer than the channels; the rest of it adds zeros.
  LRNWindow inside = window;
  inside.before = std::min(window.before, planes.channels);
  inside.after = std::min(window.after, planes.channels);
  const int64_t row = (vectors + 1) * kLanes + inside.before + inside.after;
  const int ranges = CountRanges(count, planes.padded_channels(), kCost);
  scratch->assign(static_cast<size_t>(ranges * kPixels * row), 0.0f);
  PowerFunction* const power = PowerFunctionFor(window.beta);
  ForEachOfRanges(ranges, count, [&](int i, int64_t first, int64_t last) {
    PixelBuffer buffer{.squares = scratch->data() + i * kPixels * row, .row = row};
    for (int64_t n = 0; first < last; first += n) {
      const int64_t image = first / pixels, pixel = first % pixels;
      n = std::min({kPixels, last - first, pixels - pixel});
      const int64_t at = image * planes.image_size() + pixel * planes.lanes();
      RunSimd(NormalizePixels{}, &vectors_at, &inside, power, n, planes.lanes(), &buffer, x + at,
              y + at, scale == nullptr ? nullptr : scale + at);
    }
  });
}

}  // namespace caffe2rt
