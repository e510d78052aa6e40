#pragma once
// Who reports the conflicts that static registrations recorded: a registration at namespace scope
// (a user's macro) cannot throw.
//
//   ReportConflicts([] { return TakeThemFrom(registry); });   // in a look-up
//
//   ModuleLoading loading(TakeAllConflicts);                  // in LoadModule
//   dlopen(...);
//   const std::vector<std::string> conflicts = loading.Finish();
//
// A conflict of the program is thrown by the first look-up. A conflict of a module is reported by
// the load of that module and by nobody else, whatever other threads look up meanwhile. Thread
// safe.

#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

// Takes recorded conflicts out of where they are.
using TakeConflicts = std::vector<std::string> (*)();

// Adds what `throw_conflicts` throws.
template <class ThrowConflicts>
void AppendConflicts(ThrowConflicts throw_conflicts, std::vector<std::string>* conflicts) {
  try {
    throw_conflicts();
  } catch (const EnforceNotMet& error) {
    conflicts->push_back(error.message());
  }
}

// THROWS what `take` gives. While a module is loaded, keeps it for the module's load instead.
void ReportConflicts(TakeConflicts take);

// REQUIRES: one at a time.
class ModuleLoading {
 public:
  // THROWS the conflicts that were there before: they are not the module's.
  explicit ModuleLoading(TakeConflicts take_all);
  ~ModuleLoading();
  ModuleLoading(const ModuleLoading&) = delete;
  ModuleLoading& operator=(const ModuleLoading&) = delete;

  // Ends the load and returns the conflicts that it made. Call once.
  std::vector<std::string> Finish();

 private:
  const TakeConflicts take_all_;
  bool finished_ = false;
};

}  // namespace caffe2rt
