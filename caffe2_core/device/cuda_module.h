#pragma once
// CUDA's half of the library, which the core opens when CUDA is first asked for: libcaffe2_cuda, a
// shared library beside the core, or an archive that was linked in (CAFFE2_CUDA_STATIC).
//
// Nobody calls this to use CUDA: FindStaticContext(CUDA) and the look-ups of operators do. It is
// for programs that tell what is there, and for sources that are compiled without CUDA's headers
// (caffe2_core/compat). Looked for are, in this order: a copy that the process has already; the
// file that the environment names (CAFFE2_CUDA_MODULE), and then no other; the folder of the core's
// library or program, and ../lib from there; the loader's own path.
//
// A failure is remembered with its reason. The module is never closed. Thread safe.

#include <cstdint>
#include <string>
#include <vector>

namespace caffe2rt {

class BaseContext;
class DeviceOption;

enum class CudaState {
  kNoModule,     // no libcaffe2_cuda was found
  kBroken,       // one was found, and cannot be used
  kNoDriver,     // no driver, or one that is too old
  kNoDevice,     // a driver and no device
  kUnavailable,  // the driver does not start
  kReady,
};
// "no module", "no driver", ...
const char* CudaStateName(CudaState state);

struct CudaPresence {
  CudaState state = CudaState::kNoModule;
  int devices = 0;
  std::string message;  // one line for a person; may warn of something when ready
  std::string path;     // of the module; empty when there is none or it is linked in
};

// Handles of CUDA's libraries, as pointers to their own structs.
enum class CudaHandle { kStream, kCublas, kCudnn, kCurand };

// What the module gives: plain functions, so that the core needs none of its symbols. Those that
// need a device THROW where there is none.
struct CudaModule {
  struct Device {
    std::string name;
    uint64_t memory_bytes;
    int major, minor;  // compute capability
  };
  struct Library {
    std::string name;
    bool found;
    std::string detail;  // its version, or why there is none
  };

  int interface;  // kCudaModuleInterface of the headers it was built with
  // Operators and flags. Called once, when the module is loaded; starts nothing.
  void (*register_operators)();
  // Asks the driver, and makes the device known when there is one. Called once.
  CudaPresence (*register_context)();

  // Facts. These do not start a device.
  int (*num_devices)();
  std::vector<Device> (*devices)();
  std::vector<Library> (*libraries)();
  int (*runtime_version)();
  uint64_t (*cudnn_version)();  // 0 where there is none
  std::string (*device_query)(int device);
  bool (*tensor_cores)();
  bool (*peer_access)(std::vector<std::vector<bool>>* pattern);
  std::vector<long> (*total_memory)();
  std::vector<long> (*max_memory)();
  int (*memory_pool)();  // the number of a CudaMemoryPoolType

  // The calling thread's device, and whose memory an address is (-1: no device's).
  int (*current_device)();
  void (*set_current_device)(int device);
  int (*device_of_pointer)(const void* data);

  // Of contexts that the module's static context made.
  int (*device_of)(const BaseContext& context);
  void* (*handle_of)(BaseContext& context, CudaHandle handle);
  void* (*thread_stream)(int device, int stream_id);
  bool (*is_stream_free)(const DeviceOption& option, int stream_id);
};
inline constexpr int kCudaModuleInterface = 1;

// Opens the module on the first call. Null when there is none, and in a program that registered
// CUDA by itself. Starts no device and does not ask the driver.
const CudaModule* LoadCudaModule();

// The same, and asks the driver; the device is known when there is one.
const CudaPresence& FindCuda();

// The module, with at least one device. THROWS the reason when there is none.
const CudaModule& EnforceCudaModule();

// Whether this build has a CUDA half, and the one that is linked in; null when it is a library of
// its own. One of the contexts/cuda_*.cc defines them, which the build picks.
bool CudaIsInThisBuild();
const CudaModule* LinkedCudaModule();

}  // namespace caffe2rt
