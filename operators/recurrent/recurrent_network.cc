// RecurrentNetwork and RecurrentNetworkGradient.

#include "operators/recurrent/recurrent_network.h"

#include <algorithm>
#include <climits>
#include <map>
#include <set>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shared_memory.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/blob_holders.h"
#include "operators/common/inference.h"
#include "operators/recurrent/backward_step.h"
#include "operators/recurrent/recurrent_network_gradient.h"

namespace caffe2rt {

SequenceShape SequenceShapeOf(const Tensor& input, int index) {
  CAFFE_ENFORCE_GE(input.dim(), 2, "rank of input ", index, " of shape ", input.sizes(),
                   ", want [T, N, *]: time steps, sequences of the batch");
  return {.steps = input.dim32(0), .batch = input.dim32(1)};
}

void FindStateDims(const std::vector<int64_t>& initial, const std::string& name,
                   const SequenceShape& shape, std::vector<int64_t>* dims) {
  const size_t rank = initial.size();
  CAFFE_ENFORCE(rank >= 1 && rank <= 3, "the initial value \"", name, "\" has shape ", initial,
                ", want [D], [N, D] or [1, N, D]");
  CAFFE_ENFORCE(rank == 1 || initial[rank - 2] == shape.batch, "the initial value \"", name,
                "\" has shape ", initial, ", want dim ", rank - 2, " to be ", shape.batch,
                ", as dim 1 of input 0");
  const int64_t first = rank == 3 ? initial[0] : 1;
  dims->assign({CheckedAdd(shape.steps, first), shape.batch, initial[rank - 1]});
}

StateRows FindStateRows(const NetDef& step_net, const std::vector<StepLink>& links,
                        const std::string& state) {
  StateRows rows;
  for (const StepLink& link : links) {
    if (link.external != state) continue;
    const auto contains = [&](const auto& names) {
      return std::find(names.begin(), names.end(), link.internal) != names.end();
    };
    const auto first = std::find_if(
        step_net.op().begin(), step_net.op().end(),
        [&](const OperatorDef& op) { return contains(op.input()) || contains(op.output()); });
    const bool is_written = first != step_net.op().end() && !contains(first->input());
    int64_t& end = is_written ? rows.written_end : rows.read_end;
    end = std::max(end, int64_t{link.offset} + link.window);
  }
  return rows;
}

const Tensor& StateOutput::View(DeviceType device) {
  CAFFE_ENFORCE(state->IsTensor(device), "the state \"", alias.source, "\" is not a tensor on ",
                DeviceTypeName(device));
  const Tensor& rows = state->Get<Tensor>();
  CAFFE_ENFORCE_GE(rows.dim(), 1, "rank of the state \"", alias.source, "\"");
  const int64_t first = alias.offset < 0 ? alias.offset + rows.dim(0) : alias.offset;
  CAFFE_ENFORCE(first >= 0 && first <= rows.dim(0), "output ", index, " (", alias.target,
                ") begins at row ", alias.offset, " of the state \"", alias.source, "\" of shape ",
                rows.sizes());
  return view.Of(rows, first, rows.dim(0) - first);
}

namespace {

// Gives a blob of the net another name.
void RenameBlob(const std::string& from, const std::string& to, NetDef* net) {
  const auto replace = [&](google::protobuf::RepeatedPtrField<std::string>* names) {
    for (std::string& name : *names) {
      if (name == from) name = to;
    }
  };
  for (OperatorDef& op : *net->mutable_op()) {
    replace(op.mutable_input());
    replace(op.mutable_output());
  }
  replace(net->mutable_external_input());
  replace(net->mutable_external_output());
}

// The gradients of the parameters in a step get names of their own, because the workspace may have
// blobs of the old names: the totals.
void NameParamGrads(const OperatorDef& def, const StepArguments& arguments, BackwardPlan* plan) {
  std::map<std::string, std::string> renamed;
  for (size_t i = 0; i < arguments.params.size(); ++i) {
    const std::string& name = arguments.param_grads.empty() ? def.output(1 + static_cast<int>(i))
                                                            : arguments.param_grads[i];
    const auto [it, is_new] = renamed.emplace(name, name + "_tmpstep");
    if (is_new) RenameBlob(name, it->second, &plan->net);
    plan->param_grads.push_back(it->second);
  }
}

void AddOutputGradients(const StepArguments& arguments, BackwardPlan* plan) {
  for (size_t k = 0; k < arguments.outputs_with_grads.size(); ++k) {
    const int output = arguments.outputs_with_grads[k];
    CAFFE_ENFORCE(output >= 0 && static_cast<size_t>(output) < arguments.aliases.size(),
                  "argument ", kOutputsWithGrads.name, " contains ", output,
                  ", want an output that is a part of a state, below ", arguments.aliases.size());
    const StateAlias& alias = arguments.aliases[static_cast<size_t>(output)];
    const auto state =
        std::find_if(plan->states.begin(), plan->states.end(),
                     [&](const BackwardPlan::State& s) { return s.name == alias.source; });
    CAFFE_ENFORCE(state != plan->states.end(), "argument ", kAliasSource.name, " contains \"",
                  alias.source, "\", want one of the argument ", kRecurrentStates.name);
    CAFFE_ENFORCE(alias.offset == 1 || alias.offset == -1, "argument ", kAliasOffset.name, " is ",
                  alias.offset, " for output ", output,
                  ", which has a gradient; want 1 (all steps) or -1 (the last step)");
    (alias.offset == 1 ? state->of_all : state->of_last).push_back(static_cast<int>(k));
  }
}

}  // namespace

BackwardPlan PlanBackward(const OperatorDef& def, const StepArguments& arguments,
                          DeviceType device) {
  const int first = static_cast<int>(arguments.outputs_with_grads.size());
  const int inputs = def.input_size() - first;  // and outputs of RecurrentNetwork
  CAFFE_ENFORCE_GE(inputs, 2, "inputs after the gradients of ", first, " outputs");
  const auto must_be_inputs = [&](const std::vector<int>& ids, const char* name) {
    for (const int id : ids) {
      CAFFE_ENFORCE(id >= 0 && id < inputs, "argument ", name, " contains ", id,
                    ", want an input of RecurrentNetwork");
    }
  };
  must_be_inputs(arguments.params, kRecurrentParam.name);
  must_be_inputs(arguments.initial_ids, kInitialStateIds.name);
  CAFFE_ENFORCE_EQ(static_cast<size_t>(def.output_size()),
                   1 + arguments.params.size() + arguments.initial_ids.size(),
                   "outputs, want one for input 0, for each parameter, and for each state");
  BackwardPlan plan;
  CAFFE_ENFORCE(
      arguments.param_grads.empty() || arguments.param_grads.size() == arguments.params.size(),
      "argument ", kRecurrentParamGrads.name, " has ", arguments.param_grads.size(),
      " entries, want ", arguments.params.size(), ", as argument ", kRecurrentParam.name);
  plan.net = ReadStepNet(def, kBackwardStepNet);
  plan.links = ReadBackwardLinks(def);
  // A backward pass may have renamed output 0, because the input has another gradient too.
  const std::string usual = def.input(first) + "_grad";
  for (StepLink& link : plan.links) {
    if (link.external == usual) link.external = def.output(0);
    plan.is_input_linked |= link.external == def.output(0) && link.offset == 0;
  }
  NameParamGrads(def, arguments, &plan);
  for (const std::string& state : arguments.states) {
    plan.states.push_back({.name = state, .gradient = state + "_grad"});
  }
  AddOutputGradients(arguments, &plan);
  plan.weight_gradients = TakeWeightGradients({.def = &def,
                                               .arguments = &arguments,
                                               .links = &plan.links,
                                               .grads = &plan.param_grads,
                                               .device = device},
                                              &plan.net);
  std::set<size_t> taken;
  for (const WeightGradient& gradient : plan.weight_gradients) {
    taken.insert({gradient.weight_param, gradient.bias_param});
  }
  std::vector<std::string> left;
  for (size_t i = 0; i < plan.param_grads.size(); ++i) {
    if (taken.contains(i)) continue;
    plan.step_params.push_back(i);
    left.push_back(plan.param_grads[i]);
  }
  plan.param_grads = std::move(left);
  return plan;
}

namespace {

class GetRecurrentNetworkGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  bool CopyArguments() const override { return HasStepNet(Def(), kBackwardStepNet); }

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const std::vector<int> outputs = ArgumentHelper(Def()).Read(kOutputsWithGrads);
    CAFFE_ENFORCE(!outputs.empty(), "argument ", kOutputsWithGrads.name,
                  " is empty, want the outputs whose gradients are given");
    OperatorDef gradient;
    gradient.set_type("RecurrentNetworkGradient");
    for (const int id : outputs) gradient.add_input(GO(id));
    for (const std::string& input : Def().input()) gradient.add_input(input);
    for (const std::string& output : Def().output()) gradient.add_input(output);
    if (!CopyArguments()) AddArguments(&gradient);
    const ArgumentHelper args(CopyArguments() ? Def() : gradient);
    gradient.add_output(GI(0));
    for (const int id : args.Read(kRecurrentParam)) gradient.add_output(GI(id));
    for (const int id : args.Read(kInitialStateIds)) gradient.add_output(GI(id));
    return {gradient};
  }

