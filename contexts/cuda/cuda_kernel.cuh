#pragma once
// Turns a functor over indices, or over rows, into a kernel.
//
//   struct AddOne {
//     const float* x; float* y;
//     CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = x[i] + 1; }
//   };
//   ForEach(context, n, AddOne{x, y}, "AddOne");          // one thread per index
//
//   struct RowSums {
//     int64_t cols; const float* x; float* y;
//     CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
//       const float* in = x + row.index() * cols;
//       const float sum = row.Reduce(cols, 0.f, Plus(), [=](int64_t i) { return in[i]; });
//       row.Once([=, this] { y[row.index()] = sum; });
//     }
//   };
//   ForEachRow(context, rows, RowSums{cols, x, y}, "RowSums");   // one thread block per row
//
// Functors are plain values: numbers and pointers to memory of the context's device. On the fake
// CUDA of the tests, the functor is called in a loop, in stream order, so every kernel can be
// tested without a GPU. Sanitizer builds compile .cu files as C++, for the fake only.
//
// Launches are asynchronous; a launch that fails THROWS with the name of the kernel. Nothing is
// launched for zero indices. Indices are 64-bit.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>

#include "caffe2_core/base/host_device.h"
#include "contexts/cuda/cuda_launch.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The thread block that works on one row. All of its threads must call the same members in the same
// order with the same arguments; only values computed inside a functor may depend on its index.
//
// A value written by f(i) is visible to f(i) of the next call, and to other indices after Sync. On
// the host, each call is a loop.
class Row {
 public:
  CAFFE2RT_HOST_DEVICE explicit Row(int64_t index) : index_(index) {}
  CAFFE2RT_HOST_DEVICE int64_t index() const { return index_; }

  // Calls f(i) for i in [0, n), in any order.
  template <class F>
  CAFFE2RT_HOST_DEVICE void ForEach(int64_t n, F f) const {
#if defined(__CUDA_ARCH__)
    for (int64_t i = threadIdx.x; i < n; i += kKernelThreads) f(i);
#else
    for (int64_t i = 0; i < n; ++i) f(i);
#endif
  }

  // Calls f() on one of the threads.
  template <class F>
  CAFFE2RT_HOST_DEVICE void Once(F f) const {
#if defined(__CUDA_ARCH__)
    if (threadIdx.x == 0) f();
#else
    f();
#endif
  }

  // Returns, in all threads, the reduction of identity, f(0), ..., f(n - 1) by `op`. `op` must be
  // associative and commutative, and T trivially copyable.
  template <class T, class Op, class F>
  CAFFE2RT_HOST_DEVICE T Reduce(int64_t n, T identity, Op op, F f) const {
    T result = identity;
#if defined(__CUDA_ARCH__)
    for (int64_t i = threadIdx.x; i < n; i += kKernelThreads) result = op(result, f(i));
    return ReduceBlock(result, identity, op);
#else
    for (int64_t i = 0; i < n; ++i) result = op(result, f(i));
    return result;
#endif
  }

  CAFFE2RT_HOST_DEVICE void Sync() const {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }

 private:
#if defined(__CUDACC__)
  // Returns the value of the lane `distance` lanes higher; T may have any size.
  template <class T>
  static __device__ T FromLane(const T& value, int distance) {
    constexpr int kWords = (sizeof(T) + 3) / 4;
    uint32_t words[kWords] = {};
    memcpy(words, &value, sizeof(T));
    for (int i = 0; i < kWords; ++i) words[i] = __shfl_down_sync(~0u, words[i], distance);
    T other = value;
    memcpy(&other, words, sizeof(T));
    return other;
  }
  template <class T, class Op>
  static __device__ T ReduceBlock(T value, T identity, Op op) {
    constexpr int kWarps = kKernelThreads / 32;
    __shared__ alignas(16) unsigned char shared[kWarps * sizeof(T)];
    T* const partial = reinterpret_cast<T*>(shared);
    for (int distance = 16; distance > 0; distance /= 2) {
      value = op(value, FromLane(value, distance));
    }
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    T result = identity;
    for (int i = 0; i < kWarps; ++i) result = op(result, partial[i]);
    __syncthreads();  // the next call overwrites `shared`
    return result;
  }
#endif
  int64_t index_;
};

// Operations for Reduce and for binary kernels.
struct Plus {
  template <class T>
  CAFFE2RT_HOST_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};
struct Maximum {
  template <class T>
  CAFFE2RT_HOST_DEVICE T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Minimum {
  template <class T>
  CAFFE2RT_HOST_DEVICE T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

namespace internal {

// A stream operation of the fake CUDA that calls f(i), or f(Row(i)), for i in [first, first + n).
template <class F, class Index>
struct HostTwin {
  int64_t first;
  int64_t n;
  F f;
  static void Run(void* arg) {
    const auto* const twin = static_cast<const HostTwin*>(arg);
    for (int64_t i = 0; i < twin->n; ++i) twin->f(Index(twin->first + i));
  }
  static void Release(void* arg) { delete static_cast<HostTwin*>(arg); }
};

#if defined(__CUDACC__)
template <class F>
__global__ void __launch_bounds__(kKernelThreads) ForEachKernel(int64_t first, int64_t n, F f) {
  const int64_t step = int64_t{gridDim.x} * kKernelThreads;
  for (int64_t i = int64_t{blockIdx.x} * kKernelThreads + threadIdx.x; i < n; i += step) {
    f(first + i);
  }
}
template <class F>
__global__ void __launch_bounds__(kKernelThreads) ForEachRowKernel(int64_t first, int64_t n, F f) {
  for (int64_t i = blockIdx.x; i < n; i += gridDim.x) f(Row(first + i));
}
#endif

}  // namespace internal

// Calls f(i) for i in [first, first + n), each on one thread. `name` is a string literal for error
// messages.
template <class F>
void ForEach(CUDAContext& context, int64_t n, const F& f, const char* name, int64_t first = 0) {
  if (n <= 0) return;
  if (IsFakeCuda()) {
    using Twin = internal::HostTwin<F, int64_t>;
    EnqueueOnFakeCuda(context, name, &Twin::Run, new Twin{first, n, f}, &Twin::Release);
    return;
  }
#if defined(__CUDACC__)
  const unsigned int grid = GridSize(context, (n + kKernelThreads - 1) / kKernelThreads);
  internal::ForEachKernel<<<grid, kKernelThreads, 0, StreamOf(context)>>>(first, n, f);
  CheckLaunch(name);
#else
  ThrowCompiledForFakeCuda(name);
#endif
}

// Calls f(Row(i)) for i in [first, first + rows), each on a block of kKernelThreads threads.
template <class F>
void ForEachRow(CUDAContext& context, int64_t rows, const F& f, const char* name,
                int64_t first = 0) {
  if (rows <= 0) return;
  if (IsFakeCuda()) {
    using Twin = internal::HostTwin<F, Row>;
    EnqueueOnFakeCuda(context, name, &Twin::Run, new Twin{first, rows, f}, &Twin::Release);
    return;
  }
#if defined(__CUDACC__)
  internal::ForEachRowKernel<<<GridSize(context, rows), kKernelThreads, 0, StreamOf(context)>>>(
      first, rows, f);
  CheckLaunch(name);
#else
  ThrowCompiledForFakeCuda(name);
#endif
}

}  // namespace caffe2rt
#pragma GCC visibility pop
