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
// Two operators whose schemas declare that an input guards their outputs conflict unless it is the
// same object, such as one mutex.
//
// Conflicts are found between blobs, not between names. A name in a child workspace denotes the
// parent's blob if the parent has one of that name. Two names may denote the same blob, or tensors
// whose memory overlaps, such as a tensor and a view of some of its rows. Memory that a scope holds
// belongs to the blob of the scope (caffe2_core/tensor/blob_holders.h).

#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/plan/checked_blob.h"
#include "caffe2_core/plan/plan_uses.h"

namespace caffe2rt {

class Workspace;

// The limit on the uses of blobs in one step, which protects against hostile plans. Checking this
// many takes about a second.
inline constexpr size_t kMaxUsesToCheck = 1 << 21;

// If `reads` is false, finds the blob only: another thread may be changing what it holds.
using ResolveBlob = std::function<SharedBlob(const std::string& name, bool reads)>;

// The reporters of a step and of all enclosing steps, from the innermost outwards.
struct RaceReporters {
  std::vector<const StepUses*> all;
  // The first `readable` of them use no blob that another thread is changing. Those around an
  // enclosing concurrent step may.
  size_t readable = SIZE_MAX;
};

// Finds the first conflict among the substeps of a concurrent step. Returns a one-line message that
// names the blob, both steps and the remedy, or "" if there is no conflict. Also returns a message
// if the step has more than kMaxUsesToCheck uses of blobs. If `work` is not null, the number of
// checked uses is added to it.
std::string FindRace(const ExecutionStep& step, PlanUses* uses, const RaceReporters& reporters,
                     const ResolveBlob& resolve, size_t* work = nullptr);

// The same, for the workspace in which the step runs. Reads the types of the blobs that the step
// uses. `checked` stores the blobs that the check found. A later call for the same step returns at
// once if none of these blobs has changed, so a loop around the step pays for one check only.
std::string FindRace(const ExecutionStep& step, PlanUses* uses, const RaceReporters& reporters,
                     const Workspace& ws, std::vector<CheckedBlob>* checked);

// Whether the step runs substeps (other than reporters), or instances of them, at the same time.
bool RunsConcurrently(const ExecutionStep& step);

}  // namespace caffe2rt
