#include "operators/attention/attention_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/simd_fma.h"
#include "caffe2_core/base/work_scope.h"
#include "operators/primitives/elementary.h"
#include "operators/primitives/float_lanes.h"
#include "operators/primitives/packed_gemm.h"
#include "operators/primitives/reduced_gemm.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// The scores that exist at a time: half of a first-level cache.
constexpr int64_t kScores = 8192;
constexpr int64_t kRowsOfTile = 12;
constexpr int64_t kMostQueries = kScores / kLanes;

// The distance between rows of scores: whole vectors.
int64_t ScoreStride(int64_t keys) { return AlignedFloats(std::max<int64_t>(keys, 1)); }

int64_t QueriesAtOnce(const AttentionShape& shape) {
  const int64_t rows = std::max<int64_t>(1, kScores / ScoreStride(shape.keys) / kRowsOfTile);
  return std::min(rows * kRowsOfTile, shape.queries);
}

// One row of scores, with space for whole vectors, and its part of the mask.
struct ScoreRow {
  int64_t n;
  float scale;
  const float* mask;  // may be null
  int64_t mask_step;  // 0 or 1
  float* x;
};

// Sums or maxima of the lanes of a vector, in a tree.
template <class L, class Combine>
[[gnu::always_inline]] inline float ReduceLanes(const typename L::Vector& v,
                                                const Combine& combine) {
  math::FourLanes parts[L::kWidth / 4];
  __builtin_memcpy(parts, &v, sizeof(v));
  for (int half = L::kWidth / 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) combine(parts[i], parts[i + half]);
  }
  float pair[2] = {parts[0][0], parts[0][1]};
  combine(pair[0], parts[0][2]);
  combine(pair[1], parts[0][3]);
  combine(pair[0], pair[1]);
  return pair[0];
}

struct AddTo {
  template <class T>
  [[gnu::always_inline]] void operator()(T& a, const T& b) const {
    a += b;
  }
};
// Ignores a NaN in the second operand.
struct MaximumTo {
  template <class T>
  [[gnu::always_inline]] void operator()(T& a, const T& b) const {
    a = b > a ? b : a;
  }
};

// v = exp(v) for v <= 0. A result below the smallest normal number becomes 0; NaN stays NaN. Without
// large and denormal results, 2^n is one factor.
template <class L>
[[gnu::always_inline]] inline void ExpOfNegative(typename L::Vector& v) {
  using Vector = typename L::Vector;
  using IntVector = typename L::IntVector;
  constexpr float kLowest = -87.336548f;
  const IntVector tiny = v < kLowest;
  const Vector c = v < kLowest ? Vector{} + kLowest : v;
  Vector shifted, p;
  math::internal::DivideExp(c, shifted, p);
  constexpr int32_t kZero = std::bit_cast<int32_t>(math::internal::kRoundToInteger);
  const IntVector exponent = ((IntVector)shifted - (kZero - 127)) << 23;
  p *= (Vector)exponent;
  v = (Vector)((IntVector)p & ~tiny);
}

// x = scale * x + mask. Sets the elements after the last one to -infinity, up to a whole vector.
// Returns the largest element, of those that are not NaN.
template <class L>
[[gnu::always_inline]] inline float ScaleAndMask(const ScoreRow& row) {
  using Vector = typename L::Vector;
  float* const x = row.x;
  const float bias = row.mask != nullptr && row.mask_step == 0 ? *row.mask : 0.f;
  const float* const mask = row.mask_step == 0 ? nullptr : row.mask;
  constexpr MaximumTo maximum;
  Vector largest = Vector{} - kInfinity;
  int64_t i = 0;
  for (; i + L::kWidth <= row.n; i += L::kWidth) {
    Vector v = L::At(x + i).lanes * row.scale + bias;
    if (mask != nullptr) v += L::At(mask + i).lanes;
    L::At(x + i).lanes = v;
    maximum(largest, v);
  }
  if (i < row.n) {
    for (; i < row.n; ++i) x[i] = x[i] * row.scale + bias + (mask != nullptr ? mask[i] : 0.f);
    for (; i % L::kWidth != 0; ++i) x[i] = -kInfinity;
    const Vector v = L::At(x + i - L::kWidth).lanes;
    maximum(largest, v);
  }
  return ReduceLanes<L>(largest, maximum);
}

