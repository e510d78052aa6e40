#pragma once
// The kernels of TopK on CUDA (top_k.h).

#include <cstdint>

#include "operators/select/axis_span.h"

namespace caffe2rt {

class CUDAContext;

// What to find: the k best of each of outer * inner rows of x. `flat` may be null.
struct TopKTask {
  AxisSpan span;
  int64_t k;
  const float* x;
  float* values;
  int64_t* indices;
  int64_t* flat;
};

// By one block for each row, which looks for the best element, then for the best after it, and so
// on.
void FindTopOneByOne(CUDAContext& context, const TopKTask& task);

// By sorting: the elements of all rows side by side, each with its place in its row. The keys have
// no NaN and no -0. REQUIRES: a row has less than 2^31 elements.
void MakeTopKeys(CUDAContext& context, const TopKTask& task, float* keys, int32_t* places);
// Writes the results from the places of the sorted keys. Rows with NaN go through a heap, to be as
// on the CPU.
void TakeSortedTop(CUDAContext& context, const TopKTask& task, const int32_t* places);

}  // namespace caffe2rt
