#pragma once
// Tensors as lists of rows: the first dimension counts the rows, the others are the shape of a row. A
// tensor without dimensions is one row. Batches of inputs are joined and their outputs split with
// these functions.
//
//   Tensor batch = JoinRows({&cat, &dog});
//   ... run a net ...
//   std::vector<Tensor> outputs = SplitRows(output, {1, 1});

#include <cstdint>
#include <vector>

#include "caffe2_core/tensor/tensor.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The number of rows.
int64_t RowsOf(const Tensor& tensor);
// Whether the tensor has a first dimension, and it is `rows`.
bool HasRows(const Tensor& tensor, int64_t rows);

// Returns a new CPU tensor with the rows of all tensors, in order. THROWS if there are none, if one
// is not on the CPU, or if they differ in type or in the shape of a row.
Tensor JoinRows(const std::vector<const Tensor*>& tensors);

// Returns new CPU tensors with the next rows[0], rows[1], ... rows. THROWS if the tensor is not on
// the CPU or has not as many rows in all.
std::vector<Tensor> SplitRows(const Tensor& tensor, const std::vector<int64_t>& rows);

}  // namespace caffe2rt
#pragma GCC visibility pop
