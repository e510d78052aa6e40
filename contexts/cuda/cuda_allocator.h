#pragma once
// Memory of CUDA devices: a pool for each device, chosen by options (cuda_options.h) before its
// first use.
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
#include "contexts/cuda/cuda_options.h"
#include "contexts/cuda/cuda_upstream.h"
#include "contexts/pool/pool.h"

namespace caffe2rt {

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
