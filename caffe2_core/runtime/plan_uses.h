#pragma once
// Which blobs the nets and steps of a plan use, by name and without running them: what
// plan_races.h judges.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// The nets of a plan by name.
using PlanNetDefs = std::map<std::string, std::shared_ptr<const NetDef>>;

// How a blob is used; a set of bits.
enum BlobUse : unsigned {
  kReads = 1,
  kWrites = 2,              // also whatever replaces the object
  kReadsSynchronized = 4,   // declared by the operator's schema
  kWritesSynchronized = 8,  // the same
  kUpdates = 16,            // an output that is an input too: synchronized where the object is
  kUpdatesTensor = 32,      // the same by an operator whose schema infers shapes
};

// What one net uses, nets in its operators' arguments included. Arguments other than nets and
// `control_input` are not looked at.
struct NetUses {
  std::shared_ptr<const NetDef> net;  // shared: with the plan
  std::map<std::string, unsigned> blobs;
  // Inputs and outputs that may be in the same memory when the net has run: those of operators that
  // modify the inputs, such as Alias.
  std::vector<std::pair<std::string, std::string>> aliases;
  // What its own operators write, nets in arguments apart, in order of the first writes.
  std::vector<std::string> written;
  // The type of the first operator that accesses blobs it does not list; empty: none.
  std::string unlisted;
  // Whether nets in arguments write blobs, which their operator may create.
  bool nested_writes = false;
};
NetUses UsesOf(const std::shared_ptr<const NetDef>& net);

// What a step and all below it use, reporters included.
struct StepUses {
  struct Net {
    const NetUses* uses = nullptr;
    bool in_child = false;  // runs in a child workspace that is made below the step
  };
  std::vector<Net> nets;                            // different
  std::vector<std::pair<std::string, bool>> reads;  // stop blobs and node ids, in_child
};

class StepWalk;

// Uses of a plan's nets and steps, found once for each. Thread safe.
class PlanUses {
 public:
  // REQUIRES: `defs` and the steps outlive this; references stay valid as long as this.
  explicit PlanUses(const PlanNetDefs* defs);
  // Null when the plan has no such net.
  const NetUses* OfNet(const std::string& name);
  const StepUses& OfSubstep(const ExecutionStep& substep);
  // Looks for reporters of the step, and of those below, that may create blobs which their nets'
  // operators do not list as outputs. Call it for all steps before several threads use this.
  void FindCreators(const ExecutionStep& step);
  // One of them; null: none was found.
  const NetUses* creator() const { return creator_; }
  // The report net and the substeps with run_every_ms.
  const StepUses& OfReporters(const ExecutionStep& step);

 private:
  const StepUses& Once(std::map<const ExecutionStep*, StepUses>* known, const ExecutionStep& step,
                       const std::function<void(StepWalk*)>& walk);

  const PlanNetDefs* const defs_;
  const NetUses* creator_ = nullptr;
  std::mutex mutex_;  // guards the maps
  std::map<std::string, NetUses> nets_;
  std::map<const ExecutionStep*, StepUses> substeps_;
  std::map<const ExecutionStep*, StepUses> reporters_;
};

}  // namespace caffe2rt
