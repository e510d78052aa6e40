#pragma once
// Handles of cuBLAS, cuDNN and cuRAND, taken from a stock of the process for each device and given
// back, never destroyed: making and destroying them waits for the device. CUDAContext hands them
// out. Internal to contexts/cuda, but for CudnnWorkspace.

#include <cstddef>
#include <cstdint>

#include "contexts/cuda/cuda_libraries.h"

namespace caffe2rt {

class CUDAContext;
struct CudaStream;

// The handles of one thread on one device, and the streams that they are bound to.
struct CudaHandles {
  cublasHandle_t cublas = nullptr;
  const CudaStream* cublas_stream = nullptr;
  bool cublas_allows_tf32 = false;
  cudnnHandle_t cudnn = nullptr;
  const CudaStream* cudnn_stream = nullptr;
};

// Bound to the stream: a few compares when they were. cuBLAS's workspace is the stream's own.
// THROW when the library is not here, and what it says.
cublasHandle_t CublasHandle(CudaHandles& handles, CudaStream& stream);
cudnnHandle_t CudnnHandle(CudaHandles& handles, const CudaStream& stream);
// For the next thread.
void GiveHandles(int device, const CudaHandles& handles) noexcept;

// A generator keeps its state on the device, so that it moves from one stream to another only
// behind its work. Used by one thread at a time.
class CurandGenerator {
 public:
  CurandGenerator() = default;
  ~CurandGenerator();
  CurandGenerator(const CurandGenerator&) = delete;
  CurandGenerator& operator=(const CurandGenerator&) = delete;
  // Bound to the stream; at the start of the seed's sequence when it is asked for first. REQUIRES:
  // always a stream of the same device. THROWS as above.
  curandGenerator_t Get(const CudaStream& stream, uint32_t seed);

 private:
  curandGenerator_t generator_ = nullptr;
  const CudaStream* stream_ = nullptr;  // of its last work; may be another context's
  bool seeded_ = false;
};

// Scratch memory for what the context gives its stream next: the stream's one workspace, grown when
// it is too small. Contents hold until the next call for this stream. A graph that was captured
// with it may be replayed for ever. REQUIRES: used by the stream's thread. THROWS OutOfMemory.
void* CudnnWorkspace(CUDAContext& context, size_t nbytes);

namespace internal {
// Of cudnn_library.cc and curand_library.cc, or of what stands for them without headers.
cudnnHandle_t NewCudnnHandle();
void BindCudnnHandle(cudnnHandle_t handle, const CudaStream& stream);
curandGenerator_t NewCurandGenerator();
void BindCurandGenerator(curandGenerator_t generator, const CudaStream& stream);
void SeedCurandGenerator(curandGenerator_t generator, uint32_t seed);
}  // namespace internal

}  // namespace caffe2rt
