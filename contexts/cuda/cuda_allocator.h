#pragma once
// Memory of CUDA devices: one pool per device. The options (cuda_options.h) select the pool before
// the device is first used.
//
// Memory is allocated for a stream: the calling thread's current stream on its current device
// (cuda_stream.h). Its deleter may be called on any thread, and while enqueued work still uses the
// memory: the pool reuses the memory only in stream order, behind the work of its own stream and of
// the freeing thread's current streams. Declare other streams that use it by RecordCudaUse.
//
// Thread safe. Pools are never destroyed. While the program ends, and in a forked process, freeing
// does nothing.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/device/memory.h"
#include "contexts/cuda/cuda_options.h"
#include "contexts/cuda/cuda_upstream.h"
#include "contexts/pool/pool.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Starts CUDA, once per process, when the first context or memory is created. THROWS with the
// reason if CUDA is not available; a later call tries again.
void InitializeCuda();

// Allocate memory for the calling thread's current stream on its current device, or for the given
// stream. Return null for 0 bytes. THROW OutOfMemory, and as InitializeCuda.
std::pair<void*, MemoryDeleter> NewCudaMemory(size_t nbytes);
std::pair<void*, MemoryDeleter> NewCudaMemory(size_t nbytes, CudaStream& stream);

// Declares that work of the stream uses memory of NewCudaMemory, identified by its deleter: see
// BaseStaticContext::RecordUse. Costs one comparison if it is the memory's own stream.
// REQUIRES: the memory has not been freed.
void RecordCudaUse(const MemoryDeleter& memory, CudaStream& stream);

// The pool of a device, and the upstream that numbers its streams. THROW if the device does not
// exist.
Pool& CudaPool(int device);
CudaUpstream& CudaPoolUpstream(int device);

// Allows `peer` to access the memory of the device's ASYNC pool. Does nothing for other pools,
// whose memory peers can access anyway. For EnableCudaPeerAccess.
void GrantCudaPoolAccess(int device, int peer);

// Bytes in use, and their peak, for each device; empty without CUDA. They start no device.
std::vector<long> TotalMemoryByGpu();
std::vector<long> MaxMemoryByGpu();
// Returns a JSON array with one object of SnapshotJson for each used device and, if used, one for
// pinned memory.
std::string CudaMemoryJson();
// Waits for the streams of all devices and releases their cached memory. Returns the number of
// bytes.
size_t ReleaseCachedCudaMemory();

}  // namespace caffe2rt
#pragma GCC visibility pop
