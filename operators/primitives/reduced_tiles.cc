// Compiled without contraction of products and sums, so that all instruction sets round alike.

#include "operators/primitives/reduced_tiles.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "caffe2_core/base/isa.h"
#include "operators/primitives/float_lanes.h"
#include "operators/primitives/reduced_rows.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace caffe2rt {

namespace {

constexpr int kQuad = 4;
constexpr int kPair = 2;

ReducedRow ConvertPlainWords(int64_t k, const float* a, void* to) {
  auto* const words = static_cast<int16_t*>(to);
  const ReducedRow row = QuantizationOf(RangeOfPlain(k, a, {}));
  QuantizePlain(row, k, a, words);
  std::fill(words + k, words + (k + kPair - 1) / kPair * kPair, int16_t{0});
  return row;
}

constexpr int kPlainWidth = 8;

template <int kRows>
void PlainWordsTile(const ReducedTile& tile) {
  for (int r = 0; r < kRows; ++r) {
    const auto* const a = reinterpret_cast<const int16_t*>(tile.a + r * tile.a_stride);
    const auto* b = reinterpret_cast<const int8_t*>(tile.b);
    int32_t sums[kPlainWidth] = {};
    for (int64_t g = 0; g < tile.groups; ++g, b += kPair * kPlainWidth) {
      for (int c = 0; c < kPlainWidth; ++c) {
        sums[c] += a[kPair * g] * b[kPair * c] + a[kPair * g + 1] * b[kPair * c + 1];
      }
    }
    const ReducedRow& row = tile.rows[r];
    for (int c = 0; c < kPlainWidth; ++c) {
      const float factor = tile.scales[c] * row.scale;
      float value = static_cast<float>(sums[c] - row.zero * tile.sums[c]) * factor + tile.bias[c];
      value = value < tile.lowest ? tile.lowest : value;
      tile.c[r * tile.ldc + c] = value > tile.highest ? tile.highest : value;
    }
  }
}

constexpr ReducedTiles kPlainWords = {
    kPlainWidth,
    4,
    kPair,
    sizeof(int16_t),
    sizeof(int8_t),
    {PlainWordsTile<1>, PlainWordsTile<2>, PlainWordsTile<3>, PlainWordsTile<4>},
    ConvertPlainWords};

#if defined(__x86_64__)

#define CAFFE2RT_TARGET_WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2")))
#define CAFFE2RT_TARGET_VNNI \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2")))
#define CAFFE2RT_TARGET_BF16 \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2")))

// Four bytes that are broadcast to all lanes of a vector.
[[gnu::always_inline]] inline int32_t FourBytes(const char* from) {
  int32_t four;
  std::memcpy(&four, from, sizeof(four));
  return four;
}

// With masks, because GCC 12 warns of the undefined register in the plain forms.
constexpr __mmask16 kAll = 0xffff;

// The first `count` lanes.
constexpr __mmask16 First(int64_t count) {
  return count >= 16 ? kAll : static_cast<__mmask16>((1 << count) - 1);
}

// Sums of 32 bits. GCC keeps arrays of them in registers, and those of __m512i in memory as well.
typedef int32_t Sums16 __attribute__((vector_size(64)));
typedef int32_t Sums8 __attribute__((vector_size(32)));

CAFFE2RT_TARGET_WIDE RowRange RangeOfWide(int64_t k, const float* a) {
  const __m512 largest = _mm512_set1_ps(std::numeric_limits<float>::max());
  __m512 low = _mm512_setzero_ps(), high = low;
  __mmask16 finite = kAll;
  for (int64_t i = 0; i < k; i += 16) {
    const __m512 v = _mm512_maskz_loadu_ps(First(k - i), a + i);
    low = _mm512_maskz_min_ps(kAll, v, low);
    high = _mm512_maskz_max_ps(kAll, v, high);
    // False for NaN.
    finite &= _mm512_cmp_ps_mask(_mm512_abs_ps(v), largest, _CMP_LE_OQ);
  }
  RowRange range = {.low = 0, .high = 0, .finite = finite == kAll};
  alignas(64) float lows[16], highs[16];
  _mm512_store_ps(lows, low);
  _mm512_store_ps(highs, high);
  for (int i = 0; i < 16; ++i) {
    range.low = std::min(range.low, lows[i]);
    range.high = std::max(range.high, highs[i]);
  }
  return range;
}

// Numbers 0 to 255 for 16 floats.
[[gnu::always_inline]] CAFFE2RT_TARGET_WIDE inline __m512i QuantizeWide(__m512 v, __m512 inverse,
                                                                        __m512i zero) {
  const __m512i rounded = _mm512_maskz_cvtps_epi32(kAll, _mm512_mul_ps(v, inverse));
  const __m512i q = _mm512_add_epi32(rounded, zero);
  return _mm512_maskz_min_epi32(kAll, _mm512_maskz_max_epi32(kAll, q, _mm512_setzero_si512()),
                                _mm512_set1_epi32(255));
}

CAFFE2RT_TARGET_WIDE ReducedRow ConvertWideBytes(int64_t k, const float* a, void* to) {
  const ReducedRow row = QuantizationOf(RangeOfWide(k, a));
  auto* const bytes = static_cast<uint8_t*>(to);
  const int64_t padded = (k + kQuad - 1) / kQuad * kQuad;
  if (std::isnan(row.scale)) {
    std::fill(bytes, bytes + padded, uint8_t{0});
    return row;
  }
  const __m512 inverse = _mm512_set1_ps(1 / row.scale);
  const __m512i zero = _mm512_set1_epi32(row.zero);
  int64_t i = 0;
  for (; i + 16 <= k; i += 16) {
    const __m512i q = QuantizeWide(_mm512_loadu_ps(a + i), inverse, zero);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + i), _mm512_maskz_cvtepi32_epi8(kAll, q));
  }
  QuantizePlain(row, k - i, a + i, bytes + i);
  std::fill(bytes + k, bytes + padded, uint8_t{0});
  return row;
}

