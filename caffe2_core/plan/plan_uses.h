#pragma once
// Finds the names of the blobs that the nets and steps of a plan use, without running them.
// plan_races.h uses the result to find conflicts.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/mutex.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// The nets of a plan by name.
using PlanNetDefs = std::map<std::string, std::shared_ptr<const NetDef>>;

// How a blob is used, as a set of bits.
enum BlobUse : unsigned {
  kReads = 1,
  kWrites = 2,              // writes the object, or replaces it
  kReadsSynchronized = 4,   // declared as synchronized by the operator's schema
  kWritesSynchronized = 8,  // declared as synchronized by the operator's schema
  kUpdates = 16,            // output in place: synchronized if the object synchronizes itself
  kUpdatesTensor = 32,      // output in place of a built-in operator, or of one whose schema infers
                            // tensor shapes: it does not use the object's own synchronization
};

// What one net uses, including the nets in the arguments of its operators, whose names are translated
// (nested_nets.h). Blobs that only a scope holds are not listed: operators that use them write the
// scope. Other arguments are ignored, and so is `control_input`.
struct NetUses {
  std::shared_ptr<const NetDef> net;  // shared with the plan
  std::map<std::string, unsigned> blobs;
  // Pairs of blobs that may share memory after the net has run, for example those of Alias. A scope
  // stands for the blobs that it holds.
  std::vector<std::pair<std::string, std::string>> aliases;
  // For each blob of which a schema declares that another input guards it: the guards, such as the
  // mutex of AtomicIter.
  std::map<std::string, std::set<std::string>> guards;
  // Blobs that the net's own operators write, in order of the first write. Nets in arguments do not
  // count.
  std::vector<std::string> written;
  // The type of an operator that accesses blobs it does not list, or "" if there is none.
  std::string unlisted;
  // Whether a net in an argument writes blobs. Its operator may create them.
  bool nested_writes = false;
};
NetUses UsesOf(const std::shared_ptr<const NetDef>& net);

// What a step, its reporters and the steps below it use.
struct StepUses {
  struct Net {
    const NetUses* uses = nullptr;
    bool in_child = false;  // the net runs in a child workspace that a step below creates
  };
  std::vector<Net> nets;  // without duplicates
  // Blobs that steps read themselves (stop blobs and "NODE_ID"), each with its `in_child`.
  std::vector<std::pair<std::string, bool>> reads;
};

class StepWalk;

// The uses of a plan's nets and steps. Each is computed once, on first use. Thread safe, except for
// FindCreators.
class PlanUses {
 public:
  // REQUIRES: `defs` and the steps outlive this object. Returned pointers and references stay valid
  // as long as this object.
  explicit PlanUses(const PlanNetDefs* defs);
  // Null if the plan has no such net.
  const NetUses* OfNet(const std::string& name);
  const StepUses& OfSubstep(const ExecutionStep& substep);
  // Finds a net that a reporter of the step, or of a step below it, runs and that may create blobs
  // which its operators do not list as outputs. Call it for all steps before other threads use this
  // object.
  void FindCreators(const ExecutionStep& step);
  // The net that FindCreators found, or null.
  const NetUses* creator() const { return creator_; }
  // What the reporters of the step use: its report net and its substeps with run_every_ms.
  const StepUses& OfReporters(const ExecutionStep& step);

 private:
  enum class Part { kSubstep, kReporters };
  const StepUses& Once(Part part, const ExecutionStep& step,
                       const std::function<void(StepWalk*)>& walk);

  const PlanNetDefs* const defs_;
  const NetUses* creator_ = nullptr;
  Mutex mutex_;
  std::map<std::string, NetUses> nets_ ABSL_GUARDED_BY(mutex_);
  std::map<std::pair<Part, const ExecutionStep*>, StepUses> steps_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace caffe2rt
