#pragma once
// CudaFunctions: the CUDA functions that the headers of this folder call in sources compiled
// without CUDA. libcaffe2_cuda provides the table as an extension of its module; cuda_functions.cc
// fills it.
#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/device_module.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class BaseContext;
class DeviceOption;

// The handles that CudaFunctions::handle_of returns, as pointers to the libraries' own structs.
enum class CudaHandle { kStream, kCublas, kCudnn, kCurand };

inline constexpr char kCudaFunctionsName[] = "caffe2_compat";
inline constexpr int kCudaFunctionsVersion = 2;

// The functions that need a device THROW if there is none.
struct CudaFunctions {
  // The version of the headers that the module was built with.
  int version = kCudaFunctionsVersion;

  // Properties of the devices and libraries. These functions do not start a device.
  int (*num_devices)() = nullptr;
  int (*runtime_version)() = nullptr;
  uint64_t (*cudnn_version)() = nullptr;  // 0 without cuDNN
  std::string (*device_query)(int device) = nullptr;
  bool (*tensor_cores)() = nullptr;
  bool (*peer_access)(std::vector<std::vector<bool>>* pattern) = nullptr;
  std::vector<long> (*total_memory)() = nullptr;
  std::vector<long> (*max_memory)() = nullptr;

  // The calling thread's device, and the device whose memory contains an address, or -1 if none
  // does.
  int (*current_device)() = nullptr;
  void (*set_current_device)(int device) = nullptr;
  // The end of a DeviceGuard: sets the device again if this process has started it.
  void (*restore_device)(int previous) noexcept = nullptr;
  int (*device_of_pointer)(const void* data) = nullptr;

  // For contexts that the module's static context created.
  int (*device_of)(const BaseContext& context) = nullptr;
  void* (*handle_of)(BaseContext& context, CudaHandle handle) = nullptr;
  void* (*thread_stream)(int device, int stream_id) = nullptr;
  bool (*is_stream_free)(const DeviceOption& option, int stream_id) = nullptr;
};

// The table of a module. THROWS if it has none, or one of another version.
inline const CudaFunctions& CudaFunctionsOf(const DeviceModule& module) {
  const void* const table =
      module.extension != nullptr ? module.extension(kCudaFunctionsName) : nullptr;
  CAFFE_ENFORCE(
      table != nullptr,
      "CUDA: libcaffe2_cuda does not provide the functions for sources written for Caffe2");
  const auto& functions = *static_cast<const CudaFunctions*>(table);
  CAFFE_ENFORCE_EQ(functions.version, kCudaFunctionsVersion,
                   "CUDA: libcaffe2_cuda was built with another version of the headers in "
                   "caffe2_core/compat");
  return functions;
}

// The table, or null if libcaffe2_cuda is not available. Does not start a device.
inline const CudaFunctions* FindCudaFunctions() {
  const DeviceModule* const module = LoadDeviceModule(CUDA);
  return module != nullptr ? &CudaFunctionsOf(*module) : nullptr;
}

// The table. THROWS the reason if there is no device.
inline const CudaFunctions& EnforceCudaFunctions() {
  return CudaFunctionsOf(EnforceDeviceModule(CUDA));
}

}  // namespace caffe2rt
#pragma GCC visibility pop
