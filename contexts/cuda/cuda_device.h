#pragma once
// The CUDA devices of this machine: whether there are any, which one a thread is on, what they can
// do. Nothing here but DeviceGuard and the questions about one device starts CUDA on a device.
//
// Thread safe. No function but those that say THROWS fails where there is no CUDA.

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

#include "contexts/cuda/cuda_error.h"

namespace caffe2rt {

// The original's limits. It could not count more devices, and knew peers in groups of 8.
inline constexpr int kCompileTimeMaxGpus = 16;
inline constexpr int kCudaMaxPeerSize = 8;

// What the machine says when it is asked for CUDA.
struct CudaMachine {
  enum class State {
    kReady,
    kNoDriver,     // no driver, or one older than this build
    kNoDevice,     // a driver, and nothing (visible) to drive
    kTooMany,      // more devices than the original could count: the first 16 are used
    kLostByFork,   // see cuda_error.h
    kUnavailable,  // the driver is there and did not start
  };
  State state = State::kNoDriver;
  int devices = 0;      // that can be used
  int found = 0;        // that are there
  std::string message;  // one line for a person; empty when ready
};

// Asks the driver, each time. Never throws for the lack of CUDA.
CudaMachine QueryCudaMachine();
// Asked once and kept, but for a fork.
CudaMachine TheCudaMachine();

// Caffe2's names. 0 and false where there is no CUDA, whatever the reason.
int NumCudaDevices();
inline bool HasCudaGPU() { return NumCudaDevices() > 0; }

// THROWS when there is no CUDA (naming the reason), or no such device (naming those that are).
void EnforceCudaDevice(int device);

// The calling thread's device. THROW what CUDA says.
int CaffeCudaGetDevice();
void CaffeCudaSetDevice(int device);

// The device that holds the memory; -1 for memory of the host and for unknown addresses.
int GetGPUIDForPointer(const void* data);

// Facts of a device, asked once. THROW as EnforceCudaDevice.
const cudaDeviceProp& GetDeviceProperty(int device);
int GetDeviceAttribute(int device, cudaDeviceAttr attribute);
// Some lines about a device, for people.
std::string DeviceQuery(int device);
// Whether there is a device and every one has tensor cores (7.0 or later).
bool TensorCoreAvailable();

// [i][j]: whether device i may read the memory of device j: both can, and lie in one group of 8.
// False when there is no CUDA.
bool GetCudaPeerAccessPattern(std::vector<std::vector<bool>>* pattern);
// Lets both devices reach each other where the pattern says so, once for a pair. Returns whether
// they do. THROWS as EnforceCudaDevice.
bool EnableCudaPeerAccess(int device, int peer);

namespace internal {
// Calls `use` with the devices that have access to this one, while no other gets it.
void WithPeers(int device, const std::function<void(const std::vector<int>& peers)>& use);
}  // namespace internal

// Puts the calling thread on a device and back on the one it was on, also after a failure.
class DeviceGuard {
 public:
  // THROWS as EnforceCudaDevice; the thread then stays where it is.
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int previous_;
};

}  // namespace caffe2rt
