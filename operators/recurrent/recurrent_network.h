#pragma once
// RecurrentNetwork: runs a net, the step net, once for each time step of a sequence.
//   input [T, N, *], initial states, parameters of the step net ...
//     ->  parts of the states (alias_src, alias_dst, alias_offset), and last the workspaces of the
//         time steps
//
// A state is a blob of the operator's workspace, [T + 1, N, D]: the initial value, and the value
// after each time step. An initial value [k, N, D] makes it [T + k, N, D], for links with windows;
// rows that neither it nor a time step writes are zeros. Links connect the blobs of the step net
// with rows of the states and of the inputs: the step net reads row t of a state and writes row t +
// 1. They share memory, as the outputs share that of the states. All other blobs that the step net
// writes are in a workspace of the time step, whose parent is the operator's workspace. With a
// backward step net, or if gradients of outputs are expected, each time step has a workspace of its
// own; without, two take turns.
//
// RecurrentNetworkGradient: the gradients of outputs_with_grads, then the inputs and outputs
//   ->  the gradients of input 0, of the parameters (param), and of the initial states
// It runs the backward step net in the workspaces of the time steps, from the last to the first.
// The gradient of state "s" is the blob "s_grad".

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/recurrent/step_net.h"

#pragma GCC visibility push(default)  // for libcaffe2_cuda
namespace caffe2rt {

// T and N: dims 0 and 1 of the input. THROWS if it has none.
struct SequenceShape {
  int64_t steps = 0;
  int64_t batch = 0;
};
SequenceShape SequenceShapeOf(const Tensor& input, int index);

// Stores the dimensions of a state in `dims`, for an initial value of rank 1 (the same for each
// sequence of the batch), 2, or 3 (several first rows) with the dimensions `initial`. THROWS if the
// value does not fit.
void FindStateDims(const std::vector<int64_t>& initial, const std::string& name,
                   const SequenceShape& shape, std::vector<int64_t>* dims);

// The rows of a state that the links of a step net access at time step 0.
struct StateRows {
  int64_t read_end = 0;     // the end of those that it reads
  int64_t written_end = 0;  // the end of those that it writes before it reads them

  // Whether time steps may read a row before it is written, or may leave one unwritten, if `first`
  // rows are written before.
  bool LeaveGaps(int64_t first) const { return read_end > first || written_end <= first; }
};
StateRows FindStateRows(const NetDef& step_net, const std::vector<StepLink>& links,
                        const std::string& state);

// The output of an alias. `index` is its position among the outputs.
struct StateOutput {
  StateAlias alias;
  int index = 0;
  std::shared_ptr<Blob> state;
  RowsView view;

  // THROWS if the state does not have the rows.
  const Tensor& View(DeviceType device);
};

template <class Context>
class RecurrentNetworkOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  RecurrentNetworkOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        arguments_(ReadStepArguments(def)),
        keeps_steps_(HasStepNet(def, kBackwardStepNet) || !arguments_.outputs_with_grads.empty()),
        step_net_(ReadStepNet(def, kStepNet), arguments_.links, arguments_.timestep, {},
                  Context::GetDeviceType(), &this->random_place()) {
    for (const std::string& state : arguments_.states) {
      ws->CreateBlob(state);
      states_.push_back(ws->FindBlob(state));
      rows_of_states_.push_back(FindStateRows(step_net_.net(), arguments_.links, state));
    }
    for (const int id : arguments_.initial_ids) {
      CAFFE_ENFORCE(id >= 0 && id < this->InputSize(), "argument ", kInitialStateIds.name,
                    " contains ", id, ", want an input, at most ", this->InputSize() - 1);
    }
    for (const StateAlias& alias : arguments_.aliases) AddAlias(def, ws, alias);
  }

  bool RunOnDevice() override {
    const SequenceShape shape = SequenceShapeOf(Input(0), 0);
    for (size_t i = 0; i < states_.size(); ++i) StartState(i, shape);
    const std::shared_ptr<StepWorkspaces>& spaces = Workspaces(shape.steps);
    step_net_.Prepare(spaces, shape.steps);
    step_net_.SetObservers(this->observers_);
    for (int64_t t = 0; t < shape.steps; ++t) {
      step_net_.Run(static_cast<size_t>(keeps_steps_ ? t : t % kAlternatingSpaces), t);
    }
    context_.SwitchToDevice(0);
    for (StateOutput& output : outputs_) {
      *Output(output.index) = output.View(Context::GetDeviceType());
    }
    return true;
  }

