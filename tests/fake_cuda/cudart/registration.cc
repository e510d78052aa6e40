// The functions that objects compiled by nvcc call before main() and for <<<>>>. Such objects load
// and run their host code; the kernels themselves cannot run on the fake.

#include <cstdio>
#include <string>
#include <unordered_map>

#include "cudart/world.h"

namespace fakecuda {
namespace {

struct Variable {
  std::string name;
  size_t bytes;
};

// Filled before main(), when the world may not exist yet.
struct Registry {
  std::mutex mutex;
  std::unordered_map<const void*, std::string> kernels;  // by host stub
  std::unordered_map<const void*, Variable> variables;   // by host variable
};

Registry& TheRegistry() {
  static auto* registry = new Registry;
  return *registry;
}

}  // namespace

std::string KernelName(const void* stub) {
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  const auto it = registry.kernels.find(stub);
  return it == registry.kernels.end() ? std::string() : it->second;
}

}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void**) {}

void __cudaRegisterFunction(void**, const char* stub, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.kernels[stub] = name;
}

void __cudaRegisterVar(void**, char* variable, char*, const char* name, int, size_t bytes, int,
                       int) {
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.variables[variable] = {name, bytes};
}

void __cudaRegisterManagedVar(void**, void** variable, char*, const char* name, int, size_t bytes,
                              int, int) {
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.variables[variable] = {name, bytes};
}

char __cudaInitModule(void**) { return 1; }

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                     struct CUstream_st* stream) {
  const Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  Me().launches.push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes,
                                       void* stream) {
  const Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  std::vector<Launch>& launches = Me().launches;
  if (launches.empty()) return cudaErrorMissingConfiguration;
  const Launch launch = launches.back();
  launches.pop_back();
  *grid = launch.grid;
  *block = launch.block;
  *shared_bytes = launch.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = launch.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(stub));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                               size_t shared_bytes, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, args, shared_bytes, stream);
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  FAKECUDA_CALL(kPlain);
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  const auto it = registry.variables.find(symbol);
  if (bytes == nullptr) return call.Return(cudaErrorInvalidValue);
  if (it == registry.variables.end()) return call.Return(cudaErrorInvalidSymbol);
  *bytes = it->second.bytes;
  return cudaSuccess;
}

}  // extern "C"
