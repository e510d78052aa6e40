#pragma once
// Internal to the replayer: one operator on the target.

#include <stdexcept>
#include <string>

#include "caffe2_core/runtime/workspace.h"
#include "tests/oracle/replay.h"

namespace caffe2rt::test {

// What the target lacks for operators of this type, for CaseResult::NotImplemented; "" when it can
// run them.
std::string MissingFor(const ReplayTarget& target, const std::string& type);

// Runs `def` over `ws` on the target. Returns what went wrong, "" when nothing did. THROWS
// NeedsHardwareError, and what is no EnforceNotMet.
std::string RunOnTarget(const ReplayTarget& target, OperatorDef def, Workspace* ws);

// The operator launched a kernel that has no form for the fake CUDA.
class NeedsHardwareError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace caffe2rt::test
