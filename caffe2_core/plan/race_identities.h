#pragma once
// What the names in a concurrent step denote. Two names conflict if they have an identity in common.
// Only plan_races.cc includes this header.

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe2_core/plan/plan_races.h"
#include "caffe2_core/plan/plan_uses.h"
#include "caffe2_core/tensor/memory_range.h"

namespace caffe2rt {

// Each name is resolved to identities: the blob, the object in it, its storage, the memory of its
// tensor and of the tensors that it holds, and the memory that reporters may alias to it. Two tensors
// whose memory overlaps that of a third count as one memory, even if they do not overlap. Not thread
// safe.
//
// Call order: AddNames for all nets, AddMemory for those that may be read, MergeMemory, AddReporters,
// then the accessors.
class RaceIdentities {
 public:
  // REQUIRES: `resolve` outlives this object.
  explicit RaceIdentities(const ResolveBlob& resolve) : resolve_(resolve) {}

  // Collects names that do not exist yet and that nets outside child workspaces use. Such a blob is
  // created in the step's workspace, whichever net creates it, so all substeps share it.
  void AddNames(const StepUses& uses, bool reads);
  void AddMemory(const StepUses& uses);
  void MergeMemory() { memory_.Merge(); }
  // Reporters may replace objects, and may make blobs share memory.
  void AddReporters(const StepUses& reporters, bool reads);

  // What the name denotes; for a blob that does not exist yet, its name stands for the blob.
  SharedBlob Resolve(const std::string& name, bool reads = true) const;
  // Replaces `identities` by those of a blob, in a fixed order. They may have duplicates.
  void Find(const SharedBlob& shared, std::vector<const void*>* identities);
  // A reporter around an enclosing concurrent step that may alias this blob to one whose memory
  // cannot be read now, because other substeps of that step may write it. Null if there is none.
  const NetUses* UnreadAliasOf(const void* blob) const;
  bool HasUnreadAliases() const { return !aliased_unread_.empty(); }

 private:
  void Unite(const void* a, const void* b);
  // A representative for all blobs that reporters may alias to the same memory. This is the find
  // operation of a disjoint-set forest, with path halving.
  const void* Memory(const void* blob);

  const ResolveBlob& resolve_;
  std::set<std::string> new_names_;
  std::set<const void*> replaced_;
  std::unordered_map<const void*, const void*> aliased_;  // the parent of each blob; see Memory
  std::unordered_map<const void*, const NetUses*> aliased_unread_;
  MergedRanges memory_;
};

}  // namespace caffe2rt