CAFFE2RT_TARGET_WIDE ReducedRow ConvertWideWords(int64_t k, const float* a, void* to) {
  const ReducedRow row = QuantizationOf(RangeOfWide(k, a));
  auto* const words = static_cast<int16_t*>(to);
  const int64_t padded = (k + kPair - 1) / kPair * kPair;
  if (std::isnan(row.scale)) {
    std::fill(words, words + padded, int16_t{0});
    return row;
  }
  const __m512 inverse = _mm512_set1_ps(1 / row.scale);
  const __m512i zero = _mm512_set1_epi32(row.zero);
  int64_t i = 0;
  for (; i + 16 <= k; i += 16) {
    const __m512i q = QuantizeWide(_mm512_loadu_ps(a + i), inverse, zero);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(words + i),
                        _mm512_maskz_cvtepi32_epi16(kAll, q));
  }
  QuantizePlain(row, k - i, a + i, words + i);
  std::fill(words + k, words + padded, int16_t{0});
  return row;
}

// The results of 16 columns, from their sums.
[[gnu::always_inline]] CAFFE2RT_TARGET_WIDE inline void FinishWide(const ReducedTile& tile,
                                                                   const ReducedRow& row,
                                                                   int column, __m512i sum,
                                                                   float* c) {
  const __m512i zeros =
      _mm512_mullo_epi32(_mm512_set1_epi32(row.zero), _mm512_loadu_si512(tile.sums + column));
  const __m512 factor =
      _mm512_mul_ps(_mm512_loadu_ps(tile.scales + column), _mm512_set1_ps(row.scale));
  const __m512 exact = _mm512_maskz_cvtepi32_ps(kAll, _mm512_sub_epi32(sum, zeros));
  __m512 value = _mm512_add_ps(_mm512_mul_ps(exact, factor), _mm512_loadu_ps(tile.bias + column));
  // A NaN in the second operand stays.
  value = _mm512_maskz_max_ps(kAll, _mm512_set1_ps(tile.lowest), value);
  value = _mm512_maskz_min_ps(kAll, _mm512_set1_ps(tile.highest), value);
  _mm512_storeu_ps(c + column, value);
}

[[gnu::always_inline]] CAFFE2RT_TARGET_WIDE inline void FinishWideRow(const ReducedTile& tile,
                                                                      int row, __m512i low,
                                                                      __m512i high) {
  float* const c = tile.c + row * tile.ldc;
  FinishWide(tile, tile.rows[row], 0, low, c);
  FinishWide(tile, tile.rows[row], 16, high, c);
}

