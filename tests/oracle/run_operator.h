#pragma once
// Internal to the replayer: runs one operator on the target.

#include <string>

#include "caffe2_core/runtime/workspace.h"
#include "tests/oracle/replay.h"

namespace caffe2rt::test {

// Returns what the target lacks to run operators of this type, for CaseResult::NotImplemented, or
// "" if it can run them.
std::string MissingFor(const ReplayTarget& target, const std::string& type);

struct RunOutcome {
  std::string error;  // "" if the operator succeeded
  // kPassed, or the reason to ignore the error: kNotImplemented (the elements cannot be stored on
  // the device, or the engine does not support the arguments) or kNeedsHardware.
  CaseStatus excuse = CaseStatus::kPassed;
};

// Runs `def` over `ws` on the target. THROWS any exception other than EnforceNotMet.
RunOutcome RunOnTarget(const ReplayTarget& target, OperatorDef def, Workspace* ws);

}  // namespace caffe2rt::test
