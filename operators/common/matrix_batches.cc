#include "operators/common/matrix_batches.h"

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

void MatrixBatches::Make(IntArrayRef a, IntArrayRef b) {
  CAFFE_ENFORCE(a.size() >= 1 && b.size() >= 1, "inputs have shapes ", a, " and ", b,
                ", want at least one axis");
  const bool row = a.size() == 1, column = b.size() == 1;
  m = row ? 1 : a[a.size() - 2];
  k = a[a.size() - 1];
  n = column ? 1 : b[b.size() - 1];
  CAFFE_ENFORCE_EQ(column ? b[0] : b[b.size() - 2], k, "rows of input 1 (B) of shape ", b,
                   ", want the columns of input 0 (A) of shape ", a);
  const size_t a_batch = row ? 0 : a.size() - 2, b_batch = column ? 0 : b.size() - 2;
  const size_t rank = std::max(a_batch, b_batch);
  y_dims.assign(rank, 1);
  for (size_t i = 0; i < rank; ++i) {  // from the last axis
    const int64_t p = i < a_batch ? a[a_batch - 1 - i] : 1,
                  q = i < b_batch ? b[b_batch - 1 - i] : 1;
    CAFFE_ENFORCE(p == q || p == 1 || q == 1, "inputs have shapes ", a, " and ", b,
                  ", want axes before the matrices that are equal or 1");
    y_dims[rank - 1 - i] = p == 1 ? q : p;
  }
  if (!row) y_dims.push_back(m);
  if (!column) y_dims.push_back(n);
  (void)CheckedProduct(y_dims);
}

void MatrixBatches::Locate(IntArrayRef a, IntArrayRef b) {
  const size_t a_batch = a.size() == 1 ? 0 : a.size() - 2,
               b_batch = b.size() == 1 ? 0 : b.size() - 2;
  const size_t rank = std::max(a_batch, b_batch);
  const int64_t count = CheckedProduct(IntArrayRef(y_dims.data(), rank));
  a_matrix.assign(static_cast<size_t>(count), 0);
  b_matrix.assign(static_cast<size_t>(count), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, a_stride = 1, b_stride = 1;
    for (size_t axis = 0; axis < rank; ++axis) {
      const int64_t size = y_dims[rank - 1 - axis], place = rest % size;
      rest /= size;
      const int64_t p = axis < a_batch ? a[a_batch - 1 - axis] : 1;
      const int64_t q = axis < b_batch ? b[b_batch - 1 - axis] : 1;
      if (p != 1) a_matrix[static_cast<size_t>(i)] += place * a_stride;
      if (q != 1) b_matrix[static_cast<size_t>(i)] += place * b_stride;
      a_stride *= p;
      b_stride *= q;
    }
  }
}

}  // namespace caffe2rt
