#pragma once
// Copies on a stream, none of which waits for the device. Internal to contexts/cuda.
//
// Memory of the host that is not pinned goes through pieces of the pinned pool: CUDA would make the
// host wait else. A copy to the host is finished by a function that the stream runs.
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
