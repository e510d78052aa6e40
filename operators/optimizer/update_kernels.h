#pragma once
// The launch functions of the optimizers on CUDA. update_all.cu and update_rows.cu instantiate them
// for the rules of update_rules.h.

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// A parameter of `rows` rows of `block` elements, of which `count` indices name the updated ones.
struct RowSizes {
  int64_t rows, block, count;
};

template <class Rule>
void UpdateAll(CUDAContext& context, int64_t n, const Rule& rule);

// Writes for each index the index itself, or -1 if it is out of range, and its position.
template <class Index>
void MakeRowKeys(CUDAContext& context, const RowSizes& sizes, const Index* indices, int64_t* keys,
                 int32_t* places);
// Updates the rows that the sorted keys name; the gradient of keys[j] is slice places[j].
template <class Rule>
void UpdateSortedRows(CUDAContext& context, const RowSizes& sizes, const int64_t* keys,
                      const int32_t* places, const Rule& rule);

}  // namespace caffe2rt
