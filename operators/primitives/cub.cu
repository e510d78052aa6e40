#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

#include "contexts/cuda/cuda_error.h"
#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/primitives/cub.h"
#include "operators/primitives/device_scratch.h"
#include "operators/primitives/wrapping.h"

#if defined(__CUDACC__)
#include "operators/primitives/cub_algorithms.cuh"
#endif

namespace caffe2rt::math {

namespace {

// On the fake CUDA, enqueues f() in the stream and returns true. On real CUDA returns false, and
// the caller runs CUB.
template <class F>
bool RunsOnHost(CUDAContext& context, const F& f, const char* name) {
  if (!IsFakeCuda()) return false;
  EnqueueOnFakeCuda(
      context, name, [](void* arg) { (*static_cast<F*>(arg))(); }, new F(f),
      [](void* arg) { delete static_cast<F*>(arg); });
  return true;
}

// Runs a CUB algorithm: calls algorithm(memory, bytes) once with null to get the size of its
// scratch memory, then again with that memory.
template <class Algorithm>
void RunCub([[maybe_unused]] Tensor* temporary, [[maybe_unused]] const Algorithm& algorithm,
            const char* name) {
#if defined(__CUDACC__)
  size_t bytes = 0;
  CUDA_ENFORCE(algorithm(nullptr, bytes), name);
  CUDA_ENFORCE(
      algorithm(ScratchBytes(temporary, std::max<int64_t>(static_cast<int64_t>(bytes), 1)), bytes),
      name);
#else
  ThrowCompiledForFakeCuda(name);
#endif
}

template <class T>
void Sum(CUDAContext& context, int64_t n, const T* x, T* y, Tensor* temporary) {
  const auto on_host = [n, x, y] {
    using Wide = std::conditional_t<std::is_floating_point_v<T>, double, T>;
    *y = static_cast<T>(std::accumulate(
        x, x + n, Wide(0), [](Wide a, T b) { return WrappingAdd(a, static_cast<Wide>(b)); }));
  };
  if (RunsOnHost(context, on_host, "Sum")) return;
  const auto on_device = [&]([[maybe_unused]] void* memory, [[maybe_unused]] size_t& bytes) {
#if defined(__CUDACC__)
    return cub::DeviceReduce::Sum(memory, bytes, x, y, n, StreamOf(context));
#else
    return cudaErrorNotSupported;
#endif
  };
  RunCub(temporary, on_device, "Sum");
}

#if defined(__CUDACC__)
// The index of the first element of a row.
struct RowStart {
  int64_t size;
  __host__ __device__ int64_t operator()(int64_t row) const { return row * size; }
};
#endif

}  // namespace

void SumByCub(CUDAContext& context, int64_t n, const float* x, float* y, Tensor* temporary) {
  Sum(context, n, x, y, temporary);
}
void SumByCub(CUDAContext& context, int64_t n, const double* x, double* y, Tensor* temporary) {
  Sum(context, n, x, y, temporary);
}
void SumByCub(CUDAContext& context, int64_t n, const int32_t* x, int32_t* y, Tensor* temporary) {
  Sum(context, n, x, y, temporary);
}
void SumByCub(CUDAContext& context, int64_t n, const int64_t* x, int64_t* y, Tensor* temporary) {
  Sum(context, n, x, y, temporary);
}

void RunningSumsByCub(CUDAContext& context, int64_t n, const int32_t* x, int32_t* sums,
                      Tensor* temporary) {
  const auto on_host = [=] { std::partial_sum(x, x + n, sums); };
  if (RunsOnHost(context, on_host, "RunningSums")) return;
  const auto on_device = [&]([[maybe_unused]] void* memory, [[maybe_unused]] size_t& bytes) {
#if defined(__CUDACC__)
    return cub::DeviceScan::InclusiveSum(memory, bytes, x, sums, static_cast<int>(n),
                                         StreamOf(context));
#else
    return cudaErrorNotSupported;
#endif
  };
  RunCub(temporary, on_device, "RunningSums");
}

void SortRowsByCub(CUDAContext& context, int64_t rows, int64_t size, const float* keys,
                   float* sorted_keys, const int32_t* values, int32_t* sorted_values,
                   Tensor* temporary) {
  const auto on_host = [=] {
    std::vector<int32_t> order(static_cast<size_t>(size));
    for (int64_t first = 0; first < rows * size; first += size) {
      std::iota(order.begin(), order.end(), 0);
      const float* const row = keys + first;
      std::stable_sort(order.begin(), order.end(),
                       [row](int32_t a, int32_t b) { return row[a] > row[b]; });
      for (int64_t i = 0; i < size; ++i) {
        const int32_t from = order[static_cast<size_t>(i)];
        sorted_keys[first + i] = row[from];
        sorted_values[first + i] = values[first + from];
      }
    }
  };
  if (RunsOnHost(context, on_host, "SortRows")) return;
  const auto on_device = [&]([[maybe_unused]] void* memory, [[maybe_unused]] size_t& bytes) {
#if defined(__CUDACC__)
    const auto starts =
        thrust::make_transform_iterator(thrust::make_counting_iterator<int64_t>(0), RowStart{size});
    return cub::DeviceSegmentedRadixSort::SortPairsDescending(
        memory, bytes, keys, sorted_keys, values, sorted_values, rows * size, rows, starts,
        starts + 1, 0, 32, StreamOf(context));
#else
    return cudaErrorNotSupported;
#endif
  };
  RunCub(temporary, on_device, "SortRows");
}

void SortByCub(CUDAContext& context, int64_t n, const int64_t* keys, int64_t* sorted_keys,
               const int32_t* values, int32_t* sorted_values, Tensor* temporary) {
  const auto on_host = [=] {
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [keys](int64_t a, int64_t b) { return keys[a] < keys[b]; });
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = order[static_cast<size_t>(i)];
      sorted_keys[i] = keys[from];
      sorted_values[i] = values[from];
    }
  };
  if (RunsOnHost(context, on_host, "Sort")) return;
  const auto on_device = [&]([[maybe_unused]] void* memory, [[maybe_unused]] size_t& bytes) {
#if defined(__CUDACC__)
    return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, sorted_keys, values, sorted_values,
                                           n, 0, 64, StreamOf(context));
#else
    return cudaErrorNotSupported;
#endif
  };
  RunCub(temporary, on_device, "Sort");
}

}  // namespace caffe2rt::math
