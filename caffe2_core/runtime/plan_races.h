#pragma once
// Finds conflicts in plans. Concurrent substeps or instances conflict if one writes a blob while
// another reads or writes it.
//
// The following accesses do not conflict:
//   - reading, if all others only read;
//   - accesses that the schema of the operator declares as synchronized
//     (OpSchema::SynchronizedInputs, SynchronizedOutputs);
//   - inputs and in-place outputs whose object synchronizes itself
//     (caffe2_core/tensor/synchronized_types.h).
//
// The nets of a reporter take turns with the nets of its step, so they do not conflict with them.
// But a reporter may replace the object in a blob, or make two blobs share memory; both affect
// whether the step's own nets conflict.
//
// Conflicts are found between blobs, not between names. A name in a child workspace denotes the
// parent's blob if the parent has one of that name. Two names may denote the same blob, or tensors
// in the same memory.

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

// What a name denotes in the workspace of a concurrent step. The pointers serve as identities.
struct SharedBlob {
  const void* blob = nullptr;    // null if no blob has this name
  const void* object = nullptr;  // the object in the blob; null if it is empty
  const void* memory = nullptr;  // the memory of the tensor in the blob; null if there is none
  // Whether the object synchronizes itself; nullopt if that is unknown.
  std::optional<bool> synchronized = false;
};

// The limit on the uses of blobs in one step, which protects against hostile plans. Checking this
// many takes about a second.
inline constexpr size_t kMaxUsesToJudge = 1 << 21;

using ResolveBlob = std::function<SharedBlob(const std::string& name)>;

// Finds the first conflict among the substeps of a concurrent step. Returns a one-line message that
// names the blob, both steps and the remedy, or "" if there is no conflict. Also returns a message
// if the step has more than kMaxUsesToJudge uses of blobs. `reporters` are the reporters of the
// step and of all enclosing steps. If `work` is not null, the number of checked uses is added to
// it.
std::string FindRace(const ExecutionStep& step, PlanUses* uses,
                     const std::vector<const StepUses*>& reporters, const ResolveBlob& resolve,
                     size_t* work = nullptr);

// What a name denoted when a step was checked.
struct JudgedBlob {
  std::string name;
  std::shared_ptr<const Blob> blob;  // shared with the nets, which keep using it if it is renamed
  TypeMeta type;
  SharedBlob found;
};

// The same, for the workspace in which the step runs. Reads the types of the blobs that the step
// uses. `judged` stores the blobs that the check found. A later call for the same step returns at
// once if none of these blobs has changed, so a loop around the step pays for one check only.
std::string FindRace(const ExecutionStep& step, PlanUses* uses,
                     const std::vector<const StepUses*>& reporters, const Workspace& ws,
                     std::vector<JudgedBlob>* judged);

// Whether the step runs substeps (other than reporters), or instances of them, at the same time.
bool RunsConcurrently(const ExecutionStep& step);

}  // namespace caffe2rt
