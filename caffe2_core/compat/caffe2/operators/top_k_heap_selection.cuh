#pragma once
// selectRowsViaHeap: a kernel that selects the k greatest or least elements of each row, sorted.
#include <cstdint>

#include "caffe2/core/common_gpu.h"
#include "caffe2/core/context_gpu.h"
#include "caffe2/utils/GpuDefs.cuh"

namespace caffe2 {

// Writes the k greatest (Dir) or least elements of each row, best first, and their indices; of equal
// ones, the first comes first. A row of fewer than k elements is filled up with initVal and
// initIndexType. One block of ThreadsPerBlock threads for each row. HeapSize, and the dynamic shared
// memory of the launch, are not used: each result is found by one pass over the row.
template <typename V, typename IndexType, typename OutIndexType, int ThreadsPerBlock, int HeapSize,
          bool Dir>
__global__ void selectRowsViaHeap(const V* input, V* outKeys, OutIndexType* outIndices,
                                  const V initVal, const IndexType initIndexType,
                                  const int outer_size, const int inner_size, const int k) {
  __shared__ int best[ThreadsPerBlock];
  const int row = blockIdx.x;
  if (row >= outer_size) return;
  const V* const data = input + static_cast<int64_t>(row) * inner_size;
  // Whether element i comes before element j.
  const auto precedes = [data](int i, int j) {
    if (Dir ? data[i] > data[j] : data[i] < data[j]) return true;
    return data[i] == data[j] && i < j;
  };
  int previous = -1;
  for (int result = 0; result < k; ++result) {
    int mine = -1;
    for (int i = threadIdx.x; i < inner_size; i += ThreadsPerBlock) {
      if (previous >= 0 && !precedes(previous, i)) continue;
      if (mine < 0 || precedes(i, mine)) mine = i;
    }
    best[threadIdx.x] = mine;
    for (int half = ThreadsPerBlock / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) {
        const int other = best[threadIdx.x + half];
        const int own = best[threadIdx.x];
        if (other >= 0 && (own < 0 || precedes(other, own))) best[threadIdx.x] = other;
      }
    }
    __syncthreads();
    previous = best[0];
    __syncthreads();
    if (threadIdx.x == 0) {
      const int64_t at = static_cast<int64_t>(row) * k + result;
      outKeys[at] = previous >= 0 ? data[previous] : initVal;
      outIndices[at] = static_cast<OutIndexType>(previous >= 0 ? previous : initIndexType);
    }
    if (previous < 0) {
      for (int rest = result + 1; rest < k; ++rest) {
        if (threadIdx.x == 0) {
          outKeys[static_cast<int64_t>(row) * k + rest] = initVal;
          outIndices[static_cast<int64_t>(row) * k + rest] =
              static_cast<OutIndexType>(initIndexType);
        }
      }
      return;
    }
  }
}

}  // namespace caffe2
