// Compiled without contraction of products and sums, so that all instruction sets round alike.

#include "operators/primitives/reduced_tiles.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

// Sanitizer builds compile this file with others, without its own options.
#if defined(__clang__)
#pragma clang fp contract(off)
#endif

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
constexpr int kGroupBytes = 4;  // of a converted row: four bytes or two words

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

// --- bytes and words, for any width of vectors ---

// GCC keeps arrays of IntVector of a lanes type (float_lanes.h) in registers, and those of __m512i in memory as
// well, so sums are IntVectors.

template <class T, int kCount>
using VectorOf [[gnu::vector_size(kCount * sizeof(T))]] = T;

template <class L>
[[gnu::always_inline]] inline ReducedRow QuantizationOfRow(int64_t k, const float* a) {
  using Vector = typename L::Vector;
  using IntVector = typename L::IntVector;
  const Vector largest = Vector{} + std::numeric_limits<float>::max();
  Vector low = {}, high = {};
  IntVector finite = low == high;
  const int64_t whole = k / L::kWidth * L::kWidth;
  for (int64_t i = 0; i < whole; i += L::kWidth) {
    const Vector v = L::At(a + i).lanes;
    low = v < low ? v : low;
    high = v > high ? v : high;
    // False for NaN.
    finite &= (Vector)((IntVector)v & 0x7fffffff) <= largest;
  }
  RowRange range;
  for (int i = 0; i < L::kWidth; ++i) {
    range.low = std::min(range.low, static_cast<float>(low[i]));
    range.high = std::max(range.high, static_cast<float>(high[i]));
    range.finite = range.finite && finite[i] != 0;
  }
  return QuantizationOf(RangeOfPlain(k - whole, a + whole, range));
}

// Numbers 0 to 255 for the elements of a row, filled up with zeros to groups of `kTogether`.
template <class L, class Element, int kTogether>
[[gnu::always_inline]] inline ReducedRow ConvertRow(int64_t k, const float* a, void* to) {
  using IntVector = typename L::IntVector;
  // Adding this number and subtracting it rounds to the nearest integer, halves to even.
  constexpr float kRound = 12582912;
  const ReducedRow row = QuantizationOfRow<L>(k, a);
  auto* const q = static_cast<Element*>(to);
  const int64_t padded = (k + kTogether - 1) / kTogether * kTogether;
  const int64_t whole = std::isnan(row.scale) ? 0 : k / L::kWidth * L::kWidth;
  const float inverse = 1 / row.scale;
  for (int64_t i = 0; i < whole; i += L::kWidth) {
    const typename L::Vector scaled = L::At(a + i).lanes * inverse;
    IntVector number = __builtin_convertvector((scaled + kRound) - kRound, IntVector) + row.zero;
    number = number < 0 ? IntVector{} : number;
    number = number > 255 ? IntVector{} + 255 : number;
    const auto narrow = __builtin_convertvector(number, VectorOf<Element, L::kWidth>);
    std::memcpy(q + i, &narrow, sizeof(narrow));
  }
  QuantizePlain(row, k - whole, a + whole, q + whole);
  std::fill(q + k, q + padded, Element{0});
  return row;
}

CAFFE2RT_TARGET_WIDE ReducedRow ConvertWideBytes(int64_t k, const float* a, void* to) {
  return ConvertRow<Avx512Lanes, uint8_t, kQuad>(k, a, to);
}
CAFFE2RT_TARGET_WIDE ReducedRow ConvertWideWords(int64_t k, const float* a, void* to) {
  return ConvertRow<Avx512Lanes, int16_t, kPair>(k, a, to);
}
CAFFE2RT_TARGET_AVX2 ReducedRow ConvertAvx2Words(int64_t k, const float* a, void* to) {
  return ConvertRow<Avx2Lanes, int16_t, kPair>(k, a, to);
}

