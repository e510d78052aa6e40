#include "contexts/cuda/cuda_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/copy_rows_kernels.h"

namespace caffe2rt {

void CopyRows(CUDAContext& context, TypeMeta type, int64_t rows, int64_t row_items, const void* src,
              int64_t src_stride, void* dst, int64_t dst_stride) {
  if (rows <= 0 || row_items <= 0) return;
  // CopyItemsSameDevice rejects elements with constructors.
  if (!type.IsPlainData() || rows == 1 || (row_items == src_stride && row_items == dst_stride)) {
    context.CopyItemsSameDevice(type, static_cast<size_t>(rows * row_items), src, dst);
    return;
  }
  const int64_t item = static_cast<int64_t>(type.itemsize());
  CopyRowBytes(context, rows, row_items * item, src, src_stride * item, dst, dst_stride * item);
}

void FillZeros(CUDAContext& context, size_t nbytes, void* y) {
  FillZeroBytes(context, static_cast<int64_t>(nbytes), y);
}

}  // namespace caffe2rt
