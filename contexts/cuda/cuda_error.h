#pragma once
// Checks of CUDA runtime calls.
//
//   CUDA_ENFORCE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream of a thread");
//
// A failure throws CudaError with device, call, code and CUDA's text. The runtime's last error is
// cleared first, so that later code does not report it a second time.
//
// CUDA does not work in a process that was forked from one that had started CUDA, and it stops
// working shortly before the program ends. This file detects both cases.

#include <cuda_runtime_api.h>

#include <string>

#include "caffe2_core/base/enforce.h"

#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#error "one handle must mean one stream: build without --default-stream per-thread"
#endif

#pragma GCC visibility push(default)
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

// For destructors and deleters: logs a failure and never throws. Logs nothing while the runtime is
// being unloaded. Returns whether the call succeeded.
bool LogCudaError(cudaError_t code, const char* call) noexcept;

// Whether this process was forked from one that had started CUDA.
bool CudaIsLostByFork() noexcept;
// THROWS if it was.
void EnforceCudaIsNotLostByFork();

// Whether any call has reported that the runtime is being unloaded. Nothing is freed from then on.
bool CudaIsUnloading() noexcept;

namespace internal {
// From now on, marks CUDA as lost in forked children. Calls after the first do nothing.
void WatchForks();
[[noreturn]] void ThrowCudaError(const char* file, int line, const char* call, cudaError_t code,
                                 const std::string& message);
// The same for a library besides the runtime; `status` is its text for the error code.
[[noreturn]] void ThrowLibraryError(const char* file, int line, const char* library,
                                    const char* call, const std::string& status,
                                    const std::string& message);
}  // namespace internal

// Caffe2's name. The parts after the call are formatted only if it fails.
#define CUDA_ENFORCE(call, ...)                                                           \
  do {                                                                                    \
    const cudaError_t caffe2rt_cuda_code = (call);                                        \
    if (__builtin_expect(caffe2rt_cuda_code != cudaSuccess, 0)) {                         \
      ::caffe2rt::internal::ThrowCudaError(__FILE__, __LINE__, #call, caffe2rt_cuda_code, \
                                           ::caffe2rt::MakeString(__VA_ARGS__));          \
    }                                                                                     \
  } while (false)

}  // namespace caffe2rt
#pragma GCC visibility pop
