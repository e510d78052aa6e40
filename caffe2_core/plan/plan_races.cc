#include "caffe2_core/plan/plan_races.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/plan/race_identities.h"
#include "caffe2_core/plan/race_users.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/synchronized_types.h"

namespace caffe2rt {
namespace {

constexpr char kRemedy[] =
    ": use different blobs (new names in a step with create_workspace are its own), or allow the "
    "race with --allow-races (PlanOptions::allow_races)";

// Finds the first conflict of a concurrent step.
//
// For each substep in turn, its uses are grouped by identity (race_identities.h) and kind, and
// compared with the uses of all earlier substeps (and with themselves, if the step has several
// instances). Only the first user of each identity and kind is kept, which is enough to find a
// conflict. The cost is linear in the number of uses, apart from the lookup of names and one step
// for each pair of substeps.
class RaceFinder {
 public:
  RaceFinder(const ExecutionStep& step, PlanUses* uses, const RaceReporters& reporters,
             const ResolveBlob& resolve)
      : step_(step), reporters_(reporters), creator_(uses->creator()), identities_(resolve) {
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
    if (total_ > kMaxUsesToCheck) {
      return MakeString("step \"", step_.name(), "\" has ", total_,
                        " uses of blobs in its concurrent substeps and the reporters around, want "
                        "at most ",
                        kMaxUsesToCheck,
                        " to look for conflicts: run fewer operators at once, or allow races with "
                        "--allow-races (PlanOptions::allow_races)");
    }
    FindIdentities();
    if (std::string race = AliasesOfReporters(); !race.empty()) return race;
    const bool instances = step_.num_concurrent_instances() > 1;
    for (size_t i = 0; i < substeps_.size(); ++i) {
      if (std::string race = CompareWithEarlier(i, instances); !race.empty()) return race;
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

  void FindIdentities() {
    const size_t around = reporters_.all.size(), readable = std::min(reporters_.readable, around);
    for (size_t i = 0; i < around; ++i) identities_.AddNames(*reporters_.all[i], i < readable);
    for (const Substep& substep : substeps_) identities_.AddNames(substep.uses, true);
    for (size_t i = 0; i < readable; ++i) identities_.AddMemory(*reporters_.all[i]);
    for (const Substep& substep : substeps_) identities_.AddMemory(substep.uses);
    identities_.MergeMemory();
    for (size_t i = 0; i < around; ++i) identities_.AddReporters(*reporters_.all[i], i < readable);
  }

  // See RaceIdentities::UnreadAliasOf.
  std::string AliasesOfReporters() const {
    if (!identities_.HasUnreadAliases()) return "";
    for (size_t i = 0; i < substeps_.size(); ++i) {
      for (const StepUses::Net& net : substeps_[i].uses.nets) {
        for (const auto& [name, use] : net.uses->blobs) {
          const NetUses* const reporter = identities_.UnreadAliasOf(identities_.Resolve(name).blob);
          if (reporter == nullptr) continue;
          const BlobUser user = {.name = &name, .net = net.uses, .substep = static_cast<int>(i)};
          return MakeString("blob \"", name,
                            "\" may get the memory of any blob from the reporter net \"",
                            reporter->net->name(), "\" while it is used by ", Text(user), kRemedy);
        }
      }
    }
    return "";
  }

  // Compares the uses of a substep with those of the earlier ones, and adds them to these.
  std::string CompareWithEarlier(size_t index, bool instances) {
    UsersByBlob own = Uses(static_cast<int>(index));
    for (const auto& [identity, users] : own) {
      if (instances) {
        if (std::string race = Compare(users, users); !race.empty()) return race;
      }
      BlobUsers& others = users_[identity];
      if (std::string race = Compare(others, users); !race.empty()) return race;
      for (size_t kind = 0; kind < kUseKinds.size(); ++kind) {
        // A user with a guard conflicts with more users than one without.
        const bool has_guard = others[kind].guard == nullptr && users[kind].guard != nullptr;
        if (others[kind].name == nullptr || has_guard) others[kind] = users[kind];
      }
    }
    return "";
  }

  UsersByBlob Uses(int index) {
    UsersByBlob users;
    std::vector<const void*> identities;
    const auto add = [&](const std::string& name, unsigned use, const NetUses* net) {
      const SharedBlob shared = identities_.Resolve(name);
      const unsigned kinds = KindsOf(use, shared.synchronized);
      const BlobUser user = {.name = &name,
                             .net = net,
                             .substep = index,
                             .guard = shared.synchronized == true ? nullptr : GuardOf(name, net)};
      identities_.Find(shared, &identities);
      for (const void* identity : identities) AddBlobUser(user, kinds, &users[identity]);
    };
    const StepUses& uses = substeps_[static_cast<size_t>(index)].uses;
    for (const StepUses::Net& net : uses.nets) {
      for (const auto& [name, use] : net.uses->blobs) add(name, use, net.uses);
    }
    for (const auto& [name, in_child] : uses.reads) add(name, kReads, nullptr);
    return users;
  }

  BlobGuard GuardOf(const std::string& name, const NetUses* net) const {
    if (net == nullptr) return nullptr;
    const auto guards = net->guards.find(name);
    if (guards == net->guards.end()) return nullptr;
    if (guards->second.size() > 1) return kNoCommonGuard;
    const void* const guard = identities_.Resolve(*guards->second.begin()).blob;
    return guard != nullptr ? guard : kNoCommonGuard;
  }

  std::string Compare(const BlobUsers& a, const BlobUsers& b) const {
    for (size_t i = 0; i < kUseKinds.size(); ++i) {
      for (size_t j = 0; j < kUseKinds.size(); ++j) {
        if (a[i].name == nullptr || b[j].name == nullptr) continue;
        if (kUseKinds[i] == kWritesSynchronized && kUseKinds[j] == kWritesSynchronized &&
            !GuardsExclude(a[i].guard, b[j].guard)) {
          return Unguarded(a[i], b[j]);
        }
        if (!UsesConflict(kUseKinds[i], kUseKinds[j])) continue;
        return MakeString("blob \"", *a[i].name, "\" is ", VerbOf(kUseKinds[i]), " by ", Text(a[i]),
                          " while ", *a[i].name == *b[j].name ? "it" : "\"" + *b[j].name + "\"",
                          *a[i].name == *b[j].name ? "" : ", which is the same,", " is ",
                          VerbOf(kUseKinds[j]), " by ",
                          a[i].substep == b[j].substep ? "another instance of " : "", Text(b[j]),
                          kRemedy);
      }
    }
    return "";
  }

  std::string Unguarded(const BlobUser& a, const BlobUser& b) const {
    return MakeString("blob \"", *a.name, "\" is written by ", Text(a), " and by ",
                      a.substep == b.substep ? "another instance of " : "", Text(b),
                      " under different guards, want one mutex", kRemedy);
  }

  // An operator that accesses blobs it does not list conflicts with every use in another substep.
  std::string Unlisted(size_t i, size_t j) const {
    const NetUses* const net = substeps_[i].unlisted;
    if (net == nullptr) return "";
    const BlobUser accessing = {.name = nullptr, .net = net, .substep = static_cast<int>(i)};
    const char* another = i == j ? "another instance of " : "";
    for (const StepUses::Net& other : substeps_[j].uses.nets) {
      const BlobUser used = {.name = nullptr, .net = other.uses, .substep = static_cast<int>(j)};
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
        const BlobUser user = {.name = nullptr, .net = net.uses, .substep = static_cast<int>(i)};
        return MakeString("blob \"", net.uses->blobs.begin()->first,
                          "\" may be created by the reporter net \"", creator_->net->name(),
                          "\" while it is used in a child workspace by ", Text(user), kRemedy);
      }
    }
    return "";
  }

  std::string Text(const BlobUser& user) const {
    const ExecutionStep& substep = *substeps_[static_cast<size_t>(user.substep)].def;
    std::string text = substep.name().empty()
                           ? MakeString("substep ", user.substep, " of step \"", step_.name(), "\"")
                           : MakeString("step \"", substep.name(), "\"");
    if (user.net == nullptr) return text;
    return MakeString(text, " (net \"", user.net->net->name(), "\")");
  }

  const ExecutionStep& step_;
  const RaceReporters& reporters_;
  const NetUses* const creator_;  // PlanUses::creator
  std::vector<Substep> substeps_;
  size_t total_ = 0;
  RaceIdentities identities_;
  UsersByBlob users_;  // uses of the substeps checked so far
};

// Whether a net runs in a child workspace. Such nets look up their names in each execution.
bool UsesChildWorkspaces(const ExecutionStep& step, PlanUses* uses) {
  return std::any_of(step.substep().begin(), step.substep().end(),
                     [uses](const ExecutionStep& substep) {
                       const std::vector<StepUses::Net>& nets = uses->OfSubstep(substep).nets;
                       return std::any_of(nets.begin(), nets.end(),
                                          [](const StepUses::Net& net) { return net.in_child; });
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
  RaceFinder finder(step, uses, reporters, resolve);
  if (work != nullptr) *work += finder.total();
  return finder.Find();
}

std::string FindRace(const ExecutionStep& step, PlanUses* uses, const RaceReporters& reporters,
                     const Workspace& ws, std::vector<CheckedBlob>* checked) {
  DeclareSynchronizedType<db::DBReader>();
  if (!checked->empty() && AreUnchanged(*checked, ws, UsesChildWorkspaces(step, uses))) return "";
  checked->clear();
  std::unordered_map<std::string, size_t> known;
  std::string race = FindRace(step, uses, reporters, [&](const std::string& name, bool reads) {
    const auto [it, is_new] = known.try_emplace(name, checked->size());
    if (is_new) checked->push_back(DescribeBlob(name, ws.FindBlob(name), reads));
    CheckedBlob& blob = (*checked)[it->second];
    if (reads && !blob.is_read) blob = DescribeBlob(name, std::move(blob.blob), true);
    return blob.found;
  });
  if (!race.empty()) checked->clear();
  return race;
}

}  // namespace caffe2rt
