#pragma once
// Checks of inputs that several operators of this family share. `place` and `name` describe an
// input in error messages.

#include <cstdint>

#include "caffe2_core/graph/argument_spec.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Returns the memory of a tensor of one float. THROWS if it has more or fewer elements.
const float* OneFloat(const Tensor& tensor, int place, const char* name);

// THROWS unless the tensor has as many elements as input 0.
void CheckAsManyElements(const Tensor& tensor, int place, const char* name, const Tensor& first,
                         const char* first_name);

// A tensor [N, A * C, H, W], where the channels are groups of C classes.
struct ClassGroups {
  int64_t groups = 0;  // N * A
  int64_t classes = 0;
  int64_t positions = 0;  // H * W
};
// THROWS if input 0 is not such a tensor.
ClassGroups ClassGroupsOf(const Tensor& X, const char* name, int num_classes);

// THROWS unless there is a label for each group and position of X: [N, A, H, W].
void CheckGroupLabels(const Tensor& labels, const Tensor& X, const ClassGroups& groups);
#pragma GCC visibility pop

}  // namespace caffe2rt
