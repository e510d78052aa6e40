#pragma once
// Copies on a stream. Internal to contexts/cuda.
//
// Copies of pinned memory never wait for the device. Pageable memory goes through two pinned
// buffers (cuda_staging.h). A copy from pageable memory waits only when both buffers are full. A
// copy to pageable memory waits until the data has arrived: completing it by a host function on the
// stream would stop the stream while the host copies.
//
// Thread safe. For 0 bytes the pointers may be null. THROW for null pointers and on CUDA's errors;
// part of the data may then have been copied.

#include <cstddef>

#include "contexts/cuda/cuda_stream.h"

namespace caffe2rt {

// Copies within a device or between any two devices; directly if they have peer access (see
// EnableCudaPeerAccess).
void CopyBetweenDevices(size_t nbytes, const void* src, void* dst, CudaStream& stream);
// The source may be changed after the call returns, unless it is pinned.
void CopyFromHost(size_t nbytes, const void* src, void* dst, CudaStream& stream);
// A pinned destination is complete when the work on the stream has finished, a pageable one when
// the call returns.
void CopyToHost(size_t nbytes, const void* src, void* dst, CudaStream& stream);

// Notes that the stream copies pinned memory: pinned memory that is freed from now on waits for the
// stream; see PinnedCPUAllocator.
void NoteHostCopy(CudaStream& stream);

}  // namespace caffe2rt
