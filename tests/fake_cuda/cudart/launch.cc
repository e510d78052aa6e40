// Kernel launches: host twins run, device code is rejected.

#include <cstdio>
#include <string>
#include <utility>

#include "cudart/world.h"

namespace fakecuda {

std::string KernelName(const void* stub);

namespace {

constexpr unsigned kMaxThreads = 1024;

bool ValidShape(dim3 grid, dim3 block) {
  const bool zero =
      grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0;
  if (zero || grid.x > 2147483647u || grid.y > 65535u || grid.z > 65535u) return false;
  return block.x <= kMaxThreads && block.y <= kMaxThreads && block.z <= 64 &&
         block.x * block.y * block.z <= kMaxThreads;
}

// Rejects the launch of device code. Makes the driver's checks first, so that host code gets the
// same errors as on hardware.
cudaError_t RefuseKernel(Call& call, const void* stub, dim3 grid, dim3 block,
                         cudaStream_t stream_handle) {
  const StreamP stream = Resolve(stream_handle);
  if (!stream || stream->device != Me().device) {
    return call.Return(cudaErrorInvalidResourceHandle);
  }
  if (!ValidShape(grid, block)) return call.Return(cudaErrorInvalidConfiguration);
  const std::string name = KernelName(stub);
  fprintf(stderr, "[fakecuda] cannot run device code: kernel %s has no host twin\n",
          name.empty() ? "(not registered)" : name.c_str());
  return call.Return(cudaErrorInvalidDeviceFunction);
}

cudaError_t KnownKernel(Call& call, const void* stub) {
  return call.Return(KernelName(stub).empty() ? cudaErrorInvalidDeviceFunction : cudaSuccess);
}

}  // namespace
}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudaError_t fakecuda_enqueue_host(cudaStream_t handle, const char* name, void (*run)(void*),
                                  void* arg, void (*release)(void*)) {
  std::shared_ptr<void> owned = OwnArgument(arg, release);  // released after the call's lock
  Call call("kernel");
  if (call.refused()) return call.Refuse();
  const StreamP stream = Resolve(handle);
  if (!stream || stream->device != Me().device) {
    return call.Return(cudaErrorInvalidResourceHandle);
  }
  Work work{.name = name, .type = cudaGraphNodeTypeKernel, .kernel = true};
  // Moved, so that only the worker releases it, after the last use.
  work.run = [run, arg, owned = std::move(owned)] {
    SetInOperation(true);
    {
      Shown shown;
      run(arg);
    }
    SetInOperation(false);
    return cudaSuccess;
  };
  return call.Return(Submit(stream, std::move(work)));
}

cudaError_t cudaLaunchKernel(const void* stub, dim3 grid, dim3 block, void**, size_t,
                             cudaStream_t stream) {
  FAKECUDA_CALL(kPlain);
  return RefuseKernel(call, stub, grid, block, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void* stub, dim3 grid, dim3 block, void**, size_t,
                                        cudaStream_t stream) {
  FAKECUDA_CALL(kPlain);
  return RefuseKernel(call, stub, grid, block, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* stub, void**) {
  FAKECUDA_CALL(kPlain);
  if (config == nullptr) return call.Return(cudaErrorInvalidValue);
  return RefuseKernel(call, stub, config->gridDim, config->blockDim, config->stream);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* stub) {
  FAKECUDA_CALL(kPlain);
  if (attributes == nullptr) return call.Return(cudaErrorInvalidValue);
  *attributes = {};
  attributes->maxThreadsPerBlock = kMaxThreads;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = TheWorld().capability;
  attributes->maxDynamicSharedSizeBytes = 48 << 10;
  return KnownKernel(call, stub);
}

cudaError_t cudaFuncSetAttribute(const void* stub, cudaFuncAttribute, int) {
  FAKECUDA_CALL(kPlain);
  return KnownKernel(call, stub);
}

cudaError_t cudaFuncSetCacheConfig(const void* stub, cudaFuncCache) {
  FAKECUDA_CALL(kPlain);
  return KnownKernel(call, stub);
}

cudaError_t cudaFuncGetName(const char** name, const void* stub) {
  FAKECUDA_CALL(kPlain);
  if (name == nullptr) return call.Return(cudaErrorInvalidValue);
  static thread_local std::string text;
  text = KernelName(stub);
  *name = text.c_str();
  return call.Return(text.empty() ? cudaErrorInvalidDeviceFunction : cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*,
                                                                   int block_size, size_t,
                                                                   unsigned int) {
  FAKECUDA_CALL(kPlain);
  if (blocks == nullptr || block_size <= 0) return call.Return(cudaErrorInvalidValue);
  *blocks = block_size > static_cast<int>(kMaxThreads) ? 0 : 2048 / block_size;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int block_size,
                                                          size_t) {
  FAKECUDA_CALL(kPlain);
  if (blocks == nullptr || block_size <= 0) return call.Return(cudaErrorInvalidValue);
  *blocks = block_size > static_cast<int>(kMaxThreads) ? 0 : 2048 / block_size;
  return cudaSuccess;
}

}  // extern "C"
