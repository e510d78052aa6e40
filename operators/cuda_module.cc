// What libcaffe2_cuda gives the core: its entry point.

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/device_module.h"
#include "contexts/cpu/cpu_allocator.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_device.h"
#include "contexts/cuda/cuda_libraries.h"
#include "contexts/cuda/cuda_options.h"
#include "operators/register_cuda.h"

// caffe2_core/compat/caffe2rt_cuda/cuda_functions.cc, which nothing includes
extern "C" const void* caffe2rt_cuda_compat_functions();

namespace caffe2rt {
namespace {

DeviceState StateOf(const CudaMachine& machine) {
  if (machine.devices > 0) return DeviceState::kReady;
  switch (machine.state) {
    case CudaMachine::State::kNoDriver:
      return DeviceState::kNoDriver;
    case CudaMachine::State::kNoDevice:
      return DeviceState::kNoDevice;
    default:
      return DeviceState::kUnavailable;
  }
}

DevicePresence RegisterContext() {
  const CudaMachine machine = TheCudaMachine();
  // contexts/cuda does not know the CPU's options.
  if (GlobalCPUMemoryOptions().numa_enabled) GlobalCudaMemoryOptions().pinned_numa = true;
  if (machine.devices > 0) RegisterCUDAContext();
  return {StateOf(machine), machine.devices, machine.message, ""};
}

DeviceDescription Describe() {
  DeviceDescription description;
  for (int i = 0; i < NumCudaDevices(); ++i) {
    const auto& device = GetDeviceProperty(i);
    description.devices.push_back(
        {device.name,
         device.totalGlobalMem,
         {{"compute_capability", MakeString(device.major, ".", device.minor)}}});
  }
  description.libraries = {{"cuBLAS", HasCublas(), HasCublas() ? CublasOrigin() : CublasProblem()},
                           {"cuDNN", HasCudnn(), HasCudnn() ? CudnnOrigin() : CudnnProblem()},
                           {"cuRAND", HasCurand(), HasCurand() ? CurandOrigin() : CurandProblem()}};
  return description;
}

const void* Extension(std::string_view name) {
  return name == "caffe2_compat" ? caffe2rt_cuda_compat_functions() : nullptr;
}

}  // namespace
}  // namespace caffe2rt

extern "C" __attribute__((visibility("default"))) const caffe2rt::DeviceModule*
caffe2rt_cuda_module() {
  using namespace caffe2rt;
  static const DeviceModule module = {
      .register_operators = RegisterCudaOperators,
      .register_context = RegisterContext,
      .describe = Describe,
      .extension = Extension,
  };
  return &module;
}
