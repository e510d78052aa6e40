// Errors: names, texts and the thread's last error.

#include "cudart/error_table.h"
#include "cudart/world.h"

namespace fakecuda {
namespace {

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrors[] = {
#define FAKECUDA_ROW(error, text) {error, #error, text},
    FAKECUDA_ERRORS(FAKECUDA_ROW)
#undef FAKECUDA_ROW
};

const ErrorText* Find(cudaError_t error) {
  for (const ErrorText& known : kErrors) {
    if (known.error == error) return &known;
  }
  return nullptr;
}

// The thread's last error. An error that sticks to its current device takes precedence.
cudaError_t LastError(bool clear) {
  Hidden hidden;
  World& world = TheWorld();
  std::lock_guard<std::mutex> lock(world.mutex);
  if (world.unloading) return cudaErrorCudartUnloading;
  if (world.forked) return cudaErrorInitializationError;
  if (!world.built) BuildDevices(nullptr);
  if (world.no_driver) return cudaErrorInsufficientDriver;
  ThreadState& me = Me();
  const cudaError_t error = me.last_error;
  if (clear) me.last_error = cudaSuccess;
  if (!world.devices.empty() && CurrentDevice().sticky != cudaSuccess) {
    return CurrentDevice().sticky;
  }
  return error;
}

}  // namespace
}  // namespace fakecuda

extern "C" {

cudaError_t cudaGetLastError() { return fakecuda::LastError(true); }

cudaError_t cudaPeekAtLastError() { return fakecuda::LastError(false); }

const char* cudaGetErrorName(cudaError_t error) {
  const auto* known = fakecuda::Find(error);
  return known == nullptr ? "unrecognized error code" : known->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const auto* known = fakecuda::Find(error);
  return known == nullptr ? "unrecognized error code" : known->text;
}

}  // extern "C"
