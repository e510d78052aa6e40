#pragma once
// Appends rows to a tensor: what Append and AtomicAppend share.

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

// THROWS unless the rows of input `rows_index` can be appended to input `to_index`: elements of the
// same type and, except for dimension 0, the same dims. Any rows fit a tensor without rows.
void CheckRowsToAppend(const Tensor& to, int to_index, const Tensor& rows, int rows_index);

// Appends the rows. A tensor without rows becomes a copy of them. REQUIRES: they fit.
void AppendRows(CPUContext& context, const Tensor& rows, Tensor* to);

}  // namespace caffe2rt
