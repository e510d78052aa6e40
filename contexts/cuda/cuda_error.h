#pragma once
// Checks of calls to the CUDA runtime.
//
//   CUDA_ENFORCE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream of a thread");
//
// A failure throws CudaError: device, call, code and CUDA's own text. The runtime's last error is
// cleared before, so that it is not found again by somebody who did nothing wrong.
//
// CUDA does not work in a process that was forked from one that had started it, and no longer when
// the program is about to end: both are told apart here.

#include <cuda_runtime_api.h>

#include <string>

#include "caffe2_core/base/enforce.h"

#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#error "one handle must mean one stream: build without --default-stream per-thread"
#endif

namespace caffe2rt {

class CudaError : public EnforceNotMet {
 public:
  CudaError(const char* file, int line, cudaError_t code, std::string message)
      : EnforceNotMet(file, line, "", std::move(message)), code_(code) {}
  cudaError_t code() const noexcept { return code_; }

 private:
  cudaError_t code_;
};

// "out of memory (error 2, cudaErrorMemoryAllocation)".
std::string CudaErrorText(cudaError_t code);

// For destructors and deleters: logs a failure and never throws. Quiet while the program ends.
// Returns whether the call was good.
bool LogCudaError(cudaError_t code, const char* call) noexcept;

// Whether this process was forked from one that had started CUDA.
bool CudaIsLostByFork() noexcept;
// THROWS when it was.
void EnforceCudaIsNotLostByFork();

// Whether some call has said that the runtime is being unloaded: nothing is freed from then on.
bool CudaIsUnloading() noexcept;

namespace internal {
// Marks CUDA as lost in children from now on; the first call counts.
void WatchForks();
[[noreturn]] void ThrowCudaError(const char* file, int line, const char* call, cudaError_t code,
                                 const std::string& message);
// The same for a library beside the runtime: `status` is its text for the code.
[[noreturn]] void ThrowLibraryError(const char* file, int line, const char* library,
                                    const char* call, const std::string& status,
                                    const std::string& message);
}  // namespace internal

// Caffe2's name. The parts after the call are only formatted when it fails.
#define CUDA_ENFORCE(call, ...)                                                           \
  do {                                                                                    \
    const cudaError_t caffe2rt_cuda_code = (call);                                        \
    if (__builtin_expect(caffe2rt_cuda_code != cudaSuccess, 0)) {                         \
      ::caffe2rt::internal::ThrowCudaError(__FILE__, __LINE__, #call, caffe2rt_cuda_code, \
                                           ::caffe2rt::MakeString(__VA_ARGS__));          \
    }                                                                                     \
  } while (false)

}  // namespace caffe2rt
