#pragma once
// Reports the conflicts of static registrations. A registration at namespace scope (a user's macro)
// cannot throw, so it records its conflict instead.
//
//   ReportConflicts([] { return TakeThemFrom(registry); });   // in a lookup
//
//   ModuleLoading loading(TakeAllConflicts);                  // in LoadModule
//   dlopen(...);
//   const std::vector<std::string> conflicts = loading.Finish();
//
// A conflict of the program is thrown by the first lookup. A conflict of a module is reported only
// by the load of that module, even if other threads perform lookups at the same time. Thread safe.

#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Returns the conflicts that a registry has recorded, and removes them from it.
using TakeConflicts = std::vector<std::string> (*)();

// Calls `throw_conflicts` and appends the message of the EnforceNotMet that it throws, if any.
template <class ThrowConflicts>
void AppendConflicts(ThrowConflicts throw_conflicts, std::vector<std::string>* conflicts) {
  try {
    throw_conflicts();
  } catch (const EnforceNotMet& error) {
    conflicts->push_back(error.message());
  }
}

// THROWS one error with all `problems`, separated by semicolons, if there are any.
void ThrowAny(const std::vector<std::string>& problems);

// THROWS the conflicts that `take` returns, if any. While a module is being loaded, keeps them for
// the load of the module instead.
void ReportConflicts(TakeConflicts take);

// The load of one module, from construction to Finish or destruction. Loads may be nested.
// REQUIRES: loads on different threads do not overlap.
class ModuleLoading {
 public:
  // THROWS the conflicts that were recorded earlier, because they are not the module's.
  explicit ModuleLoading(TakeConflicts take_all);
  ~ModuleLoading();
  ModuleLoading(const ModuleLoading&) = delete;
  ModuleLoading& operator=(const ModuleLoading&) = delete;

  // Ends the load and returns the conflicts that it caused. Call once.
  std::vector<std::string> Finish();

 private:
  const TakeConflicts take_all_;
  bool finished_ = false;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
