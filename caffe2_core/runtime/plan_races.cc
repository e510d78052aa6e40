#include "caffe2_core/runtime/plan_races.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <unordered_map>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/blob_holders.h"
#include "caffe2_core/tensor/synchronized_types.h"

namespace caffe2rt {
namespace {

constexpr char kRemedy[] =
    ": use different blobs (new names in a step with create_workspace are its own), or allow the "
    "race with --allow-races (PlanOptions::allow_races)";

// The kinds of use that may conflict. Conflict decides which pairs of them do.
constexpr std::array<unsigned, 4> kKinds = {kWrites, kReads, kWritesSynchronized,
                                            kReadsSynchronized};
bool Conflict(unsigned a, unsigned b) {
  const auto one_way = [](unsigned x, unsigned y) {
    return x == kWrites || (x == kWritesSynchronized && y == kReads);
  };
  return one_way(a, b) || one_way(b, a);
}
const char* Verb(unsigned kind) {
  return (kind & (kWrites | kWritesSynchronized)) != 0 ? "written" : "read";
}

// The kinds of `use`, given whether the object synchronizes itself.
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

// The object that guards the synchronized uses of a blob: null if there is none. kNoCommonGuard
// stands for several guards, and for one that each child workspace creates for itself.
using Guard = const void*;
constexpr char kNotShared = 0;
constexpr Guard kNoCommonGuard = &kNotShared;

bool Exclude(Guard a, Guard b) {
  return a == nullptr || b == nullptr || (a == b && a != kNoCommonGuard);
}

// One use of a blob by a substep.
struct User {
  const std::string* name = nullptr;  // the name of the blob in the substep
  const NetUses* net = nullptr;       // null if the step itself reads the blob
  int substep = -1;
  Guard guard = nullptr;
};
using Users = std::array<User, kKinds.size()>;  // by kind; `name` is null if there is no user

// A map that iterates in the order of insertion, so that the conflict that is reported first is
// always the same.
class UsersByBlob {
 public:
  Users& operator[](const void* blob) {
    const auto [it, is_new] = positions_.try_emplace(blob, users_.size());
    if (is_new) users_.emplace_back(blob, Users());
    return users_[it->second].second;
  }
  auto begin() const { return users_.begin(); }
  auto end() const { return users_.end(); }

 private:
  std::unordered_map<const void*, size_t> positions_;
  std::vector<std::pair<const void*, Users>> users_;
};

// Finds the first conflict of a concurrent step.
//
// Each name is resolved to identities: the blob, the object in it, its storage, the memory of its
// tensor and of the tensors that it holds, and the memory that reporters may alias to it. Two tensors
// whose memory overlaps that of a third count as one memory, even if they do not overlap. For each substep in turn, its uses are grouped by
// identity and kind and compared with the uses of all earlier substeps (and with themselves, if the
// step has several instances). Only the first user of each identity and kind is kept, which is
// enough to find a conflict. The cost is linear in the number of uses, apart from the lookup of
// names and one step for each pair of substeps.
class Judge {
 public:
  Judge(const ExecutionStep& step, PlanUses* uses, const RaceReporters& reporters,
        const ResolveBlob& resolve)
      : step_(step), resolve_(resolve), reporters_(reporters), creator_(uses->creator()) {
    for (const StepUses* around : reporters.all) {
      for (const StepUses::Net& net : around->nets) total_ += net.uses->blobs.size();
    }
    for (const ExecutionStep& substep : step.substep()) {
      if (substep.has_run_every_ms()) continue;
      substeps_.push_back({&substep, uses->OfSubstep(substep), nullptr});
      for (const StepUses::Net& net : substeps_.back().uses.nets) {
        total_ += net.uses->blobs.size();
        if (!net.uses->unlisted.empty()) substeps_.back().unlisted = net.uses;
      }
    }
  }

  // The number of uses of blobs to check.
  size_t total() const { return total_; }

