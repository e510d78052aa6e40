// Launches the kernels of top_k_radix_selection.cuh and top_k_heap_selection.cuh as sources for Caffe2 did, and compares the
// results with std::partial_sort.
#include <algorithm>
#include <functional>
#include <iostream>
#include <numeric>
#include <vector>

#include "caffe2/core/context_gpu.h"
#include "caffe2/operators/top_k_heap_selection.cuh"
#include "caffe2/operators/top_k_radix_selection.cuh"

namespace {

constexpr int kRows = 3, kSize = 1000, kCount = 10;

// Different numbers in each row.
std::vector<float> Input() {
  std::vector<float> input(kRows * kSize);
  for (int i = 0; i < kRows * kSize; ++i)
    input[i] = static_cast<float>(i % kSize * 377 % kSize - 500);
  return input;
}

// Whether each row of `values`, sorted, has the greatest elements of the input, and `indices` are theirs.
bool Selected(const std::vector<float>& input, std::vector<float> values,
              const std::vector<int64_t>& indices) {
  for (int row = 0; row < kRows; ++row) {
    std::vector<float> want(input.begin() + row * kSize, input.begin() + (row + 1) * kSize);
    for (int i = row * kCount; i < (row + 1) * kCount; ++i) {
      if (want[indices[i]] != values[i]) return false;
    }
    std::partial_sort(want.begin(), want.begin() + kCount, want.end(), std::greater<float>());
    want.resize(kCount);
    std::sort(values.begin() + row * kCount, values.begin() + (row + 1) * kCount,
              std::greater<float>());
    if (!std::equal(want.begin(), want.end(), values.begin() + row * kCount)) return false;
  }
  return true;
}

template <class T>
std::vector<T> Read(const T* device, int size) {
  std::vector<T> host(size);
  CUDA_ENFORCE(cudaMemcpy(host.data(), device, size * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

int Run() {
  const std::vector<float> input = Input();
  float *x = nullptr, *values = nullptr;
  int64_t* indices = nullptr;
  CUDA_ENFORCE(cudaMalloc(&x, input.size() * sizeof(float)));
  CUDA_ENFORCE(cudaMalloc(&values, kRows * kCount * sizeof(float)));
  CUDA_ENFORCE(cudaMalloc(&indices, kRows * kCount * sizeof(int64_t)));
  CUDA_ENFORCE(cudaMemcpy(x, input.data(), input.size() * sizeof(float), cudaMemcpyHostToDevice));
  caffe2::gatherTopK<float, true, int64_t>
      <<<kRows, 128>>>(x, kSize, kCount, kRows, values, indices);
  CUDA_ENFORCE(cudaGetLastError());
  if (!Selected(input, Read(values, kRows * kCount), Read(indices, kRows * kCount))) return 1;
  caffe2::selectRowsViaHeap<float, int64_t, int64_t, 128, 1024, true>
      <<<kRows, 128>>>(x, values, indices, 0.f, -1, kRows, kSize, kCount);
  CUDA_ENFORCE(cudaGetLastError());
  if (!Selected(input, Read(values, kRows * kCount), Read(indices, kRows * kCount))) return 2;
  std::cout << "selected\n";
  return 0;
}

}  // namespace

int main() {
  try {
    return Run();
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 3;
  }
}
