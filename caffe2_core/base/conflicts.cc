#include "caffe2_core/base/conflicts.h"

#include <iterator>
#include <mutex>

namespace caffe2rt {
namespace {

struct State {
  // Held while conflicts are taken, so that each conflict is reported either by a lookup or by the
  // load of its module, not by both. Never held while a module's own code runs.
  std::mutex mutex;
  int loading = 0;                // number of module loads in progress
  std::vector<std::string> kept;  // found by lookups while a module was being loaded
};

State& TheState() {
  static State* const state = new State;
  return *state;
}

// Returns the kept conflicts and those that `take` returns. REQUIRES: the mutex is held.
std::vector<std::string> TakeWithKept(State* state, TakeConflicts take) {
  std::vector<std::string> conflicts = std::move(state->kept);
  state->kept.clear();
  std::vector<std::string> taken = take();
  conflicts.insert(conflicts.end(), std::make_move_iterator(taken.begin()),
                   std::make_move_iterator(taken.end()));
  return conflicts;
}

}  // namespace

void ReportConflicts(TakeConflicts take) {
  State& state = TheState();
  std::vector<std::string> conflicts;
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    conflicts = TakeWithKept(&state, take);
    if (state.loading > 0) state.kept = std::exchange(conflicts, {});
  }
  CAFFE_ENFORCE(conflicts.empty(), Join("; ", conflicts));
}

ModuleLoading::ModuleLoading(TakeConflicts take_all) : take_all_(take_all) {
  State& state = TheState();
  std::vector<std::string> earlier;
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    if (state.loading == 0) earlier = TakeWithKept(&state, take_all);
    if (earlier.empty()) ++state.loading;
  }
  CAFFE_ENFORCE(earlier.empty(), Join("; ", earlier));
}

ModuleLoading::~ModuleLoading() {
  if (finished_) return;
  std::lock_guard<std::mutex> lock(TheState().mutex);
  --TheState().loading;
}

std::vector<std::string> ModuleLoading::Finish() {
  State& state = TheState();
  std::lock_guard<std::mutex> lock(state.mutex);
  finished_ = true;
  --state.loading;
  return TakeWithKept(&state, take_all_);
}

}  // namespace caffe2rt