// The results of a vector of columns, from their sums.
template <class L>
[[gnu::always_inline]] inline void FinishColumns(const ReducedTile& tile, const ReducedRow& row,
                                                 int column, const typename L::IntVector& sum,
                                                 float* c) {
  using Vector = typename L::Vector;
  typename L::IntVector bytes;
  std::memcpy(&bytes, tile.sums + column, sizeof(bytes));
  const Vector factor = L::At(tile.scales + column).lanes * row.scale;
  Vector value = __builtin_convertvector(sum - bytes * row.zero, Vector) * factor +
                 L::At(tile.bias + column).lanes;
  value = value < tile.lowest ? Vector{} + tile.lowest : value;
  value = value > tile.highest ? Vector{} + tile.highest : value;
  L::At(c + column).lanes = value;
}

template <class L>
[[gnu::always_inline]] inline void FinishRow(const ReducedTile& tile, int row,
                                             const typename L::IntVector& low,
                                             const typename L::IntVector& high) {
  float* const c = tile.c + row * tile.ldc;
  FinishColumns<L>(tile, tile.rows[row], 0, low, c);
  FinishColumns<L>(tile, tile.rows[row], L::kWidth, high, c);
}

// --- products of a group of a row, and of the groups of a vector of columns ---

struct VnniProducts {
  using L = Avx512Lanes;
  using Sums = L::IntVector;
  static constexpr int kHalf = 64;  // bytes of the groups of half a panel
  [[gnu::always_inline]] CAFFE2RT_TARGET_VNNI static __m512i Load(const char* b) {
    return _mm512_loadu_si512(b);
  }
  [[gnu::always_inline]] CAFFE2RT_TARGET_VNNI static void Add(const char* a, __m512i b_low,
                                                              __m512i b_high, Sums& low,
                                                              Sums& high) {
    const __m512i x = _mm512_set1_epi32(FourBytes(a));
    low = (Sums)_mm512_dpbusd_epi32((__m512i)low, x, b_low);
    high = (Sums)_mm512_dpbusd_epi32((__m512i)high, x, b_high);
  }
  [[gnu::always_inline]] CAFFE2RT_TARGET_VNNI static void Finish(const ReducedTile& tile, int row,
                                                                 const Sums& low,
                                                                 const Sums& high) {
    FinishRow<L>(tile, row, low, high);
  }
};

struct WideWordProducts {
  using L = Avx512Lanes;
  using Sums = L::IntVector;
  static constexpr int kHalf = 32;
  [[gnu::always_inline]] CAFFE2RT_TARGET_WIDE static __m512i Load(const char* b) {
    return _mm512_maskz_cvtepi8_epi16(0xffffffff,
                                      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
  }
  [[gnu::always_inline]] CAFFE2RT_TARGET_WIDE static void Add(const char* a, __m512i b_low,
                                                              __m512i b_high, Sums& low,
                                                              Sums& high) {
    const __m512i x = _mm512_set1_epi32(FourBytes(a));
    low += (Sums)_mm512_madd_epi16(x, b_low);
    high += (Sums)_mm512_madd_epi16(x, b_high);
  }
  [[gnu::always_inline]] CAFFE2RT_TARGET_WIDE static void Finish(const ReducedTile& tile, int row,
                                                                 const Sums& low,
                                                                 const Sums& high) {
    FinishRow<L>(tile, row, low, high);
  }
};

struct Avx2WordProducts {
  using L = Avx2Lanes;
  using Sums = L::IntVector;
  static constexpr int kHalf = 16;
  [[gnu::always_inline]] CAFFE2RT_TARGET_AVX2 static __m256i Load(const char* b) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b)));
  }
  [[gnu::always_inline]] CAFFE2RT_TARGET_AVX2 static void Add(const char* a, __m256i b_low,
                                                              __m256i b_high, Sums& low,
                                                              Sums& high) {
    const __m256i x = _mm256_set1_epi32(FourBytes(a));
    low += (Sums)_mm256_madd_epi16(x, b_low);
    high += (Sums)_mm256_madd_epi16(x, b_high);
  }
  [[gnu::always_inline]] CAFFE2RT_TARGET_AVX2 static void Finish(const ReducedTile& tile, int row,
                                                                 const Sums& low,
                                                                 const Sums& high) {
    FinishRow<L>(tile, row, low, high);
  }
};

// --- bf16 ---

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

