#include "caffe2_core/plan/plan_targets.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/created_databases.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/new_database.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

class TargetCheck {
 public:
  TargetCheck(const PlanNetDefs& nets, const Workspace& ws) : nets_(nets), ws_(ws) {}

  void Visit(const ExecutionStep& step) {
    if (step.has_num_iter() && step.num_iter() <= 0) return;
    // After the first net or substep, the blob may end the step.
    const bool may_stop = step.has_should_stop_blob();
    for (int i = 0; i < (may_stop ? std::min(1, step.network_size()) : step.network_size()); ++i)
      Visit(step.network(i));
    for (const ExecutionStep& substep : step.substep()) {
      if (substep.has_run_every_ms()) continue;
      Visit(substep);
      if (may_stop) break;
    }
  }

 private:
  void Visit(const std::string& name) {
    const auto net = nets_.find(name);
    if (net == nets_.end() || !seen_.insert(name).second) return;
    for (int i = 0; i < net->second->op_size(); ++i) {
      const OperatorDef& op = net->second->op(i);
      try {
        Check(op);
      } catch (...) {
        RethrowWithFrame(MakeString("operator ", i, " (", op.type(), ") of net \"", name,
                                    "\", before the plan runs"));
      }
    }
  }

  void Check(const OperatorDef& op) const {
    const std::optional<CreatedDatabase> database = FindCreatedDatabase(op);
    if (!database.has_value()) return;
    const std::string path =
        database->is_absolute ? database->path : ws_.RootFolder() + "/" + database->path;
    if (!database->is_pattern) {
      db::CheckNewDatabase(database->type, ws_.file_access().CheckWrite(path));
    } else if (path.rfind('%') > path.rfind('/')) {  // the folder is known
      db::CheckNewDatabaseFolder(database->type, ws_.file_access().CheckWrite(path));
    }
  }

  const PlanNetDefs& nets_;
  const Workspace& ws_;
  std::set<std::string> seen_;
};

}  // namespace

void CheckPlanTargets(const PlanDef& plan, const PlanNetDefs& nets, const Workspace& ws) {
  EnsureBuiltinOperators();
  TargetCheck check(nets, ws);
  for (const ExecutionStep& step : plan.execution_step()) check.Visit(step);
}

}  // namespace caffe2rt
