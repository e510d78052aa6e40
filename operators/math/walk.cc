#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "operators/math/cuda.h"

namespace caffe2rt::math::internal {

void Walk::Add(int64_t dim, int64_t a, int64_t b) {
  size *= dim;
  if (dim == 1) return;
  if (rank > 0 && a_step[rank - 1] == a * dim && b_step[rank - 1] == b * dim) {
    dims[rank - 1] *= dim;
  } else {
    CAFFE_ENFORCE_LT(rank, kMaxAxes, "number of axes after merging, want at most ", kMaxAxes);
    dims[rank++] = dim;
  }
  a_step[rank - 1] = a;
  b_step[rank - 1] = b;
}

Walk Walk::Broadcast(int a_rank, const int* a_dims, int b_rank, const int* b_dims) {
  const int rank = std::max(a_rank, b_rank);
  int64_t a_step = 1, b_step = 1;
  for (int i = 0; i < a_rank; ++i) a_step *= a_dims[i];
  for (int i = 0; i < b_rank; ++i) b_step *= b_dims[i];
  const bool empty = a_step == 0 || b_step == 0;
  Walk walk;
  for (int i = 0; i < rank; ++i) {
    const int64_t a = i >= rank - a_rank ? a_dims[i - (rank - a_rank)] : 1;
    const int64_t b = i >= rank - b_rank ? b_dims[i - (rank - b_rank)] : 1;
    CAFFE_ENFORCE(a == b || a == 1 || b == 1, "dims ", a, " and ", b, " do not broadcast");
    if (!empty) {
      a_step /= a;
      b_step /= b;
    }
    walk.Add(a == 1 ? b : a, a == 1 ? 0 : a_step, b == 1 ? 0 : b_step);
  }
  return walk;
}

Columns MakeColumns(bool channels_first, int rank, int64_t channels, const int* img, const int* col,
                    const int* kernel, const int* stride, const int* dilation, const int* pad) {
  CAFFE_ENFORCE(rank >= 1 && rank <= kMaxAxes, "images have ", rank, " axes, want 1 to ", kMaxAxes);
  Columns columns;
  columns.channels_first = channels_first;
  columns.rank = rank;
  columns.channels = channels;
  for (int i = 0; i < rank; ++i) {
    CAFFE_ENFORCE(kernel[i] > 0 && stride[i] > 0 && dilation[i] > 0 && col[i] >= 0 && img[i] >= 0,
                  "kernel ", kernel[i], ", stride ", stride[i], ", dilation ", dilation[i],
                  " of axis ", i, ", want all of them positive");
    columns.img[i] = img[i];
    columns.col[i] = col[i];
    columns.kernel[i] = kernel[i];
    columns.stride[i] = stride[i];
    columns.dilation[i] = dilation[i];
    columns.pad[i] = pad[i];
  }
  return columns;
}

}  // namespace caffe2rt::math::internal
