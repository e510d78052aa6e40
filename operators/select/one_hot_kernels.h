#pragma once
// The kernels of OneHot.

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// Writes a row of `size` elements for each index: 1 at the index, 0 elsewhere. An index out of
// range THROWS on the CPU; on CUDA its row is 0 and the next wait for the stream throws.
void MarkIndices(CPUContext& context, int64_t count, int64_t size, const int64_t* index,
                 float* out);
void MarkIndices(CUDAContext& context, int64_t count, int64_t size, const int64_t* index,
                 float* out);

}  // namespace caffe2rt
