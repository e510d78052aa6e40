#include "caffe2_core/plan/plan_uses.h"

#include "caffe2_core/graph/builtin_operators.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shared_memory.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {
namespace {

bool AccessesUnlistedBlobs(const OpSchema* schema, const OperatorDef& op) {
  if (schema == nullptr) return false;
  try {
    return schema->accesses_unlisted_blobs(op);
  } catch (...) {  // invalid arguments, which the constructor will reject as well
    return true;
  }
}

class NetWalk {
 public:
  explicit NetWalk(NetUses* uses) : uses_(*uses) {}

  void Add(const NetDef& net, const NestedNames& names, int depth) {
    const NetBlobs blobs(net);
    for (size_t i = 0; depth == 0 && i < blobs.written().size(); ++i) {
      uses_.written.push_back(blobs.name(blobs.written()[i]));
    }
    for (int i = 0; i < net.op_size(); ++i) {
      const OperatorDef& op = net.op(i);
      AddOperator(op, names, blobs, static_cast<size_t>(i));
      if (depth > 0 && op.output_size() > 0) uses_.nested_writes = true;
      if (depth >= kMaxNetDepth) {
        uses_.unlisted = op.type();
        continue;
      }
      if (op.arg_size() == 0) continue;
      const NestedNames inner(op, names);
      for (const Argument& arg : op.arg()) AddNets(arg, inner, depth + 1);
    }
  }

 private:
  void AddUse(const NestedName& blob, unsigned use) {
    if (!blob.is_held) uses_.blobs[blob.name] |= use;
  }

  void AddOperator(const OperatorDef& op, const NestedNames& names, const NetBlobs& blobs,
                   size_t position) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
    const bool replaces =
        schema != nullptr && (schema->HasTensorInference() || IsBuiltinOperator(op.type()));
    std::set<uint32_t> synchronized;
    for (int i = 0; i < op.output_size(); ++i) {
      unsigned use = kWrites;
      if (schema != nullptr && schema->output_is_synchronized(i)) {
        use = kWritesSynchronized;
        synchronized.insert(blobs.outputs(position)[static_cast<size_t>(i)]);
      } else if (blobs.is_in_place(position, static_cast<size_t>(i))) {
        use = replaces ? kUpdatesTensor : kUpdates;
      }
      AddUse(names.Find(op.output(i)), use);
    }
    for (int i = 0; i < op.input_size(); ++i) {
      unsigned use = kReads;
      if (synchronized.contains(blobs.inputs(position)[static_cast<size_t>(i)])) {
        use = kReadsSynchronized;
      }
      const bool modifies = schema != nullptr && schema->modifies_input(i);
      if (modifies) use = kWrites;
      if (schema != nullptr && schema->input_is_synchronized(i)) {
        use = modifies ? kWritesSynchronized : kReadsSynchronized;
      }
      AddUse(names.Find(op.input(i)), use);
    }
    if (schema != nullptr) {
      AddSharedMemory(op, names);
      if (!synchronized.empty()) AddGuards(op, *schema, names);
    }
    if (uses_.unlisted.empty() && AccessesUnlistedBlobs(schema, op)) uses_.unlisted = op.type();
  }

  // Other operators may write each blob through the one that shares its memory.
  void AddSharedMemory(const OperatorDef& op, const NestedNames& names) {
    for (const auto& [a, b] : SharedNamesOf(op)) {
      const NestedName first = names.Find(a), second = names.Find(b);
      AddUse(first, kWrites);
      AddUse(second, kWrites);
      if (first.name != second.name) uses_.aliases.emplace_back(first.name, second.name);
    }
  }

  // The synchronized inputs that are not synchronized outputs guard those outputs.
  void AddGuards(const OperatorDef& op, const OpSchema& schema, const NestedNames& names) {
    std::set<std::string> guarded, guards;
    for (int i = 0; i < op.output_size(); ++i) {
      if (schema.output_is_synchronized(i)) guarded.insert(op.output(i));
    }
    for (int i = 0; i < op.input_size(); ++i) {
      if (!schema.input_is_synchronized(i) || guarded.contains(op.input(i))) continue;
      guards.insert(names.Find(op.input(i)).name);
    }
    if (guards.empty()) return;
    for (const std::string& output : guarded) {
      const NestedName blob = names.Find(output);
      if (!blob.is_held) uses_.guards[blob.name].insert(guards.begin(), guards.end());
    }
  }

