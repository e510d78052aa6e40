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
//   ForEachRowOf(context, cols, rows, RowSums{cols, x, y}, "RowSums");  // a warp per short row
//
// Functors are plain values: numbers and pointers to memory of the context's device. On the fake
// CUDA of the tests, the functor is called in a loop, in stream order, so every kernel can be
// tested without a GPU: last index first, because a device promises no order, and with reductions
// that add what the threads of a block would add, in their order. Sanitizer builds compile .cu files
// as C++, for the fake only.
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

inline constexpr int kWarpThreads = 32;
// The longest row that ForEachRowOf gives to a warp: eight elements for each of its threads.
inline constexpr int64_t kShortRow = 256;

// The thread block or the warp that works on one row. All of its threads must call the same members
// in the same order with the same arguments; only values computed inside a functor may depend on its
// index.
//
// A value written by f(i) is visible to f(i) of the next call, and to other indices after Sync. On
// the host, each call is a loop.
class Row {
 public:
  // `is_warp`: the threads are those of a warp. A constant wherever a Row is made, so that the other
  // case disappears from the kernel.
  CAFFE2RT_HOST_DEVICE explicit Row(int64_t index, bool is_warp = false)
      : index_(index), is_warp_(is_warp) {}
  CAFFE2RT_HOST_DEVICE int64_t index() const { return index_; }
  CAFFE2RT_HOST_DEVICE bool is_warp() const { return is_warp_; }

  // Calls f(i) for i in [0, n), in any order.
  template <class F>
  CAFFE2RT_HOST_DEVICE void ForEach(int64_t n, F f) const {
#if defined(__CUDA_ARCH__)
    for (int64_t i = Thread(); i < n; i += Threads()) f(i);
#else
    for (int64_t i = n; i-- > 0;) f(i);
#endif
  }

  // Calls f() on one of the threads.
  template <class F>
  CAFFE2RT_HOST_DEVICE void Once(F f) const {
#if defined(__CUDA_ARCH__)
    if (Thread() == 0) f();
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
    for (int64_t i = Thread(); i < n; i += Threads()) result = op(result, f(i));
    result = ReduceWarp(result, op);
    return is_warp_ ? FromLane(result, 0) : ReduceWarps(result, identity, op);
#else
    T partial[kKernelThreads / kWarpThreads];
    const int warps = is_warp_ ? 1 : kKernelThreads / kWarpThreads;
    for (int warp = 0; warp < warps; ++warp) {
      partial[warp] = ReduceOneWarp(warp, n, identity, op, f);
    }
    if (is_warp_) return partial[0];
    for (int warp = 0; warp < warps; ++warp) result = op(result, partial[warp]);
    return result;
#endif
  }

  CAFFE2RT_HOST_DEVICE void Sync() const {
#if defined(__CUDA_ARCH__)
    if (is_warp_) {
      __syncwarp();
    } else {
      __syncthreads();
    }
#endif
  }

 private:
  CAFFE2RT_HOST_DEVICE int Threads() const { return is_warp_ ? kWarpThreads : kKernelThreads; }

#if !defined(__CUDA_ARCH__)
  // What the threads of one warp compute in Reduce, on the host.
  template <class T, class Op, class F>
  T ReduceOneWarp(int warp, int64_t n, const T& identity, Op op, F f) const {
    T lanes[kWarpThreads];
    for (int lane = 0; lane < kWarpThreads; ++lane) {
      lanes[lane] = identity;
      const int64_t thread = warp * kWarpThreads + lane;
      for (int64_t i = thread; i < n; i += Threads()) lanes[lane] = op(lanes[lane], f(i));
    }
    for (int distance = kWarpThreads / 2; distance > 0; distance /= 2) {
      for (int lane = 0; lane < distance; ++lane) {
        lanes[lane] = op(lanes[lane], lanes[lane + distance]);
      }
    }
    return lanes[0];
  }
#endif

#if defined(__CUDACC__)
  __device__ int Thread() const { return static_cast<int>(threadIdx.x) % Threads(); }

