#include "operators/conv/byte_depthwise_tiles.h"

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/isa.h"
#include "operators/conv/onednn_int8.h"
#include "operators/primitives/float_lanes.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace caffe2rt {

namespace {

#if defined(__x86_64__)

#define CAFFE2RT_BYTE_AVX2 [[gnu::always_inline]] inline __attribute__((target("avx2,fma")))
#define CAFFE2RT_BYTE_VNNI      \
  [[gnu::always_inline]] inline \
      __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")))

// --- 16 channels ---

struct Bytes16 {
  using Vector = __m128i;
  using Floats = __m128;
  static constexpr int kLanes = 16;

  CAFFE2RT_BYTE_AVX2 static Vector Load(const void* from) {
    return _mm_loadu_si128(static_cast<const Vector*>(from));
  }
  CAFFE2RT_BYTE_AVX2 static void Store(void* to, Vector bytes) {
    _mm_storeu_si128(static_cast<Vector*>(to), bytes);
  }
  CAFFE2RT_BYTE_AVX2 static void Interleave(const Vector* columns, Vector* taps) {
    const Vector low = _mm_unpacklo_epi8(columns[0], columns[1]);
    const Vector high = _mm_unpackhi_epi8(columns[0], columns[1]);
    const Vector low2 = _mm_unpacklo_epi8(columns[2], columns[3]);
    const Vector high2 = _mm_unpackhi_epi8(columns[2], columns[3]);
    taps[0] = _mm_unpacklo_epi16(low, low2);
    taps[1] = _mm_unpackhi_epi16(low, low2);
    taps[2] = _mm_unpacklo_epi16(high, high2);
    taps[3] = _mm_unpackhi_epi16(high, high2);
  }
  CAFFE2RT_BYTE_AVX2 static Floats Scale(Vector sum, const float* factor, const float* offset,
                                         float lowest, float highest) {
    const Floats y = _mm_fmadd_ps(_mm_cvtepi32_ps(sum), _mm_loadu_ps(factor), _mm_loadu_ps(offset));
    return _mm_min_ps(_mm_max_ps(y, _mm_set1_ps(lowest)), _mm_set1_ps(highest));
  }
  CAFFE2RT_BYTE_AVX2 static Vector Round(Floats y, int32_t zero_point) {
    return _mm_add_epi32(_mm_cvtps_epi32(y), _mm_set1_epi32(zero_point));
  }
  // Undoes the interleaving.
  CAFFE2RT_BYTE_AVX2 static Vector Pack(const Vector* numbers) {
    return _mm_packus_epi16(_mm_packs_epi32(numbers[0], numbers[1]),
                            _mm_packs_epi32(numbers[2], numbers[3]));
  }
  CAFFE2RT_BYTE_AVX2 static void StoreFloats(char* y, const Floats* values) {
    for (int i = 0; i < 4; ++i) _mm_storeu_ps(reinterpret_cast<float*>(y) + 4 * i, values[i]);
  }
  // The upper half of each float, rounded to even.
  CAFFE2RT_BYTE_AVX2 static Vector UpperHalf(Floats y) {
    const Vector bits = _mm_castps_si128(y);
    const Vector odd = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(1));
    return _mm_srli_epi32(_mm_add_epi32(_mm_add_epi32(bits, _mm_set1_epi32(0x7fff)), odd), 16);
  }
  CAFFE2RT_BYTE_AVX2 static void StoreBfloat16s(char* y, const Floats* values) {
    for (int i = 0; i < 4; i += 2) {
      Store(y + 8 * i, _mm_packus_epi32(UpperHalf(values[i]), UpperHalf(values[i + 1])));
    }
  }
};

// --- 32 channels ---

struct Bytes32 {
  using Vector = __m256i;
  using Floats = __m256;
  static constexpr int kLanes = 32;

