#pragma once
// Copies on a stream. Internal to contexts/cuda.
//
// None waits for the device, but for those of pageable memory while more than two buffers of it are
// on their way (cuda_staging.h), through which it goes because CUDA would make the host wait for
// each. A copy to the host is finished by a function that the stream runs.
//
// Thread safe. 0 bytes need no pointers. THROW for null pointers and what CUDA says; then a part
// may have been copied.

#include <cstddef>

#include "contexts/cuda/cuda_stream.h"

namespace caffe2rt {

// Between any two devices; directly where both may reach each other (see EnableCudaPeerAccess).
void CopyBetweenDevices(size_t nbytes, const void* src, void* dst, CudaStream& stream);
// The source may change when it returns, unless it is pinned.
void CopyFromHost(size_t nbytes, const void* src, void* dst, CudaStream& stream);
// The destination is written by the time that work on the stream is over.
void CopyToHost(size_t nbytes, const void* src, void* dst, CudaStream& stream);

// The stream copies pinned memory: what is freed from here on waits for it; see PinnedCPUAllocator.
void NoteHostCopy(CudaStream& stream);

}  // namespace caffe2rt
