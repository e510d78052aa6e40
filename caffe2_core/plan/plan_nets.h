#pragma once
// NetPool: creates and keeps the nets that the steps of a plan run. Two steps that run at the same
// time never share a net object.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/plan/plan_uses.h"
#include "caffe2_core/runtime/net.h"

namespace caffe2rt {

// The seed of one of several parts of a plan that run at the same time, or one after the other, and
// have the same nets. nullopt if `seed` is nullopt.
std::optional<uint64_t> SeedOfPart(std::optional<uint64_t> seed, uint64_t number);

class Workspace;

// Thread safe. Steps that share a pool run one after the other, or take turns (plan_reporters.h).
//
// A pool without a parent keeps its nets in a workspace. A pool with a parent serves one concurrent
// substep or one reporter: it borrows each net from the parent if no other pool has borrowed it,
// and creates its own otherwise. The destructor returns the borrowed nets.
class NetPool {
 public:
  enum class Keep {
    kInWorkspace,       // the first use replaces a net that existed before the pool
    kInChildWorkspace,  // the workspace was created for one execution of a step
  };
  // Keeps the nets in `ws`, as Caffe2 does. REQUIRES: `defs` and `ws` outlive this object.
  NetPool(const PlanNetDefs* defs, Workspace* ws, Keep keep);
  // Uses the defs and the workspace of `parent`. A net that needs copies between devices is never
  // borrowed, and its copies go to blobs that no other pool uses. If the workspace has a seed, no net
  // is borrowed: the pool's nets draw random numbers of their own, which depend on `number`.
  // REQUIRES: `parent` outlives this object. No other pool of this parent has the same number.
  NetPool(NetPool* parent, uint64_t number);
  ~NetPool();
  NetPool(const NetPool&) = delete;
  NetPool& operator=(const NetPool&) = delete;

  // The net of that name. It is created by the first call. THROWS if the plan has no such net, or
  // if it cannot be created.
  NetBase* Get(const std::string& name);
  // The seed of the nets' random numbers.
  std::optional<uint64_t> seed() const { return seed_; }

 private:
  NetBase* GetLocked(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  NetBase* MakeOwn(const std::shared_ptr<const NetDef>& def) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Null if another pool has borrowed the net, or if this pool has a parent.
  NetBase* Lend(const std::string& name);
  void TakeBack(const std::string& name);

  const PlanNetDefs& defs_;
  Workspace* const ws_;
  const Keep keep_;
  NetPool* const parent_ = nullptr;     // null if the nets are kept in ws_
  const std::optional<uint64_t> seed_;  // of the nets in this pool
  Mutex mutex_;
  // Nets in ws_ that this pool created, and those that another pool has borrowed.
  std::set<std::string> made_ ABSL_GUARDED_BY(mutex_), lent_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> borrowed_ ABSL_GUARDED_BY(mutex_);  // nets that belong to parent_
  // Used only if there is a parent: borrowed and own nets.
  std::map<std::string, NetBase*> nets_ ABSL_GUARDED_BY(mutex_);
  // Holds the device copies of the nets in own_.
  std::unique_ptr<Workspace> copies_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::unique_ptr<NetBase>> own_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace caffe2rt