// Tiles are structs over the numbers of their rows, so that every index of an array of sums is a
// constant: then the sums stay in registers.
template <class Rows>
struct VnniTile;
template <int... kRow>
struct VnniTile<std::integer_sequence<int, kRow...>> {
  [[gnu::always_inline]] CAFFE2RT_TARGET_VNNI static void Add(const char* a, __m512i b_low,
                                                              __m512i b_high, Sums16& low,
                                                              Sums16& high) {
    const __m512i x = _mm512_set1_epi32(FourBytes(a));
    low = (Sums16)_mm512_dpbusd_epi32((__m512i)low, x, b_low);
    high = (Sums16)_mm512_dpbusd_epi32((__m512i)high, x, b_high);
  }

  CAFFE2RT_TARGET_VNNI static void Run(const ReducedTile& tile) {
    Sums16 low[sizeof...(kRow)] = {}, high[sizeof...(kRow)] = {};
    const int64_t groups = tile.groups, stride = tile.a_stride;
    const char *bases[] = {tile.a + kRow / 3 * 3 * stride...}, *b = tile.b;
    for (int64_t g = 0; g < groups; ++g, b += 128) {
      const __m512i b_low = _mm512_loadu_si512(b), b_high = _mm512_loadu_si512(b + 64);
      (Add(bases[kRow / 3 * 3] + kRow % 3 * stride, b_low, b_high, low[kRow], high[kRow]), ...);
      ((bases[kRow] += kQuad), ...);
    }
    (FinishWideRow(tile, kRow, (__m512i)low[kRow], (__m512i)high[kRow]), ...);
  }
};

template <class Rows>
struct WideWordsTile;
template <int... kRow>
struct WideWordsTile<std::integer_sequence<int, kRow...>> {
  [[gnu::always_inline]] CAFFE2RT_TARGET_WIDE static void Add(const char* a, __m512i b_low,
                                                              __m512i b_high, Sums16& low,
                                                              Sums16& high) {
    const __m512i x = _mm512_set1_epi32(FourBytes(a));
    low += (Sums16)_mm512_madd_epi16(x, b_low);
    high += (Sums16)_mm512_madd_epi16(x, b_high);
  }
  [[gnu::always_inline]] CAFFE2RT_TARGET_WIDE static __m512i Widen(const char* b) {
    return _mm512_maskz_cvtepi8_epi16(0xffffffff,
                                      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
  }

  CAFFE2RT_TARGET_WIDE static void Run(const ReducedTile& tile) {
    Sums16 low[sizeof...(kRow)] = {}, high[sizeof...(kRow)] = {};
    const int64_t groups = tile.groups, stride = tile.a_stride;
    const char *bases[] = {tile.a + kRow / 3 * 3 * stride...}, *b = tile.b;
    for (int64_t g = 0; g < groups; ++g, b += 64) {
      const __m512i b_low = Widen(b), b_high = Widen(b + 32);
      (Add(bases[kRow / 3 * 3] + kRow % 3 * stride, b_low, b_high, low[kRow], high[kRow]), ...);
      ((bases[kRow] += 2 * kPair), ...);
    }
    (FinishWideRow(tile, kRow, (__m512i)low[kRow], (__m512i)high[kRow]), ...);
  }
};

CAFFE2RT_TARGET_AVX2 ReducedRow ConvertAvx2Words(int64_t k, const float* a, void* to) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  const __m256 largest = _mm256_set1_ps(std::numeric_limits<float>::max());
  __m256 low = _mm256_setzero_ps(), high = low, finite = _mm256_cmp_ps(low, low, _CMP_EQ_OQ);
  const int64_t whole = k / 8 * 8;
  for (int64_t i = 0; i < whole; i += 8) {
    const __m256 v = _mm256_loadu_ps(a + i);
    low = _mm256_min_ps(v, low);
    high = _mm256_max_ps(v, high);
    const __m256 magnitude = _mm256_andnot_ps(sign, v);
    finite = _mm256_and_ps(finite, _mm256_cmp_ps(magnitude, largest, _CMP_LE_OQ));
  }
  alignas(32) float lows[8], highs[8];
  _mm256_store_ps(lows, low);
  _mm256_store_ps(highs, high);
  RowRange range = {.low = 0, .high = 0, .finite = _mm256_movemask_ps(finite) == 0xff};
  for (int i = 0; i < 8; ++i) {
    range.low = std::min(range.low, lows[i]);
    range.high = std::max(range.high, highs[i]);
  }
  const ReducedRow row = QuantizationOf(RangeOfPlain(k - whole, a + whole, range));
  auto* const words = static_cast<int16_t*>(to);
  const int64_t padded = (k + kPair - 1) / kPair * kPair;
  if (std::isnan(row.scale)) {
    std::fill(words, words + padded, int16_t{0});
    return row;
  }
  const __m256 inverse = _mm256_set1_ps(1 / row.scale);
  const __m256i zero = _mm256_set1_epi32(row.zero);
  for (int64_t i = 0; i < whole; i += 8) {
    const __m256i rounded = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(a + i), inverse));
    __m256i q = _mm256_add_epi32(rounded, zero);
    q = _mm256_min_epi32(_mm256_max_epi32(q, _mm256_setzero_si256()), _mm256_set1_epi32(255));
    const __m128i packed =
        _mm_packus_epi32(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(words + i), packed);
  }
  QuantizePlain(row, k - whole, a + whole, words + whole);
  std::fill(words + k, words + padded, int16_t{0});
  return row;
}

