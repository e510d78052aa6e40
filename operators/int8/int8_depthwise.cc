#include "operators/int8/int8_depthwise.h"

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/isa.h"
#include "operators/primitives/wrapping.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace caffe2rt {

namespace {

// The pixels under the filter and the filters of all channels. Taps are added in pairs: vpmaddwd
// multiplies two taps of a channel and adds their products, which cannot overflow, because one
// factor is a byte. An odd last tap is paired with itself, with a weight of 0.
struct DepthwiseTaps {
  const uint8_t* const* taps;
  int64_t count;
  const int16_t* weights;  // [pairs][channels][2]
  int64_t channels;
  const int32_t* start;

  const uint8_t* second(int64_t t) const { return taps[t + 1 < count ? t + 1 : t]; }
};

void AddPlainTaps(const DepthwiseTaps& in, int64_t first, int32_t* sums) {
  std::copy(in.start + first, in.start + in.channels, sums + first);
  const int16_t* weights = in.weights;
  for (int64_t t = 0; t < in.count; t += 2, weights += 2 * in.channels) {
    const uint8_t *a = in.taps[t], *b = in.second(t);
    for (int64_t c = first; c < in.channels; ++c) {
      const int32_t products = a[c] * weights[2 * c] + b[c] * weights[2 * c + 1];
      sums[c] = math::WrappingAdd(sums[c], products);
    }
  }
}

#if defined(__x86_64__)

// The sums of kVectors * 8 channels stay in registers while the taps are added.
template <int kVectors>
CAFFE2RT_TARGET_AVX2 void AddAvx2Taps(const DepthwiseTaps& in, int64_t first, int32_t* sums) {
  __m256i total[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    total[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in.start + first + 8 * v));
  }
  const int16_t* weights = in.weights + 2 * first;
  for (int64_t t = 0; t < in.count; t += 2, weights += 2 * in.channels) {
    const uint8_t *a = in.taps[t] + first, *b = in.second(t) + first;
    for (int v = 0; v < kVectors; ++v) {
      const __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(a + 8 * v));
      const __m128i y = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(b + 8 * v));
      const __m256i pairs = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(x, y));
      const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + 16 * v));
      total[v] = _mm256_add_epi32(total[v], _mm256_madd_epi16(pairs, w));
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + first + 8 * v), total[v]);
  }
}

// The same for kVectors * 16 channels.
template <int kVectors>
CAFFE2RT_TARGET_AVX512 void AddAvx512Taps(const DepthwiseTaps& in, int64_t first, int32_t* sums) {
  __m512i total[kVectors];
  for (int v = 0; v < kVectors; ++v) total[v] = _mm512_loadu_si512(in.start + first + 16 * v);
  const int16_t* weights = in.weights + 2 * first;
  for (int64_t t = 0; t < in.count; t += 2, weights += 2 * in.channels) {
    const uint8_t *a = in.taps[t] + first, *b = in.second(t) + first;
    for (int v = 0; v < kVectors; ++v) {
      // With masks, because GCC 12 warns of the undefined register in the plain forms.
      const __m512i x = _mm512_maskz_cvtepu8_epi32(
          0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + 16 * v)));
      const __m512i y = _mm512_maskz_cvtepu8_epi32(
          0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + 16 * v)));
      const __m512i pairs = _mm512_or_si512(x, _mm512_maskz_slli_epi32(0xffff, y, 16));
      const __m512i w = _mm512_loadu_si512(weights + 32 * v);
      total[v] = _mm512_add_epi32(total[v], _mm512_madd_epi16(pairs, w));
    }
  }
  for (int v = 0; v < kVectors; ++v) _mm512_storeu_si512(sums + first + 16 * v, total[v]);
}

void AddTaps(const DepthwiseTaps& in, int32_t* sums) {
  int64_t c = 0;
  const Isa isa = CpuIsa();
  if (isa == Isa::kAvx512) {
    for (; c + 64 <= in.channels; c += 64) AddAvx512Taps<4>(in, c, sums);
    for (; c + 16 <= in.channels; c += 16) AddAvx512Taps<1>(in, c, sums);
  }
  if (isa != Isa::kPlain) {
    for (; c + 32 <= in.channels; c += 32) AddAvx2Taps<4>(in, c, sums);
    for (; c + 8 <= in.channels; c += 8) AddAvx2Taps<1>(in, c, sums);
  }
  if (c < in.channels) AddPlainTaps(in, c, sums);
}

#else

void AddTaps(const DepthwiseTaps& in, int32_t* sums) { AddPlainTaps(in, 0, sums); }

#endif

int64_t PairsOf(int64_t taps) { return taps / 2 + taps % 2; }

}  // namespace

size_t Int8DepthwiseBytes(int64_t channels, int64_t taps) {
  constexpr int64_t kPairBytes = 2 * sizeof(int16_t);
  const int64_t channel = CheckedAdd<int64_t>(CheckedMultiply<int64_t>(PairsOf(taps), kPairBytes),
                                              static_cast<int64_t>(sizeof(int32_t)));
  return static_cast<size_t>(CheckedMultiply(channels, channel));
}

void PackInt8Depthwise(int64_t channels, int64_t taps, const uint8_t* data, int32_t zero_point,
                       void* form) {
  auto* const totals = static_cast<int32_t*>(form);
  auto* const weights = reinterpret_cast<int16_t*>(totals + channels);
  std::fill(weights, weights + 2 * PairsOf(taps) * channels, int16_t{0});
  for (int64_t c = 0; c < channels; ++c) {
    totals[c] = 0;
    for (int64_t t = 0; t < taps; ++t) {
      const int32_t weight = data[c * taps + t] - zero_point;
      weights[(t / 2 * channels + c) * 2 + t % 2] = static_cast<int16_t>(weight);
      totals[c] = math::WrappingAdd(totals[c], weight);
    }
  }
}

void Int8DepthwiseWeights::Multiply(const uint8_t* const* taps, const int32_t* start,
                                    int32_t* sums) const {
  const auto* const weights =
      reinterpret_cast<const int16_t*>(static_cast<const int32_t*>(form_) + channels_);
  AddTaps({.taps = taps, .count = taps_, .weights = weights, .channels = channels_, .start = start},
          sums);
}

}  // namespace caffe2rt
