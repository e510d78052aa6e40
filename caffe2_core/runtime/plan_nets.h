#pragma once
// The nets that a plan's steps run: one object for each net and sequence of steps, never one for
// two steps that run at the same time.

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/plan_uses.h"

namespace caffe2rt {

class Workspace;

// Thread safe. Steps that share a NetPool run one after the other, or take turns.
class NetPool {
 public:
  enum class Keep {
    kInWorkspace,       // a net that was there before the pool is replaced at its first use
    kInChildWorkspace,  // which the plan made for one execution of a step
  };
  // Keeps the nets in `ws`, as Caffe2 does. REQUIRES: `defs` and `ws` outlive this.
  NetPool(const PlanNetDefs* defs, Workspace* ws, Keep keep) : defs_(*defs), ws_(ws), keep_(keep) {}
  // For one concurrent substep or reporter in the workspace of `parent`: nets of its own, but for
  // those of the parent's that no other one has. Copies between devices are its own, too.
  explicit NetPool(NetPool* parent)
      : defs_(parent->defs_), ws_(parent->ws_), keep_(parent->keep_), parent_(parent) {}
  ~NetPool();
  NetPool(const NetPool&) = delete;
  NetPool& operator=(const NetPool&) = delete;

  // Made at the first call. THROWS when the plan has no such net or it cannot be made.
  NetBase* Get(const std::string& name);

 private:
  NetBase* GetLocked(const std::string& name);
  NetBase* MakeOwn(const std::shared_ptr<const NetDef>& def);
  // Null when another pool has it, or nets of this pool are not in a workspace.
  NetBase* Lend(const std::string& name);
  void TakeBack(const std::string& name);

  const PlanNetDefs& defs_;
  Workspace* const ws_;
  const Keep keep_;
  NetPool* const parent_ = nullptr;  // null: nets are kept in ws_
  std::mutex mutex_;
  std::set<std::string> made_;  // since the plan began
  std::set<std::string> lent_;
  std::set<std::string> borrowed_;
  std::map<std::string, NetBase*> nets_;  // of a pool with a parent
  std::unique_ptr<Workspace> copies_;     // blobs that own nets add, see MakeOwn; outlives own_
  std::map<std::string, std::unique_ptr<NetBase>> own_;
};

}  // namespace caffe2rt
