#pragma once
// The kernels of TopK and TopKGradient on CUDA (top_k.h).

#include <cstdint>

#include "operators/select/axis_span.h"

namespace caffe2rt {

class CUDAContext;

// A search: the k best elements of each of outer * inner rows of x. `flat` may be null.
struct TopKTask {
  AxisSpan span;
  int64_t k;
  const float* x;
  float* values;
  int64_t* indices;
  int64_t* flat;
};

// A gradient: k values and their indices for each of outer * inner rows of dx.
struct TopKGradientTask {
  AxisSpan span;
  int64_t k;
  const float* dy;
  const int64_t* indices;
  float* dx;
};
// See top_k.h.
void ScatterTop(CUDAContext& context, const TopKGradientTask& task);

// A block processes one row: it searches the best element, then the best one after it, and so on.
// Each search reads the whole row.
void FindTopOneByOne(CUDAContext& context, const TopKTask& task);

// For sorting: writes the elements of all rows one after the other, with the index of each in its
// row. The keys contain no NaN and no -0. REQUIRES: a row has fewer than 2^31 elements.
void MakeTopKeys(CUDAContext& context, const TopKTask& task, float* keys, int32_t* places);
// Writes the results from the indices of the sorted keys. Rows with NaN use a heap, so that the
// result is the same as on the CPU.
void TakeSortedTop(CUDAContext& context, const TopKTask& task, const int32_t* places);

}  // namespace caffe2rt