 private:
  // The arguments of the operator, and those that a derived backward step net replaces.
  void AddArguments(OperatorDef* gradient) const {
    std::vector<Argument> derived = DeriveBackwardStep(Def());
    for (const Argument& arg : Def().arg()) {
      const bool replaced = std::any_of(derived.begin(), derived.end(), [&](const Argument& other) {
        return other.name() == arg.name();
      });
      if (!replaced) *gradient->add_arg() = arg;
    }
    for (Argument& arg : derived) gradient->add_arg()->Swap(&arg);
  }
};

// The parts of the states whose initial values have known shapes. The workspaces are not a tensor.
std::vector<TensorShape> InferNetwork(const OperatorDef& def, const std::vector<TensorShape>& in) {
  std::vector<TensorShape> out = UnknownOutputs(def);
  if (!AreKnown(in, 1) || in[0].dims_size() < 2) return out;
  const SequenceShape shape{.steps = in[0].dims(0), .batch = in[0].dims(1)};
  const StepArguments arguments = ReadStepArguments(def);
  for (const StateAlias& alias : arguments.aliases) {
    const auto state = std::find(arguments.states.begin(), arguments.states.end(), alias.source);
    const auto output = std::find(def.output().begin(), def.output().end(), alias.target);
    if (state == arguments.states.end() || output == def.output().end()) continue;
    const int id = arguments.initial_ids[static_cast<size_t>(state - arguments.states.begin())];
    if (id < 0 || id >= static_cast<int>(in.size()) || in[static_cast<size_t>(id)].unknown_shape())
      continue;
    std::vector<int64_t> dims;
    FindStateDims(GetDimsVector(in[static_cast<size_t>(id)]), def.input(id), shape, &dims);
    const int64_t first = alias.offset < 0 ? alias.offset + dims[0] : alias.offset;
    if (first < 0 || first > dims[0]) continue;  // an error when the operator runs
    dims[0] -= first;
    out[static_cast<size_t>(output - def.output().begin())] =
        CreateTensorShape(dims, TensorProto::FLOAT);
  }
  return out;
}

