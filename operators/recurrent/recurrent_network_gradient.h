#pragma once
// RecurrentNetworkGradient (recurrent_network.h).

#include <memory>
#include <string>
#include <vector>

#include "operators/common/copy_rows.h"
#include "operators/recurrent/accumulate_kernels.h"
#include "operators/recurrent/recurrent_network.h"
#include "operators/recurrent/weight_gradients.h"

#pragma GCC visibility push(default)  // for libcaffe2_cuda
namespace caffe2rt {

// How the backward step net is connected with the operator's inputs and outputs.
struct BackwardPlan {
  // The gradient of a state, and which gradients of outputs are added to it.
  struct State {
    std::string name;
    std::string gradient;
    std::vector<int> of_all = {};   // the inputs that are gradients of rows 1 to T
    std::vector<int> of_last = {};  // the inputs that are gradients of the last row
  };
  NetDef net;  // with the names of `param_grads`
  std::vector<StepLink> links;
  std::vector<size_t> step_params;               // the parameters whose gradients each step adds to
  std::vector<std::string> param_grads;          // in the step, one for each of these
  std::vector<WeightGradient> weight_gradients;  // those of the other parameters
  std::vector<State> states;
  bool is_input_linked = false;  // whether the links write all of output 0
};
// THROWS if the arguments contradict each other or the operator's inputs and outputs.
BackwardPlan PlanBackward(const OperatorDef& def, const StepArguments& arguments,
                          DeviceType device);

template <class Context>
class RecurrentNetworkGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  RecurrentNetworkGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        arguments_(ReadStepArguments(def)),
        plan_(PlanBackward(def, arguments_, Context::GetDeviceType())),
        step_net_(plan_.net, plan_.links, arguments_.timestep, plan_.param_grads,
                  Context::GetDeviceType(), &this->random_place()) {
    for (const BackwardPlan::State& state : plan_.states) {
      State& blobs = states_.emplace_back();
      ws->CreateBlob(state.name);
      blobs.forward = ws->FindBlob(state.name);
      ws->CreateBlob(state.gradient);
      blobs.gradient = ws->FindBlob(state.gradient);
    }
    for (const WeightGradient& gradient : plan_.weight_gradients) {
      weight_gradients_.emplace_back(gradient, ws, Context::GetDeviceType());
    }
  }

  bool RunOnDevice() override {
    const int first = static_cast<int>(arguments_.outputs_with_grads.size());
    const Tensor& X = Input(first);
    const SequenceShape shape = SequenceShapeOf(X, first);
    const std::shared_ptr<StepWorkspaces> spaces = Workspaces(shape.steps);
    float* dx = this->template OutputData<float>(0, X.sizes());
    if (!plan_.is_input_linked) SetToZero(X.numel(), dx);
    for (size_t i = 0; i < states_.size(); ++i) StartState(i, shape.steps);
    for (size_t i = 0; i < arguments_.params.size(); ++i) {
      Tensor* const gradient = ParamGradient(i);
      SetToZero(gradient->numel(), gradient->template mutable_data<float>());
    }
    for (WeightGradientRun& run : weight_gradients_) {
      Tensor* const zero = run.Zero(spaces, Param(run.plan().weight_param));
      if (zero != nullptr) SetToZero(zero->numel(), zero->template mutable_data<float>());
    }
    step_net_.Prepare(spaces, shape.steps);
    step_net_.SetObservers(this->observers_);
    for (int64_t t = shape.steps; t-- > 0;) RunStep(t);
    for (WeightGradientRun& run : weight_gradients_) {
      if (shape.steps == 0) break;
      run.Run(shape.steps);
      // FCGradient gives the gradient of the bias the shape [N].
      const size_t bias = run.plan().bias_param;
      CAFFE_ENFORCE_EQ(Output(1 + static_cast<int>(bias))->numel(), Param(bias).numel(),
                       "elements of the gradient of parameter ", bias, ", want those of the ",
                       "parameter of shape ", Param(bias).sizes());
      ParamGradient(bias);
    }
    context_.SwitchToDevice(0);
    for (size_t i = 0; i < states_.size(); ++i) FinishState(i, shape.batch);
    return true;
  }

 private:
  struct State {
    std::shared_ptr<Blob> forward;
    std::shared_ptr<Blob> gradient;
    Tensor rows{Context::GetDeviceType()};  // shares the memory of the gradient during a run
  };

  std::shared_ptr<StepWorkspaces> Workspaces(int64_t steps) {
    const int last = this->InputSize() - 1;
    const std::shared_ptr<StepWorkspaces>& spaces =
        OperatorBase::template Input<ScratchWorkspaces>(last).steps;
    CAFFE_ENFORCE(spaces != nullptr && spaces->parent() == this->workspace(), "input ", last, " (",
                  this->debug_def().input(last),
                  ") is not from a RecurrentNetwork of this workspace");
    CAFFE_ENFORCE_GE(spaces->size(), static_cast<size_t>(steps), "workspaces of time steps in ",
                     "input ", last, " (", this->debug_def().input(last),
                     "): RecurrentNetwork keeps them if it has a backward step net");
    return spaces;
  }

