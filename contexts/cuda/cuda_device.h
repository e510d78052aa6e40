#pragma once
// The CUDA devices of this machine: whether there are any, a thread's current device, and device
// properties. Only DeviceGuard and the queries of a single device start CUDA on a device.
//
// Thread safe. Without CUDA, only the functions marked THROWS fail.

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

#include "contexts/cuda/cuda_error.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Caffe2's limits: it supports at most 16 devices, with peer access in groups of 8.
inline constexpr int kCompileTimeMaxGpus = 16;
inline constexpr int kCudaMaxPeerSize = 8;

// Whether CUDA is available on this machine.
struct CudaMachine {
  enum class State {
    kReady,
    kNoDriver,     // no driver, or one older than this build
    kNoDevice,     // a driver, but no visible device
    kTooMany,      // more than 16 devices: the first 16 are used
    kLostByFork,   // see cuda_error.h
    kUnavailable,  // the driver is installed but did not start
  };
  State state = State::kNoDriver;
  int devices = 0;      // number of usable devices
  int found = 0;        // number of devices found
  std::string message;  // one line for a person; empty when ready
};

// Queries the driver on every call. Does not throw if CUDA is missing.
CudaMachine QueryCudaMachine();
// The same, queried once and cached; after a fork it returns kLostByFork.
CudaMachine TheCudaMachine();

// Caffe2's names. 0 and false where there is no CUDA, whatever the reason.
int NumCudaDevices();
inline bool HasCudaGPU() { return NumCudaDevices() > 0; }

// THROWS if there is no CUDA (with the reason), or no such device (with the valid range).
void EnforceCudaDevice(int device);

// The calling thread's current device. THROW CUDA's errors. Setting a device creates CUDA's context
// on it, which takes several hundred megabytes of its memory.
int CaffeCudaGetDevice();
void CaffeCudaSetDevice(int device);
// Makes the device current for the runtime. Costs one query if it is current already.
void UseCudaDevice(int device);

// Whether this process, in whatever code, has created CUDA's context on the device. Does not create
// one. THROWS as EnforceCudaDevice.
bool CudaDeviceIsStarted(int device);
// Returns a device that this process has started, the calling thread's current one if possible; -1
// if it has started none, or if the driver cannot be asked.
int FindStartedCudaDevice();

// Returns the device that holds the memory, or -1 for host memory and unknown addresses.
int GetGPUIDForPointer(const void* data);

// Properties of a device; GetDeviceProperty queries them once. THROW as EnforceCudaDevice.
const cudaDeviceProp& GetDeviceProperty(int device);
int GetDeviceAttribute(int device, cudaDeviceAttr attribute);
// Returns a description of a device in several lines, for people.
std::string DeviceQuery(int device);
// Whether there is a device and all devices have tensor cores (compute capability 7.0 or later).
bool TensorCoreAvailable();

// Sets (*pattern)[i][j] to whether device i can access the memory of device j: the hardware must
// support it, and both must be in the same group of 8. Returns false if there is no CUDA.
bool GetCudaPeerAccessPattern(std::vector<std::vector<bool>>* pattern);
// Enables access in both directions if both are possible, once per pair. Returns whether access is
// enabled. THROWS as EnforceCudaDevice.
bool EnableCudaPeerAccess(int device, int peer);

namespace internal {
// The release of NVIDIA's kernel module ("550.54.14") in the text of /proc/driver/nvidia/version,
// or an empty string.
std::string DriverRelease(const std::string& text);
// Calls `use` with the devices that have access to this one. No device gains access meanwhile.
void WithPeers(int device, const std::function<void(const std::vector<int>& peers)>& use);
}  // namespace internal

namespace internal {
// Whether the calling thread's current device is known to be started.
extern thread_local constinit bool thread_is_on_started_device;
void LeaveUnstartedDevice(int device);
// Whether it is certain that this process has started no device.
bool NoCudaDeviceIsStarted();
// The end of a DeviceGuard.
void RestoreCudaDevice(int previous) noexcept;
}  // namespace internal

// Most calls of the runtime create a context on the thread's current device, even if they concern a
// stream or an event of another one. Call this before such a call: if the current device has not
// been started, the thread moves to `device`, which the call concerns anyway (-1: to any started
// device). CaffeCudaGetDevice still returns the device that the thread chose. THROWS CUDA's errors.
inline void AvoidNewCudaContext(int device) {
  if (__builtin_expect(!internal::thread_is_on_started_device, 0)) {
    internal::LeaveUnstartedDevice(device);
  }
}

// Sets the calling thread's current device and restores the previous one on destruction, even after
// a failure. A previous device that no code of this process has started is not set again, because
// that would create a context on it: the runtime stays on the guard's device until the thread uses
// another one, and CaffeCudaGetDevice returns the previous device.
class DeviceGuard {
 public:
  // THROWS as EnforceCudaDevice; the thread's device is then unchanged.
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int previous_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