struct Bf16Products {
  using Sums = Avx512Lanes::Vector;
  static constexpr int kHalf = 64;
  [[gnu::always_inline]] CAFFE2RT_TARGET_BF16 static __m512i Load(const char* b) {
    return _mm512_loadu_si512(b);
  }
  [[gnu::always_inline]] CAFFE2RT_TARGET_BF16 static void Add(const char* a, __m512i b_low,
                                                              __m512i b_high, Sums& low,
                                                              Sums& high) {
    const __m512i x = _mm512_set1_epi32(FourBytes(a));
    low = (Sums)_mm512_dpbf16_ps((__m512)low, (__m512bh)x, (__m512bh)b_low);
    high = (Sums)_mm512_dpbf16_ps((__m512)high, (__m512bh)x, (__m512bh)b_high);
  }
  [[gnu::always_inline]] CAFFE2RT_TARGET_BF16 static void FinishColumns(const ReducedTile& tile,
                                                                        const Sums& sum, int column,
                                                                        float* c) {
    // A NaN in the second operand stays.
    __m512 value = _mm512_add_ps((__m512)sum, _mm512_loadu_ps(tile.bias + column));
    value = _mm512_maskz_max_ps(kAll, _mm512_set1_ps(tile.lowest), value);
    value = _mm512_maskz_min_ps(kAll, _mm512_set1_ps(tile.highest), value);
    _mm512_storeu_ps(c + column, value);
  }
  [[gnu::always_inline]] CAFFE2RT_TARGET_BF16 static void Finish(const ReducedTile& tile, int row,
                                                                 const Sums& low,
                                                                 const Sums& high) {
    float* const c = tile.c + row * tile.ldc;
    FinishColumns(tile, low, 0, c);
    FinishColumns(tile, high, 16, c);
  }
};

// --- tiles ---

namespace vnni {
#define CAFFE2RT_REDUCED_TARGET CAFFE2RT_TARGET_VNNI
#include "operators/primitives/reduced_tile.inc"
#undef CAFFE2RT_REDUCED_TARGET
}  // namespace vnni

namespace wide {
#define CAFFE2RT_REDUCED_TARGET CAFFE2RT_TARGET_WIDE
#include "operators/primitives/reduced_tile.inc"
#undef CAFFE2RT_REDUCED_TARGET
}  // namespace wide

namespace avx2 {
#define CAFFE2RT_REDUCED_TARGET CAFFE2RT_TARGET_AVX2
#include "operators/primitives/reduced_tile.inc"
#undef CAFFE2RT_REDUCED_TARGET
}  // namespace avx2

namespace bf16 {
#define CAFFE2RT_REDUCED_TARGET CAFFE2RT_TARGET_BF16
#include "operators/primitives/reduced_tile.inc"
#undef CAFFE2RT_REDUCED_TARGET
}  // namespace bf16

#define CAFFE2RT_TILES_OF_6(isa, Products)                                      \
  isa::kRunOf<Products, 1>, isa::kRunOf<Products, 2>, isa::kRunOf<Products, 3>, \
      isa::kRunOf<Products, 4>, isa::kRunOf<Products, 5>, isa::kRunOf<Products, 6>
#define CAFFE2RT_TILES_OF_12(isa, Products)                                               \
  CAFFE2RT_TILES_OF_6(isa, Products), isa::kRunOf<Products, 7>, isa::kRunOf<Products, 8>, \
      isa::kRunOf<Products, 9>, isa::kRunOf<Products, 10>, isa::kRunOf<Products, 11>,     \
      isa::kRunOf<Products, 12>
constexpr ReducedTiles kBf16 = {
    32, 12, kPair, 2, 2, {CAFFE2RT_TILES_OF_12(bf16, Bf16Products)}, ConvertBf16};
constexpr ReducedTiles kVnni = {
    32, 12, kQuad, 1, 1, {CAFFE2RT_TILES_OF_12(vnni, VnniProducts)}, ConvertWideBytes};
constexpr ReducedTiles kWordsAvx512 = {
    32, 12, kPair, 2, 1, {CAFFE2RT_TILES_OF_12(wide, WideWordProducts)}, ConvertWideWords};
constexpr ReducedTiles kWordsAvx2 = {
    16, 6, kPair, 2, 1, {CAFFE2RT_TILES_OF_6(avx2, Avx2WordProducts)}, ConvertAvx2Words};
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
