#include "tests/fuzz/mutate_net.h"

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/fuzz/mutate_argument.h"

namespace caffe2rt::test {
namespace {

std::string AnyBlob(const NetDef& net, Random* random) {
  std::vector<std::string> names(net.external_input().begin(), net.external_input().end());
  for (const OperatorDef& op : net.op()) {
    names.insert(names.end(), op.input().begin(), op.input().end());
    names.insert(names.end(), op.output().begin(), op.output().end());
  }
  return names.empty() || random->OneIn(32) ? "fuzz" + std::to_string(random->Below(3))
                                            : random->Pick(names);
}

const std::vector<std::string>& Types() {
  static const std::vector<std::string> types = RegisteredOperatorTypes(CPU);
  return types;
}

void MutateOp(Random* random, NetDef* net) {
  if (net->op_size() == 0) return AddOperator(random->Pick(Types()), random, net);
  const int at = static_cast<int>(random->Below(static_cast<uint64_t>(net->op_size())));
  OperatorDef* op = net->mutable_op(at);
  const auto any = [&](int size) {
    return static_cast<int>(random->Below(static_cast<uint64_t>(size)));
  };
  switch (random->Below(16)) {
    case 0:
      op->set_type(random->Pick(Types()));
      break;
    case 1:
      if (op->input_size() > 0) op->set_input(any(op->input_size()), AnyBlob(*net, random));
      break;
    case 2:
      if (op->output_size() > 0) op->set_output(any(op->output_size()), AnyBlob(*net, random));
      break;
    case 3:
      random->OneIn(2) ? op->add_input(AnyBlob(*net, random))
                       : op->add_output(AnyBlob(*net, random));
      break;
    case 4:
      if (op->input_size() > 1)
        op->mutable_input()->SwapElements(any(op->input_size()), any(op->input_size()));
      break;
    case 5:
      if (op->input_size() > 0 && random->OneIn(2))
        op->mutable_input()->RemoveLast();
      else if (op->output_size() > 0)
        op->mutable_output()->RemoveLast();
      break;
    case 6:
      net->mutable_op()->DeleteSubrange(at, 1);
      break;
    case 7: {
      const OperatorDef copy = *op;
      *net->add_op() = copy;
      break;
    }
    case 8:
      net->mutable_op()->SwapElements(at, any(net->op_size()));
      break;
    case 9:
      op->set_engine(EdgeString(random));
      break;
    case 10:
      op->mutable_device_option()->set_device_type(static_cast<int>(EdgeInt(random)));
      break;
    case 11:
      if (op->arg_size() > 0) op->mutable_arg()->DeleteSubrange(any(op->arg_size()), 1);
      break;
    default: {
      const OpSchema* schema = OpSchemaRegistry::Schema(op->type());
      if (schema != nullptr && !schema->args().empty() && random->OneIn(3)) {
        Argument* arg = op->add_arg();
        arg->set_name(random->Pick(schema->args()).name);
        FillArg(random, arg);
      } else if (op->arg_size() > 0) {
        MutateArg(random, op->mutable_arg(any(op->arg_size())));
      }
    }
  }
}

// Removes operators of unavailable types, which would make the whole net fail at once.
void RemoveMissing(NetDef* net) {
  for (int i = net->op_size() - 1; i >= 0; --i) {
    if (!std::binary_search(Types().begin(), Types().end(), net->op(i).type())) {
      net->mutable_op()->DeleteSubrange(i, 1);
      net->clear_external_input();  // its outputs become inputs, which are fed
      net->clear_external_output();
    }
  }
}

// Keeps a few consecutive operators; their inputs are fed.
void CutWindow(Random* random, NetDef* net) {
  const auto size = static_cast<uint64_t>(net->op_size());
  if (size < 2) return;
  const auto begin = static_cast<int>(random->Below(size));
  const auto end = std::min<int>(net->op_size(), begin + 1 + static_cast<int>(random->Below(8)));
  net->mutable_op()->DeleteSubrange(end, net->op_size() - end);
  net->mutable_op()->DeleteSubrange(0, begin);
  net->clear_external_input();
  net->clear_external_output();
}

// Changes one field of the step, or its position.
void MutateStepItself(const PlanDef& plan, Random* random, ExecutionStep* step) {
  const auto any_net = [&] {
    if (plan.network_size() == 0 || random->OneIn(8)) return std::string("fuzz");
    return plan.network(static_cast<int>(random->Below(static_cast<uint64_t>(plan.network_size()))))
        .name();
  };
  switch (random->Below(12)) {
    case 0:
      step->set_num_iter(EdgeInt(random));
      break;
    case 1:
      step->set_num_concurrent_instances(random->OneIn(4) ? static_cast<int>(EdgeInt(random))
                                                          : static_cast<int>(random->Below(5)));
      break;
    case 2:
      step->add_network(any_net());
      break;
    case 3:
      if (step->network_size() > 0) step->set_network(0, any_net());
      break;
    case 4:
      if (step->substep_size() > 0) {
        const ExecutionStep copy = step->substep(0);
        *step->add_substep() = copy;
      }
      break;
    case 5:
      step->set_concurrent_substeps(!step->concurrent_substeps());
      break;
    case 6:
      step->set_only_once(!step->only_once());
      break;
    case 7:
      step->set_create_workspace(!step->create_workspace());
      break;
    case 8:
      step->set_report_net(any_net());
      step->set_report_interval(static_cast<int>(random->Below(3)));
      break;
    case 9: {
      const ExecutionStep inner = *step;
      step->Clear();
      *step->add_substep() = inner;
      if (random->OneIn(2)) *step->add_substep() = inner;
      step->set_concurrent_substeps(random->OneIn(2));
      break;
    }
    case 10:
      step->set_run_every_ms(EdgeInt(random));
      break;
    default:
      step->set_should_stop_blob(random->OneIn(2) ? "stop" : random->OneIn(2) ? "fuzz0" : "");
  }
}

void MutateStep(const PlanDef& plan, Random* random, ExecutionStep* step) {
  if (step->substep_size() > 0 && random->OneIn(2)) {
    MutateStep(plan, random,
               step->mutable_substep(
                   static_cast<int>(random->Below(static_cast<uint64_t>(step->substep_size())))));
    return;
  }
  MutateStepItself(plan, random, step);
}

}  // namespace

void AddOperator(const std::string& type, Random* random, NetDef* net) {
  OperatorDef op;
  op.set_type(type);
  const OpSchema* schema = OpSchemaRegistry::Schema(op.type());
  if (schema == nullptr) return;
  const auto pick = [&](int low, int high) {
    high = std::min(high, low + 3);
    return low +
           static_cast<int>(random->Below(static_cast<uint64_t>(std::max(0, high - low)) + 1));
  };
  for (int n = pick(schema->min_input(), schema->max_input()); n-- > 0;)
    op.add_input(AnyBlob(*net, random));
  for (int n = pick(std::max(1, schema->min_output()), schema->max_output()); n-- > 0;) {
    op.add_output(random->OneIn(8) ? AnyBlob(*net, random)
                                   : "out" + std::to_string(random->Below(4)));
  }
  for (const OpSchema::Argument& known : schema->args()) {
    if (!known.required && random->OneIn(2)) continue;
    Argument* arg = op.add_arg();
    arg->set_name(known.name);
    FillArg(random, arg);
  }
  const int at = static_cast<int>(random->Below(static_cast<uint64_t>(net->op_size()) + 1));
  *net->add_op() = op;
  for (int i = net->op_size() - 1; i > at; --i) net->mutable_op()->SwapElements(i, i - 1);
}

void MutateNet(Random* random, NetDef* net) {
  if (!random->OneIn(8)) RemoveMissing(net);
  if (random->OneIn(2)) CutWindow(random, net);
  if (random->OneIn(16)) net->clear_op();
  const int count = 1 + static_cast<int>(random->Below(random->OneIn(4) ? 6 : 2));
  for (int i = 0; i < count; ++i) {
    if (random->OneIn(4)) {
      AddOperator(random->Pick(Types()), random, net);
    } else {
      MutateOp(random, net);
    }
  }
  if (random->OneIn(16)) net->set_type(random->OneIn(2) ? "dag" : "fuzz");
  if (random->OneIn(16)) net->clear_external_input();
  if (random->OneIn(16)) net->add_external_output(AnyBlob(*net, random));
}

void MutatePlan(Random* random, PlanDef* plan) {
  if (plan->network_size() > 0 && random->OneIn(2)) {
    MutateNet(random, plan->mutable_network(static_cast<int>(
                          random->Below(static_cast<uint64_t>(plan->network_size())))));
  }
  for (uint64_t n = random->Below(4); n-- > 0 && plan->execution_step_size() > 0;) {
    MutateStep(*plan, random,
               plan->mutable_execution_step(static_cast<int>(
                   random->Below(static_cast<uint64_t>(plan->execution_step_size())))));
  }
}

void MutateMetaNet(Random* random, MetaNetDef* meta) {
  if (meta->nets_size() == 0) return;
  MutateNet(
      random,
      meta->mutable_nets(static_cast<int>(random->Below(static_cast<uint64_t>(meta->nets_size()))))
          ->mutable_value());
}

}  // namespace caffe2rt::test
