// The gradient of
//
//   If  c x w -> y     then_net { MatMul x w -> y }     else_net { Tanh x -> y }
// is
//   If  c y_grad x w y -> x_grad w_grad
//     then_net { MatMulGradient x w y_grad -> x_grad w_grad }
//     else_net { TanhGradient y y_grad -> x_grad; ConstantFill w -> w_grad (0) }
//
// Each net is the backward pass of one net of the forward operator, and sets the gradients that
// only the other one computes to 0.

#include <map>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "operators/control/gradients.h"
#include "operators/control/if.h"

namespace caffe2rt {
namespace {

constexpr char kAddedElse[] = "_auto_else_zero_blobs_";
constexpr char kZeroFillValue[] = "value";  // an argument of ConstantFill

class IfGradient {
 public:
  IfGradient(const OperatorDef& def, const std::vector<GradientWrapper>& g_output)
      : def_(def), start_(GivenGradients(def, g_output)) {
    for (const auto& [blob, gradient] : start_) given_.insert(gradient.dense_);
    forward_.insert(def.input().begin(), def.input().end());
    forward_.insert(def.output().begin(), def.output().end());
    then_ = Differentiate(&RequireNet(def, kIfThenNet));
    else_ = Differentiate(FindNet(def, kIfElseNet));
  }

  GradientOpsMeta Make() {
    OperatorDef op;
    op.set_type("If");
    op.set_is_gradient_op(true);
    if (def_.has_device_option()) *op.mutable_device_option() = def_.device_option();
    CAFFE_ENFORCE(!HasOutput(def_, def_.input(0)), "If needs the value of blob \"", def_.input(0),
                  "\", its condition, that the operator read, but its nets overwrite it; write to "
                  "another blob there");
    AddInputs(&op);
    std::set<std::string> blobs;
    for (const Branch* branch : {&then_, &else_}) {
      for (const auto& [blob, gradient] : branch->gradients) blobs.insert(blob);
    }
    for (const Branch* branch : {&then_, &else_}) {
      for (const auto& [blob, gradient] : branch->gradients) {
        if (forward_.contains(blob)) users_[gradient].insert(blob);
      }
    }
    for (const std::string& blob : blobs) {
      if (forward_.contains(blob)) Unite(blob);
    }
    AddOutputs(&op);
    AddArgument(kIfThenNet.name, then_.net, &op);
    const bool has_else = FindNet(def_, kIfElseNet) != nullptr;
    if (!has_else && !then_.net.name().empty()) else_.net.set_name(then_.net.name() + kAddedElse);
    if (has_else || else_.net.op_size() > 0) AddArgument(kIfElseNet.name, else_.net, &op);
    std::vector<GradientWrapper> of_inputs(static_cast<size_t>(def_.input_size()));
    for (int i = 0; i < def_.input_size(); ++i) {
      const auto found = then_.gradients.find(def_.input(i));
      if (found == then_.gradients.end()) continue;
      of_inputs[static_cast<size_t>(i)].dense_ = found->second;
    }
    return {{std::move(op)}, std::move(of_inputs)};
  }

 private:
  struct Branch {
    NetDef net;
    std::map<std::string, std::string> gradients;  // of forward blobs
  };

  Branch Differentiate(const NetDef* net) const {
    Branch branch;
    if (net == nullptr) {
      for (const auto& [blob, gradient] : start_) branch.gradients[blob] = gradient.dense_;
      return branch;
    }
    if (!net->name().empty()) branch.net.set_name(net->name() + "_grad");
    if (net->has_device_option()) *branch.net.mutable_device_option() = net->device_option();
    BackwardPass pass = GetBackwardPass(net->op(), start_);
    for (OperatorDef& op : pass.ops) branch.net.add_op()->Swap(&op);
    for (const auto& [blob, gradient] : pass.gradients) {
      CAFFE_ENFORCE(!gradient.IsSparse() || !forward_.contains(blob), "the gradient of blob \"",
                    blob, "\" in net \"", net->name(),
                    "\" is sparse, want a dense one: If cannot return it");
      if (gradient.IsDense()) branch.gradients[blob] = gradient.dense_;
    }
    return branch;
  }

  // The condition, and what the nets read: blobs of the forward operator and given gradients. Other
  // blobs are values that only the nets themselves use.
  void AddInputs(OperatorDef* op) const {
    std::set<std::string> known = {def_.input(0)};
    op->add_input(def_.input(0));
    for (const Branch* branch : {&then_, &else_}) {
      std::set<std::string> written;
      for (const OperatorDef& inner : branch->net.op()) {
        for (const std::string& name : inner.input()) {
          if (written.contains(name)) continue;
          if (!forward_.contains(name) && !given_.contains(name)) continue;
          if (known.insert(name).second) op->add_input(name);
        }
        written.insert(inner.output().begin(), inner.output().end());
      }
    }
  }

  void AddOutputs(OperatorDef* op) const {
    std::set<std::string> known;
    for (const Branch* branch : {&then_, &else_}) {
      for (const OperatorDef& inner : branch->net.op()) {
        for (const std::string& name : inner.output()) {
          if (known.insert(name).second) op->add_output(name);
        }
      }
    }
  }

  // Makes both nets write the gradient of the blob under the same name.
  void Unite(const std::string& blob) {
    const auto of_then = then_.gradients.find(blob), of_else = else_.gradients.find(blob);
    const bool in_then = of_then != then_.gradients.end();
    const bool in_else = of_else != else_.gradients.end();
    const bool same = in_then && in_else && of_then->second == of_else->second;
    std::string name = in_then ? of_then->second : of_else->second;
    const bool given = given_.contains(name);
    // A gradient that the nets make belongs to one blob.
    const bool shared = !given && users_.at(name).size() > 1;
    if (same && !shared) return;
    // A given gradient must stay as it is, for the blob whose gradient it is.
    if ((in_then == in_else && !same) || given || shared) name = blob + "_grad";
    SetGradient(blob, name, &then_);
    SetGradient(blob, name, &else_);
  }

  void SetGradient(const std::string& blob, const std::string& name, Branch* branch) const {
    std::string& gradient = branch->gradients[blob];
    if (gradient == name) return;
    OperatorDef set = gradient.empty()
                          ? CreateOperatorDef("ConstantFill", "", {blob}, {name},
                                              {MakeArgument<float>(kZeroFillValue, 0.0f)})
                          : CreateOperatorDef("Copy", "", {gradient}, {name});
    if (def_.has_device_option()) *set.mutable_device_option() = def_.device_option();
    branch->net.add_op()->Swap(&set);
    gradient = name;
  }

  const OperatorDef& def_;
  const GradientStart start_;
  std::set<std::string> given_;    // the names of the given gradients
  std::set<std::string> forward_;  // inputs and outputs of the forward operator
  Branch then_, else_;
  std::map<std::string, std::set<std::string>> users_;  // the blobs that share a gradient
};

}  // namespace

GradientOpsMeta GetIfGradient::Get() {
  VerifyOp();
  return IfGradient(def_, g_output_).Make();
}

}  // namespace caffe2rt