  void AddNets(const Argument& arg, const NestedNames& names, int depth) {
    if (arg.has_n()) Add(arg.n(), names, depth);
    for (const NetDef& net : arg.nets()) Add(net, names, depth);
    NetDef step;
    if (ParseTextNet(arg, &step)) Add(step, names, depth);
  }

  NetUses& uses_;
};

}  // namespace

class StepWalk {
 public:
  StepWalk(PlanUses* plan, StepUses* uses) : plan_(plan), uses_(*uses) {}

  void Add(const ExecutionStep& step, bool in_child) {
    for (const std::string& net : step.network()) AddNet(net, in_child);
    if (step.has_report_net()) AddNet(step.report_net(), in_child);
    if (step.has_should_stop_blob()) AddRead(step.should_stop_blob(), in_child);
    for (const ExecutionStep& substep : step.substep()) AddSubstep(substep, in_child);
  }
  void AddSubstep(const ExecutionStep& substep, bool in_child) {
    // A plan never creates NODE_ID; the read matters only if the blob exists.
    if (substep.create_workspace()) AddRead("NODE_ID", true);
    Add(substep, in_child || substep.create_workspace());
  }
  void AddNet(const std::string& name, bool in_child) {
    const NetUses* const net = plan_->OfNet(name);
    if (net != nullptr && seen_nets_.insert({net, in_child}).second) {
      uses_.nets.push_back({.uses = net, .in_child = in_child});
    }
  }

 private:
  void AddRead(const std::string& blob, bool in_child) {
    if (seen_reads_.insert({blob, in_child}).second) uses_.reads.emplace_back(blob, in_child);
  }

  PlanUses* const plan_;
  StepUses& uses_;
  std::set<std::pair<const NetUses*, bool>> seen_nets_;
  std::set<std::pair<std::string, bool>> seen_reads_;
};

NetUses UsesOf(const std::shared_ptr<const NetDef>& net) {
  NetUses uses;
  uses.net = net;
  NetWalk(&uses).Add(*net, NestedNames(), 0);
  return uses;
}

PlanUses::PlanUses(const PlanNetDefs* defs) : defs_(defs) {
  EnsureBuiltinOperators();  // registers their schemas
}

const NetUses* PlanUses::OfNet(const std::string& name) {
  const MutexLock lock(mutex_);
  if (const auto known = nets_.find(name); known != nets_.end()) return &known->second;
  const auto def = defs_->find(name);
  return def == defs_->end() ? nullptr : &(nets_[name] = UsesOf(def->second));
}

const StepUses& PlanUses::OfSubstep(const ExecutionStep& substep) {
  return Once(Part::kSubstep, substep,
              [&substep](StepWalk* walk) { walk->AddSubstep(substep, false); });
}

void PlanUses::FindCreators(const ExecutionStep& step) {
  for (const StepUses::Net& net : OfReporters(step).nets) {
    if (!net.uses->unlisted.empty() || net.uses->nested_writes) creator_ = net.uses;
  }
  for (const ExecutionStep& substep : step.substep()) FindCreators(substep);
}

const StepUses& PlanUses::OfReporters(const ExecutionStep& step) {
  return Once(Part::kReporters, step, [&step](StepWalk* walk) {
    if (step.has_report_net()) walk->AddNet(step.report_net(), false);
    for (const ExecutionStep& substep : step.substep()) {
      if (substep.has_run_every_ms()) walk->AddSubstep(substep, false);
    }
  });
}

const StepUses& PlanUses::Once(Part part, const ExecutionStep& step,
                               const std::function<void(StepWalk*)>& walk) {
  {
    const MutexLock lock(mutex_);
    if (const auto it = steps_.find({part, &step}); it != steps_.end()) return it->second;
  }
  StepUses uses;
  StepWalk fresh(this, &uses);
  walk(&fresh);
  const MutexLock lock(mutex_);
  return steps_.try_emplace({part, &step}, std::move(uses)).first->second;
}

}  // namespace caffe2rt