  void SetToZero(int64_t n, float* y) {
    if (n > 0) FillZeros(context_, static_cast<size_t>(n) * sizeof(float), y);
  }

  // The gradient of parameter `i`, with the shape of the parameter.
  Tensor* ParamGradient(size_t i) {
    Tensor* const gradient = Output(1 + static_cast<int>(i));
    gradient->ResizeLike(Param(i));
    return gradient;
  }
  const Tensor& Param(size_t i) const {
    return Input(static_cast<int>(arguments_.outputs_with_grads.size()) + arguments_.params[i]);
  }

  void StartState(size_t i, int64_t steps) {
    const BackwardPlan::State& plan = plan_.states[i];
    CAFFE_ENFORCE(states_[i].forward->IsTensor(Context::GetDeviceType()), "the state \"", plan.name,
                  "\" holds no tensor on ", DeviceTypeName(Context::GetDeviceType()),
                  ": RecurrentNetwork must run before");
    const Tensor& state = states_[i].forward->template Get<Tensor>();
    CAFFE_ENFORCE(state.dim() == 3 && state.dim(0) > steps, "the state \"", plan.name,
                  "\" has shape ", state.sizes(), ", want [", steps, " + 1, N, D]");
    Tensor* const gradient = states_[i].gradient->GetMutableTensor(Context::GetDeviceType());
    gradient->ResizeLike(state);
    float* y = gradient->template mutable_data<float>();
    SetToZero(gradient->numel(), y);
    states_[i].rows = *gradient;
    const int64_t row = state.dim(1) * state.dim(2);
    for (const int from : plan.of_last) {
      const Tensor& last = Input(from);
      CAFFE_ENFORCE_EQ(last.numel(), row, "elements of input ", from, " of shape ", last.sizes(),
                       ", want those of a row of the state \"", plan.name, "\" of shape ",
                       state.sizes());
      if (row > 0)
        AddGradientRow(context_, row, last.template data<float>(), y + (gradient->numel() - row));
    }
    for (const int from : plan.of_all) {
      CAFFE_ENFORCE_EQ(Input(from).numel(), CheckedMultiply(steps, row), "elements of input ", from,
                       " of shape ", Input(from).sizes(), ", want those of ", steps,
                       " rows of the state \"", plan.name, "\" of shape ", state.sizes());
      (void)Input(from).template data<float>();
    }
  }

  // Input `from`, the gradient of state `i`. THROWS unless it has `count` rows.
  const float* RowsOfGradient(size_t i, int from, int64_t count) {
    const Tensor& rows = states_[i].rows;
    const Tensor& all = Input(from);
    CAFFE_ENFORCE_GE(all.numel(), CheckedMultiply(count, rows.dim(1) * rows.dim(2)),
                     "elements of input ", from, " of shape ", all.sizes(), ", want those of ",
                     count, " rows of the state \"", plan_.states[i].name, "\" of shape ",
                     rows.sizes());
    return all.template data<float>();
  }

  // The gradient of the state after step t is complete when the gradient of the output is added to
  // what step t + 1 has written.
  void RunStep(int64_t t) {
    for (size_t i = 0; i < states_.size(); ++i) {
      Tensor& rows = states_[i].rows;
      const int64_t row = rows.dim(1) * rows.dim(2);
      for (const int from : plan_.states[i].of_all) {
        if (row == 0) continue;
        AddGradientRow(context_, row, RowsOfGradient(i, from, t + 1) + t * row,
                       rows.template mutable_data<float>() + (t + 1) * row);
      }
    }
    step_net_.Run(static_cast<size_t>(t), t);
    context_.SwitchToDevice(0);
    for (size_t i = 0; i < plan_.step_params.size(); ++i) {
      Tensor* const gradient = Output(1 + static_cast<int>(plan_.step_params[i]));
      const Tensor& part = step_net_.Result(static_cast<size_t>(t), i, gradient->numel());
      if (part.numel() == 0) continue;
      AddGradientRow(context_, part.numel(), part.template data<float>(),
                     gradient->template mutable_data<float>());
    }
  }

  // Writes the gradient of the initial value.
  void FinishState(size_t i, int64_t batch) {
    const int first = static_cast<int>(arguments_.outputs_with_grads.size());
    const Tensor& initial = Input(first + arguments_.initial_ids[i]);
    const Tensor& gradient = states_[i].rows;
    const int output = 1 + static_cast<int>(arguments_.params.size() + i);
    float* y = this->template OutputData<float>(output, initial.sizes());
    const int64_t n = initial.numel();
    CAFFE_ENFORCE_LE(CheckedMultiply(n, initial.dim() == 1 ? batch : 1), gradient.numel(),
                     "elements of the initial value of state \"", plan_.states[i].name, "\"");
    const float* x = gradient.template data<float>();
    if (n == 0) return;
    if (initial.dim() == 1) {
      SumOverBatch(context_, batch, n, x, y);
    } else {
      context_.CopyItemsSameDevice(gradient.dtype(), static_cast<size_t>(n), x, y);
    }
  }

  const StepArguments arguments_;
  const BackwardPlan plan_;
  StepNet step_net_;
  std::vector<State> states_;
  std::vector<WeightGradientRun> weight_gradients_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
