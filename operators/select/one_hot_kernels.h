#pragma once
// What OneHot writes its rows with.

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// A row of `size` elements of out for each index: 1 at the index, 0 elsewhere. THROWS for an index
// that is no column; a device does at its next wait, and leaves its row 0.
void MarkIndices(CPUContext& context, int64_t count, int64_t size, const int64_t* index,
                 float* out);
void MarkIndices(CUDAContext& context, int64_t count, int64_t size, const int64_t* index,
                 float* out);

}  // namespace caffe2rt