  CAFFE2RT_BYTE_AVX2 static Vector Load(const void* from) {
    return _mm256_loadu_si256(static_cast<const Vector*>(from));
  }
  CAFFE2RT_BYTE_AVX2 static void Store(void* to, Vector bytes) {
    _mm256_storeu_si256(static_cast<Vector*>(to), bytes);
  }
  CAFFE2RT_BYTE_AVX2 static void Interleave(const Vector* columns, Vector* taps) {
    const Vector low = _mm256_unpacklo_epi8(columns[0], columns[1]);
    const Vector high = _mm256_unpackhi_epi8(columns[0], columns[1]);
    const Vector low2 = _mm256_unpacklo_epi8(columns[2], columns[3]);
    const Vector high2 = _mm256_unpackhi_epi8(columns[2], columns[3]);
    taps[0] = _mm256_unpacklo_epi16(low, low2);
    taps[1] = _mm256_unpackhi_epi16(low, low2);
    taps[2] = _mm256_unpacklo_epi16(high, high2);
    taps[3] = _mm256_unpackhi_epi16(high, high2);
  }
  CAFFE2RT_BYTE_AVX2 static Floats Scale(Vector sum, const float* factor, const float* offset,
                                         float lowest, float highest) {
    const Floats y =
        _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), _mm256_loadu_ps(factor), _mm256_loadu_ps(offset));
    return _mm256_min_ps(_mm256_max_ps(y, _mm256_set1_ps(lowest)), _mm256_set1_ps(highest));
  }
  CAFFE2RT_BYTE_AVX2 static Vector Round(Floats y, int32_t zero_point) {
    return _mm256_add_epi32(_mm256_cvtps_epi32(y), _mm256_set1_epi32(zero_point));
  }
  CAFFE2RT_BYTE_AVX2 static Vector Pack(const Vector* numbers) {
    return _mm256_packus_epi16(_mm256_packs_epi32(numbers[0], numbers[1]),
                               _mm256_packs_epi32(numbers[2], numbers[3]));
  }
  CAFFE2RT_BYTE_AVX2 static void StoreFloats(char* y, const Floats* values) {
    float* const to = reinterpret_cast<float*>(y);
    for (int i = 0; i < 4; ++i) {
      _mm_storeu_ps(to + 4 * i, _mm256_castps256_ps128(values[i]));
      _mm_storeu_ps(to + 16 + 4 * i, _mm256_extractf128_ps(values[i], 1));
    }
  }
  CAFFE2RT_BYTE_AVX2 static Vector UpperHalf(Floats y) {
    const Vector bits = _mm256_castps_si256(y);
    const Vector odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_srli_epi32(
        _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd), 16);
  }
  CAFFE2RT_BYTE_AVX2 static void StoreBfloat16s(char* y, const Floats* values) {
    for (int i = 0; i < 4; i += 2) {
      const Vector halves = _mm256_packus_epi32(UpperHalf(values[i]), UpperHalf(values[i + 1]));
      Bytes16::Store(y + 8 * i, _mm256_castsi256_si128(halves));
      Bytes16::Store(y + 32 + 8 * i, _mm256_extracti128_si256(halves, 1));
    }
  }
};

// --- 64 channels ---

struct Bytes64 {
  using Vector = __m512i;
  using Floats = __m512;
  static constexpr int kLanes = 64;

  CAFFE2RT_BYTE_VNNI static Vector Load(const void* from) { return _mm512_loadu_si512(from); }
  CAFFE2RT_BYTE_VNNI static void Store(void* to, Vector bytes) { _mm512_storeu_si512(to, bytes); }
  CAFFE2RT_BYTE_VNNI static void Interleave(const Vector* columns, Vector* taps) {
    const Vector low = _mm512_unpacklo_epi8(columns[0], columns[1]);
    const Vector high = _mm512_unpackhi_epi8(columns[0], columns[1]);
    const Vector low2 = _mm512_unpacklo_epi8(columns[2], columns[3]);
    const Vector high2 = _mm512_unpackhi_epi8(columns[2], columns[3]);
    taps[0] = _mm512_unpacklo_epi16(low, low2);
    taps[1] = _mm512_unpackhi_epi16(low, low2);
    taps[2] = _mm512_unpacklo_epi16(high, high2);
    taps[3] = _mm512_unpackhi_epi16(high, high2);
  }
  // With masks, because GCC 12 warns of the undefined register in the plain forms.
  CAFFE2RT_BYTE_VNNI static Floats Scale(Vector sum, const float* factor, const float* offset,
                                         float lowest, float highest) {
    const Floats y = _mm512_fmadd_ps(_mm512_maskz_cvtepi32_ps(0xffff, sum), _mm512_loadu_ps(factor),
                                     _mm512_loadu_ps(offset));
    const Floats above = _mm512_maskz_max_ps(0xffff, y, _mm512_set1_ps(lowest));
    return _mm512_maskz_min_ps(0xffff, above, _mm512_set1_ps(highest));
  }
  CAFFE2RT_BYTE_VNNI static Vector Round(Floats y, int32_t zero_point) {
    return _mm512_add_epi32(_mm512_maskz_cvtps_epi32(0xffff, y), _mm512_set1_epi32(zero_point));
  }
  CAFFE2RT_BYTE_VNNI static Vector Pack(const Vector* numbers) {
    return _mm512_packus_epi16(_mm512_packs_epi32(numbers[0], numbers[1]),
                               _mm512_packs_epi32(numbers[2], numbers[3]));
  }
  CAFFE2RT_BYTE_VNNI static void StoreFloats(char* y, const Floats* values) {
    alignas(64) float lanes[16];
    float* const to = reinterpret_cast<float*>(y);
    for (int i = 0; i < 4; ++i) {
      _mm512_store_ps(lanes, values[i]);
      for (int lane = 0; lane < 4; ++lane) {
        _mm_storeu_ps(to + 16 * lane + 4 * i, _mm_load_ps(lanes + 4 * lane));
      }
    }
  }
  CAFFE2RT_BYTE_VNNI static Vector UpperHalf(Floats y) {
    const Vector bits = _mm512_castps_si512(y);
    const Vector upper = _mm512_maskz_srli_epi32(0xffff, bits, 16);
    const Vector odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
    const Vector rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
    return _mm512_maskz_srli_epi32(0xffff, rounded, 16);
  }
  CAFFE2RT_BYTE_VNNI static void StoreBfloat16s(char* y, const Floats* values) {
    alignas(64) char lanes[64];
    for (int i = 0; i < 4; i += 2) {
      Store(lanes, _mm512_packus_epi32(UpperHalf(values[i]), UpperHalf(values[i + 1])));
      for (int lane = 0; lane < 4; ++lane) {
        Bytes16::Store(y + 32 * lane + 8 * i, Bytes16::Load(lanes + 16 * lane));
      }
    }
  }
  CAFFE2RT_BYTE_VNNI static Vector Dot(Vector sum, Vector bytes, Vector weights) {
    return _mm512_dpbusd_epi32(sum, bytes, weights);
  }
};

