#include "caffe2_core/base/conflicts.h"

#include <absl/strings/str_join.h>

#include <iterator>

#include "caffe2_core/base/mutex.h"

namespace caffe2rt {
namespace {

struct State {
  // Held while conflicts are taken, so that each conflict is reported either by a lookup or by the
  // load of its module, not by both. Never held while a module's own code runs.
  Mutex mutex;
  int loading ABSL_GUARDED_BY(mutex) = 0;  // number of module loads in progress
  // Found by lookups while a module was being loaded.
  std::vector<std::string> kept ABSL_GUARDED_BY(mutex);
};

State& TheState() {
  static State* const state = new State;
  return *state;
}

// Returns the kept conflicts and those that `take` returns.
std::vector<std::string> TakeWithKept(State* state, TakeConflicts take)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(state->mutex) {
  std::vector<std::string> conflicts = std::move(state->kept);
  state->kept.clear();
  std::vector<std::string> taken = take();
  conflicts.insert(conflicts.end(), std::make_move_iterator(taken.begin()),
                   std::make_move_iterator(taken.end()));
  return conflicts;
}

}  // namespace

void ThrowAny(const std::vector<std::string>& problems) {
  CAFFE_ENFORCE(problems.empty(), absl::StrJoin(problems, "; "));
}

void ReportConflicts(TakeConflicts take) {
  State& state = TheState();
  std::vector<std::string> conflicts;
  {
    const MutexLock lock(state.mutex);
    conflicts = TakeWithKept(&state, take);
    if (state.loading > 0) state.kept = std::exchange(conflicts, {});
  }
  ThrowAny(conflicts);
}

ModuleLoading::ModuleLoading(TakeConflicts take_all) : take_all_(take_all) {
  State& state = TheState();
  std::vector<std::string> earlier;
  {
    const MutexLock lock(state.mutex);
    if (state.loading == 0) earlier = TakeWithKept(&state, take_all);
    if (earlier.empty()) ++state.loading;
  }
  ThrowAny(earlier);
}

ModuleLoading::~ModuleLoading() {
  if (finished_) return;
  const MutexLock lock(TheState().mutex);
  --TheState().loading;
}

std::vector<std::string> ModuleLoading::Finish() {
  State& state = TheState();
  const MutexLock lock(state.mutex);
  finished_ = true;
  --state.loading;
  return TakeWithKept(&state, take_all_);
}

}  // namespace caffe2rt
