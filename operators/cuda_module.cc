// What libcaffe2_cuda gives the core: its entry point.

#include "caffe2_core/device/cuda_module.h"

#include <dlfcn.h>

#include "caffe2_core/base/enforce.h"
#include "contexts/cpu/cpu_allocator.h"
#include "contexts/cuda/cuda_allocator.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_device.h"
#include "contexts/cuda/cuda_libraries.h"
#include "operators/register_cuda.h"

namespace caffe2rt {
namespace {

void RegisterOperators() {
  RegisterCudaMemoryFlags();
  RegisterCudaLibraryFlags();
  RegisterCudaOperators();
}

CudaState StateOf(const CudaMachine& machine) {
  if (machine.devices > 0) return CudaState::kReady;
  switch (machine.state) {
    case CudaMachine::State::kNoDriver:
      return CudaState::kNoDriver;
    case CudaMachine::State::kNoDevice:
      return CudaState::kNoDevice;
    default:
      return CudaState::kUnavailable;
  }
}

CudaPresence RegisterContext() {
  const CudaMachine machine = TheCudaMachine();
  // contexts/cuda does not know the CPU's options.
  if (GlobalCPUMemoryOptions().numa_enabled) GlobalCudaMemoryOptions().pinned_numa = true;
  if (machine.devices > 0) RegisterCUDAContext();
  return {StateOf(machine), machine.devices, machine.message, ""};
}

std::vector<CudaModule::Device> Devices() {
  std::vector<CudaModule::Device> devices;
  for (int i = 0; i < NumCudaDevices(); ++i) {
    const auto& device = GetDeviceProperty(i);
    devices.push_back({device.name, device.totalGlobalMem, device.major, device.minor});
  }
  return devices;
}

std::vector<CudaModule::Library> Libraries() {
  return {{"cuBLAS", HasCublas(), CublasProblem()},
          {"cuDNN", HasCudnn(), CudnnProblem()},
          {"cuRAND", HasCurand(), CurandProblem()}};
}

// Asked without cuDNN's headers, which not every build has.
uint64_t CudnnVersion() {
  if (!HasCudnn()) return 0;
  void* const library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  const auto version = reinterpret_cast<size_t (*)()>(dlsym(library, "cudnnGetVersion"));
  return version != nullptr ? version() : 0;
}

int RuntimeVersion() { return CUDART_VERSION; }
int MemoryPool() { return static_cast<int>(GetCudaMemoryPoolType()); }

const CUDAContext& Cast(const BaseContext& context) {
  CAFFE_ENFORCE(context.device_type() == CUDA, "a context of ",
                DeviceTypeName(context.device_type()), " was given, want one of CUDA");
  return static_cast<const CUDAContext&>(context);
}

int DeviceOf(const BaseContext& context) { return Cast(context).device_id(); }

void* HandleOf(BaseContext& context, CudaHandle handle) {
  auto& cuda = const_cast<CUDAContext&>(Cast(context));
  switch (handle) {
    case CudaHandle::kStream:
      return cuda.cuda_stream();
    case CudaHandle::kCublas:
      return cuda.cublas_handle();
    case CudaHandle::kCudnn:
      return cuda.cudnn_handle();
    case CudaHandle::kCurand:
      return cuda.curand_generator();
  }
  return nullptr;
}

void* ThreadStreamHandle(int device, int stream_id) {
  return CUDAContext::cuda_stream(device, stream_id);
}

}  // namespace
}  // namespace caffe2rt

extern "C" __attribute__((visibility("default"))) const caffe2rt::CudaModule*
caffe2rt_cuda_module() {
  using namespace caffe2rt;
  static const CudaModule module = {
      .interface = kCudaModuleInterface,
      .register_operators = RegisterOperators,
      .register_context = RegisterContext,
      .num_devices = NumCudaDevices,
      .devices = Devices,
      .libraries = Libraries,
      .runtime_version = RuntimeVersion,
      .cudnn_version = CudnnVersion,
      .device_query = DeviceQuery,
      .tensor_cores = TensorCoreAvailable,
      .peer_access = GetCudaPeerAccessPattern,
      .total_memory = TotalMemoryByGpu,
      .max_memory = MaxMemoryByGpu,
      .memory_pool = MemoryPool,
      .current_device = CaffeCudaGetDevice,
      .set_current_device = CaffeCudaSetDevice,
      .device_of_pointer = GetGPUIDForPointer,
      .device_of = DeviceOf,
      .handle_of = HandleOf,
      .thread_stream = ThreadStreamHandle,
      .is_stream_free = CUDAContext::IsStreamFree,
  };
  return &module;
}
