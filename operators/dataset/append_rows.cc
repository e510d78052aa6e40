#include "operators/dataset/append_rows.h"

#include <vector>

#include "caffe2_core/base/checked_math.h"

namespace caffe2rt {
namespace {

// As in Caffe2, a tensor whose memory is too small grows by at least this much.
constexpr float kAppendGrowthPercent = 40;

// Such a tensor may have another type and other dims than the rows.
bool HasNoRows(const Tensor& tensor) {
  return tensor.numel() <= 0 && (tensor.dim() == 0 || tensor.dim(0) == 0);
}

}  // namespace

void CheckRowsToAppend(const Tensor& to, int to_index, const Tensor& rows, int rows_index) {
  CAFFE_ENFORCE_GT(rows.dim(), 0, "dimensions of input ", rows_index, " (rows to append)");
  if (HasNoRows(to)) return;
  CAFFE_ENFORCE(to.dtype() == rows.dtype(), "input ", rows_index, " is ", rows.dtype().name(),
                ", want ", to.dtype().name(), ", as input ", to_index);
  bool fits = to.dim() == rows.dim();
  for (int d = 1; fits && d < to.dim(); ++d) fits = to.dim(d) == rows.dim(d);
  CAFFE_ENFORCE(fits, "input ", rows_index, " has shape ", rows.sizes(), ", want that of input ",
                to_index, ", ", to.sizes(), ", except in dimension 0");
}

void AppendRows(CPUContext& context, const Tensor& rows, Tensor* to) {
  if (HasNoRows(*to)) {
    to->CopyFrom(rows, &context);
    return;
  }
  if (rows.dim(0) == 0) return;
  if (rows.numel() == 0) {
    std::vector<int64_t> dims(to->dims().begin(), to->dims().end());
    dims[0] = CheckedAdd(dims[0], rows.dim(0));
    to->Resize(dims);
    return;
  }
  const size_t before = to->nbytes();
  to->Extend(rows.dim(0), kAppendGrowthPercent, &context);
  context.CopyItemsSameDevice(rows.dtype(), static_cast<size_t>(rows.numel()), rows.raw_data(),
                              static_cast<char*>(to->raw_mutable_data()) + before);
}

}  // namespace caffe2rt
