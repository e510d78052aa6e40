#include "caffe2_core/plan/judged_blob.h"

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

JudgedBlob Judged(const std::string& name, std::shared_ptr<const Blob> blob, bool reads) {
  JudgedBlob judged = {
      .name = name, .blob = std::move(blob), .is_read = reads, .type = {}, .found = {}};
  if (judged.blob == nullptr) return judged;
  SharedBlob& found = judged.found;
  found.blob = judged.blob.get();
  if (!reads) return judged;
  judged.type = judged.blob->meta();
  found.synchronized = IsSynchronizedType(judged.type);
  found.object = judged.blob->GetRaw();
  if (IsBlobHolder(*judged.blob)) {
    found.held = std::make_shared<const std::vector<MemoryRange>>(HeldMemory(*judged.blob));
  }
  if (!judged.blob->IsType<Tensor>()) return judged;
  const std::shared_ptr<Storage>& storage = judged.blob->Get<Tensor>().storage();
  found.storage = storage.get();
  found.memory = RangeOf(storage.get());
  return judged;
}

bool AreUnchanged(const std::vector<JudgedBlob>& judged, const Workspace& ws, bool look_up) {
  return std::all_of(judged.begin(), judged.end(), [&](const JudgedBlob& then) {
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