// The gradients have the shapes of input 0, of the parameters and of the initial values.
std::vector<TensorShape> InferNetworkGradient(const OperatorDef& def,
                                              const std::vector<TensorShape>& in) {
  std::vector<TensorShape> out = UnknownOutputs(def);
  const ArgumentHelper args(def);
  std::vector<int> ids = {0};
  for (const int id : args.Read(kRecurrentParam)) ids.push_back(id);
  for (const int id : args.Read(kInitialStateIds)) ids.push_back(id);
  const int first = static_cast<int>(args.Read(kOutputsWithGrads).size());
  for (size_t i = 0; i < std::min(out.size(), ids.size()); ++i) {
    if (ids[i] < 0 || ids[i] >= static_cast<int>(in.size()) - first) continue;
    const TensorShape& input = in[static_cast<size_t>(first + ids[i])];
    if (!input.unknown_shape())
      out[i] = CreateTensorShape(GetDimsVector(input), TensorProto::FLOAT);
  }
  return out;
}

// The outputs are views of the states.
NamePairs StatesAndOutputs(const OperatorDef& def) {
  const ArgumentHelper args(def);
  const std::vector<std::string> states = args.Read(kAliasSource);
  const std::vector<std::string> outputs = args.Read(kAliasTarget);
  NamePairs pairs;
  for (size_t i = 0; i < std::min(states.size(), outputs.size()); ++i) {
    pairs.emplace_back(states[i], outputs[i]);
  }
  return pairs;
}

}  // namespace

void RegisterRecurrentNetwork() {
  // Only operators that may access any blob use these workspaces, so their blobs need no visit.
  DeclareBlobHolder<ScratchWorkspaces>([](const ScratchWorkspaces&, const BlobVisitor&) {});
  DeclareStepArguments(
      RegisterSchema("RecurrentNetwork", __FILE__)
          .NumInputs(1, INT_MAX)
          .NumOutputs(2, INT_MAX)
          .Input(0, "input",
                 "[T, N, *]: T time steps, N sequences; the other inputs are the "
                 "initial states and what the step net reads")
          .Output(0, "state",
                  "the rows of a state, for each entry of alias_dst; the last output "
                  "holds the workspaces of the time steps")
          .Output(1, "workspaces", "the last output; further parts of states come before it")
          .TensorInferenceFunction(InferNetwork)
          // The states, which are found by name.
          .AccessesUnlistedBlobs([](const OperatorDef&) { return true; })
          .Memory({.keeps_memory = true})  // outputs are views of its states
          .SetDoc("Runs a net, the step net, for each time step of a sequence. Links connect its "
                  "blobs with rows of the input and of the states."));
  DeclareSharedMemory("RecurrentNetwork", StatesAndOutputs);
  RegisterCpuOperator<RecurrentNetworkOp<CPUContext>>("RecurrentNetwork", __FILE__);

  DeclareStepArguments(
      RegisterSchema("RecurrentNetworkGradient", __FILE__)
          .Input(0, "output_grad",
                 "the gradients of outputs_with_grads, then the inputs and the "
                 "outputs of RecurrentNetwork")
          .Output(0, "input_grad",
                  "the gradient of input 0, then those of the parameters and of "
                  "the initial states")
          .TensorInferenceFunction(InferNetworkGradient)
          .AccessesUnlistedBlobs([](const OperatorDef&) { return true; })
          .Memory({.keeps_memory = true})
          .SetDoc("The gradient of RecurrentNetwork: runs the backward step net for each time "
                  "step, from the last to the first."));
  RegisterCpuOperator<RecurrentNetworkGradientOp<CPUContext>>("RecurrentNetworkGradient", __FILE__);
  RegisterGradient<GetRecurrentNetworkGradient>("RecurrentNetwork", __FILE__);
}

}  // namespace caffe2rt
