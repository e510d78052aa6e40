// Copies of rows on CUDA.

#include "contexts/cuda/cuda_error.h"
#include "contexts/cuda/cuda_launch.h"
#include "operators/math/cuda.h"

namespace caffe2rt::math::internal {

void CudaCopyRows(CUDAContext& context, int64_t rows, size_t row_bytes, const void* a,
                  size_t a_pitch, void* b, size_t b_pitch) {
  if (rows <= 0 || row_bytes == 0) return;
  if (rows == 1) a_pitch = b_pitch = row_bytes;
  CUDA_ENFORCE(cudaMemcpy2DAsync(b, b_pitch, a, a_pitch, row_bytes, static_cast<size_t>(rows),
                                 cudaMemcpyDeviceToDevice, StreamOf(context)),
               "copy of ", rows, " rows of ", row_bytes, " bytes");
}

}  // namespace caffe2rt::math::internal
