#pragma once
// The kernels of CopyRows and FillZeros on CUDA (copy_rows.h).

#include <cstdint>

namespace caffe2rt {

class CUDAContext;

// Copies `rows` rows of `row_bytes` bytes each; rows of src are `src_stride` bytes apart, rows of
// dst `dst_stride` bytes. REQUIRES: rows and row_bytes are positive; src and dst do not overlap.
void CopyRowBytes(CUDAContext& context, int64_t rows, int64_t row_bytes, const void* src,
                  int64_t src_stride, void* dst, int64_t dst_stride);

// Sets `nbytes` bytes to 0.
void FillZeroBytes(CUDAContext& context, int64_t nbytes, void* y);

}  // namespace caffe2rt
