#include "caffe2_core/plan/race_users.h"

namespace caffe2rt {

bool UsesConflict(unsigned a, unsigned b) {
  const auto one_way = [](unsigned x, unsigned y) {
    return x == kWrites || (x == kWritesSynchronized && y == kReads);
  };
  return one_way(a, b) || one_way(b, a);
}

const char* VerbOf(unsigned kind) {
  return (kind & (kWrites | kWritesSynchronized)) != 0 ? "written" : "read";
}

unsigned KindsOf(unsigned use, std::optional<bool> synchronized) {
  unsigned kinds = use & (kWrites | kReads | kWritesSynchronized | kReadsSynchronized);
  const bool updates = (use & kUpdates) != 0, updates_tensor = (use & kUpdatesTensor) != 0;
  if (!synchronized.has_value()) {  // unknown: assume that it does, unless it is a tensor
    return kinds | (updates ? kReadsSynchronized : 0u) | (updates_tensor ? kWrites : 0u);
  }
  if (!*synchronized) return kinds | (updates || updates_tensor ? kWrites : 0u);
  if ((kinds & kReads) != 0) kinds = (kinds & ~static_cast<unsigned>(kReads)) | kReadsSynchronized;
  return kinds | (updates ? kWritesSynchronized : 0u) | (updates_tensor ? kWrites : 0u);
}

bool GuardsExclude(BlobGuard a, BlobGuard b) {
  return a == nullptr || b == nullptr || (a == b && a != kNoCommonGuard);
}

void AddBlobUser(const BlobUser& user, unsigned kinds, BlobUsers* users) {
  for (size_t kind = 0; kind < kUseKinds.size(); ++kind) {
    if ((kinds & kUseKinds[kind]) == 0) continue;
    BlobUser& first = (*users)[kind];
    if (first.name == nullptr) {
      first = user;
    } else if (first.guard == nullptr) {
      first.guard = user.guard;
    } else if (user.guard != nullptr && first.guard != user.guard) {
      first.guard = kNoCommonGuard;
    }
  }
}

}  // namespace caffe2rt
