#include "caffe2_core/tensor/blob_holders.h"

#include <map>

#include "caffe2_core/base/mutex.h"

namespace caffe2rt {
namespace {

using Visit = void (*)(const void* object, const BlobVisitor& visitor);

struct Holders {
  Mutex mutex;
  std::map<CaffeTypeId, Visit> visits ABSL_GUARDED_BY(mutex);
};

Holders& TheHolders() {
  static Holders* const holders = new Holders;
  return *holders;
}

// Null if the blob holds no object of a declared type.
Visit VisitOf(const Blob& blob) {
  if (blob.IsEmpty() || blob.IsType<Tensor>()) return nullptr;
  Holders& holders = TheHolders();
  const MutexLock lock(holders.mutex);
  const auto found = holders.visits.find(blob.meta().id());
  return found == holders.visits.end() ? nullptr : found->second;
}

void VisitLevels(const Blob& blob, const BlobVisitor& visit, int levels) {
  const Visit held = levels > 0 ? VisitOf(blob) : nullptr;
  if (held == nullptr) return;
  held(blob.GetRaw(), [&](const Blob& inner) {
    visit(inner);
    VisitLevels(inner, visit, levels - 1);
  });
}

}  // namespace

namespace internal {

void DeclareHolder(TypeMeta type, Visit visit) {
  Holders& holders = TheHolders();
  const MutexLock lock(holders.mutex);
  holders.visits.try_emplace(type.id(), visit);
}

}  // namespace internal

bool IsBlobHolder(const Blob& blob) { return VisitOf(blob) != nullptr; }

void VisitHeldBlobs(const Blob& blob, const BlobVisitor& visit) {
  constexpr int kMaxLevels = 64;  // as deep as nets may be nested
  VisitLevels(blob, visit, kMaxLevels);
}

}  // namespace caffe2rt
