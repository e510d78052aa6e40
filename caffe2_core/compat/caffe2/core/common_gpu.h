#pragma once
// Functions, macros and constants for CUDA. Any source can include this header, also one that is
// compiled without CUDA (caffe2rt_cuda/with_cuda.h).
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "caffe2/core/common.h"
#include "caffe2/core/logging.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2_core/compat/caffe2rt_cuda/with_cuda.h"
#if CAFFE2RT_WITH_CUDA
#include "caffe2_core/compat/caffe2rt_cuda/linked_functions.h"
#else
#include "caffe2_core/compat/caffe2rt_cuda/host_functions.h"
#endif

#ifndef CAFFE2_COMPILE_TIME_MAX_GPUS
#define CAFFE2_COMPILE_TIME_MAX_GPUS 16
#endif
#define CAFFE2_CUDA_MAX_PEER_SIZE 8

#define CUDA_CHECK(condition) CUDA_ENFORCE(condition)
#define CUBLAS_CHECK(condition) CUBLAS_ENFORCE(condition)
#define CURAND_CHECK(condition) CURAND_ENFORCE(condition)
#define CUDNN_CHECK(condition) CUDNN_ENFORCE(condition)
#define CUDA_DRIVERAPI_ENFORCE(condition, ...)                           \
  do {                                                                   \
    const int caffe2rt_result = static_cast<int>(condition);             \
    if (caffe2rt_result != 0) {                                          \
      CAFFE_THROW(#condition, " failed with result ", caffe2rt_result,   \
                  " of CUDA's driver" __VA_OPT__(, ": ", ) __VA_ARGS__); \
    }                                                                    \
  } while (false)
#define CUDA_DRIVERAPI_CHECK(condition) CUDA_DRIVERAPI_ENFORCE(condition)
#ifndef CUDA_KERNEL_ASSERT
#define CUDA_KERNEL_ASSERT(...) assert((__VA_ARGS__))
#endif

// A loop of a kernel whose indices are distributed over the threads of the grid.
#ifndef CUDA_1D_KERNEL_LOOP
#define CUDA_1D_KERNEL_LOOP(i, n)                                                            \
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < size_t(n); \
       i += static_cast<size_t>(blockDim.x) * gridDim.x)
#endif
#ifndef CUDA_2D_KERNEL_LOOP
#define CUDA_2D_KERNEL_LOOP(i, n, j, m)                                                        \
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < size_t(n);   \
       i += static_cast<size_t>(blockDim.x) * gridDim.x)                                       \
    for (size_t j = blockIdx.y * static_cast<size_t>(blockDim.y) + threadIdx.y; j < size_t(m); \
         j += static_cast<size_t>(blockDim.y) * gridDim.y)
#endif

// Calls Function<Type, value>(...), with one, two or three types. THROWS unless the value is 1 to 8.
#define DISPATCH_FUNCTION_BY_VALUE_WITH_TYPE_1(value, Function, T, ...)       \
  ::caffe2::internal_gpu::DispatchByValue(                                    \
      (value), [&]<int caffe2rt_n>(std::integral_constant<int, caffe2rt_n>) { \
        Function<T, caffe2rt_n>(__VA_ARGS__);                                 \
      })
#define DISPATCH_FUNCTION_BY_VALUE_WITH_TYPE_2(value, Function, T1, T2, ...)  \
  ::caffe2::internal_gpu::DispatchByValue(                                    \
      (value), [&]<int caffe2rt_n>(std::integral_constant<int, caffe2rt_n>) { \
        Function<T1, T2, caffe2rt_n>(__VA_ARGS__);                            \
      })
#define DISPATCH_FUNCTION_BY_VALUE_WITH_TYPE_3(value, Function, T1, T2, T3, ...) \
  ::caffe2::internal_gpu::DispatchByValue(                                       \
      (value), [&]<int caffe2rt_n>(std::integral_constant<int, caffe2rt_n>) {    \
        Function<T1, T2, T3, caffe2rt_n>(__VA_ARGS__);                           \
      })

namespace caffe2 {

using CUDAGuard = DeviceGuard;

constexpr int kCUDAGridDimMaxX = 2147483647;
constexpr int kCUDAGridDimMaxY = 65535;
constexpr int kCUDAGridDimMaxZ = 65535;
constexpr int kCUDATensorMaxDims = 8;

// An array that a kernel takes by value.
template <class T, int N>
struct SimpleArray {
  T data[N];
};

namespace internal_gpu {
template <class F>
void DispatchByValue(int value, const F& function) {
  const auto call = [&]<int... kValues>(std::integer_sequence<int, kValues...>) {
    return ((value == kValues + 1 ? (function(std::integral_constant<int, kValues + 1>()), true)
                                  : false) ||
            ...);
  };
  CAFFE_ENFORCE(call(std::make_integer_sequence<int, kCUDATensorMaxDims>()), "the rank is ", value,
                ", want 1 to ", kCUDATensorMaxDims);
}
}  // namespace internal_gpu

constexpr int CAFFE_CUDA_NUM_THREADS = 128;
constexpr int CAFFE_CUDA_NUM_THREADS_2D_DIMX = 16;
constexpr int CAFFE_CUDA_NUM_THREADS_2D_DIMY = 16;
constexpr int CAFFE_MAXIMUM_NUM_BLOCKS = 4096;
constexpr int CAFFE_MAXIMUM_NUM_BLOCKS_2D_DIMX = 128;
constexpr int CAFFE_MAXIMUM_NUM_BLOCKS_2D_DIMY = 128;

// The number of blocks for n elements. At least 1, because a grid without blocks cannot be
// launched.
inline int CAFFE_GET_BLOCKS(const int n) {
  const int blocks = (n + CAFFE_CUDA_NUM_THREADS - 1) / CAFFE_CUDA_NUM_THREADS;
  return std::max(1, std::min(blocks, CAFFE_MAXIMUM_NUM_BLOCKS));
}
#if CAFFE2RT_WITH_CUDA || __has_include(<cuda_runtime.h>)
inline dim3 CAFFE_GET_BLOCKS_2D(const int n, const int m) {
  const int x = (n + CAFFE_CUDA_NUM_THREADS_2D_DIMX - 1) / CAFFE_CUDA_NUM_THREADS_2D_DIMX;
  const int y = (m + CAFFE_CUDA_NUM_THREADS_2D_DIMY - 1) / CAFFE_CUDA_NUM_THREADS_2D_DIMY;
  return dim3(std::max(1, std::min(x, CAFFE_MAXIMUM_NUM_BLOCKS_2D_DIMX)),
              std::max(1, std::min(y, CAFFE_MAXIMUM_NUM_BLOCKS_2D_DIMY)), 1);
}
#endif

}  // namespace caffe2
