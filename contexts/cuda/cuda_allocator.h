#pragma once
// Memory of CUDA devices: a pool for each device, chosen by options before its first use.
//
// Memory is for a stream: the calling thread's current one on its current device (cuda_stream.h).
// It frees itself through its deleter, on any thread, while work that was enqueued may still use
// it: the pool keeps it from others until the work of its stream, and of the freeing thread's
// current stream, is over. Other streams that use it are named by RecordCudaUse.
//
// Thread safe. Pools are never destroyed; what is freed while the program ends, or in a forked
// process, is left alone.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/device/memory.h"
#include "contexts/cuda/cuda_upstream.h"
#include "contexts/pool/pool.h"

namespace caffe2rt {

// Caffe2's names and numbers.
enum class CudaMemoryPoolType {
  NONE = 0,   // cudaMalloc and cudaFree, each time
  CUB = 1,    // bins of powers
  THC = 2,    // best fit with split and merge
  ASYNC = 3,  // the driver's own, cudaMallocAsync
};

struct CudaMemoryOptions {
  // `caffe2_cuda_memory_pool`: "" or "none", "cub", "thc", "async". The original's default is
  // none; ours makes no call of CUDA once it is warm.
  CudaMemoryPoolType pool = CudaMemoryPoolType::THC;
  // Of each device, in use and cached together; 0: no limit. `caffe2_gpu_memory_limit_mb`.
  int64_t limit_mb = 0;
  // See BinnedPoolOptions. `caffe2_cub_bin_growth` and so on.
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
// The flags named above, and those of cuda_libraries.h.
void RegisterCudaMemoryFlags();

// Once in a process, on the first context or memory. THROWS the reason when there is no CUDA here;
// a later call tries again.
void InitializeCuda();

// Memory for the calling thread's current stream on its current device, or for another stream; null
// for 0 bytes. THROWS OutOfMemory, and as InitializeCuda.
std::pair<void*, MemoryDeleter> NewCudaMemory(size_t nbytes);
std::pair<void*, MemoryDeleter> NewCudaMemory(size_t nbytes, CudaStream& stream);

// Work of the stream uses memory that these gave, named by its deleter: see BaseStaticContext. One
// compare when it is the memory's own stream. REQUIRES: the memory was not freed.
void RecordCudaUse(const MemoryDeleter& memory, CudaStream& stream);

// The pool of a device and the numbers by which it knows streams. THROWS for a device that is not
// there.
Pool& CudaPool(int device);
CudaUpstream& CudaPoolUpstream(int device);

// Lets a device reach what the driver's pool of another holds: nothing for the other pools, whose
// memory peers reach by themselves. For EnableCudaPeerAccess.
void GrantCudaPoolAccess(int device, int peer);

// Bytes in use and their peak, for each device; empty without CUDA. Devices that were never used
// are not started.
std::vector<long> TotalMemoryByGpu();
std::vector<long> MaxMemoryByGpu();
// An array with an object for each device in use, and one for pinned memory, as SnapshotJson gives
// them.
std::string CudaMemoryJson();
// Gives cached memory of all devices back. Waits for their streams. Returns the bytes.
size_t ReleaseCachedCudaMemory();

}  // namespace caffe2rt