// --- the sums of four products ---

// The products of two taps are added in 16 bits, which the filter must allow (int8_filter.h).
struct Avx2Bytes16 : Bytes16 {
  CAFFE2RT_BYTE_AVX2 static Vector Dot(Vector sum, Vector bytes, Vector weights) {
    const Vector pairs = _mm_maddubs_epi16(bytes, weights);
    return _mm_add_epi32(sum, _mm_madd_epi16(pairs, _mm_set1_epi16(1)));
  }
};
struct Avx2Bytes32 : Bytes32 {
  CAFFE2RT_BYTE_AVX2 static Vector Dot(Vector sum, Vector bytes, Vector weights) {
    const Vector pairs = _mm256_maddubs_epi16(bytes, weights);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};
struct VnniBytes16 : Bytes16 {
  CAFFE2RT_BYTE_VNNI static Vector Dot(Vector sum, Vector bytes, Vector weights) {
    return _mm_dpbusd_epi32(sum, bytes, weights);
  }
};
struct VnniBytes32 : Bytes32 {
  CAFFE2RT_BYTE_VNNI static Vector Dot(Vector sum, Vector bytes, Vector weights) {
    return _mm256_dpbusd_epi32(sum, bytes, weights);
  }
};

namespace avx2 {
#define CAFFE2RT_BYTE_TARGET __attribute__((target("avx2,fma")))
#include "operators/conv/byte_depthwise_tile.inc"
#undef CAFFE2RT_BYTE_TARGET
}  // namespace avx2

namespace vnni {
#define CAFFE2RT_BYTE_TARGET \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")))
#include "operators/conv/byte_depthwise_tile.inc"
#undef CAFFE2RT_BYTE_TARGET
}  // namespace vnni

#endif

}  // namespace

#if defined(__x86_64__)

int64_t ByteTileLanes() {
  // Asking oneDNN takes longer than computing a tile.
  static const int64_t lanes = CpuIsa() == Isa::kPlain ? 0 : AddsBytesExactly() ? 64 : 32;
  return lanes;
}

RunByteTiles* FindByteTiles(int64_t lanes, int64_t kernel, int64_t stride, int pixels,
                            ByteResult result, bool border) {
  if (AddsBytesExactly()) {
    if (lanes == 64) return vnni::FindTilesOf<Bytes64>(kernel, stride, pixels, result, border);
    if (lanes == 32) return vnni::FindTilesOf<VnniBytes32>(kernel, stride, pixels, result, border);
    return vnni::FindTilesOf<VnniBytes16>(kernel, stride, pixels, result, border);
  }
  if (lanes == 32) return avx2::FindTilesOf<Avx2Bytes32>(kernel, stride, pixels, result, border);
  return avx2::FindTilesOf<Avx2Bytes16>(kernel, stride, pixels, result, border);
}

#else

int64_t ByteTileLanes() { return 0; }

RunByteTiles* FindByteTiles(int64_t, int64_t, int64_t, int, ByteResult, bool) {
  CAFFE_THROW("depthwise convolutions of bytes are for x86-64");
}

#endif

}  // namespace caffe2rt
