#pragma once

// An array in device memory, for tests of the libraries.

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

namespace fakecuda {

template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : size_(values.size()) {
    void* ptr = nullptr;
    EXPECT_EQ(cudaMalloc(&ptr, size_ * sizeof(T)), cudaSuccess);
    data_ = static_cast<T*>(ptr);
    EXPECT_EQ(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice),
              cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  T* get() const { return data_; }
  std::vector<T> Read() const {
    std::vector<T> values(size_);
    EXPECT_EQ(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t size_;
};

}  // namespace fakecuda
