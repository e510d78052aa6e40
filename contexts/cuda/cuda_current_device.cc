// The current device of a thread. Since CUDA 12, cudaSetDevice creates a context on the device, and
// most calls create one on the current device. A thread starts on device 0, so a program that uses
// only device 1 must not go back to device 0.

#include <array>
#include <atomic>

#include "contexts/cuda/cuda_device.h"

namespace caffe2rt {
namespace internal {

constinit thread_local bool thread_is_on_started_device = false;

}  // namespace internal

namespace {

// The device that the thread chose while the runtime is on another one, because a guard did not go
// back to `chosen`. It is void as soon as other code has moved the thread away from `left_on`.
struct Parked {
  int chosen = -1;
  int left_on = -1;
};
constinit thread_local Parked parked;

// Devices that are known to be started. A context lives until the end of the process, unless
// somebody calls cudaDeviceReset; then the device counts as chosen.
std::array<std::atomic<bool>, kCompileTimeMaxGpus> started{};

void NoteStarted(int device) {
  if (device < kCompileTimeMaxGpus) {
    started[static_cast<size_t>(device)].store(true, std::memory_order_relaxed);
  }
}

// cuDevicePrimaryCtxGetState of the driver; null if it cannot be found.
using GetContextState = int (*)(int device, unsigned int* flags, int* active);
GetContextState FindGetContextState() {
  constexpr unsigned int kSinceCuda = 7000;
  void* function = nullptr;
  auto result = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t code = cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &function,
                                                            kSinceCuda, cudaEnableDefault, &result);
  if (code != cudaSuccess || result != cudaDriverEntryPointSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return reinterpret_cast<GetContextState>(function);
}
GetContextState DriversGetContextState() {
  static const GetContextState function = FindGetContextState();
  return function;
}

bool IsStarted(int device) {
  if (device < 0 || device >= kCompileTimeMaxGpus) return true;
  if (started[static_cast<size_t>(device)].load(std::memory_order_relaxed)) return true;
  const GetContextState get = DriversGetContextState();
  unsigned int flags = 0;
  int active = 0;
  if (get == nullptr || get(device, &flags, &active) != 0 || active == 0) return false;
  NoteStarted(device);
  return true;
}

int CurrentDevice() {
  int device = 0;
  CUDA_ENFORCE(cudaGetDevice(&device));
  return device;
}

void SetDevice(int device) {
  CUDA_ENFORCE(cudaSetDevice(device), "device ", device);
  NoteStarted(device);
  internal::thread_is_on_started_device = true;
}

}  // namespace

bool CudaDeviceIsStarted(int device) {
  EnforceCudaDevice(device);
  return IsStarted(device);
}

int FindStartedCudaDevice() {
  const int devices = NumCudaDevices();
  const int now = devices > 0 ? CurrentDevice() : -1;
  if (now >= 0 && now < devices && IsStarted(now)) return now;
  for (int device = 0; device < devices; ++device) {
    if (IsStarted(device)) return device;
  }
  return -1;
}

bool internal::NoCudaDeviceIsStarted() {
  return !thread_is_on_started_device && FindStartedCudaDevice() < 0 &&
         DriversGetContextState() != nullptr;
}

int CaffeCudaGetDevice() {
  EnforceCudaIsNotLostByFork();
  const int device = CurrentDevice();
  if (parked.chosen < 0) return device;
  if (parked.left_on == device) return parked.chosen;
  parked = {};
  return device;
}

void CaffeCudaSetDevice(int device) {
  EnforceCudaDevice(device);
  SetDevice(device);
  parked = {};
}

void UseCudaDevice(int device) {
  EnforceCudaDevice(device);
  if (CurrentDevice() != device) SetDevice(device);
  parked = {};
}

void internal::LeaveUnstartedDevice(int device) {
  EnforceCudaIsNotLostByFork();
  const int now = CurrentDevice();
  if (IsStarted(now)) {
    thread_is_on_started_device = true;
    return;
  }
  if (device < 0) device = FindStartedCudaDevice();
  if (device < 0 || device == now) return;
  const int chosen = CaffeCudaGetDevice();
  SetDevice(device);
  parked = {chosen, device};
}

void internal::RestoreCudaDevice(int previous) noexcept {
  // Both calls may report the error of earlier asynchronous work and then do nothing else: retry.
  for (int tries = 0; tries < 4; ++tries) {
    int now = -1;
    if (!LogCudaError(cudaGetDevice(&now), "cudaGetDevice")) continue;
    if (now == previous) {
      parked = {};
      return;
    }
    if (!IsStarted(previous)) {
      parked = {previous, now};
      return;
    }
    if (!LogCudaError(cudaSetDevice(previous), "cudaSetDevice")) continue;
    thread_is_on_started_device = true;
    parked = {};
    return;
  }
}

DeviceGuard::DeviceGuard(int device) : previous_(CaffeCudaGetDevice()) { UseCudaDevice(device); }

DeviceGuard::~DeviceGuard() { internal::RestoreCudaDevice(previous_); }

}  // namespace caffe2rt
