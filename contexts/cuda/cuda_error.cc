#include "contexts/cuda/cuda_error.h"

#include <pthread.h>

#include <atomic>
#include <cstring>

#include "caffe2_core/base/logging.h"

namespace caffe2rt {
namespace {

std::atomic<bool> lost_by_fork{false};
std::atomic<bool> unloading{false};

// Returns the name of the called function: "Sgemm" for "Cublas().Sgemm(handle)".
std::string NameOf(const char* call) {
  const char* const member = std::strstr(call, "().");
  if (member != nullptr && member == call + std::strcspn(call, "(")) call = member + 3;
  return std::string(call, std::strcspn(call, "("));
}

// "CUDA 1", or "CUDA" if the current device is unknown.
std::string CurrentDeviceText() {
  int device = -1;
  if (cudaGetDevice(&device) != cudaSuccess) cudaGetLastError();
  return device < 0 ? "CUDA" : MakeString("CUDA ", device);
}

// Clears the last error. Returns whether the error persists: then the device is unusable for the
// rest of the process.
bool ClearLastError() {
  cudaGetLastError();
  return cudaPeekAtLastError() != cudaSuccess;
}

}  // namespace

std::string CudaErrorText(cudaError_t code) {
  return MakeString(cudaGetErrorString(code), " (error ", static_cast<int>(code), ", ",
                    cudaGetErrorName(code), ")");
}

bool LogCudaError(cudaError_t code, const char* call) noexcept {
  if (code == cudaSuccess) return true;
  if (code == cudaErrorCudartUnloading) {
    unloading.store(true, std::memory_order_relaxed);
    return false;
  }
  try {
    ClearLastError();
    LOG(ERROR) << NameOf(call) << ": " << CudaErrorText(code);
  } catch (...) {
  }
  return false;
}

bool CudaIsLostByFork() noexcept { return lost_by_fork.load(std::memory_order_relaxed); }

void EnforceCudaIsNotLostByFork() {
  CAFFE_ENFORCE(!CudaIsLostByFork(),
                "CUDA: this process was forked after CUDA had started and cannot use it; fork "
                "before CUDA is used, or start a new program");
}

bool CudaIsUnloading() noexcept { return unloading.load(std::memory_order_relaxed); }

namespace internal {

void WatchForks() {
  static const bool once = [] {
    pthread_atfork(nullptr, nullptr, [] { lost_by_fork.store(true, std::memory_order_relaxed); });
    return true;
  }();
  (void)once;
}

void ThrowCudaError(const char* file, int line, const char* call, cudaError_t code,
                    const std::string& message) {
  if (code == cudaErrorCudartUnloading) unloading.store(true, std::memory_order_relaxed);
  EnforceCudaIsNotLostByFork();
  const bool lost = ClearLastError();
  throw CudaError(file, line, code,
                  MakeString(CurrentDeviceText(), ": ", NameOf(call), ": ", CudaErrorText(code),
                             message.empty() ? "" : ": ", message,
                             lost ? "; the device stays unusable until the process ends" : ""));
}

void ThrowLibraryError(const char* file, int line, const char* library, const char* call,
                       const std::string& status, const std::string& message) {
  EnforceCudaIsNotLostByFork();
  ClearLastError();
  throw EnforceNotMet(file, line, "",
                      MakeString(library, " on ", CurrentDeviceText(), ": ", NameOf(call), ": ",
                                 status, message.empty() ? "" : ": ", message));
}

}  // namespace internal
}  // namespace caffe2rt
