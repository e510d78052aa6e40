#include "operators/math/transpose.h"

#include <algorithm>
#include <cstring>

namespace caffe2rt::math {

namespace {

// y[i][j] = x[i * row_stride + j * column_stride], y dense. Tiles keep the lines of both sides in
// the nearest cache.
template <class T>
void TransposePlane(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride,
                    const T* x, T* y) {
  constexpr int64_t kTile = 16;
  for (int64_t i0 = 0; i0 < rows; i0 += kTile) {
    const int64_t i1 = std::min(rows, i0 + kTile);
    for (int64_t j0 = 0; j0 < columns; j0 += kTile) {
      const int64_t j1 = std::min(columns, j0 + kTile);
      for (int64_t i = i0; i < i1; ++i) {
        for (int64_t j = j0; j < j1; ++j)
          y[i * columns + j] = x[i * row_stride + j * column_stride];
      }
    }
  }
}

// A block of items that no single type covers.
void CopyPlane(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride,
               size_t bytes, const char* x, char* y) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j, y += bytes) {
      std::memcpy(y, x + static_cast<size_t>(i * row_stride + j * column_stride) * bytes, bytes);
    }
  }
}

// Moves the counters of the outer axes on by one; false after the last.
bool Advance(TransposePlan& plan, size_t outer, int64_t* offset) {
  for (size_t axis = outer; axis-- > 0;) {
    *offset += plan.strides[axis];
    if (++plan.index[axis] < plan.dims[axis]) return true;
    *offset -= plan.strides[axis] * plan.dims[axis];
    plan.index[axis] = 0;
  }
  return false;
}

template <class Plane>
void ForEachPlane(TransposePlan& plan, const Plane& plane) {
  const size_t outer = plan.dims.size() - 2;
  const int64_t rows = plan.dims[outer], columns = plan.dims[outer + 1];
  std::fill(plan.index.begin(), plan.index.end(), 0);
  int64_t source = 0, target = 0;
  do {
    plane(rows, columns, plan.strides[outer], plan.strides[outer + 1], source, target);
    target += rows * columns;
  } while (Advance(plan, outer, &source));
}

template <class T>
void TransposeAs(TransposePlan& plan, const void* src, void* dst) {
  ForEachPlane(plan, [&](int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride,
                         int64_t source, int64_t target) {
    TransposePlane<T>(rows, columns, row_stride, column_stride, static_cast<const T*>(src) + source,
                      static_cast<T*>(dst) + target);
  });
}

}  // namespace

void PlanTranspose(IntArrayRef dims, ArrayRef<int> axes, TransposePlan* plan) {
  std::vector<int64_t> source_strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) source_strides[i - 1] = source_strides[i] * dims[i];
  plan->dims.clear();
  plan->strides.clear();
  for (const int axis : axes) {
    const int64_t dim = dims[static_cast<size_t>(axis)];
    const int64_t stride = source_strides[static_cast<size_t>(axis)];
    if (dim == 1) continue;
    if (!plan->dims.empty() && plan->strides.back() == stride * dim) {
      plan->dims.back() *= dim;
      plan->strides.back() = stride;
    } else {
      plan->dims.push_back(dim);
      plan->strides.push_back(stride);
    }
  }
  plan->block_items = 1;
  if (!plan->dims.empty() && plan->strides.back() == 1) {
    plan->block_items = plan->dims.back();
    plan->dims.pop_back();
    plan->strides.pop_back();
    for (int64_t& stride : plan->strides) stride /= plan->block_items;
  }
  while (plan->dims.size() < 2) {
    plan->dims.insert(plan->dims.begin(), 1);
    plan->strides.insert(plan->strides.begin(), 0);
  }
  plan->index.assign(plan->dims.size(), 0);
  plan->blocks = 1;
  for (const int64_t dim : plan->dims) plan->blocks *= dim;
}

void Transpose(TransposePlan& plan, size_t itemsize, const void* src, void* dst) {
  const size_t bytes = static_cast<size_t>(plan.block_items) * itemsize;
  if (plan.blocks == 1) {
    std::memcpy(dst, src, bytes);
    return;
  }
  switch (bytes) {
    case 1:
      return TransposeAs<uint8_t>(plan, src, dst);
    case 2:
      return TransposeAs<uint16_t>(plan, src, dst);
    case 4:
      return TransposeAs<uint32_t>(plan, src, dst);
    case 8:
      return TransposeAs<uint64_t>(plan, src, dst);
    default:
      break;
  }
  ForEachPlane(plan, [&](int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride,
                         int64_t source, int64_t target) {
    CopyPlane(rows, columns, row_stride, column_stride, bytes,
              static_cast<const char*>(src) + static_cast<size_t>(source) * bytes,
              static_cast<char*>(dst) + static_cast<size_t>(target) * bytes);
  });
}

}  // namespace caffe2rt::math