[[gnu::always_inline]] CAFFE2RT_TARGET_AVX2 inline void FinishAvx2(const ReducedTile& tile,
                                                                   const ReducedRow& row,
                                                                   int column, __m256i sum,
                                                                   float* c) {
  const __m256i zeros =
      _mm256_mullo_epi32(_mm256_set1_epi32(row.zero),
                         _mm256_loadu_si256(reinterpret_cast<const __m256i*>(tile.sums + column)));
  const __m256 factor =
      _mm256_mul_ps(_mm256_loadu_ps(tile.scales + column), _mm256_set1_ps(row.scale));
  const __m256 exact = _mm256_cvtepi32_ps(_mm256_sub_epi32(sum, zeros));
  __m256 value = _mm256_add_ps(_mm256_mul_ps(exact, factor), _mm256_loadu_ps(tile.bias + column));
  value = _mm256_max_ps(_mm256_set1_ps(tile.lowest), value);
  value = _mm256_min_ps(_mm256_set1_ps(tile.highest), value);
  _mm256_storeu_ps(c + column, value);
}

template <class Rows>
struct Avx2WordsTile;
template <int... kRow>
struct Avx2WordsTile<std::integer_sequence<int, kRow...>> {
  [[gnu::always_inline]] CAFFE2RT_TARGET_AVX2 static void Add(const char* a, __m256i b_low,
                                                              __m256i b_high, Sums8& low,
                                                              Sums8& high) {
    const __m256i x = _mm256_set1_epi32(FourBytes(a));
    low += (Sums8)_mm256_madd_epi16(x, b_low);
    high += (Sums8)_mm256_madd_epi16(x, b_high);
  }
  [[gnu::always_inline]] CAFFE2RT_TARGET_AVX2 static __m256i Widen(const char* b) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b)));
  }
  [[gnu::always_inline]] CAFFE2RT_TARGET_AVX2 static void Finish(const ReducedTile& tile, int row,
                                                                 __m256i low, __m256i high) {
    float* const c = tile.c + row * tile.ldc;
    FinishAvx2(tile, tile.rows[row], 0, low, c);
    FinishAvx2(tile, tile.rows[row], 8, high, c);
  }

  CAFFE2RT_TARGET_AVX2 static void Run(const ReducedTile& tile) {
    Sums8 low[sizeof...(kRow)] = {}, high[sizeof...(kRow)] = {};
    const int64_t groups = tile.groups, stride = tile.a_stride;
    const char *bases[] = {tile.a + kRow / 3 * 3 * stride...}, *b = tile.b;
    for (int64_t g = 0; g < groups; ++g, b += 32) {
      const __m256i b_low = Widen(b), b_high = Widen(b + 16);
      (Add(bases[kRow / 3 * 3] + kRow % 3 * stride, b_low, b_high, low[kRow], high[kRow]), ...);
      ((bases[kRow] += 2 * kPair), ...);
    }
    (Finish(tile, kRow, (__m256i)low[kRow], (__m256i)high[kRow]), ...);
  }
};

