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

}  // namespace

Int8Weights::Int8Weights(Int8Isa isa, const Int8WeightLayout& layout, const uint8_t* data,
                         int32_t zero_point)
    : isa_(isa),
      n_(layout.n),
      k_(layout.k),
      padded_k_(PaddedInner(layout.k)),
      row_factor_(isa == Int8Isa::kVnni ? kSignedOffset - zero_point : 0),
      totals_(static_cast<size_t>(padded_n())) {
  for (int64_t n = 0; n < n_; ++n) {
    uint32_t total = 0;  // wraps around like the sums
    for (int64_t k = 0; k < k_; ++k) {
      total += static_cast<uint32_t>(data[n * layout.n_stride + k * layout.k_stride] - zero_point);
    }
    totals_[static_cast<size_t>(n)] = static_cast<int32_t>(total);
  }
  Pack(layout, data, zero_point);
}

void Int8Weights::Pack(const Int8WeightLayout& layout, const uint8_t* data, int32_t zero_point) {
  const bool bytes = isa_ == Int8Isa::kVnni;
  const int64_t together = bytes ? kQuad : kPair;
  packed_.Resize(blocks(), padded_k_, kBlock);
  int8_t* const narrow = bytes ? packed_.mutable_data<int8_t>() : nullptr;
  int16_t* const wide = bytes ? nullptr : packed_.mutable_data<int16_t>();
  if (bytes) {
    std::fill(narrow, narrow + packed_.numel(), int8_t{0});
  } else {
    std::fill(wide, wide + packed_.numel(), int16_t{0});
  }
  for (int64_t n = 0; n < n_; ++n) {
    for (int64_t k = 0; k < k_; ++k) {
      const int32_t value = data[n * layout.n_stride + k * layout.k_stride];
      const int64_t place = (n / kBlock * padded_k_ + k / together * together) * kBlock +
                            n % kBlock * together + k % together;
      if (bytes) {
        narrow[place] = static_cast<int8_t>(value - kSignedOffset);
      } else {
        wide[place] = static_cast<int16_t>(value - zero_point);
      }
    }
  }
}

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
  const int8_t* packed = packed_.data<int8_t>();
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
  const int16_t* packed = packed_.data<int16_t>();
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
