#pragma once
// Scratch memory on a device for launch functions. .cu files can use it without including Tensor's
// header.

#include <cstdint>

namespace caffe2rt {

class CUDAContext;
class Tensor;

// Returns `nbytes` bytes of memory owned by `scratch`, which grows to the largest request. The
// contents are undefined.
void* ScratchBytes(Tensor* scratch, int64_t nbytes);

// Returns memory for the next work on the context's stream, the one that CudnnWorkspace returns: it
// is valid until the next call for this stream.
void* StreamScratch(CUDAContext& context, int64_t nbytes);

}  // namespace caffe2rt
