#pragma once
// RunInt8Product: multiplies rows of quantized elements by packed weights and requantizes the sums.
// Divides the work among the threads of the pool.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "caffe2_core/base/thread_pool.h"
#include "operators/int8/int8_gemm.h"
#include "operators/int8/requantization.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

struct Int8Product {
  const Int8Weights* weights = nullptr;
  const int32_t* start = nullptr;  // of the sums: padded_n() elements
  Requantization requantization;
  int64_t rows = 0;
  uint8_t* y = nullptr;  // row r begins at y + r * y_stride
  int64_t y_stride = 0;
};

// The start of the sums of products with `weights`: the bias, corrected for the zero point of the
// rows. `bias` has weights.n() elements; null stands for zeros.
void StartOfSums(const Int8Weights& weights, const int32_t* bias, int32_t zero_point,
                 int32_t* start);

// The parts of a piece's scratch memory.
struct Int8ProductScratch {
  int32_t* sums = nullptr;
  void* words = nullptr;
  uint8_t* rows = nullptr;  // kTile rows of padded_k() bytes
};
// The size of that memory in floats.
int64_t Int8ProductScratchSize(const Int8Weights& weights);
Int8ProductScratch DivideScratch(const Int8Weights& weights, float* memory);

// `rows_of(first, count, buffer, pointers)` stores the addresses of `count` rows in `pointers`. It
// may write rows to `buffer`, which has room for kTile rows of padded_k() bytes. It is called
// concurrently.
template <class RowsOf>
void RunInt8Product(const Int8Product& product, ThreadScratch* scratch, const RowsOf& rows_of) {
  constexpr int64_t kTile = Int8Weights::kTile;
  const Int8Weights& weights = *product.weights;
  const int64_t tiles = (product.rows + kTile - 1) / kTile;
  const int64_t threads = GetNumThreads();
  // Few rows: the outputs are divided too.
  const int64_t parts = std::min(weights.blocks(), (threads + tiles - 1) / tiles);
  const int64_t jobs = tiles * parts;
  const int pieces = static_cast<int>(std::min(jobs, threads));
  const PieceScratch parts_of_pieces = scratch->ForPieces(pieces, Int8ProductScratchSize(weights));
  ParallelFor(pieces, [&](int piece) {
    const Int8ProductScratch memory = DivideScratch(weights, parts_of_pieces[piece]);
    for (int64_t job = jobs * piece / pieces; job < jobs * (piece + 1) / pieces; ++job) {
      const int64_t first = job / parts * kTile, part = job % parts;
      const int64_t count = std::min(kTile, product.rows - first);
      const int64_t block = weights.blocks() * part / parts;
      const int64_t end = weights.blocks() * (part + 1) / parts;
      const uint8_t* rows[kTile];
      rows_of(first, count, memory.rows, rows);
      weights.Multiply(rows, count, product.start, block, end, memory.words, memory.sums);
      const int64_t n = block * Int8Weights::kBlock;
      const int64_t width = std::min(end * Int8Weights::kBlock, weights.n()) - n;
      for (int64_t r = 0; r < count; ++r) {
        Requantize(memory.sums + r * weights.padded_n() + n, width, product.requantization,
                   product.y + (first + r) * product.y_stride + n);
      }
    }
  });
}

}  // namespace caffe2rt
