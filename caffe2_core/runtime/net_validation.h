#pragma once
// What is wrong with a net, told without running it: `caffe2 check`.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

enum class NetFindingKind {
  kError,    // the net cannot be made, or cannot run
  kWarning,  // it runs, but something in it has no effect
  kNote,     // it runs, but not as the file asks
};

struct NetFinding {
  NetFindingKind kind = NetFindingKind::kError;
  std::vector<int> ops;  // positions; empty: the net as a whole
  std::string
      path;  // to a nested net: "operator 3 (If), argument then_net: "; empty for the net itself
  std::string text;          // one line
  std::string missing_type;  // the operator type that is not here; empty for other findings
};

const char* NetFindingKindName(NetFindingKind kind);

// All findings, errors first: operators that are missing (known to Caffe2 or unknown), what their
// schemas and their constructors refuse, arguments given twice or unknown to the schema, blobs
// nobody makes, net types that run as `simple`, devices that are not here. Nested nets in arguments
// too. Never throws on a net. Operators are made, one at a time, in a workspace of their own; none
// is run.
std::vector<NetFinding> ValidateNet(const NetDef& net);

// The plan itself (steps that name nets which are not there, nets of one name, fields that exclude
// each other, too many threads or steps, concurrent steps that conflict in any workspace), then its
// nets; `path` names the net.
std::vector<NetFinding> ValidatePlan(const PlanDef& plan);

}  // namespace caffe2rt