  std::string Find() {
    if (total_ > kMaxUsesToJudge) {
      return MakeString("step \"", step_.name(), "\" has ", total_,
                        " uses of blobs in its concurrent substeps and the reporters around, want "
                        "at most ",
                        kMaxUsesToJudge,
                        " to look for conflicts: run fewer operators at once, or allow races with "
                        "--allow-races (PlanOptions::allow_races)");
    }
    const size_t around = reporters_.all.size(), readable = std::min(reporters_.readable, around);
    for (size_t i = 0; i < around; ++i) FindNewNames(*reporters_.all[i], i < readable);
    for (const Substep& substep : substeps_) FindNewNames(substep.uses, true);
    for (size_t i = 0; i < readable; ++i) AddMemory(*reporters_.all[i]);
    for (const Substep& substep : substeps_) AddMemory(substep.uses);
    memory_.Merge();
    for (size_t i = 0; i < around; ++i) AddReporters(*reporters_.all[i], i < readable);
    if (std::string race = AliasesOfReporters(); !race.empty()) return race;
    const bool instances = step_.num_concurrent_instances() > 1;
    for (size_t i = 0; i < substeps_.size(); ++i) {
      UsersByBlob own = Uses(static_cast<int>(i));
      for (const auto& [blob, users] : own) {
        if (instances) {
          if (std::string race = Compare(users, users); !race.empty()) return race;
        }
        Users& others = users_[blob];
        if (std::string race = Compare(others, users); !race.empty()) return race;
        for (size_t kind = 0; kind < kKinds.size(); ++kind) {
          // A user with a guard conflicts with more users than one without.
          const bool has_guard = others[kind].guard == nullptr && users[kind].guard != nullptr;
          if (others[kind].name == nullptr || has_guard) others[kind] = users[kind];
        }
      }
      for (size_t j = instances ? i : i + 1; j < substeps_.size(); ++j) {
        if (std::string race = Unlisted(i, j); !race.empty()) return race;
        if (std::string race = Unlisted(j, i); !race.empty()) return race;
      }
    }
    return ChildNames();
  }

 private:
  struct Substep {
    const ExecutionStep* def;
    const StepUses& uses;
    const NetUses* unlisted;  // a net that accesses blobs it does not list; null if there is none
  };

