#include "operators/primitives/transpose.h"

#include <algorithm>
#include <cstring>

#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt::math {

namespace {

constexpr int64_t kTile = 16;

// Transposes a tile of kTile x kTile through a small array. Each cache line of the source and of
// the result is accessed once, so strides that are powers of two do not evict lines before they are
// used up.
template <class T>
void TransposeTile(const TransposePlan& plan, const T* x, T* y) {
  T tile[kTile][kTile];
  for (int64_t j = 0; j < kTile; ++j)
    std::memcpy(tile[j], x + j * plan.columns.source, sizeof(tile[j]));
  for (int64_t i = 0; i < kTile; ++i, y += plan.rows.target) {
    for (int64_t j = 0; j < kTile; ++j) y[j] = tile[j][i];
  }
}

// Rows [first, last) of a plane.
template <class T>
void TransposeRows(const TransposePlan& plan, int64_t first, int64_t last, const T* x, T* y) {
  const int64_t column_step = plan.columns.source, row_step = plan.rows.target;
  for (int64_t i0 = first; i0 < last; i0 += kTile) {
    const int64_t i1 = std::min(last, i0 + kTile);
    for (int64_t j0 = 0; j0 < plan.columns.size; j0 += kTile) {
      const int64_t j1 = std::min(plan.columns.size, j0 + kTile);
      if (i1 - i0 == kTile && j1 - j0 == kTile) {
        TransposeTile(plan, x + i0 + j0 * column_step, y + i0 * row_step + j0);
        continue;
      }
      for (int64_t i = i0; i < i1; ++i) {
        for (int64_t j = j0; j < j1; ++j) y[i * row_step + j] = x[i + j * column_step];
      }
    }
  }
}

template <class T>
void TransposePlane(const TransposePlan& plan, const T* x, T* y) {
  if (plan.rows.size == 0) return;  // the columns may be any number then
  const int64_t tiles = (plan.rows.size + kTile - 1) / kTile;
  ParallelRanges(tiles, kTile * plan.columns.size, [&](int64_t first, int64_t last) {
    TransposeRows(plan, first * kTile, std::min(last * kTile, plan.rows.size), x, y);
  });
}

// Moves blocks that do not fit into one machine word.
void CopyPlane(const TransposePlan& plan, size_t bytes, const char* x, char* y) {
  if (plan.rows.size == 0) return;
  const int64_t words = static_cast<int64_t>(bytes / 4) + 1;
  ParallelRanges(plan.rows.size, words * plan.columns.size, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      char* row = y + static_cast<size_t>(i * plan.rows.target) * bytes;
      for (int64_t j = 0; j < plan.columns.size; ++j, row += bytes) {
        std::memcpy(row, x + static_cast<size_t>(i + j * plan.columns.source) * bytes, bytes);
      }
    }
  });
}

// Advances the loop counters of the outer axes by one. Returns false after the last position.
bool Advance(TransposePlan& plan, int64_t* source, int64_t* target) {
  for (auto axis = plan.outer.rbegin(); axis != plan.outer.rend(); ++axis) {
    *source += axis->source;
    *target += axis->target;
    if (++axis->index < axis->size) return true;
    *source -= axis->source * axis->size;
    *target -= axis->target * axis->size;
    axis->index = 0;
  }
  return false;
}

// Calls plane(source offset, result offset) for each plane. Offsets are in blocks.
template <class Plane>
void ForEachPlane(TransposePlan& plan, const Plane& plane) {
  int64_t source = 0, target = 0;
  do {
    plane(source, target);
  } while (Advance(plan, &source, &target));
}

template <class T>
void TransposeAs(TransposePlan& plan, const void* src, void* dst) {
  ForEachPlane(plan, [&](int64_t source, int64_t target) {
    TransposePlane<T>(plan, static_cast<const T*>(src) + source, static_cast<T*>(dst) + target);
  });
}

// The axes of the result, outermost first, without those of size 1. Neighbouring axes that are also
// neighbours in the source, in the same order, are merged.
std::vector<TransposePlan::Axis> JoinAxes(IntArrayRef dims, ArrayRef<int> order) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  std::vector<TransposePlan::Axis> axes;
  for (const int place : order) {
    const int64_t size = dims[static_cast<size_t>(place)],
                  stride = strides[static_cast<size_t>(place)];
    if (size == 1) continue;
    if (!axes.empty() && axes.back().source == stride * size) {
      axes.back().size *= size;
      axes.back().source = stride;
    } else {
      axes.push_back({.size = size, .source = stride});
    }
  }
  return axes;
}

}  // namespace

void PlanTranspose(IntArrayRef dims, ArrayRef<int> order, TransposePlan* plan) {
  std::vector<TransposePlan::Axis> axes = JoinAxes(dims, order);
  *plan = TransposePlan();
  if (!axes.empty() && axes.back().source == 1) {
    plan->block_items = axes.back().size;
    axes.pop_back();
    for (TransposePlan::Axis& axis : axes) axis.source /= plan->block_items;
  }
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    axis->target = plan->blocks;
    plan->blocks *= axis->size;
  }
  // If two or more axes are left, the last one is not dense in the source: it would be part of the
  // block.
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i + 1 == axes.size()) {
      plan->columns = axes[i];
    } else if (axes[i].source == 1) {
      plan->rows = axes[i];
    } else {
      plan->outer.push_back(axes[i]);
    }
  }
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
  ForEachPlane(plan, [&](int64_t source, int64_t target) {
    CopyPlane(plan, bytes, static_cast<const char*>(src) + static_cast<size_t>(source) * bytes,
              static_cast<char*>(dst) + static_cast<size_t>(target) * bytes);
  });
}

}  // namespace caffe2rt::math
