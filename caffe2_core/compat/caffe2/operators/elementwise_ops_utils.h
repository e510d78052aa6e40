#pragma once
// The shapes of elementwise operators with two inputs. THROW if the shapes cannot be broadcast.
#include <algorithm>
#include <tuple>
#include <vector>

#include "caffe2/core/operator.h"
#include "caffe2/core/tensor.h"

namespace caffe2::elementwise_ops_utils {

// Caffe2's older rules, with the argument `broadcast`: B's dimensions are those of A from `axis` on.
// -1 aligns their last dimensions. Dimensions of size 1 at the end of B are not compared. Returns the
// product of A's dimensions before, within and after B.
inline std::tuple<size_t, size_t, size_t> ComputeLegacyBroadcastSizes(const ::caffe2rt::Tensor& A,
                                                                      const ::caffe2rt::Tensor& B,
                                                                      int axis) {
  CAFFE_ENFORCE_GE(A.dim(), B.dim(), "rank of A, which must not be below that of B");
  if (axis == -1) axis = A.dim() - B.dim();
  CAFFE_ENFORCE(axis >= 0 && axis + B.dim() <= A.dim(), "argument axis is ", axis, ", A has ",
                A.dim(), " dimensions, B has ", B.dim());
  int compared = B.dim();
  while (compared > 0 && B.dim(compared - 1) == 1) --compared;
  for (int i = 0; i < compared; ++i)
    CAFFE_ENFORCE_EQ(A.dim(axis + i), B.dim(i), "dimension ", i, " of B and its dimension of A");
  size_t pre = 1, n = 1, post = 1;
  for (int i = 0; i < A.dim(); ++i) {
    size_t& product = i < axis ? pre : i < axis + compared ? n : post;
    product *= static_cast<size_t>(A.dim(i));
  }
  return {pre, n, post};
}

// numpy's rules: dimensions are aligned at the end and are equal, or one of them is 1 or missing.
inline std::vector<int> ComputeBinaryBroadcastForwardDims(const std::vector<int>& A_dims,
                                                          const std::vector<int>& B_dims) {
  const size_t rank = std::max(A_dims.size(), B_dims.size());
  std::vector<int> dims(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int a = i + A_dims.size() < rank ? 1 : A_dims[i + A_dims.size() - rank];
    const int b = i + B_dims.size() < rank ? 1 : B_dims[i + B_dims.size() - rank];
    CAFFE_ENFORCE(a == b || a == 1 || b == 1, "dimension ", i, " of the result: A has ", a,
                  " and B has ", b);
    dims[i] = a == 1 ? b : a;
  }
  return dims;
}

// The axes of the result over which the gradients of A and of B are summed.
inline void ComputeBinaryBroadcastBackwardAxes(const std::vector<int>& A_dims,
                                               const std::vector<int>& B_dims,
                                               std::vector<int>* A_axes, std::vector<int>* B_axes) {
  const std::vector<int> dims = ComputeBinaryBroadcastForwardDims(A_dims, B_dims);
  const auto summed = [&dims](const std::vector<int>& own, std::vector<int>* axes) {
    axes->clear();
    const size_t missing = dims.size() - own.size();
    for (size_t i = 0; i < dims.size(); ++i)
      if (i < missing || (own[i - missing] == 1 && dims[i] != 1))
        axes->push_back(static_cast<int>(i));
  };
  summed(A_dims, A_axes);
  summed(B_dims, B_axes);
}

// The dimensions of A and of B with ones in front, up to the rank of the result.
inline void ComputeBinaryBroadcastBackwardDims(const std::vector<int>& A_dims,
                                               const std::vector<int>& B_dims,
                                               std::vector<int>* A_back_dims,
                                               std::vector<int>* B_back_dims) {
  const size_t rank = std::max(A_dims.size(), B_dims.size());
  A_back_dims->assign(rank - A_dims.size(), 1);
  A_back_dims->insert(A_back_dims->end(), A_dims.begin(), A_dims.end());
  B_back_dims->assign(rank - B_dims.size(), 1);
  B_back_dims->insert(B_back_dims->end(), B_dims.begin(), B_dims.end());
}

}  // namespace caffe2::elementwise_ops_utils
