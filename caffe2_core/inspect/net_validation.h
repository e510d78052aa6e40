#pragma once
// Finds the problems of a net or a plan without running it. Used by `caffe2 check`.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

enum class NetFindingKind {
  kError,    // the net cannot be created or cannot run
  kWarning,  // the net runs, but a part of it has no effect
  kNote,     // the net runs, but not in the way that the file requests
};

struct NetFinding {
  NetFindingKind kind = NetFindingKind::kError;
  std::vector<int> ops;  // positions of the operators; empty if the finding is about the whole net
  // The path to a nested net, such as "operator 3 (If), argument then_net: ". Empty for the net
  // itself.
  std::string path;
  std::string text;          // one line
  std::string missing_type;  // the missing operator type; empty for other findings
};

const char* NetFindingKindName(NetFindingKind kind);

// Returns all findings about a net and the nets in its arguments, errors first. A finding is about
//   - an operator type that is missing, whether Caffe2 had it or not;
//   - an operator that its schema or its constructor rejects;
//   - an argument that is given twice, or that the schema does not declare;
//   - a blob that is read or declared as an output but never written;
//   - a net type that runs as `simple`, or a device that is not available.
// Each operator is constructed in a temporary workspace and not run. Does not throw, whatever the
// net contains, except when memory runs out.
std::vector<NetFinding> ValidateNet(const NetDef& net);

// The same for a plan and its nets; `path` names the net. A finding about the plan itself is about
//   - a step that names a missing net, or sets fields that exclude each other;
//   - two nets of the same name;
//   - too many threads or steps (plan_limits.h);
//   - concurrent steps that conflict in every workspace (plan_check.h).
std::vector<NetFinding> ValidatePlan(const PlanDef& plan);

}  // namespace caffe2rt
#pragma GCC visibility pop
