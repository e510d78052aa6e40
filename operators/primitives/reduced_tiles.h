#pragma once
// The kernels of ReducedGemm (reduced_gemm.h): the conversion of rows of A, and tiles of C.
//
// Packed form: panels of `width` columns. A panel holds groups of `together` adjacent k: for each
// column the elements of the group. The last panel and the last group are filled up with zeros.

#include <cstdint>

#include "operators/primitives/reduced_gemm.h"

namespace caffe2rt {

// A converted row of A: q = round(a * (1 / scale)) + zero. For bf16, 1 and 0.
struct ReducedRow {
  float scale = 1;
  int32_t zero = 0;
};

// A part of C that stays in registers: some rows and one panel.
struct ReducedTile {
  int64_t groups = 0;
  const char* a = nullptr;  // converted rows
  int64_t a_stride = 0;     // in bytes
  const ReducedRow* rows = nullptr;
  const char* b = nullptr;  // the panel
  // For each column of the panel: the scales of B and the sums of its bytes; null for bf16.
  const float* scales = nullptr;
  const int32_t* sums = nullptr;
  const float* bias = nullptr;
  float lowest = 0, highest = 0;  // bounds of the results; a NaN stays
  float* c = nullptr;
  int64_t ldc = 0;
};

struct ReducedTiles {
  static constexpr int kMostRows = 12;
  static constexpr int kMostColumns = 32;

  int width;                                        // columns of a panel
  int rows;                                         // the most rows of a tile
  int together;                                     // k in a group
  int a_bytes;                                      // of an element of a converted row
  int b_bytes;                                      // of an element of a panel
  void (*run[kMostRows])(const ReducedTile& tile);  // at [rows - 1]
  // Converts `k` floats, and fills up the last group with zeros.
  ReducedRow (*convert)(int64_t k, const float* a, void* to);
};

const ReducedTiles& TilesOf(ReducedKernel kernel);
// Packs the first `columns` columns of B [k, ...] as a panel of kBf16; see ReducedGemm::Pack. The other
// columns are not written. REQUIRES: WhyNoBf16Products() is empty.
void PackBf16Panel(bool transposed, int64_t k, int64_t columns, const float* b, int64_t ldb,
                   void* panel);
// The best for bytes.
ReducedKernel BestByteKernel();

}  // namespace caffe2rt
