// Int8Weights: all instruction sets of this machine give the sums of a plain loop.
#include "operators/int8/int8_gemm.h"

#include <cstring>

#include "caffe2_core/tensor/prepared_forms.h"
#include "operators/int8/int8_depthwise.h"
#include "operators/int8/int8_product.h"
#include "tests/operators/int8/int8_blobs.h"

namespace caffe2rt::int8_gemm_test {
namespace {

using namespace test;  // used throughout this file

std::vector<Int8Isa> IsasOfThisMachine() {
  std::vector<Int8Isa> isas = {Int8Isa::kPlain};
  if (BestInt8Isa() >= Int8Isa::kAvx2) isas.push_back(Int8Isa::kAvx2);
  if (BestInt8Isa() >= Int8Isa::kVnni) isas.push_back(Int8Isa::kVnni);
  return isas;
}

struct Sizes {
  int64_t rows, n, k;
};

// Packed weights and their form.
struct Packed {
  Packed(Int8Isa isa, const Int8WeightLayout& layout, const uint8_t* data, int32_t zero_point)
      : form(PreparedForms::NewMemory(Int8WeightBytes(isa, layout.n, layout.k))),
        weights(isa, layout.n, layout.k, zero_point, form.get()) {
    PackInt8Weights(isa, layout, data, zero_point, form.get());
  }
  const std::shared_ptr<void> form;
  const Int8Weights weights;
};

// Multiplies with rows of padded_k bytes whose tail is not zero.
std::vector<int32_t> Multiply(const Int8Weights& weights, const std::vector<uint8_t>& x,
                              const Sizes& sizes, const std::vector<int32_t>& start) {
  std::vector<uint8_t> padded(static_cast<size_t>(sizes.rows * weights.padded_k()), 77);
  std::vector<const uint8_t*> rows;
  for (int64_t r = 0; r < sizes.rows; ++r) {
    uint8_t* row = padded.data() + r * weights.padded_k();
    std::copy(x.begin() + r * sizes.k, x.begin() + (r + 1) * sizes.k, row);
    rows.push_back(row);
  }
  std::vector<int32_t> sums(static_cast<size_t>(Int8Weights::kTile * weights.padded_n()));
  std::vector<char> scratch(static_cast<size_t>(weights.ScratchBytes()));
  std::vector<int32_t> padded_start(static_cast<size_t>(weights.padded_n()));
  std::copy(start.begin(), start.end(), padded_start.begin());
  weights.Multiply(rows.data(), sizes.rows, padded_start.data(), 0, weights.blocks(),
                   scratch.data(), sums.data());
  std::vector<int32_t> result;
  for (int64_t r = 0; r < sizes.rows; ++r) {
    for (int64_t n = 0; n < sizes.n; ++n) {
      result.push_back(sums[static_cast<size_t>(r * weights.padded_n() + n)]);
    }
  }
  return result;
}

std::vector<int32_t> PlainSums(const std::vector<uint8_t>& x, const std::vector<uint8_t>& w,
                               const Sizes& sizes, int32_t zero_point,
                               const std::vector<int32_t>& start) {
  std::vector<int32_t> result;
  for (int64_t r = 0; r < sizes.rows; ++r) {
    for (int64_t n = 0; n < sizes.n; ++n) {
      int32_t sum = start[static_cast<size_t>(n)];
      for (int64_t k = 0; k < sizes.k; ++k) {
        sum += x[static_cast<size_t>(r * sizes.k + k)] *
               (w[static_cast<size_t>(n * sizes.k + k)] - zero_point);
      }
      result.push_back(sum);
    }
  }
  return result;
}

TEST(Int8WeightsTest, AllInstructionSetsGiveTheSameSums) {
  const std::vector<Sizes> all = {{1, 1, 1},  {1, 16, 4},   {2, 17, 5}, {3, 33, 7},
                                  {4, 48, 8}, {5, 15, 100}, {7, 3, 27}, {8, 40, 64}};
  uint32_t seed = 1;
  for (const Sizes& sizes : all) {
    const std::vector<uint8_t> x = RandomBytes(sizes.rows * sizes.k, ++seed);
    const std::vector<uint8_t> w = RandomBytes(sizes.n * sizes.k, ++seed);
    const std::vector<int32_t> start = RandomBiases(sizes.n, 100000, ++seed);
    for (const int32_t zero_point : {0, 128, 130, 255}) {
      const std::vector<int32_t> want = PlainSums(x, w, sizes, zero_point, start);
      for (const Int8Isa isa : IsasOfThisMachine()) {
        const Packed packed(isa, {.n = sizes.n, .k = sizes.k, .n_stride = sizes.k}, w.data(),
                            zero_point);
        EXPECT_EQ(Multiply(packed.weights, x, sizes, start), want)
            << sizes.rows << " " << sizes.n << " " << sizes.k << " zero point " << zero_point
            << " instruction set " << static_cast<int>(isa);
      }
    }
  }
}

// Saturating instructions would fail here: 255 * 255 * 2 does not fit into 16 bits.
TEST(Int8WeightsTest, ExtremeElementsDoNotSaturate) {
  const Sizes sizes{2, 16, 64};
  const std::vector<uint8_t> x(128, 255);
  for (const uint8_t element : {0, 255}) {
    const std::vector<uint8_t> w(16 * 64, element);
    for (const int32_t zero_point : {0, 255}) {
      const int32_t want = 64 * 255 * (element - zero_point);
      for (const Int8Isa isa : IsasOfThisMachine()) {
        const Packed packed(isa, {.n = 16, .k = 64, .n_stride = 64}, w.data(), zero_point);
        EXPECT_EQ(Multiply(packed.weights, x, sizes, std::vector<int32_t>(16)),
                  std::vector<int32_t>(32, want));
      }
    }
  }
}

TEST(Int8WeightsTest, SumsWrapAround) {
  const std::vector<uint8_t> one = {1};
  for (const Int8Isa isa : IsasOfThisMachine()) {
    const Packed packed(isa, {.n = 1, .k = 1, .n_stride = 1}, one.data(), 0);
    EXPECT_EQ(Multiply(packed.weights, one, {1, 1, 1}, {INT32_MAX}),
              std::vector<int32_t>{INT32_MIN});
  }
}

TEST(Int8WeightsTest, ReadsTransposedWeightsAndKeepsTotals) {
  // w[n][k]: {1, 3, 5}, {2, 4, 6}, stored by k.
  const std::vector<uint8_t> w = {1, 2, 3, 4, 5, 6};
  for (const Int8Isa isa : IsasOfThisMachine()) {
    const Packed packed(isa, {.n = 2, .k = 3, .n_stride = 1, .k_stride = 2}, w.data(), 2);
    EXPECT_EQ(packed.weights.totals()[0], 3);
    EXPECT_EQ(packed.weights.totals()[1], 6);
    // 10 * (1 - 2) + 20 * (3 - 2) + 30 * (5 - 2), 10 * (2 - 2) + 20 * (4 - 2) + 30 * (6 - 2)
    EXPECT_EQ(Multiply(packed.weights, {10, 20, 30}, {1, 2, 3}, {0, 1}),
              (std::vector<int32_t>{100, 161}));
  }
}

TEST(Int8WeightsTest, FormsHaveTotalsAndPaddedElements) {
  // 17 outputs are 2 blocks of 16, 5 elements are padded to 8: 32 totals of 4 bytes, 32 x 8
  // elements.
  EXPECT_EQ(Int8WeightBytes(Int8Isa::kVnni, 17, 5), 32u * 4 + 32 * 8);
  EXPECT_EQ(Int8WeightBytes(Int8Isa::kAvx2, 17, 5), 32u * 4 + 32 * 8 * 2);
  // 9 taps are 5 pairs of 2 bytes each.
  EXPECT_EQ(Int8DepthwiseBytes(3, 9), 3u * 4 + 3 * 5 * 4);
  EXPECT_EQ(Int8DepthwiseBytes(3, 4), 3u * 4 + 3 * 2 * 4);
}

void ExpectDepthwiseSums(int64_t channels, int64_t taps, int32_t zero_point) {
  const std::vector<uint8_t> w = RandomBytes(channels * taps, 1);
  const std::vector<uint8_t> x = RandomBytes(channels * taps, 2);
  const std::vector<int32_t> start = RandomBiases(channels, 1000, 3);
  const std::shared_ptr<void> form = PreparedForms::NewMemory(Int8DepthwiseBytes(channels, taps));
  PackInt8Depthwise(channels, taps, w.data(), zero_point, form.get());
  const Int8DepthwiseWeights weights(channels, taps, form.get());
  std::vector<const uint8_t*> pixels;
  for (int64_t t = 0; t < taps; ++t) pixels.push_back(x.data() + t * channels);
  std::vector<int32_t> sums(static_cast<size_t>(channels));
  weights.Multiply(pixels.data(), start.data(), sums.data());
  for (int64_t c = 0; c < channels; ++c) {
    int32_t want = start[static_cast<size_t>(c)], total = 0;
    for (int64_t t = 0; t < taps; ++t) {
      const int32_t weight = w[static_cast<size_t>(c * taps + t)] - zero_point;
      want += x[static_cast<size_t>(t * channels + c)] * weight;
      total += weight;
    }
    EXPECT_EQ(sums[static_cast<size_t>(c)], want) << c;
    EXPECT_EQ(weights.totals()[static_cast<size_t>(c)], total) << c;
  }
}

TEST(Int8DepthwiseWeightsTest, AddsTapsChannelByChannel) {
  // 107 channels: whole blocks of all widths and a rest. An odd number of taps has a last one without a partner.
  for (const int64_t channels : {107, 3}) {
    for (const int64_t taps : {9, 4, 1}) {
      for (const int32_t zero_point : {99, 0, 255}) {
        SCOPED_TRACE(MakeString(channels, " ", taps, " ", zero_point));
        ExpectDepthwiseSums(channels, taps, zero_point);
      }
    }
  }
}

// The parts are as large as the kernels write: sums, words and rows, one behind the other.
TEST(Int8ProductTest, PartsOfTheScratchMemoryDoNotOverlap) {
  for (const Int8Isa isa : IsasOfThisMachine()) {
    SCOPED_TRACE(static_cast<int>(isa));
    const std::vector<uint8_t> w(5 * 70, 3);
    const Packed packed(isa, {.n = 5, .k = 70, .n_stride = 70}, w.data(), 0);
    const Int8Weights& weights = packed.weights;
    const auto size = static_cast<size_t>(Int8ProductScratchSize(weights));
    std::vector<float> memory(size);
    const Int8ProductScratch parts = DivideScratch(weights, memory.data());
    const auto at = [&](const void* part) {
      return static_cast<const char*>(part) - reinterpret_cast<const char*>(memory.data());
    };
    EXPECT_EQ(at(parts.sums), 0);
    EXPECT_GE(at(parts.words), Int8Weights::kTile * weights.padded_n() * 4);
    EXPECT_GE(at(parts.rows), at(parts.words) + weights.ScratchBytes());
    EXPECT_LE(at(parts.rows) + Int8Weights::kTile * weights.padded_k(),
              static_cast<std::ptrdiff_t>(size * sizeof(float)));
  }
}

// Forms are compared and stored: nothing of what their memory held before remains.
TEST(Int8WeightsTest, FormsDoNotDependOnTheirMemory) {
  const int64_t n = 21, k = 13;
  const std::vector<uint8_t> data = RandomBytes(n * k, 1);
  const Int8WeightLayout layout{.n = n, .k = k, .n_stride = k, .k_stride = 1};
  for (const Int8Isa isa : IsasOfThisMachine()) {
    const size_t nbytes = Int8WeightBytes(isa, n, k);
    const std::shared_ptr<void> zeros = PreparedForms::NewMemory(nbytes);
    const std::shared_ptr<void> used = PreparedForms::NewMemory(nbytes);
    std::memset(zeros.get(), 0, nbytes);
    std::memset(used.get(), 0x5a, nbytes);
    for (void* const form : {zeros.get(), used.get()}) {
      PackInt8Weights(isa, layout, data.data(), 120, form);
    }
    EXPECT_EQ(std::memcmp(zeros.get(), used.get(), nbytes), 0) << Int8IsaName(isa);
  }
}

}  // namespace
}  // namespace caffe2rt::int8_gemm_test
