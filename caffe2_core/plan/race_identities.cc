#include "caffe2_core/plan/race_identities.h"

namespace caffe2rt {

void RaceIdentities::AddNames(const StepUses& uses, bool reads) {
  for (const StepUses::Net& net : uses.nets) {
    if (net.in_child) continue;
    for (const auto& [name, use] : net.uses->blobs) {
      if (resolve_(name, reads).blob == nullptr) new_names_.insert(name);
    }
  }
  for (const auto& [name, in_child] : uses.reads) {
    if (!in_child && resolve_(name, reads).blob == nullptr) new_names_.insert(name);
  }
}

void RaceIdentities::AddMemory(const StepUses& uses) {
  for (const StepUses::Net& net : uses.nets) {
    for (const auto& [name, use] : net.uses->blobs) {
      const SharedBlob shared = resolve_(name, true);
      memory_.Add(shared.memory);
      if (shared.held == nullptr) continue;
      for (const MemoryRange& range : *shared.held) memory_.Add(range);
    }
  }
  for (const auto& [name, in_child] : uses.reads) memory_.Add(resolve_(name, true).memory);
}

void RaceIdentities::AddReporters(const StepUses& reporters, bool reads) {
  for (const StepUses::Net& net : reporters.nets) {
    for (const auto& [name, use] : net.uses->blobs) {
      if ((use & (kWrites | kUpdatesTensor)) != 0) replaced_.insert(Resolve(name, reads).blob);
    }
    for (const auto& [input, output] : net.uses->aliases) {
      const SharedBlob a = Resolve(input, reads), b = Resolve(output, reads);
      Unite(a.blob, b.blob);
      if (reads) {
        Unite(a.blob, memory_.Find(a.memory));
        Unite(b.blob, memory_.Find(b.memory));
      } else {
        for (const SharedBlob& blob : {a, b}) aliased_unread_.try_emplace(blob.blob, net.uses);
      }
    }
  }
}

SharedBlob RaceIdentities::Resolve(const std::string& name, bool reads) const {
  SharedBlob shared = resolve_(name, reads);
  if (shared.blob == nullptr) {
    const auto it = new_names_.find(name);
    if (it != new_names_.end()) shared.blob = &*it;
  }
  // A reporter may replace the object by one that does not synchronize itself.
  if (shared.blob != nullptr && replaced_.contains(shared.blob)) shared.synchronized = false;
  return shared;
}

void RaceIdentities::Find(const SharedBlob& shared, std::vector<const void*>* identities) {
  identities->clear();
  const auto add = [identities](const void* identity) {
    if (identity != nullptr) identities->push_back(identity);
  };
  const void* const memory = memory_.Find(shared.memory);
  for (const void* identity :
       {shared.blob, shared.object, shared.storage, Memory(shared.blob), memory, Memory(memory)}) {
    add(identity);
  }
  if (shared.held == nullptr) return;
  for (const MemoryRange& range : *shared.held) {
    const void* const held = memory_.Find(range);
    add(held);
    add(Memory(held));
  }
}

const NetUses* RaceIdentities::UnreadAliasOf(const void* blob) const {
  if (blob == nullptr) return nullptr;
  const auto found = aliased_unread_.find(blob);
  return found != aliased_unread_.end() ? found->second : nullptr;
}

void RaceIdentities::Unite(const void* a, const void* b) {
  a = Memory(a);
  b = Memory(b);
  if (a != nullptr && b != nullptr && a != b) aliased_[a] = b;
}

const void* RaceIdentities::Memory(const void* blob) {
  auto it = aliased_.find(blob);
  while (it != aliased_.end()) {
    blob = it->second;
    const auto next = aliased_.find(blob);
    if (next != aliased_.end()) it->second = next->second;  // shortens later walks
    it = next;
  }
  return blob;
}

}  // namespace caffe2rt
