#pragma once
// Matrix multiplication of quantized matrices, with exact 32-bit sums (they wrap around).
//
//   sums[r][n] = start[n] + sum over k of x[r][k] * (w[n][k] - zero_point)
//
//   const Int8Isa isa = BestInt8Isa();
//   PackInt8Weights(isa, {.n = n, .k = k, .n_stride = k}, data, zero_point, form);
//   const Int8Weights weights(isa, n, k, zero_point, form);
//   weights.Multiply(rows, count, start, first, end, scratch, sums);
//
// The zero point z of x belongs into `start`: z times the sum of w[n] - zero_point, subtracted.
//
// The weights are packed once, in one of two forms:
//
// - VNNI (AVX-512): bytes w - 128, four values of k together. The instruction multiplies unsigned by
//   signed bytes and adds four products to a 32-bit sum without saturation. The difference between
//   128 and the zero point is applied to the sum of the row.
// - Otherwise: 16-bit values w - zero_point, two values of k together. The instruction of AVX2
//   multiplies 16-bit numbers and adds two products. The plain loop reads the same form. (AVX2's
//   multiplication of bytes saturates at 16 bits, so it is not used.)
//
// A packed form begins with the sums over k of w[n] - zero_point. All forms give the same sums.

#include <cstdint>
#include <span>

namespace caffe2rt {

enum class Int8Isa { kPlain, kAvx2, kVnni };
// The best for this machine, within the limit of CAFFE2RT_ISA (caffe2_core/base/isa.h).
Int8Isa BestInt8Isa();
// "plain", "avx2", "vnni".
const char* Int8IsaName(Int8Isa isa);

// Where the element of w for output n and inner index k is: data[n * n_stride + k * k_stride].
struct Int8WeightLayout {
  int64_t n = 0, k = 0;
  int64_t n_stride = 0, k_stride = 1;
};

// The size of packed weights, a multiple of 64 bytes.
size_t Int8WeightBytes(Int8Isa isa, int64_t n, int64_t k);
// Writes packed weights of this size to `form`, which is aligned to 64 bytes.
void PackInt8Weights(Int8Isa isa, const Int8WeightLayout& layout, const uint8_t* data,
                     int32_t zero_point, void* form);

// A view of packed weights, with any content.
class Int8Weights {
 public:
  // Outputs are computed in blocks of kBlock, rows in tiles of up to kTile.
  static constexpr int64_t kBlock = 16;
  static constexpr int64_t kTile = 8;

  // REQUIRES: `form` is aligned to 64 bytes and outlives the view.
  Int8Weights(Int8Isa isa, int64_t n, int64_t k, int32_t zero_point, const void* form);

  int64_t n() const { return n_; }
  int64_t k() const { return k_; }
  // k rounded up: the rows of x must be readable up to here. The values behind k have no effect.
  int64_t padded_k() const { return padded_k_; }
  // n rounded up to blocks: the distance between rows of sums.
  int64_t padded_n() const { return blocks() * kBlock; }
  int64_t blocks() const { return (n_ + kBlock - 1) / kBlock; }
  // The sum over k of w[n][k] - zero_point, for each n up to padded_n().
  std::span<const int32_t> totals() const {
    return {static_cast<const int32_t*>(form_), static_cast<size_t>(padded_n())};
  }

  // Bytes of scratch memory for Multiply.
  int64_t ScratchBytes() const { return kTile * padded_k_ * static_cast<int64_t>(sizeof(int16_t)); }
  // Computes the blocks [first, end) of `count` rows, 1 to kTile. `start` has padded_n() elements;
  // null stands for zeros. `sums` has room for kTile rows of padded_n() elements.
  void Multiply(const uint8_t* const* rows, int64_t count, const int32_t* start, int64_t first,
                int64_t end, void* scratch, int32_t* sums) const;

 private:
  void MultiplyBytes(const uint8_t* const* rows, int64_t count, int64_t first, int64_t end,
                     int32_t* sums) const;
  void MultiplyWords(const uint8_t* const* rows, int64_t count, int64_t first, int64_t end,
                     int16_t* scratch, int32_t* sums) const;

  const Int8Isa isa_;
  const int64_t n_, k_, padded_k_;
  const int32_t row_factor_;  // of the sum of a row; 0 unless VNNI
  const void* const form_;    // the totals, and behind them the packed elements
};

}  // namespace caffe2rt