  // Returns the value of a lane; T may have any size.
  template <class T>
  static __device__ T FromLane(const T& value, int lane) {
    constexpr int kWords = (sizeof(T) + 3) / 4;
    uint32_t words[kWords] = {};
    memcpy(words, &value, sizeof(T));
    for (int i = 0; i < kWords; ++i) words[i] = __shfl_sync(~0u, words[i], lane);
    T other = value;
    memcpy(&other, words, sizeof(T));
    return other;
  }
  // Returns the reduction of the warp's values in its first lane.
  template <class T, class Op>
  static __device__ T ReduceWarp(T value, Op op) {
    const int lane = static_cast<int>(threadIdx.x) % kWarpThreads;
    for (int distance = kWarpThreads / 2; distance > 0; distance /= 2) {
      value = op(value, FromLane(value, lane + distance));
    }
    return value;
  }
  // Returns the reduction of the values in the first lanes of the block's warps.
  template <class T, class Op>
  static __device__ T ReduceWarps(T value, T identity, Op op) {
    constexpr int kWarps = kKernelThreads / kWarpThreads;
    __shared__ alignas(16) unsigned char shared[kWarps * sizeof(T)];
    T* const partial = reinterpret_cast<T*>(shared);
    if (threadIdx.x % kWarpThreads == 0) partial[threadIdx.x / kWarpThreads] = value;
    __syncthreads();
    T result = identity;
    for (int i = 0; i < kWarps; ++i) result = op(result, partial[i]);
    __syncthreads();  // the next call overwrites `shared`
    return result;
  }
#endif
  int64_t index_;
  bool is_warp_;
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

// The argument of a functor: an index, or a row that a block or a warp works on.
struct AsIndex {
  int64_t operator()(int64_t i) const { return i; }
};
struct AsRow {
  Row operator()(int64_t i) const { return Row(i); }
};
struct AsShortRow {
  Row operator()(int64_t i) const { return Row(i, true); }
};

// A stream operation of the fake CUDA that calls f(Make()(i)) for i in [first, first + n).
template <class F, class Make>
struct HostTwin {
  int64_t first;
  int64_t n;
  F f;
  static void Run(void* arg) {
    const auto* const twin = static_cast<const HostTwin*>(arg);
    for (int64_t i = twin->n; i-- > 0;) twin->f(Make()(twin->first + i));
  }
  static void Release(void* arg) { delete static_cast<HostTwin*>(arg); }
};

template <class Make, class F>
void EnqueueTwin(const CUDAContext& context, int64_t first, int64_t n, const F& f,
                 const char* name) {
  using Twin = HostTwin<F, Make>;
  EnqueueOnFakeCuda(context, name, &Twin::Run, new Twin{first, n, f}, &Twin::Release);
}

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
template <class F>
__global__ void __launch_bounds__(kKernelThreads) ForEachShortRowKernel(int64_t n, F f) {
  constexpr int kRows = kKernelThreads / kWarpThreads;
  const int64_t first = int64_t{blockIdx.x} * kRows + threadIdx.x / kWarpThreads;
  for (int64_t i = first; i < n; i += int64_t{gridDim.x} * kRows) f(Row(i, true));
}
#endif

}  // namespace internal

// Calls f(i) for i in [first, first + n), each on one thread. `name` is a string literal for error
// messages.
template <class F>
void ForEach(CUDAContext& context, int64_t n, const F& f, const char* name, int64_t first = 0) {
  if (n <= 0) return;
  if (IsFakeCuda()) return internal::EnqueueTwin<internal::AsIndex>(context, first, n, f, name);
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
  if (IsFakeCuda()) return internal::EnqueueTwin<internal::AsRow>(context, first, rows, f, name);
#if defined(__CUDACC__)
  internal::ForEachRowKernel<<<GridSize(context, rows), kKernelThreads, 0, StreamOf(context)>>>(
      first, rows, f);
  CheckLaunch(name);
#else
  ThrowCompiledForFakeCuda(name);
#endif
}

// Calls f(Row(i)) for i in [0, rows), where a row has `length` elements: each on a warp if the rows
// are short, so that a block works on several rows, otherwise each on a block.
template <class F>
void ForEachRowOf(CUDAContext& context, int64_t length, int64_t rows, const F& f,
                  const char* name) {
  if (rows <= 0) return;
  if (length > kShortRow) return ForEachRow(context, rows, f, name);
  if (IsFakeCuda()) return internal::EnqueueTwin<internal::AsShortRow>(context, 0, rows, f, name);
#if defined(__CUDACC__)
  constexpr int64_t kRows = kKernelThreads / kWarpThreads;
  const unsigned int grid = GridSize(context, (rows + kRows - 1) / kRows);
  internal::ForEachShortRowKernel<<<grid, kKernelThreads, 0, StreamOf(context)>>>(rows, f);
  CheckLaunch(name);
#else
  ThrowCompiledForFakeCuda(name);
#endif
}

}  // namespace caffe2rt
#pragma GCC visibility pop
