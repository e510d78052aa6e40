#pragma once
// Collects the findings about a net or a plan. Internal to net_validation.cc and plan_validation.cc.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/suggest.h"
#include "caffe2_core/inspect/net_validation.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

class NetFindings {
 public:
  // Adds a finding about operator `op`, or about the net as a whole if it is -1. The same text about
  // several operators of a net is one finding.
  void Add(NetFindingKind kind, int op, const std::string& text,
           const std::string& missing_type = "");
  // The path of the net that the next findings are about.
  void set_path(const std::string& path) { path_ = path; }
  // "; close: A, B", or "" if no known name is close or the work for suggestions is used up.
  std::string Close(const std::string& name, const std::vector<std::string>& known);
  // Moves the findings out, errors first.
  std::vector<NetFinding> Take();

 private:
  std::string path_;
  int64_t suggestion_work_left_ = kSuggestionWork;
  std::vector<NetFinding> findings_;
  std::map<std::pair<std::string, std::string>, size_t> positions_;
};

// Adds the findings about each net, whose path comes second, and about the nets in its arguments.
void AddFindingsOf(const std::vector<std::pair<const NetDef*, std::string>>& nets,
                   NetFindings* findings);

}  // namespace caffe2rt
