#pragma once
// The shapes of ONNX's matrix multiplication (numpy's matmul): the matrices are the last two axes, a
// vector is a row (A) or a column (B), and the axes before are broadcast by numpy's rules.

#include <cstdint>
#include <vector>

#include "caffe2_core/base/array_ref.h"

namespace caffe2rt {

struct MatrixBatches {
  int64_t m = 1, n = 1, k = 1;
  std::vector<int64_t> y_dims;  // without the axis of a vector
  // For each matrix of Y, the positions of its operands among the matrices of A and of B.
  std::vector<int64_t> a_matrix, b_matrix;

  // Sets the sizes and the shape of Y. THROWS if the shapes do not match.
  void Make(IntArrayRef a, IntArrayRef b);
  // Sets the positions. REQUIRES: Make of the same shapes.
  void Locate(IntArrayRef a, IntArrayRef b);
};

}  // namespace caffe2rt
