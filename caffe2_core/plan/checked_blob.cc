#include "caffe2_core/plan/checked_blob.h"

#include <algorithm>
#include <utility>

#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/blob_holders.h"
#include "caffe2_core/tensor/synchronized_types.h"

namespace caffe2rt {
namespace {

std::vector<MemoryRange> HeldMemory(const Blob& blob) {
  std::vector<MemoryRange> ranges;
  VisitHeldBlobs(blob, [&ranges](const Blob& held) {
    if (!held.IsType<Tensor>()) return;
    const MemoryRange range = RangeOf(held.Get<Tensor>().storage().get());
    if (!range.empty()) ranges.push_back(range);
  });
  return ranges;
}

}  // namespace

CheckedBlob DescribeBlob(const std::string& name, std::shared_ptr<const Blob> blob, bool reads) {
  CheckedBlob checked = {
      .name = name, .blob = std::move(blob), .is_read = reads, .type = {}, .found = {}};
  if (checked.blob == nullptr) return checked;
  SharedBlob& found = checked.found;
  found.blob = checked.blob.get();
  if (!reads) return checked;
  checked.type = checked.blob->meta();
  found.synchronized = IsSynchronizedType(checked.type);
  found.object = checked.blob->GetRaw();
  if (IsBlobHolder(*checked.blob)) {
    found.held = std::make_shared<const std::vector<MemoryRange>>(HeldMemory(*checked.blob));
  }
  if (!checked.blob->IsType<Tensor>()) return checked;
  const std::shared_ptr<Storage>& storage = checked.blob->Get<Tensor>().storage();
  found.storage = storage.get();
  found.memory = RangeOf(storage.get());
  return checked;
}

bool AreUnchanged(const std::vector<CheckedBlob>& checked, const Workspace& ws, bool look_up) {
  return std::all_of(checked.begin(), checked.end(), [&](const CheckedBlob& then) {
    if ((look_up || then.blob == nullptr) && ws.FindBlob(then.name) != then.blob) return false;
    if (then.blob == nullptr || !then.is_read) return true;
    if (then.blob->meta() != then.type || then.blob->GetRaw() != then.found.object) return false;
    if (then.found.held != nullptr && *then.found.held != HeldMemory(*then.blob)) return false;
    if (!then.blob->IsType<Tensor>()) return true;
    const Storage* const storage = then.blob->Get<Tensor>().storage().get();
    return storage == then.found.storage && RangeOf(storage) == then.found.memory;
  });
}

}  // namespace caffe2rt
