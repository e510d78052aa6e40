// Profiling calls, hints and queries, which change nothing in the fake.

#include <cuda_profiler_api.h>

#include "cudart/world.h"

using namespace fakecuda;

extern "C" {

cudaError_t cudaProfilerStart() {
  FAKECUDA_CALL(kPlain);
  return cudaSuccess;
}

cudaError_t cudaProfilerStop() {
  FAKECUDA_CALL(kPlain);
  return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  FAKECUDA_CALL(kPlain);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  FAKECUDA_CALL(kPlain);
  if (config == nullptr) return call.Return(cudaErrorInvalidValue);
  *config = cudaFuncCachePreferNone;
  return cudaSuccess;
}

cudaError_t cudaMemAdvise(const void* ptr, size_t bytes, cudaMemoryAdvise, cudaMemLocation) {
  FAKECUDA_CALL(kPlain);
  const Block* block = FindBlock(ptr);
  const bool managed = block != nullptr && block->kind == BlockKind::kManaged && bytes > 0;
  return call.Return(managed ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPrefetchAsync(const void* ptr, size_t bytes, cudaMemLocation, unsigned int flags,
                                 cudaStream_t stream) {
  FAKECUDA_CALL(kPlain);
  const Block* block = FindBlock(ptr);
  const bool managed = block != nullptr && block->kind == BlockKind::kManaged && bytes > 0;
  if (!managed || flags != 0) return call.Return(cudaErrorInvalidValue);
  return call.Return(Resolve(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  FAKECUDA_CALL(kPlain);
  if (value == nullptr) return call.Return(cudaErrorInvalidValue);
  if (!ValidDevice(from) || !ValidDevice(to) || from == to) {
    return call.Return(cudaErrorInvalidDevice);
  }
  const int group = TheWorld().peer_group;
  const bool reach = from / group == to / group;
  *value = reach && attribute == cudaDevP2PAttrAccessSupported ? 1 : 0;
  return cudaSuccess;
}

}  // extern "C"
