// Device properties: those of a data centre GPU of the configured compute capability, with the
// memory limit as its memory size.

#include <cstdio>
#include <cstring>

#include "cudart/world.h"

namespace fakecuda {
namespace {

constexpr int kMultiprocessors = 132;
constexpr int kSharedPerBlock = 48 << 10;
constexpr int kSharedOptIn = 227 << 10;

// Sets `value` to that of an attribute. Returns false if the fake does not know the attribute.
bool Attribute(cudaDeviceAttr attribute, int device, int* value) {
  const int capability = TheWorld().capability;
  const struct {
    cudaDeviceAttr attribute;
    int value;
  } known[] = {
      {cudaDevAttrMaxThreadsPerBlock, 1024},
      {cudaDevAttrMaxBlockDimX, 1024},
      {cudaDevAttrMaxBlockDimY, 1024},
      {cudaDevAttrMaxBlockDimZ, 64},
      {cudaDevAttrMaxGridDimX, 2147483647},
      {cudaDevAttrMaxGridDimY, 65535},
      {cudaDevAttrMaxGridDimZ, 65535},
      {cudaDevAttrMaxSharedMemoryPerBlock, kSharedPerBlock},
      {cudaDevAttrTotalConstantMemory, 64 << 10},
      {cudaDevAttrWarpSize, 32},
      {cudaDevAttrMaxRegistersPerBlock, 65536},
      {cudaDevAttrClockRate, 1980000},
      {cudaDevAttrTextureAlignment, 512},
      {cudaDevAttrMultiProcessorCount, kMultiprocessors},
      {cudaDevAttrKernelExecTimeout, 0},
      {cudaDevAttrIntegrated, 0},
      {cudaDevAttrCanMapHostMemory, 1},
      {cudaDevAttrComputeMode, cudaComputeModeDefault},
      {cudaDevAttrConcurrentKernels, 1},
      {cudaDevAttrEccEnabled, 1},
      {cudaDevAttrPciBusId, device + 1},
      {cudaDevAttrPciDeviceId, 0},
      {cudaDevAttrPciDomainId, 0},
      {cudaDevAttrMemoryClockRate, 2619000},
      {cudaDevAttrGlobalMemoryBusWidth, 5120},
      {cudaDevAttrL2CacheSize, 50 << 20},
      {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
      {cudaDevAttrAsyncEngineCount, 3},
      {cudaDevAttrUnifiedAddressing, 1},
      {cudaDevAttrComputeCapabilityMajor, capability / 10},
      {cudaDevAttrComputeCapabilityMinor, capability % 10},
      {cudaDevAttrStreamPrioritiesSupported, 1},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 228 << 10},
      {cudaDevAttrMaxRegistersPerMultiprocessor, 65536},
      {cudaDevAttrManagedMemory, 1},
      {cudaDevAttrPageableMemoryAccess, 0},
      {cudaDevAttrConcurrentManagedAccess, 1},
      {cudaDevAttrComputePreemptionSupported, 1},
      {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
      {cudaDevAttrCooperativeLaunch, 1},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, kSharedOptIn},
      {cudaDevAttrHostRegisterSupported, 1},
      {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
      {cudaDevAttrMemoryPoolsSupported, 1},
  };
  for (const auto& row : known) {
    if (row.attribute != attribute) continue;
    *value = row.value;
    return true;
  }
  return false;
}

int Get(cudaDeviceAttr attribute, int device) {
  int value = 0;
  Attribute(attribute, device, &value);
  return value;
}

// cuDevicePrimaryCtxGetState. Its errors are those of the driver API.
int PrimaryContextState(int device, unsigned int* flags, int* active) {
  constexpr int kInvalidDevice = 101;
  Call call("cuDevicePrimaryCtxGetState", kIgnoresSticky | kNoContext);
  if (call.refused() || !ValidDevice(device)) return kInvalidDevice;
  *flags = 0;
  *active = TheWorld().devices[static_cast<size_t>(device)]->has_context ? 1 : 0;
  return 0;
}

}  // namespace
}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  FAKECUDA_CALL(kIgnoresSticky | kNoContext);
  if (value == nullptr || attribute <= 0 || attribute >= cudaDevAttrMax) {
    return call.Return(cudaErrorInvalidValue);
  }
  if (!ValidDevice(device)) return call.Return(cudaErrorInvalidDevice);
  *value = 0;  // unknown attributes are reported as unsupported
  Attribute(attribute, device, value);
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  FAKECUDA_CALL(kIgnoresSticky | kNoContext);
  if (p == nullptr) return call.Return(cudaErrorInvalidValue);
  if (!ValidDevice(device)) return call.Return(cudaErrorInvalidDevice);
  *p = {};
  snprintf(p->name, sizeof p->name, "fake CUDA device %d", device);
  p->uuid.bytes[15] = static_cast<char>(device + 1);
  p->totalGlobalMem = TheWorld().devices[static_cast<size_t>(device)]->limit;
  p->sharedMemPerBlock = kSharedPerBlock;
  p->sharedMemPerBlockOptin = kSharedOptIn;
  p->sharedMemPerMultiprocessor = 228 << 10;
  p->regsPerBlock = p->regsPerMultiprocessor = 65536;
  p->warpSize = 32;
  p->memPitch = 2147483647;
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsPerMultiProcessor = 2048;
  p->maxBlocksPerMultiProcessor = 32;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 2147483647;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->totalConstMem = 64 << 10;
  p->major = Get(cudaDevAttrComputeCapabilityMajor, device);
  p->minor = Get(cudaDevAttrComputeCapabilityMinor, device);
  p->textureAlignment = 512;
  p->multiProcessorCount = kMultiprocessors;
  p->canMapHostMemory = p->concurrentKernels = p->ECCEnabled = 1;
  p->pciBusID = Get(cudaDevAttrPciBusId, device);
  p->asyncEngineCount = 3;
  p->unifiedAddressing = p->managedMemory = p->concurrentManagedAccess = 1;
  p->memoryBusWidth = 5120;
  p->l2CacheSize = 50 << 20;
  p->streamPrioritiesSupported = p->computePreemptionSupported = p->cooperativeLaunch = 1;
  p->canUseHostPointerForRegisteredMem = p->hostRegisterSupported = 1;
  p->memoryPoolsSupported = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  FAKECUDA_CALL(kIgnoresSticky | kNoContext);
  if (text == nullptr || size < 13) return call.Return(cudaErrorInvalidValue);
  if (!ValidDevice(device)) return call.Return(cudaErrorInvalidDevice);
  snprintf(text, static_cast<size_t>(size), "0000:%02x:00.0", device + 1);
  return cudaSuccess;
}

// Of the driver API the fake has only cuDevicePrimaryCtxGetState.
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  FAKECUDA_CALL(kNoContext);
  if (symbol == nullptr || function == nullptr) return call.Return(cudaErrorInvalidValue);
  const bool known = strcmp(symbol, "cuDevicePrimaryCtxGetState") == 0;
  *function = known ? reinterpret_cast<void*>(&PrimaryContextState) : nullptr;
  if (result != nullptr) {
    *result = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  }
  return cudaSuccess;
}

}  // extern "C"
