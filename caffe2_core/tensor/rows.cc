#include "caffe2_core/tensor/rows.h"

#include <absl/strings/str_join.h>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

std::vector<int64_t> RowShape(const Tensor& tensor) {
  const std::vector<int64_t> dims = tensor.dims();
  return dims.empty() ? dims : std::vector<int64_t>(dims.begin() + 1, dims.end());
}

std::vector<int64_t> WithRows(int64_t rows, const std::vector<int64_t>& row) {
  std::vector<int64_t> dims = {rows};
  dims.insert(dims.end(), row.begin(), row.end());
  return dims;
}

void CheckOnCpu(const Tensor& tensor, const char* what) {
  CAFFE_ENFORCE(tensor.GetDeviceType() == CPU, "cannot ", what, " rows of a tensor on device ",
                tensor.GetDeviceType(), ", want CPU");
}

}  // namespace

int64_t RowsOf(const Tensor& tensor) { return tensor.dim() == 0 ? 1 : tensor.dim(0); }

bool HasRows(const Tensor& tensor, int64_t rows) {
  return tensor.IsShaped() && tensor.dim() > 0 && tensor.dim(0) == rows;
}

Tensor JoinRows(const std::vector<const Tensor*>& tensors) {
  CAFFE_ENFORCE(!tensors.empty(), "no tensors to join");
  const Tensor& first = *tensors[0];
  const std::vector<int64_t> row = RowShape(first);
  int64_t rows = 0;
  for (const Tensor* tensor : tensors) {
    CheckOnCpu(*tensor, "join");
    CAFFE_ENFORCE(tensor->dtype() == first.dtype() && RowShape(*tensor) == row,
                  "cannot join rows of ", tensor->dtype().name(), " [",
                  absl::StrJoin(RowShape(*tensor), ", "), "] to rows of ", first.dtype().name(),
                  " [", absl::StrJoin(row, ", "), "]");
    rows = CheckedAdd(rows, RowsOf(*tensor));
  }
  Tensor joined(WithRows(rows, row), CPU);
  char* to = static_cast<char*>(joined.raw_mutable_data(first.dtype()));
  const auto context = joined.CreateContext();
  for (const Tensor* tensor : tensors) {
    if (tensor->numel() == 0) continue;
    context->CopyItemsSameDevice(first.dtype(), static_cast<size_t>(tensor->numel()),
                                 tensor->raw_data(), to);
    to += tensor->nbytes();
  }
  return joined;
}

std::vector<Tensor> SplitRows(const Tensor& tensor, const std::vector<int64_t>& rows) {
  CheckOnCpu(tensor, "split");
  int64_t all = 0;
  for (const int64_t count : rows) {
    CAFFE_ENFORCE_GE(count, 0, "number of rows of a part");
    all = CheckedAdd(all, count);
  }
  CAFFE_ENFORCE_EQ(RowsOf(tensor), all, "rows of the tensor to split");
  const std::vector<int64_t> row = RowShape(tensor);
  std::vector<Tensor> parts;
  size_t offset = 0;
  for (const int64_t count : rows) {
    Tensor part(WithRows(count, row), CPU);
    void* const to = part.raw_mutable_data(tensor.dtype());
    if (part.numel() > 0) {
      part.CreateContext()->CopyItemsSameDevice(
          tensor.dtype(), static_cast<size_t>(part.numel()),
          static_cast<const char*>(tensor.raw_data()) + offset, to);
      offset += part.nbytes();
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace caffe2rt
