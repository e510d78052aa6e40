#pragma once
// Options of CUDA, their defaults and their flags: the one place that states them. It includes no
// header of CUDA and is part of the CPU library, so that a command line is checked without CUDA.
//
// Flags set the options when libcaffe2_cuda is loaded, programs at any time before. Not thread
// safe: set them before other threads use CUDA.

#include <cstdint>
#include <string>
#include <vector>

namespace caffe2rt {

struct Flag;  // caffe2_core/base/flags.h

// Caffe2's names and numbers. The pools are those of contexts/pool/pool.h.
enum class CudaMemoryPoolType {
  NONE = 0,   // no cache: cudaMalloc and cudaFree, each time (NewDirectPool)
  CUB = 1,    // bins of powers, as cub::CachingDeviceAllocator (NewCubPool)
  THC = 2,    // best fit with split and merge, as Torch's THC allocator (NewThcPool)
  ASYNC = 3,  // the driver's own, cudaMallocAsync (NewCudaAsyncPool, cuda_async_pool.h)
};

struct CudaMemoryOptions {
  // `caffe2_cuda_memory_pool`: "" or "none", "cub", "thc", "async". Caffe2's default is none; thc
  // makes no call of CUDA once it is warm.
  CudaMemoryPoolType pool = CudaMemoryPoolType::THC;
  // Of each device, in use and cached together; 0: no limit. `caffe2_gpu_memory_limit_mb`.
  int64_t limit_mb = 0;
  // See CubPoolOptions. `caffe2_cub_bin_growth` and so on.
  int cub_bin_growth = 8;
  int cub_min_bin = 3;
  int cub_max_bin = 10;
  int64_t cub_max_managed_mb = 10 * 1024;
  // Log the bytes of all devices whenever they have grown by so much. Counting is always on.
  // `caffe2_gpu_memory_tracking`, `caffe2_gpu_memory_report_interval_mb`.
  bool tracking = false;
  int report_interval_mb = 128;
  // Take pinned memory from the NUMA node of the thread that asks: for programs that bind the
  // memory of the CPU as well (`caffe2_cpu_numa_enabled`). `caffe2_cuda_pinned_numa`.
  bool pinned_numa = false;
  // Make pinned memory the process's CPU memory when CUDA starts. `caffe2_cuda_pinned_cpu`.
  bool pinned_cpu = false;
};
// Read when CUDA is first used; later changes mean nothing.
CudaMemoryOptions& GlobalCudaMemoryOptions();
inline CudaMemoryPoolType GetCudaMemoryPoolType() { return GlobalCudaMemoryOptions().pool; }
// THROWS for a name that no pool has.
CudaMemoryPoolType ParseCudaMemoryPoolType(const std::string& name);

struct CudaLibraryOptions {
  // Allows matrix multiplications of 32-bit floats to round their operands to 19 bits (TF32), which
  // is faster and keeps 3 decimal digits. `caffe2_allow_tf32`; nets have an argument `allow_tf32`.
  bool allow_tf32 = false;
};
// May be changed at any time, by one thread while no other uses CUDA.
CudaLibraryOptions& GlobalCudaLibraryOptions();

// The flags named above, and those of Caffe2's CUDA flags that have no effect here.
std::vector<Flag> CudaFlags();

}  // namespace caffe2rt
