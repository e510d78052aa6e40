#pragma once
// Selects the k best elements of a row with a heap, exactly as top_k.cc does on the CPU. Used for
// rows with NaN, where the result depends on the order of the comparisons: the steps are those of
// the standard library's heap functions (libstdc++), so that CPU and CUDA give the same result. The
// heap is built in place in the outputs. Runs on host and device.

#include <cstdint>

#include "caffe2_core/base/host_device.h"

namespace caffe2rt {

struct TopEntry {
  float value;
  int64_t index;
};

// Whether a ranks before b: it is larger, or equal with a lower index.
CAFFE2RT_HOST_DEVICE inline bool StandsBefore(const TopEntry& a, const TopEntry& b) {
  return a.value > b.value || (a.value == b.value && a.index < b.index);
}

// A heap of entries in two arrays, whose elements are `step` apart. The weakest entry is at the
// top.
struct TopHeap {
  float* values;
  int64_t* indices;
  int64_t step;

  CAFFE2RT_HOST_DEVICE TopEntry Get(int64_t i) const {
    return {values[i * step], indices[i * step]};
  }
  CAFFE2RT_HOST_DEVICE void Set(int64_t i, const TopEntry& entry) const {
    values[i * step] = entry.value;
    indices[i * step] = entry.index;
  }

  // Moves `entry` up from the free position `hole`, at most to `top`.
  CAFFE2RT_HOST_DEVICE void RiseFrom(int64_t hole, int64_t top, const TopEntry& entry) const {
    while (hole > top) {
      const int64_t parent = (hole - 1) / 2;
      const TopEntry above = Get(parent);
      if (!StandsBefore(above, entry)) break;
      Set(hole, above);
      hole = parent;
    }
    Set(hole, entry);
  }
  // Inserts `entry` into the heap of `count` entries below the free position `top`: moves the hole
  // down to a leaf, then moves the entry up.
  CAFFE2RT_HOST_DEVICE void SinkFrom(int64_t top, int64_t count, const TopEntry& entry) const {
    int64_t hole = top;
    while (true) {
      const int64_t left = 2 * hole + 1, right = left + 1;
      if (left >= count) break;
      const bool takes_left = right >= count || StandsBefore(Get(right), Get(left));
      Set(hole, Get(takes_left ? left : right));
      hole = takes_left ? left : right;
    }
    RiseFrom(hole, top, entry);
  }
  CAFFE2RT_HOST_DEVICE void Make(int64_t count) const {
    for (int64_t parent = count / 2 - 1; parent >= 0; --parent)
      SinkFrom(parent, count, Get(parent));
  }
  // Removes the top from the heap and stores it in the last position.
  CAFFE2RT_HOST_DEVICE void Pop(int64_t count) const {
    if (count < 2) return;
    const TopEntry last = Get(count - 1);
    Set(count - 1, Get(0));
    SinkFrom(0, count - 1, last);
  }

  // Stores the best min(k, size) of `size` elements, which are `stride` apart, best first.
  CAFFE2RT_HOST_DEVICE void Select(const float* x, int64_t size, int64_t stride, int64_t k) const {
    const int64_t count = k < size ? k : size;
    for (int64_t i = 0; i < count; ++i) Set(i, {x[i * stride], i});
    Make(count);
    for (int64_t i = count; i < size; ++i) {
      const float value = x[i * stride];
      if (!(values[0] < value)) continue;
      Pop(count);
      RiseFrom(count - 1, 0, {value, i});
    }
    for (int64_t left = count; left > 1; --left) Pop(left);
  }
};

}  // namespace caffe2rt
