#include "binaries/commands/inspect_plan.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "binaries/table.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/plan_blobs.h"

namespace caffe2rt {

void PrintFlows(const PlanDef& plan, size_t limit) {
  const std::vector<BlobFlow> flows = FollowBlobs(plan);
  if (flows.empty()) return;
  Table table({{"blob", Column::kName}, {"written by"}, {"read by"}});
  for (size_t i = 0; i < std::min(flows.size(), limit); ++i) {
    const BlobFlow& flow = flows[i];
    std::string reader = flow.to;
    if (flow.to_step) reader = MakeString("step ", flow.to.empty() ? "without name" : flow.to);
    if (flow.next_iteration) reader += " (next iteration)";
    table.Add({OneLine(flow.blob), flow.from.empty() ? "(outside)" : OneLine(flow.from),
               OneLine(reader)});
  }
  table.Print();
  if (flows.size() > limit) std::cout << "  ... --limit " << flows.size() << " prints all\n";
}

void WriteFlows(const PlanDef& plan, Json* json) {
  *json = Json::array();
  for (const BlobFlow& flow : FollowBlobs(plan)) {
    Json& entry = json->emplace_back();
    entry = {{"blob", flow.blob}};
    if (!flow.from.empty()) entry["written_by"] = flow.from;
    entry[flow.to_step ? "stops_step" : "read_by"] = flow.to;
    if (flow.next_iteration) entry["next_iteration"] = true;
  }
}

}  // namespace caffe2rt