  // Collects names that do not exist yet and that nets outside child workspaces use. Such a blob is
  // created in the step's workspace, whichever net creates it, so all substeps share it.
  void FindNewNames(const StepUses& uses, bool reads) {
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

  void AddMemory(const StepUses& uses) {
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

  SharedBlob Resolve(const std::string& name, bool reads = true) const {
    SharedBlob shared = resolve_(name, reads);
    if (shared.blob == nullptr) {
      const auto it = new_names_.find(name);
      if (it != new_names_.end()) shared.blob = &*it;
    }
    // A reporter may replace the object by one that does not synchronize itself.
    if (shared.blob != nullptr && replaced_.contains(shared.blob)) shared.synchronized = false;
    return shared;
  }

  void AddReporters(const StepUses& reporters, bool reads) {
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

  void Unite(const void* a, const void* b) {
    a = Memory(a);
    b = Memory(b);
    if (a != nullptr && b != nullptr && a != b) aliased_[a] = b;
  }

  // A reporter around an enclosing concurrent step may alias blobs whose memory cannot be read here,
  // because other substeps of that step may write it now.
  std::string AliasesOfReporters() const {
    if (aliased_unread_.empty()) return "";
    for (size_t i = 0; i < substeps_.size(); ++i) {
      for (const StepUses::Net& net : substeps_[i].uses.nets) {
        for (const auto& [name, use] : net.uses->blobs) {
          const auto found = aliased_unread_.find(Resolve(name).blob);
          if (found == aliased_unread_.end() || found->first == nullptr) continue;
          const User user = {.name = &name, .net = net.uses, .substep = static_cast<int>(i)};
          return MakeString(
              "blob \"", name, "\" may get the memory of any blob from the reporter net \"",
              found->second->net->name(), "\" while it is used by ", Text(user), kRemedy);
        }
      }
    }
    return "";
  }

  // A representative for all blobs that reporters may alias to the same memory. This is the find
  // operation of a disjoint-set forest, with path halving.
  const void* Memory(const void* blob) {
    auto it = aliased_.find(blob);
    while (it != aliased_.end()) {
      blob = it->second;
      const auto next = aliased_.find(blob);
      if (next != aliased_.end()) it->second = next->second;  // shortens later walks
      it = next;
    }
    return blob;
  }

  UsersByBlob Uses(int index) {
    UsersByBlob users;
    const auto add = [&](const std::string& name, unsigned use, const NetUses* net) {
      const SharedBlob shared = Resolve(name);
      const unsigned kinds = KindsOf(use, shared.synchronized);
      const User user = {.name = &name,
                         .net = net,
                         .substep = index,
                         .guard = shared.synchronized == true ? nullptr : GuardOf(name, net)};
      const std::array<const void*, 6> identities = {shared.blob,
                                                     shared.object,
                                                     shared.storage,
                                                     Memory(shared.blob),
                                                     memory_.Find(shared.memory),
                                                     Memory(memory_.Find(shared.memory))};
      for (const void* identity : identities) {
        if (identity != nullptr) AddUser(user, kinds, &users[identity]);
      }
      if (shared.held == nullptr) return;
      for (const MemoryRange& range : *shared.held) {
        if (const void* const held = memory_.Find(range)) {
          AddUser(user, kinds, &users[held]);
          AddUser(user, kinds, &users[Memory(held)]);
        }
      }
    };
    const StepUses& uses = substeps_[static_cast<size_t>(index)].uses;
    for (const StepUses::Net& net : uses.nets) {
      for (const auto& [name, use] : net.uses->blobs) add(name, use, net.uses);
    }
    for (const auto& [name, in_child] : uses.reads) add(name, kReads, nullptr);
    return users;
  }

  static void AddUser(const User& user, unsigned kinds, Users* users) {
    for (size_t kind = 0; kind < kKinds.size(); ++kind) {
      if ((kinds & kKinds[kind]) == 0) continue;
      User& first = (*users)[kind];
      if (first.name == nullptr) {
        first = user;
      } else if (first.guard == nullptr) {
        first.guard = user.guard;
      } else if (user.guard != nullptr && first.guard != user.guard) {
        first.guard = kNoCommonGuard;
      }
    }
  }

  Guard GuardOf(const std::string& name, const NetUses* net) const {
    if (net == nullptr) return nullptr;
    const auto guards = net->guards.find(name);
    if (guards == net->guards.end()) return nullptr;
    if (guards->second.size() > 1) return kNoCommonGuard;
    const void* const guard = Resolve(*guards->second.begin()).blob;
    return guard != nullptr ? guard : kNoCommonGuard;
  }

  std::string Compare(const Users& a, const Users& b) const {
    for (size_t i = 0; i < kKinds.size(); ++i) {
      for (size_t j = 0; j < kKinds.size(); ++j) {
        if (a[i].name == nullptr || b[j].name == nullptr) continue;
        if (kKinds[i] == kWritesSynchronized && kKinds[j] == kWritesSynchronized &&
            !Exclude(a[i].guard, b[j].guard)) {
          return Unguarded(a[i], b[j]);
        }
        if (!Conflict(kKinds[i], kKinds[j])) continue;
        return MakeString(
            "blob \"", *a[i].name, "\" is ", Verb(kKinds[i]), " by ", Text(a[i]), " while ",
            *a[i].name == *b[j].name ? "it" : "\"" + *b[j].name + "\"",
            *a[i].name == *b[j].name ? "" : ", which is the same,", " is ", Verb(kKinds[j]), " by ",
            a[i].substep == b[j].substep ? "another instance of " : "", Text(b[j]), kRemedy);
      }
    }
    return "";
  }

  std::string Unguarded(const User& a, const User& b) const {
    return MakeString("blob \"", *a.name, "\" is written by ", Text(a), " and by ",
                      a.substep == b.substep ? "another instance of " : "", Text(b),
                      " under different guards, want one mutex", kRemedy);
  }

  // An operator that accesses blobs it does not list conflicts with every use in another substep.
  std::string Unlisted(size_t i, size_t j) const {
    const NetUses* const net = substeps_[i].unlisted;
    if (net == nullptr) return "";
    const User accessing = {.name = nullptr, .net = net, .substep = static_cast<int>(i)};
    const char* another = i == j ? "another instance of " : "";
    for (const StepUses::Net& other : substeps_[j].uses.nets) {
      const User used = {.name = nullptr, .net = other.uses, .substep = static_cast<int>(j)};
      const bool lists = !other.uses->blobs.empty();
      if (!lists && other.uses->unlisted.empty()) continue;
      return MakeString(lists ? "blob \"" + other.uses->blobs.begin()->first + "\"" : "any blob",
                        " may be accessed by operator ", net->unlisted, " of ", Text(accessing),
                        " while it is used by ", another, Text(used), kRemedy);
    }
    return "";
  }

  // A reporter that may create blobs of any name, in this step or in an enclosing one, can change
  // which blob a name in a child workspace denotes. It conflicts with every use in such a
  // workspace.
  std::string ChildNames() const {
    if (creator_ == nullptr) return "";
    for (size_t i = 0; i < substeps_.size(); ++i) {
      for (const StepUses::Net& net : substeps_[i].uses.nets) {
        if (!net.in_child || net.uses->blobs.empty()) continue;
        const User user = {.name = nullptr, .net = net.uses, .substep = static_cast<int>(i)};
        return MakeString("blob \"", net.uses->blobs.begin()->first,
                          "\" may be created by the reporter net \"", creator_->net->name(),
                          "\" while it is used in a child workspace by ", Text(user), kRemedy);
      }
    }
    return "";
  }

  std::string Text(const User& user) const {
    const ExecutionStep& substep = *substeps_[static_cast<size_t>(user.substep)].def;
    std::string text = substep.name().empty()
                           ? MakeString("substep ", user.substep, " of step \"", step_.name(), "\"")
                           : MakeString("step \"", substep.name(), "\"");
    if (user.net == nullptr) return text;
    return MakeString(text, " (net \"", user.net->net->name(), "\")");
  }

  const ExecutionStep& step_;
  const ResolveBlob& resolve_;
  const RaceReporters& reporters_;
  const NetUses* const creator_;  // PlanUses::creator
  std::vector<Substep> substeps_;
  size_t total_ = 0;
  std::set<std::string> new_names_;
  std::set<const void*> replaced_;
  std::unordered_map<const void*, const void*> aliased_;  // the parent of each blob; see Memory
  std::unordered_map<const void*, const NetUses*> aliased_unread_;  // see AliasesOfReporters
  MergedRanges memory_;
  UsersByBlob users_;  // uses of the substeps checked so far
};

std::vector<MemoryRange> HeldMemory(const Blob& blob) {
  std::vector<MemoryRange> ranges;
  VisitHeldBlobs(blob, [&ranges](const Blob& held) {
    if (!held.IsType<Tensor>()) return;
    const MemoryRange range = RangeOf(held.Get<Tensor>().storage().get());
    if (!range.empty()) ranges.push_back(range);
  });
  return ranges;
}

// What the name of `blob` denotes, which may be null. Reads the object only if `reads` is true.
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

// Whether a net runs in a child workspace. Such nets look up their names in each execution.
bool UsesChildWorkspaces(const ExecutionStep& step, PlanUses* uses) {
  return std::any_of(step.substep().begin(), step.substep().end(),
                     [uses](const ExecutionStep& substep) {
                       const std::vector<StepUses::Net>& nets = uses->OfSubstep(substep).nets;
                       return std::any_of(nets.begin(), nets.end(),
                                          [](const StepUses::Net& net) { return net.in_child; });
                     });
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

}  // namespace

bool RunsConcurrently(const ExecutionStep& step) {
  const auto recurring =
      std::count_if(step.substep().begin(), step.substep().end(),
                    [](const auto& substep) { return !substep.has_run_every_ms(); });
  return recurring > 0 &&
         ((step.concurrent_substeps() && recurring > 1) || step.num_concurrent_instances() > 1);
}

std::string FindRace(const ExecutionStep& step, PlanUses* uses, const RaceReporters& reporters,
                     const ResolveBlob& resolve, size_t* work) {
  Judge judge(step, uses, reporters, resolve);
  if (work != nullptr) *work += judge.total();
  return judge.Find();
}

std::string FindRace(const ExecutionStep& step, PlanUses* uses, const RaceReporters& reporters,
                     const Workspace& ws, std::vector<JudgedBlob>* judged) {
  DeclareSynchronizedType<db::DBReader>();
  if (!judged->empty() && AreUnchanged(*judged, ws, UsesChildWorkspaces(step, uses))) return "";
  judged->clear();
  std::unordered_map<std::string, size_t> known;
  std::string race = FindRace(step, uses, reporters, [&](const std::string& name, bool reads) {
    const auto [it, is_new] = known.try_emplace(name, judged->size());
    if (is_new) judged->push_back(Judged(name, ws.FindBlob(name), reads));
    JudgedBlob& blob = (*judged)[it->second];
    if (reads && !blob.is_read) blob = Judged(name, std::move(blob.blob), true);
    return blob.found;
  });
  if (!race.empty()) judged->clear();
  return race;
}

}  // namespace caffe2rt
