#pragma once
// Internal to the replayer: one operator on the target.

#include <string>

#include "caffe2_core/runtime/workspace.h"
#include "tests/oracle/replay.h"

namespace caffe2rt::test {

// What the target lacks for operators of this type, for CaseResult::NotImplemented; "" when it can
// run them.
std::string MissingFor(const ReplayTarget& target, const std::string& type);

struct RunOutcome {
  std::string error;  // "" when nothing went wrong
  // kPassed, or why the error says nothing about the case: kNotImplemented (the elements cannot
  // live on the device, or the engine does not take the arguments), kNeedsHardware.
  CaseStatus excuse = CaseStatus::kPassed;
};

// Runs `def` over `ws` on the target. THROWS what is no EnforceNotMet.
RunOutcome RunOnTarget(const ReplayTarget& target, OperatorDef def, Workspace* ws);

}  // namespace caffe2rt::test