CAFFE2RT_TARGET_BF16 ReducedRow ConvertBf16(int64_t k, const float* a, void* to) {
  auto* const pairs = static_cast<uint16_t*>(to);
  int64_t i = 0;
  for (; i + 32 <= k; i += 32) {
    const __m512bh v = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(a + i + 16), _mm512_loadu_ps(a + i));
    _mm512_storeu_si512(pairs + i, (__m512i)v);
  }
  const int64_t padded = (k + kPair - 1) / kPair * kPair;
  for (; i < padded; i += 16) {
    const __m256bh v = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(First(k - i), a + i));
    _mm256_mask_storeu_epi16(pairs + i, First(padded - i), (__m256i)v);
  }
  return {};
}

// The bits of 16 floats as bf16, in the lower halves of 32 bits. Lanes that are not in `in` are 0.
[[gnu::always_inline]] CAFFE2RT_TARGET_BF16 inline __m512i Bf16Bits(__mmask16 in, const float* x) {
  const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(in, x));
  return _mm512_maskz_cvtepu16_epi32(kAll, (__m256i)rounded);
}

// Row by row of B, two at a time.
CAFFE2RT_TARGET_BF16 void PackBf16Rows(int64_t k, int64_t columns, const float* b, int64_t ldb,
                                       char* panel) {
  for (int64_t p = 0; p < k; p += kPair, panel += 128) {
    const float* const row = b + p * ldb;
    for (int64_t j = 0; j < columns; j += 16) {
      const __mmask16 in = First(columns - j);
      __m512i pairs = Bf16Bits(in, row + j);
      if (p + 1 < k) {
        const __m512i high = _mm512_maskz_slli_epi32(kAll, Bf16Bits(in, row + ldb + j), 16);
        pairs = _mm512_or_si512(pairs, high);
      }
      _mm512_mask_storeu_epi32(panel + 4 * j, in, pairs);
    }
  }
}

// Column by column of B.
CAFFE2RT_TARGET_BF16 void PackBf16Columns(int64_t k, int64_t columns, const float* b, int64_t ldb,
                                          char* panel) {
  for (int64_t j = 0; j < columns; ++j, b += ldb, panel += 4) {
    for (int64_t p = 0; p < k; p += 16) {
      const int64_t rest = k - p;
      const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(First(rest), b + p));
      alignas(32) int32_t pairs[8];
      _mm256_store_si256(reinterpret_cast<__m256i*>(pairs), (__m256i)rounded);
      const int64_t groups = std::min<int64_t>(8, (rest + 1) / kPair);
      for (int64_t g = 0; g < groups; ++g) {
        std::memcpy(panel + (p / kPair + g) * 128, pairs + g, sizeof(int32_t));
      }
    }
  }
}

template <class Rows>
struct Bf16Tile;
template <int... kRow>
struct Bf16Tile<std::integer_sequence<int, kRow...>> {
  [[gnu::always_inline]] CAFFE2RT_TARGET_BF16 static void Add(const char* a, __m512i b_low,
                                                              __m512i b_high, __m512& low,
                                                              __m512& high) {
    const __m512i x = _mm512_set1_epi32(FourBytes(a));
    low = _mm512_dpbf16_ps(low, (__m512bh)x, (__m512bh)b_low);
    high = _mm512_dpbf16_ps(high, (__m512bh)x, (__m512bh)b_high);
  }
  [[gnu::always_inline]] CAFFE2RT_TARGET_BF16 static void Finish(const ReducedTile& tile,
                                                                 __m512 sum, int column, float* c) {
    // A NaN in the second operand stays.
    __m512 value = _mm512_add_ps(sum, _mm512_loadu_ps(tile.bias + column));
    value = _mm512_maskz_max_ps(kAll, _mm512_set1_ps(tile.lowest), value);
    value = _mm512_maskz_min_ps(kAll, _mm512_set1_ps(tile.highest), value);
    _mm512_storeu_ps(c + column, value);
  }