// Replaces the scores by exp(score - largest score) and returns their sum. A NaN among the scores
// makes the sum NaN.
template <class L>
[[gnu::always_inline]] inline float ExponentialsOfRow(const ScoreRow& row) {
  const float top = ScaleAndMask<L>(row);
  typename L::Vector sums = {};
  for (int64_t i = 0; i < row.n; i += L::kWidth) {
    typename L::Vector v = L::At(row.x + i).lanes - top;
    ExpOfNegative<L>(v);
    L::At(row.x + i).lanes = v;
    sums += v;
  }
  return ReduceLanes<L>(sums, AddTo{});
}

CAFFE2RT_TARGET_AVX512 float ExponentialsAvx512(const ScoreRow& row) {
  return ExponentialsOfRow<Avx512Lanes>(row);
}
CAFFE2RT_TARGET_AVX2 float ExponentialsAvx2(const ScoreRow& row) {
  return ExponentialsOfRow<Avx2Lanes>(row);
}
float ExponentialsPlain(const ScoreRow& row) { return ExponentialsOfRow<PlainLanes>(row); }

// The sum of a row has one partial sum for each lane, so that it depends on the width of vectors. For any
// machine, those of AVX2 are used.
auto* PickExponentials() {
  return PickByIsa(WorksForAnyMachine() ? ExponentialsAvx2 : ExponentialsAvx512, ExponentialsAvx2,
                   ExponentialsPlain);
}

CAFFE2RT_SIMD_FMA void MultiplyRow(int64_t n, float factor, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] *= factor;
}

int64_t Offset(const AttentionSteps& steps, int64_t batch, int64_t head, int64_t row) {
  return batch * steps.batch + head * steps.head + row * steps.row;
}

// A matrix [k, n] that is packed for each head, in float or bf16.
class HeadMatrix {
 public:
  HeadMatrix(bool bf16, int64_t k, int64_t n)
      : bf16_(bf16),
        k_(k),
        n_(n),
        gemm_(bf16 ? ReducedGemm(Precision::kBfloat16, k, n) : ReducedGemm()) {}

  // Of the packed form, and of the scratch memory that multiplies `m` rows.
  int64_t FormFloats() const {
    return bf16_ ? static_cast<int64_t>(gemm_.nbytes() / sizeof(float))
                 : AlignedFloats(PackedFloats(k_, n_));
  }
  int64_t ScratchFloats(int64_t m) const { return bf16_ ? gemm_.ScratchFloats(m) : 0; }

  void Pack(bool transposed, const float* b, int64_t ldb, float* form) const {
    if (bf16_) {
      gemm_.Pack(transposed, b, ldb, form);
    } else {
      PackMatrix(transposed, k_, n_, b, ldb, form);
    }
  }
  // c [m, n] = a times the matrix.
  void Multiply(int64_t m, const float* a, int64_t lda, const float* form, float* c, int64_t ldc,
                float* scratch) const {
    if (bf16_) {
      gemm_.Multiply({.m = m, .a = a, .lda = lda, .b = form, .c = c, .ldc = ldc}, scratch);
    } else {
      MultiplyPacked({.m = m, .n = n_, .k = k_, .a = a, .lda = lda, .b = form, .c = c, .ldc = ldc});
    }
  }

 private:
  const bool bf16_;
  const int64_t k_, n_;
  const ReducedGemm gemm_;
};

struct HeadMatrices {
  HeadMatrix keys, values;  // the keys transposed, [size, keys], and the values [keys, value_size]

  HeadMatrices(const AttentionShape& shape, bool bf16)
      : keys(bf16, shape.size, shape.keys), values(bf16, shape.keys, shape.value_size) {}
  int64_t ScratchFloats(int64_t queries) const {
    return std::max(keys.ScratchFloats(queries), values.ScratchFloats(queries));
  }
};

// A head of a batch item, with packed keys and values.
struct Head {
  int64_t batch, head;
  const float* keys;
  const float* values;
  float* scores;
  float* scratch;
};

