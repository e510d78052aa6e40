#pragma once
// The uses of blobs by the substeps of a concurrent step: their kinds, which kinds conflict, and the
// first user of each kind. Only plan_races.cc includes this header.

#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "caffe2_core/plan/plan_uses.h"

namespace caffe2rt {

// The kinds of use that may conflict, as bits of BlobUse. UsesConflict decides which pairs of them do.
inline constexpr std::array<unsigned, 4> kUseKinds = {kWrites, kReads, kWritesSynchronized,
                                                      kReadsSynchronized};
bool UsesConflict(unsigned a, unsigned b);
// "written" or "read".
const char* VerbOf(unsigned kind);
// The kinds of `use`, given whether the object synchronizes itself; nullopt if that is unknown.
unsigned KindsOf(unsigned use, std::optional<bool> synchronized);

// The object that guards the synchronized uses of a blob: null if there is none. kNoCommonGuard
// stands for several guards, and for one that each child workspace creates for itself.
using BlobGuard = const void*;
inline constexpr char kSeveralGuards = 0;
inline constexpr BlobGuard kNoCommonGuard = &kSeveralGuards;
// Whether synchronized writes under these guards do not conflict.
bool GuardsExclude(BlobGuard a, BlobGuard b);

// One use of a blob by a substep.
struct BlobUser {
  const std::string* name = nullptr;  // the name of the blob in the substep
  const NetUses* net = nullptr;       // null if the step itself reads the blob
  int substep = -1;
  BlobGuard guard = nullptr;
};
using BlobUsers =
    std::array<BlobUser, kUseKinds.size()>;  // by kind; `name` is null if there is no user

// Adds a user of some kinds. Keeps the first user of each kind, and combines the guards.
void AddBlobUser(const BlobUser& user, unsigned kinds, BlobUsers* users);

// The users of each identity of a blob (race_identities.h). Iterates in the order of insertion, so
// that the conflict that is reported first is always the same.
class UsersByBlob {
 public:
  BlobUsers& operator[](const void* identity) {
    const auto [it, is_new] = positions_.try_emplace(identity, users_.size());
    if (is_new) users_.emplace_back(identity, BlobUsers());
    return users_[it->second].second;
  }
  auto begin() const { return users_.begin(); }
  auto end() const { return users_.end(); }

 private:
  std::unordered_map<const void*, size_t> positions_;
  std::vector<std::pair<const void*, BlobUsers>> users_;
};

}  // namespace caffe2rt
