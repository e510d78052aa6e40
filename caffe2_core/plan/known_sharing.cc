#include "caffe2_core/plan/known_sharing.h"

#include <algorithm>

#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

// Whether the step runs once, alone and in the workspace of the plan.
bool RunsOnceAlone(const ExecutionStep& step) {
  return !step.create_workspace() && !step.has_run_every_ms() && !step.has_should_stop_blob() &&
         !step.has_report_net() && !step.concurrent_substeps() &&
         step.num_concurrent_instances() <= 1 && (!step.has_num_iter() || step.num_iter() == 1);
}

}  // namespace

void KnownSharing::AddStep(const ExecutionStep& step, PlanUses* uses) {
  if (!RunsOnceAlone(step)) {
    for (const StepUses::Net& net : uses->OfSubstep(step).nets) EndAllOf(*net.uses);
    return;
  }
  for (const std::string& name : step.network()) {
    if (const NetUses* const net = uses->OfNet(name)) AddNet(*net);
  }
  for (const ExecutionStep& substep : step.substep()) AddStep(substep, uses);
}

void KnownSharing::AddNet(const NetUses& net) {
  const auto& ops = net.net->op();
  work_ += static_cast<size_t>(ops.size());
  if (work_ > kMostKnownUses) return memory_.clear();
  // Operators of other executors follow their dependencies, among which are shared memory and writes.
  if (!net.unlisted.empty() || std::any_of(ops.begin(), ops.end(), HasNestedNets)) {
    return EndAllOf(net);
  }
  for (const OperatorDef& op : ops) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
    for (const std::string& output : op.output()) memory_.erase(output);
    if (schema == nullptr) continue;
    for (int i = 0; i < op.input_size(); ++i) {
      if (schema->modifies_input(i)) memory_.erase(op.input(i));
    }
    for (const auto& [input, output] : schema->shared_memory()) {
      if (input >= op.input_size() || output >= op.output_size()) continue;
      std::shared_ptr<const char>& memory = memory_[op.input(input)];
      if (memory == nullptr) memory = std::make_shared<const char>();
      memory_[op.output(output)] = memory;
    }
  }
}

void KnownSharing::EndAllOf(const NetUses& net) {
  work_ += net.blobs.size();
  if (!net.unlisted.empty() || work_ > kMostKnownUses) return memory_.clear();
  for (const auto& [name, use] : net.blobs) {
    if ((use & ~(kReads | kReadsSynchronized)) != 0) memory_.erase(name);
  }
}

const void* KnownSharing::MemoryOf(const std::string& name) const {
  const auto found = memory_.find(name);
  return found == memory_.end() ? nullptr : found->second.get();
}

}  // namespace caffe2rt
