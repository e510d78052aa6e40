#pragma once
// Computes the offset of element i of a loop nest in one or more arrays, each with its own strides.
// Kernels use it to find the operands of an output element, or the inputs of a reduction.
//
//   LoopNest<2> nest;
//   nest.Add(rows, {cols, 0});    // outermost first: A is a matrix, B one row
//   nest.Add(cols, {1, 1});
//   int64_t at[2];
//   nest.Find(i, at);             // on host or device: A[at[0]], B[at[1]]
//
// A plain value.

#include <array>
#include <cstdint>
#include <limits>

#include "caffe2_core/base/host_device.h"

namespace caffe2rt {

// The maximum rank of a tensor, repeated here because .cu files cannot include tensor.h.
inline constexpr int kMaxLoops = 64;

template <int kArrays>
class LoopNest {
 public:
  // Adds an inner loop. REQUIRES: size > 0; at most kMaxLoops loops.
  void Add(int64_t size, const std::array<int64_t, kArrays>& strides) {
    if (size == 1) return;
    size_[count_] = size;
    for (int k = 0; k < kArrays; ++k) stride_[k][count_] = strides[static_cast<size_t>(k)];
    ++count_;
    total_ *= size;
  }
  CAFFE2RT_HOST_DEVICE int64_t total() const { return total_; }

  // Sets at[k] to the offset of element `index` in array k. REQUIRES: index in [0, total).
  CAFFE2RT_HOST_DEVICE void Find(int64_t index, int64_t* at) const {
    for (int k = 0; k < kArrays; ++k) at[k] = 0;
    if (total_ <= kNarrow) {
      Walk(static_cast<uint32_t>(index), at);
    } else {
      Walk(index, at);
    }
  }

 private:
  // On devices, division of 32-bit numbers is several times faster than of 64-bit numbers.
  static constexpr int64_t kNarrow = std::numeric_limits<uint32_t>::max();

  template <class Index>
  CAFFE2RT_HOST_DEVICE void Walk(Index rest, int64_t* at) const {
    for (int i = count_ - 1; i >= 0; --i) {
      Index place = rest;
      if (i > 0) {
        const Index size = static_cast<Index>(size_[i]);
        rest = place / size;
        place -= rest * size;
      }
      for (int k = 0; k < kArrays; ++k) at[k] += static_cast<int64_t>(place) * stride_[k][i];
    }
  }

  int count_ = 0;
  int64_t total_ = 1;
  int64_t size_[kMaxLoops];
  int64_t stride_[kArrays][kMaxLoops];
};

}  // namespace caffe2rt
