#pragma once
// Gradients of weights that are computed once for all time steps, instead of once for each step and
// then added up: one large matrix product is faster than many small ones.
//
// This applies to an FCGradient of the backward step net whose X is a row of a state and whose dY is
// a row of the gradient of the input, as in every layer that adds FC(h') to its input. The rows of
// all steps are contiguous, so that FCGradient can be called once for all of them. What remains in
// the step net is the gradient of X, an FCTransposed.

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "operators/recurrent/step_net.h"

#pragma GCC visibility push(default)  // for libcaffe2_cuda
namespace caffe2rt {

struct WeightGradient {
  OperatorDef op;  // the FCGradient of all steps
  size_t weight_param = 0, bias_param = 0;
  std::string state;  // input 0 is rows [offset, offset + T) of this blob, under the name `rows`
  int offset = 0;
  std::string rows;
  std::string zero;  // the bias of the FCTransposed, or "" if there is none
};

// What TakeWeightGradients looks at.
struct WeightGradientRequest {
  const OperatorDef* def = nullptr;                 // RecurrentNetworkGradient
  const StepArguments* arguments = nullptr;         // of `def`
  const std::vector<StepLink>* links = nullptr;     // of the backward step net
  const std::vector<std::string>* grads = nullptr;  // in the step, one for each parameter
  DeviceType device = CPU;
};
// Takes the operators to which this applies out of the backward step net.
std::vector<WeightGradient> TakeWeightGradients(const WeightGradientRequest& request, NetDef* net);

// Runs one of them. A second run with the same memory allocates nothing. REQUIRES: `ws`, the
// workspace of the gradient operator, outlives this object.
class WeightGradientRun {
 public:
  WeightGradientRun(WeightGradient plan, Workspace* ws, DeviceType device);

  const WeightGradient& plan() const { return plan_; }
  // The bias of the FCTransposed, which must be filled with zeros before the steps run, or null.
  // `weight` is the weight.
  Tensor* Zero(const std::shared_ptr<StepWorkspaces>& spaces, const Tensor& weight);
  // Starts the operator on stream 0, after the last step.
  void Run(int64_t steps);

 private:
  const WeightGradient plan_;
  Workspace* const ws_;
  const DeviceType device_;
  std::unique_ptr<Workspace> local_;  // holds `rows`
  std::shared_ptr<Blob> state_, rows_, zero_;
  std::shared_ptr<StepWorkspaces> spaces_;  // the workspaces that hold zero_
  RowsView view_;
  std::unique_ptr<OperatorBase> op_;  // destroyed before local_
};

}  // namespace caffe2rt
#pragma GCC visibility pop
