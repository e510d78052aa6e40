#pragma once
// Conflicts in plans: a blob that one concurrent substep or instance writes while another uses it.
//
// What may be shared: blobs that are only read; accesses that the operators' schemas declare
// synchronized (OpSchema::SynchronizedInputs, SynchronizedOutputs); inputs, and outputs in place,
// of blobs whose objects synchronize themselves (caffe2_core/tensor/synchronized_types.h). Nets of
// reporters take turns with those of their step and do not conflict with them; but what they put
// into blobs, objects and aliases, counts.
//
// Names are judged by the blobs they stand for: a child workspace uses its parent's blob wherever
// the name exists there, and two names may stand for one blob or for tensors in the same memory.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/base/type_meta.h"
#include "caffe2_core/runtime/plan_uses.h"

namespace caffe2rt {

class Blob;
class Workspace;

// What a name stands for in the workspace of a concurrent step.
struct SharedBlob {
  const void* blob = nullptr;    // identity; null: the name does not exist there
  const void* object = nullptr;  // the same of what is in it; null: nothing
  const void* memory = nullptr;  // the same of a tensor's memory; null: none
  // Whether the object synchronizes itself; nothing: not known.
  std::optional<bool> synchronized = false;
};

// Against hostile plans: uses of blobs in one step, which take a second or so to judge. More are
// refused.
inline constexpr size_t kMaxUsesToJudge = 1 << 21;

using ResolveBlob = std::function<SharedBlob(const std::string& name)>;

// The first conflict among the substeps of a concurrent step, in one line that names the blob, both
// steps and what allows it; empty if there is none.
// `reporters` are those of the step and of all steps around it. `work`, when given, grows by the
// uses of blobs that were judged.
std::string FindRace(const ExecutionStep& step, PlanUses* uses,
                     const std::vector<const StepUses*>& reporters, const ResolveBlob& resolve,
                     size_t* work = nullptr);

// What a judgement found behind a name.
struct JudgedBlob {
  std::string name;
  std::shared_ptr<const Blob> blob;  // shared: the step's nets use it, whatever its name is now
  TypeMeta type;
  SharedBlob found;
};

// In the workspace in which the step runs. Reads the types of the blobs that the step uses. If
// `judged` is what an earlier call left for the same step, and the blobs still are as they were,
// nothing is looked for: a loop around the step pays for one judgement.
std::string FindRace(const ExecutionStep& step, PlanUses* uses,
                     const std::vector<const StepUses*>& reporters, const Workspace& ws,
                     std::vector<JudgedBlob>* judged);

// Whether a step runs its recurring substeps at the same time.
bool RunsConcurrently(const ExecutionStep& step);

}  // namespace caffe2rt