// Computes `count` rows of Y.
void ComputeRows(const AttentionTask& task, const HeadMatrices& matrices, const Head& head,
                 int64_t first, int64_t count) {
  const AttentionShape& shape = task.shape;
  const int64_t stride = ScoreStride(shape.keys);
  matrices.keys.Multiply(count, task.q + Offset(task.q_steps, head.batch, head.head, first),
                         task.q_steps.row, head.keys, head.scores, stride, head.scratch);
  const auto exponentials = PickExponentials();
  float* const y = task.y + Offset(task.y_steps, head.batch, head.head, first);
  float factors[kMostQueries];
  for (int64_t i = 0; i < count; ++i) {
    const float* const mask = task.mask == nullptr ? nullptr
                                                   : task.mask + Offset(task.mask_steps, head.batch,
                                                                        head.head, first + i);
    float* const scores = head.scores + i * stride;
    const float sum = exponentials({shape.keys, task.scale, mask, task.mask_key_step, scores});
    factors[i] = 1 / sum;
    if (task.nan_to_zero && std::isnan(sum)) {
      std::fill_n(scores, shape.keys, 0.f);
      factors[i] = 1;
    }
  }
  matrices.values.Multiply(count, head.scores, stride, head.values, y, task.y_steps.row,
                           head.scratch);
  for (int64_t i = 0; i < count; ++i) {
    MultiplyRow(shape.value_size, factors[i], y + i * task.y_steps.row);
  }
}

}  // namespace

AttentionItems DivideAttention(const AttentionShape& shape, int threads) {
  AttentionItems items;
  const int64_t heads = CheckedMultiply(shape.batch, shape.heads);
  if (heads > 0 && heads % threads != 0 && heads < 4 * threads) {
    const int64_t tiles = (shape.queries + kRowsOfTile - 1) / kRowsOfTile;
    items.parts = std::clamp<int64_t>(threads, 1, std::max<int64_t>(tiles, 1));
  }
  items.count = CheckedMultiply(heads, items.parts);
  return items;
}

int64_t AttentionScratch(const AttentionShape& shape, bool bf16) {
  const int64_t queries = QueriesAtOnce(shape);
  const int64_t scores = CheckedMultiply(queries, ScoreStride(shape.keys));
  const HeadMatrices matrices(shape, bf16);
  const int64_t packed = CheckedAdd(matrices.keys.FormFloats(), matrices.values.FormFloats());
  return CheckedAdd(CheckedAdd(scores, packed), matrices.ScratchFloats(queries));
}

void ComputeAttention(const AttentionTask& task, const AttentionItems& items, int64_t first,
                      int64_t last, float* scratch) {
  const AttentionShape& shape = task.shape;
  const HeadMatrices matrices(shape, task.bf16);
  float* const keys = scratch;
  float* const values = keys + matrices.keys.FormFloats();
  float* const scores = values + matrices.values.FormFloats();
  Head head = {-1,     -1,     keys,
               values, scores, scores + QueriesAtOnce(shape) * ScoreStride(shape.keys)};
  int64_t packed = -1;  // the head whose keys and values are packed
  for (int64_t item = first; item < last; ++item) {
    if (item / items.parts != packed) {
      packed = item / items.parts;
      head.batch = packed / shape.heads;
      head.head = packed % shape.heads;
      matrices.keys.Pack(true, task.k + Offset(task.k_steps, head.batch, head.head, 0),
                         task.k_steps.row, keys);
      matrices.values.Pack(false, task.v + Offset(task.v_steps, head.batch, head.head, 0),
                           task.v_steps.row, values);
    }
    const int64_t part = item % items.parts;
    const int64_t begin = shape.queries * part / items.parts;
    const int64_t end = shape.queries * (part + 1) / items.parts;
    const int64_t most = QueriesAtOnce(shape);
    const int64_t blocks = (end - begin + most - 1) / std::max<int64_t>(most, 1);
    for (int64_t i = 0; i < blocks; ++i) {
      const int64_t from = begin + (end - begin) * i / blocks;
      ComputeRows(task, matrices, head, from, begin + (end - begin) * (i + 1) / blocks - from);
    }
  }
}

}  // namespace caffe2rt
