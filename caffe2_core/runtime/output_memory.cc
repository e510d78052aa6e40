#include "caffe2_core/runtime/output_memory.h"

#include <functional>
#include <utility>

namespace caffe2rt {

namespace {

// Whether the blob holds integers in memory that overlaps that of the storage.
bool HasIntegersIn(const Blob& blob, const Storage& storage) {
  if (!blob.IsType<Tensor>()) return false;
  const Tensor& tensor = *static_cast<const Tensor*>(blob.GetRaw());
  if (tensor.storage() == nullptr) return false;
  if (!tensor.IsType<int32_t>() && !tensor.IsType<int64_t>()) return false;
  const auto* const from = static_cast<const char*>(tensor.storage()->data());
  const auto* const to = static_cast<const char*>(storage.data());
  const std::less<> before;
  return before(from, to + storage.capacity_bytes()) &&
         before(to, from + tensor.storage()->capacity_bytes());
}

}  // namespace

namespace internal {

void SeparateOutput(OperatorBase* op, Blob* output) {
  Tensor* const tensor = output->GetMutable<Tensor>();
  if (tensor->storage() == nullptr) return;
  for (const Blob* const input : op->Inputs()) {
    if (input == output || !HasIntegersIn(*input, *tensor->storage())) continue;
    Tensor own(tensor->GetDeviceType());
    own.CopyFrom(*tensor);
    *tensor = std::move(own);
    return;
  }
}

}  // namespace internal

}  // namespace caffe2rt