 private:
  // As many workspaces as Caffe2 has if no time step has to be kept.
  static constexpr int64_t kAlternatingSpaces = 2;

  void AddAlias(const OperatorDef& def, Workspace* ws, const StateAlias& alias) {
    const auto found = std::find(def.output().begin(), def.output().end(), alias.target);
    CAFFE_ENFORCE(found != def.output().end() && found + 1 != def.output().end(), "argument ",
                  kAliasTarget.name, " contains \"", alias.target,
                  "\", want an output other than the last");
    StateOutput output;
    output.alias = alias;
    output.index = static_cast<int>(found - def.output().begin());
    output.state = ws->FindBlob(alias.source);
    CAFFE_ENFORCE(output.state != nullptr, "argument ", kAliasSource.name, " contains \"",
                  alias.source, "\", which is not a blob");
    outputs_.push_back(std::move(output));
  }

  void StartState(size_t i, const SequenceShape& shape) {
    const int id = arguments_.initial_ids[i];
    const Tensor& initial = Input(id);
    FindStateDims(initial.dims(), this->debug_def().input(id), shape, &dims_of_state_);
    Tensor* const state = states_[i]->GetMutableTensor(Context::GetDeviceType());
    state->Resize(dims_of_state_);
    const float* from = initial.template data<float>();
    float* to = state->template mutable_data<float>();
    const int64_t copies = initial.dim() > 1 ? 1 : shape.batch;
    for (int64_t copy = 0; copy < copies; ++copy) {
      context_.CopyItemsSameDevice(initial.dtype(), static_cast<size_t>(initial.numel()), from,
                                   to + copy * initial.numel());
    }
    const int64_t first = dims_of_state_[0] - shape.steps;
    const int64_t written = first * dims_of_state_[1] * dims_of_state_[2];
    if (state->numel() > written && rows_of_states_[i].LeaveGaps(first)) {
      FillZeros(context_, static_cast<size_t>(state->numel() - written) * sizeof(float),
                to + written);
    }
  }

  const std::shared_ptr<StepWorkspaces>& Workspaces(int64_t steps) {
    ScratchWorkspaces* const scratch =
        OperatorBase::template Output<ScratchWorkspaces>(this->OutputSize() - 1);
    if (scratch->steps == nullptr || scratch->steps->parent() != this->workspace()) {
      scratch->steps = std::make_shared<StepWorkspaces>(this->workspace());
    }
    scratch->steps->Grow(
        static_cast<size_t>(keeps_steps_ ? steps : std::min(steps, kAlternatingSpaces)));
    // Another operator may have shared other blobs since the last run of this one.
    if (keeps_steps_ && (scratch->steps != spaces_ || scratch->steps->shared_by() != this)) {
      ShareRecomputed(&scratch->steps->shared_blobs());
      scratch->steps->set_shared_by(this);
    }
    spaces_ = scratch->steps;
    return spaces_;
  }

  // The workspaces may be those of an earlier operator, which has shared other blobs.
  void ShareRecomputed(Workspace* shared) const {
    const std::vector<std::string>& blobs = arguments_.recomputed;
    for (const OperatorDef& op : step_net_.net().op()) {
      for (const std::string& output : op.output()) {
        if (std::find(blobs.begin(), blobs.end(), output) == blobs.end())
          shared->RemoveBlob(output);
      }
    }
    for (const std::string& blob : blobs) shared->CreateLocalBlob(blob);
  }

  const StepArguments arguments_;
  const bool keeps_steps_;
  StepNet step_net_;
  std::vector<std::shared_ptr<Blob>> states_;
  std::vector<StateRows> rows_of_states_;
  std::vector<StateOutput> outputs_;
  std::vector<int64_t> dims_of_state_;
  std::shared_ptr<StepWorkspaces> spaces_;  // those of the last run
};

}  // namespace caffe2rt
#pragma GCC visibility pop
