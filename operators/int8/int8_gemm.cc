#include "operators/int8/int8_gemm.h"

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/checked_math.h"
#include "operators/int8/int8_gemm_tiles.h"

namespace caffe2rt {

namespace {

constexpr int64_t kQuad = 4;            // values of k that are packed together, for VNNI
constexpr int64_t kPair = 2;            // and otherwise
constexpr int32_t kSignedOffset = 128;  // from unsigned to signed bytes

int64_t PaddedInner(int64_t k) { return CheckedAdd(k, kQuad - 1) / kQuad * kQuad; }

int64_t BlocksOf(int64_t n) { return (n + Int8Weights::kBlock - 1) / Int8Weights::kBlock; }

int64_t PaddedOutputs(int64_t n) { return BlocksOf(n) * Int8Weights::kBlock; }

// The packed elements, behind the totals.
template <class T>
T* ElementsOf(void* form, int64_t n) {
  return reinterpret_cast<T*>(static_cast<int32_t*>(form) + PaddedOutputs(n));
}

void StoreTotals(const Int8WeightLayout& layout, const uint8_t* data, int32_t zero_point,
                 int32_t* totals) {
  std::fill(totals, totals + PaddedOutputs(layout.n), 0);
  for (int64_t n = 0; n < layout.n; ++n) {
    uint32_t total = 0;  // wraps around like the sums
    for (int64_t k = 0; k < layout.k; ++k) {
      total += static_cast<uint32_t>(data[n * layout.n_stride + k * layout.k_stride] - zero_point);
    }
    totals[n] = static_cast<int32_t>(total);
  }
}

// Stores the elements minus `offset`, `together` values of k next to each other.
template <class T>
void StoreElements(const Int8WeightLayout& layout, const uint8_t* data, int32_t offset,
                   int64_t together, T* packed) {
  constexpr int64_t kBlock = Int8Weights::kBlock;
  const int64_t padded_k = PaddedInner(layout.k);
  std::fill(packed, packed + PaddedOutputs(layout.n) * padded_k, T{0});
  for (int64_t n = 0; n < layout.n; ++n) {
    for (int64_t k = 0; k < layout.k; ++k) {
      const int32_t value = data[n * layout.n_stride + k * layout.k_stride];
      const int64_t place = (n / kBlock * padded_k + k / together * together) * kBlock +
                            n % kBlock * together + k % together;
      packed[place] = static_cast<T>(value - offset);
    }
  }
}

}  // namespace

const char* Int8IsaName(Int8Isa isa) {
  switch (isa) {
    case Int8Isa::kVnni:
      return "vnni";
    case Int8Isa::kAvx2:
      return "avx2";
    default:
      return "plain";
  }
}

size_t Int8WeightBytes(Int8Isa isa, int64_t n, int64_t k) {
  const int64_t element = isa == Int8Isa::kVnni ? sizeof(int8_t) : sizeof(int16_t);
  const int64_t column = CheckedAdd<int64_t>(CheckedMultiply(PaddedInner(k), element),
                                             static_cast<int64_t>(sizeof(int32_t)));
  return static_cast<size_t>(CheckedMultiply(PaddedOutputs(n), column));
}

void PackInt8Weights(Int8Isa isa, const Int8WeightLayout& layout, const uint8_t* data,
                     int32_t zero_point, void* form) {
  StoreTotals(layout, data, zero_point, static_cast<int32_t*>(form));
  if (isa == Int8Isa::kVnni) {
    StoreElements(layout, data, kSignedOffset, kQuad, ElementsOf<int8_t>(form, layout.n));
  } else {
    StoreElements(layout, data, zero_point, kPair, ElementsOf<int16_t>(form, layout.n));
  }
}

Int8Weights::Int8Weights(Int8Isa isa, int64_t n, int64_t k, int32_t zero_point, const void* form)
    : isa_(isa),
      n_(n),
      k_(k),
      padded_k_(PaddedInner(k)),
      row_factor_(isa == Int8Isa::kVnni ? kSignedOffset - zero_point : 0),
      form_(form) {}

void Int8Weights::Multiply(const uint8_t* const* rows, int64_t count, const int32_t* start,
                           int64_t first, int64_t end, void* scratch, int32_t* sums) const {
  const int64_t width = (end - first) * kBlock;
  for (int64_t r = 0; r < count; ++r) {
    int32_t* row = sums + r * padded_n() + first * kBlock;
    const int32_t extra =
        row_factor_ == 0 ? 0 : MultiplyWrapping(row_factor_, SumOfBytes(rows[r], k_));
    FillSums(start != nullptr ? start + first * kBlock : nullptr, extra, width, row);
  }
  if (isa_ == Int8Isa::kVnni) {
    MultiplyBytes(rows, count, first, end, sums);
  } else {
    MultiplyWords(rows, count, first, end, static_cast<int16_t*>(scratch), sums);
  }
}

// The tiles have 1, 2, 4 or 8 rows. Missing rows repeat the last one, into rows of sums that are
// not read.
void Int8Weights::MultiplyBytes(const uint8_t* const* rows, int64_t count, int64_t first,
                                int64_t end, int32_t* sums) const {
  const uint8_t* all[kTile];
  for (int64_t r = 0; r < kTile; ++r) all[r] = rows[std::min(r, count - 1)];
  const int8_t* packed = ElementsOf<int8_t>(const_cast<void*>(form_), n_);
  for (int64_t block = first; block < end; block += 2) {
    const Int8VnniTile tile{.rows = all,
                            .weights = packed + block * padded_k_ * kBlock,
                            .block_stride = padded_k_ * kBlock,
                            .quads = padded_k_ / kQuad,
                            .sums = sums + block * kBlock,
                            .sums_stride = padded_n()};
    RunVnniTile(tile, count, end - block > 1);
  }
}

void Int8Weights::MultiplyWords(const uint8_t* const* rows, int64_t count, int64_t first,
                                int64_t end, int16_t* scratch, int32_t* sums) const {
  for (int64_t r = 0; r < count; ++r) {
    WidenBytes(rows[r], k_, padded_k_, scratch + r * padded_k_);
  }
  const int16_t* packed = ElementsOf<int16_t>(const_cast<void*>(form_), n_);
  for (int64_t block = first; block < end; ++block) {
    const Int8WordTile tile{.rows = scratch,
                            .row_stride = padded_k_,
                            .count = count,
                            .weights = packed + block * padded_k_ * kBlock,
                            .pairs = padded_k_ / kPair,
                            .sums = sums + block * kBlock,
                            .sums_stride = padded_n()};
    if (isa_ == Int8Isa::kAvx2) {
      RunAvx2Tile(tile);
    } else {
      RunPlainTile(tile);
    }
  }
}

}  // namespace caffe2rt
