// Caffe2's tutorial "toy regression" in C++: fits W and b of y = W x + b to points with noise. Its counter of iterations is an
// int32, and its step size depends on it.
#include <cmath>
#include <iostream>
#include <map>

#include "caffe2/core/init.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/operator_gradient.h"
#include "caffe2/utils/proto_utils.h"

using namespace caffe2;  // NOLINT: as users write

namespace {

const int kIterations = 100;

OperatorDef* Add(NetDef* net, const string& type, const vector<string>& inputs,
                 const vector<string>& outputs, const vector<Argument>& arguments = {}) {
  OperatorDef* op = net->add_op();
  op->CopyFrom(CreateOperatorDef(type, "", inputs, outputs, arguments));
  return op;
}

NetDef InitNet() {
  NetDef net;
  net.set_name("init");
  net.mutable_device_option()->set_random_seed(1);
  Add(&net, "GivenTensorFill", {}, {"W_gt"},
      {MakeArgument<vector<int>>("shape", {1, 2}),
       MakeArgument<vector<float>>("values", {2.0f, 1.5f})});
  Add(&net, "GivenTensorFill", {}, {"B_gt"},
      {MakeArgument<vector<int>>("shape", {1}), MakeArgument<vector<float>>("values", {0.5f})});
  Add(&net, "ConstantFill", {}, {"ONE"},
      {MakeArgument<vector<int>>("shape", {1}), MakeArgument<float>("value", 1.0f)});
  Add(&net, "ConstantFill", {}, {"ITER"},
      {MakeArgument<vector<int>>("shape", {1}), MakeArgument<int>("value", 0),
       MakeArgument<int>("dtype", TensorProto_DataType_INT32)});
  Add(&net, "UniformFill", {}, {"W"},
      {MakeArgument<vector<int>>("shape", {1, 2}), MakeArgument<float>("min", -1),
       MakeArgument<float>("max", 1)});
  Add(&net, "ConstantFill", {}, {"B"},
      {MakeArgument<vector<int>>("shape", {1}), MakeArgument<float>("value", 0.0f)});
  return net;
}

// Adds the gradients of the operators from `first` on, in reverse, for the gradient of "loss".
void AddGradients(int first, NetDef* net) {
  const int last = net->op_size() - 1;
  Add(net, "ConstantFill", {"loss"}, {"loss_grad"}, {MakeArgument<float>("value", 1.0f)});
  for (int i = last; i >= first; --i) {
    const OperatorDef op = net->op(i);
    vector<GradientWrapper> output(op.output_size());
    output[0].dense_ = op.output(0) + "_grad";
    GradientOpsMeta meta = GetGradientForOp(op, output);
    for (const OperatorDef& gradient : meta.ops_) net->add_op()->CopyFrom(gradient);
  }
}

NetDef TrainNet() {
  NetDef net;
  net.set_name("train");
  net.mutable_device_option()->set_random_seed(2);
  const auto normal = [](vector<int> shape) {
    return vector<Argument>{MakeArgument<vector<int>>("shape", shape),
                            MakeArgument<float>("mean", 0), MakeArgument<float>("std", 1),
                            MakeArgument<int>("run_once", 0)};
  };
  Add(&net, "GaussianFill", {}, {"X"}, normal({64, 2}));
  Add(&net, "FC", {"X", "W_gt", "B_gt"}, {"Y_gt"});
  Add(&net, "GaussianFill", {}, {"noise"}, normal({64, 1}));
  Add(&net, "Add", {"Y_gt", "noise"}, {"Y_noise"});
  Add(&net, "StopGradient", {"Y_noise"}, {"Y_noise"});
  const int first = net.op_size();
  Add(&net, "FC", {"X", "W", "B"}, {"Y_pred"});
  Add(&net, "SquaredL2Distance", {"Y_noise", "Y_pred"}, {"dist"});
  Add(&net, "AveragedLoss", {"dist"}, {"loss"});
  AddGradients(first, &net);
  Add(&net, "Iter", {"ITER"}, {"ITER"});
  Add(&net, "LearningRate", {"ITER"}, {"LR"},
      {MakeArgument<float>("base_lr", -0.1f), MakeArgument<string>("policy", "step"),
       MakeArgument<int>("stepsize", 20), MakeArgument<float>("gamma", 0.9f)});
  Add(&net, "WeightedSum", {"W", "ONE", "W_grad", "LR"}, {"W"});
  Add(&net, "WeightedSum", {"B", "ONE", "B_grad", "LR"}, {"B"});
  return net;
}

bool IsNear(const Workspace& workspace, const string& name, int i, float want) {
  const float got = workspace.GetBlob(name)->Get<TensorCPU>().data<float>()[i];
  std::cout << name << "[" << i << "] = " << got << ", want about " << want << std::endl;
  return std::abs(got - want) < 0.1f;
}

}  // namespace

int main(int argc, char** argv) {
  GlobalInit(&argc, &argv);
  Workspace workspace;
  CAFFE_ENFORCE(workspace.RunNetOnce(InitNet()));
  const NetDef train = TrainNet();
  CAFFE_ENFORCE(workspace.CreateNet(train));
  for (int i = 0; i < kIterations; ++i) CAFFE_ENFORCE(workspace.RunNet(train.name()));
  const bool is_near = IsNear(workspace, "W", 0, 2.0f) && IsNear(workspace, "W", 1, 1.5f) &&
                       IsNear(workspace, "B", 0, 0.5f);
  const auto& iterations =
      workspace.GetBlob("ITER")->Get<TensorCPU>();  // int64 since its first use
  return is_near && iterations.data<int64_t>()[0] == kIterations ? 0 : 1;
}
