#pragma once
// gatherTopK: a kernel that selects the k greatest or least elements of each row.
#include <cstdint>
#include <type_traits>

#include "caffe2/core/common_gpu.h"
#include "caffe2/core/context_gpu.h"
#include "caffe2/utils/GpuDefs.cuh"

namespace caffe2 {

// Maps numbers to unsigned integers of the same order.
template <class T>
struct TopKTypeConfig {
  static_assert(std::is_arithmetic_v<T>);
  using RadixType = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned int>;
  static constexpr int kBits = 8 * sizeof(RadixType);
  static constexpr RadixType kHighest = RadixType(1) << (kBits - 1);

  static __device__ RadixType convert(T value) {
    if constexpr (std::is_same_v<T, float>) {
      const RadixType bits = __float_as_uint(value);
      return bits ^ ((bits & kHighest) != 0 ? ~RadixType(0) : kHighest);
    } else if constexpr (std::is_same_v<T, double>) {
      const RadixType bits = static_cast<RadixType>(__double_as_longlong(value));
      return bits ^ ((bits & kHighest) != 0 ? ~RadixType(0) : kHighest);
    } else {
      using Wide = std::conditional_t<sizeof(T) == 8, long long, int>;
      return static_cast<RadixType>(static_cast<Wide>(value)) ^
             (std::is_signed_v<T> || sizeof(T) < 4 ? kHighest : RadixType(0));
    }
  }
};

// The converted form of the k-th greatest (Order) or least element; k counts from 1. All threads of
// the block must call it, and all get the result. `smem` is shared memory for 4 numbers.
template <typename T, bool Order>
__device__ typename TopKTypeConfig<T>::RadixType radixSelect(const T* data, int k, int64_t size,
                                                             int* smem) {
  using Config = TopKTypeConfig<T>;
  using Radix = typename Config::RadixType;
  Radix known = 0, mask = 0;
  // Two bits of the result at a time: counts how many candidates have which.
  for (int shift = Config::kBits - 2; shift >= 0; shift -= 2) {
    __syncthreads();
    if (threadIdx.x < 4) smem[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
      const Radix value = Config::convert(data[i]);
      if ((value & mask) == known) atomicAdd(&smem[(value >> shift) & 3], 1);
    }
    __syncthreads();
    int digit = Order ? 3 : 0;
    while (digit != (Order ? 0 : 3) && smem[digit] < k) {
      k -= smem[digit];
      digit += Order ? -1 : 1;
    }
    known |= static_cast<Radix>(digit) << shift;
    mask |= Radix(3) << shift;
  }
  return known;
}

// Selects the outputSliceSize greatest (Order) or least elements of each of the numInputSlices
// rows of inputSliceSize elements. The results are in the order of the row, those equal to the last
// one behind all others. One block for each row, of at most 1024 threads in whole warps.
// REQUIRES: outputSliceSize <= inputSliceSize.
template <typename T, bool Order, typename IndicesType>
__global__ void gatherTopK(const T* inputPtr, IndicesType inputSliceSize,
                           IndicesType outputSliceSize, IndicesType numInputSlices, T* outputPtr,
                           IndicesType* indicesPtr) {
  using Config = TopKTypeConfig<T>;
  __shared__ int smem[kWarpSize];
  __shared__ int written;
  const int64_t slice = blockIdx.x + static_cast<int64_t>(gridDim.x) * blockIdx.y;
  if (slice >= numInputSlices || outputSliceSize <= 0) return;
  const T* const input = inputPtr + slice * inputSliceSize;
  T* const output = outputPtr + slice * outputSliceSize;
  IndicesType* const indices = indicesPtr + slice * outputSliceSize;
  const auto last = radixSelect<T, Order>(input, static_cast<int>(outputSliceSize),
                                          static_cast<int64_t>(inputSliceSize), smem);
  if (threadIdx.x == 0) written = 0;
  const int warp = threadIdx.x / kWarpSize, lane = threadIdx.x % kWarpSize;
  const int warps = blockDim.x / kWarpSize;
  for (int pass = 0; pass < 2; ++pass) {  // those beyond the last, then those equal to it
    for (int64_t start = 0; start < inputSliceSize; start += blockDim.x) {
      const int64_t i = start + threadIdx.x;
      bool selected = false;
      if (i < inputSliceSize) {
        const auto value = Config::convert(input[i]);
        selected = pass == 1 ? value == last : Order ? value > last : value < last;
      }
      const unsigned votes = __ballot_sync(0xffffffffu, selected);
      __syncthreads();
      if (lane == 0) smem[warp] = __popc(votes);
      __syncthreads();
      int before = written, total = 0;
      for (int w = 0; w < warps; ++w) {
        if (w < warp) before += smem[w];
        total += smem[w];
      }
      const int at = before + __popc(votes & ((1u << lane) - 1));
      if (selected && at < outputSliceSize) {
        output[at] = input[i];
        indices[at] = static_cast<IndicesType>(i);
      }
      __syncthreads();
      if (threadIdx.x == 0) written += total;
      __syncthreads();
    }
  }
}

}  // namespace caffe2
