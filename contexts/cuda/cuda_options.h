#pragma once
// All options of CUDA, with their defaults and flags. This file includes no CUDA header and is part
// of the CPU library, so that a command line can be checked without CUDA.
//
// The flags set the options when libcaffe2_cuda is loaded; programs may set them at any time
// before. Not thread safe: set them before other threads use CUDA.

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

struct Flag;  // caffe2_core/base/flags.h

// Caffe2's names and numbers. The pools are those of contexts/pool/pool.h.
enum class CudaMemoryPoolType {
  NONE = 0,   // no cache: cudaMalloc and cudaFree on every call (NewDirectPool)
  CUB = 1,    // sizes rounded up to powers, like cub::CachingDeviceAllocator (NewCubPool)
  THC = 2,    // best fit with splitting and merging, like Torch's THC allocator (NewThcPool)
  ASYNC = 3,  // the driver's own pool, cudaMallocAsync (NewCudaAsyncPool, cuda_async_pool.h)
};

struct CudaMemoryOptions {
  // `caffe2_cuda_memory_pool`: "" or "none", "cub", "thc", "async". Caffe2's default is none; this
  // default is thc, which makes no CUDA call once it is warm.
  CudaMemoryPoolType pool = CudaMemoryPoolType::THC;
  // Limit of each device, for memory in use and cached together; 0: no limit.
  // `caffe2_gpu_memory_limit_mb`.
  int64_t limit_mb = 0;
  // See CubPoolOptions. `caffe2_cub_bin_growth` and so on.
  int cub_bin_growth = 8;
  int cub_min_bin = 3;
  int cub_max_bin = 10;
  int64_t cub_max_managed_mb = 10 * 1024;
  // Log the bytes in use of all devices whenever they have grown by the interval.
  // `caffe2_gpu_memory_tracking`, `caffe2_gpu_memory_report_interval_mb`.
  bool tracking = false;
  int report_interval_mb = 128;
  // Allocate pinned memory on the NUMA node of the calling thread: for programs that also bind CPU
  // memory (`caffe2_cpu_numa_enabled`). `caffe2_cuda_pinned_numa`.
  bool pinned_numa = false;
  // Use pinned memory for all CPU memory of the process once CUDA has started.
  // `caffe2_cuda_pinned_cpu`.
  bool pinned_cpu = false;
};
// Read when CUDA is first used; later changes have no effect.
CudaMemoryOptions& GlobalCudaMemoryOptions();
inline CudaMemoryPoolType GetCudaMemoryPoolType() { return GlobalCudaMemoryOptions().pool; }
// THROWS for an unknown name.
CudaMemoryPoolType ParseCudaMemoryPoolType(const std::string& name);

struct CudaLibraryOptions {
  // Allows matrix multiplications of 32-bit floats to round their operands to 19 bits (TF32), which
  // is faster and keeps 3 decimal digits. `caffe2_allow_tf32`; nets have an argument `allow_tf32`.
  bool allow_tf32 = false;
  // Runs convolutions by cuDNN's backend API, whose calls take a fraction of the host's time, where it
  // supports them; false: by its legacy API. Read when an operator meets a new shape.
  // `caffe2_cudnn_graph`.
  bool cudnn_graph = true;
  // Where cuBLAS, cuDNN and cuRAND lie if the loader does not find them, or finds other ones:
  // folders separated by colons. Each is a folder of libraries, a CUDA toolkit, a Python
  // environment, or its site-packages with pip's packages of CUDA. Read when a library is first
  // used. `caffe2_cuda_library_path`; the environment variable CAFFE2_CUDA_LIBRARY_PATH adds
  // folders. Searched before the loader's path. After that come the toolkit (CUDA_HOME, CUDA_PATH,
  // /usr/local/cuda) and the active Python environment (VIRTUAL_ENV, CONDA_PREFIX).
  std::string library_path;
};
// May be changed at any time, by one thread while no other uses CUDA.
CudaLibraryOptions& GlobalCudaLibraryOptions();

// The flags named above, and Caffe2's CUDA flags that are accepted without effect.
std::vector<Flag> CudaFlags();

}  // namespace caffe2rt
#pragma GCC visibility pop