  CAFFE2RT_TARGET_BF16 static void Run(const ReducedTile& tile) {
    __m512 low[sizeof...(kRow)] = {}, high[sizeof...(kRow)] = {};
    const int64_t groups = tile.groups, stride = tile.a_stride;
    const char *bases[] = {tile.a + kRow / 3 * 3 * stride...}, *b = tile.b;
    for (int64_t g = 0; g < groups; ++g, b += 128) {
      const __m512i b_low = _mm512_loadu_si512(b), b_high = _mm512_loadu_si512(b + 64);
      (Add(bases[kRow / 3 * 3] + kRow % 3 * stride, b_low, b_high, low[kRow], high[kRow]), ...);
      ((bases[kRow] += 2 * kPair), ...);
    }
    (Finish(tile, low[kRow], 0, tile.c + kRow * tile.ldc), ...);
    (Finish(tile, high[kRow], 16, tile.c + kRow * tile.ldc), ...);
  }
};

// Name<rows 0 to kRows - 1>::Run
template <template <class> class Name, int kRows>
constexpr auto kRunOf = &Name<std::make_integer_sequence<int, kRows>>::Run;

#define CAFFE2RT_TILES_OF_6(Name)                                                      \
  kRunOf<Name, 1>, kRunOf<Name, 2>, kRunOf<Name, 3>, kRunOf<Name, 4>, kRunOf<Name, 5>, \
      kRunOf<Name, 6>
#define CAFFE2RT_TILES_OF_12(Name)                                                                \
  CAFFE2RT_TILES_OF_6(Name), kRunOf<Name, 7>, kRunOf<Name, 8>, kRunOf<Name, 9>, kRunOf<Name, 10>, \
      kRunOf<Name, 11>, kRunOf<Name, 12>
constexpr ReducedTiles kBf16 = {32, 12, kPair, 2, 2, {CAFFE2RT_TILES_OF_12(Bf16Tile)}, ConvertBf16};
constexpr ReducedTiles kVnni = {
    32, 12, kQuad, 1, 1, {CAFFE2RT_TILES_OF_12(VnniTile)}, ConvertWideBytes};
constexpr ReducedTiles kWordsAvx512 = {
    32, 12, kPair, 2, 1, {CAFFE2RT_TILES_OF_12(WideWordsTile)}, ConvertWideWords};
constexpr ReducedTiles kWordsAvx2 = {
    16, 6, kPair, 2, 1, {CAFFE2RT_TILES_OF_6(Avx2WordsTile)}, ConvertAvx2Words};
#undef CAFFE2RT_TILES_OF_6
#undef CAFFE2RT_TILES_OF_12

#endif

}  // namespace

#if defined(__x86_64__)

const ReducedTiles& TilesOf(ReducedKernel kernel) {
  switch (kernel) {
    case ReducedKernel::kBf16:
      return kBf16;
    case ReducedKernel::kVnni:
      return kVnni;
    case ReducedKernel::kWordsAvx512:
      return kWordsAvx512;
    case ReducedKernel::kWordsAvx2:
      return kWordsAvx2;
    default:
      return kPlainWords;
  }
}

ReducedKernel BestByteKernel() {
  switch (CpuIsa()) {
    case Isa::kAvx512:
      return __builtin_cpu_supports("avx512vnni") ? ReducedKernel::kVnni
                                                  : ReducedKernel::kWordsAvx512;
    case Isa::kAvx2:
      return ReducedKernel::kWordsAvx2;
    default:
      return ReducedKernel::kWordsPlain;
  }
}

void PackBf16Panel(bool transposed, int64_t k, int64_t columns, const float* b, int64_t ldb,
                   void* panel) {
  (transposed ? PackBf16Columns : PackBf16Rows)(k, columns, b, ldb, static_cast<char*>(panel));
}

std::string WhyNoBf16Products() {
  if (CpuIsa() != Isa::kAvx512) return "the instruction set in use is not AVX-512";
  return __builtin_cpu_supports("avx512bf16") ? "" : "the processor has no AVX512_BF16";
}

#else

const ReducedTiles& TilesOf(ReducedKernel) { return kPlainWords; }
void PackBf16Panel(bool, int64_t, int64_t, const float*, int64_t, void*) {}
ReducedKernel BestByteKernel() { return ReducedKernel::kWordsPlain; }
std::string WhyNoBf16Products() { return "the processor has no AVX512_BF16"; }

#endif

}  // namespace caffe2rt
