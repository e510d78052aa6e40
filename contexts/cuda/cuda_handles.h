#pragma once
// Handles of cuBLAS, cuDNN and cuRAND. They are taken from a process-wide stock for each device and
// returned to it, never destroyed, because creating and destroying them waits for the device. Use
// them through CUDAContext. Internal to contexts/cuda, except CudnnWorkspace.

#include <cstddef>
#include <cstdint>

#include "contexts/cuda/cuda_libraries.h"

#pragma GCC visibility push(default)
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

// Return the thread's handle, bound to the stream; a few comparisons if it is bound already. cuBLAS
// uses the workspace of the stream, and TF32 if `allow_tf32` is set. THROW if the library is not
// available, and on its errors.
cublasHandle_t CublasHandle(CudaHandles& handles, CudaStream& stream, bool allow_tf32);
cudnnHandle_t CudnnHandle(CudaHandles& handles, const CudaStream& stream);
// Returns the handles to the stock for the next thread.
void GiveHandles(int device, const CudaHandles& handles) noexcept;

// A random generator. Its state is on the device, so a new stream first waits for the generator's
// earlier work. Used by one thread at a time.
class CurandGenerator {
 public:
  CurandGenerator() = default;
  ~CurandGenerator();
  CurandGenerator(const CurandGenerator&) = delete;
  CurandGenerator& operator=(const CurandGenerator&) = delete;
  // Returns the generator, bound to the stream. The first call, and the first one after StartAgain,
  // starts the sequence of the seed.
  // REQUIRES: all streams are of the same device. THROWS as above.
  curandGenerator_t Get(const CudaStream& stream, uint64_t seed);
  void StartAgain() { seeded_ = false; }

 private:
  curandGenerator_t generator_ = nullptr;
  const CudaStream* stream_ = nullptr;  // stream of its last work; may be of another context
  bool seeded_ = false;
};

// Returns scratch memory for the next work on the context's stream: the stream's only workspace,
// which grows if it is too small. It is valid until the next call for this stream. A graph that was
// captured with it stays valid even after the workspace has grown.
// REQUIRES: called by the stream's thread. THROWS OutOfMemory.
void* CudnnWorkspace(CUDAContext& context, size_t nbytes);

namespace internal {
// Defined in cudnn_library.cc and curand_library.cc, or, in builds without the vendor's headers, in
// cudnn_missing.cc and curand_missing.cc.
cudnnHandle_t NewCudnnHandle();
void BindCudnnHandle(cudnnHandle_t handle, const CudaStream& stream);
curandGenerator_t NewCurandGenerator();
void BindCurandGenerator(curandGenerator_t generator, const CudaStream& stream);
void SeedCurandGenerator(curandGenerator_t generator, uint64_t seed);
}  // namespace internal

}  // namespace caffe2rt
#pragma GCC visibility pop
