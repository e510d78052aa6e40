// The gradient of
//
//   While  c X S -> Y c S     loop_net { Do X S -> Y S }
// is
//   HasScope S -> cond
//   While  cond Y Y_grad S -> X_grad S
//     loop_net { gradient of Do }     cond_net { HasScope S -> cond }
//
// because each forward iteration leaves a workspace in the scope. As in Caffe2, every iteration
// overwrites X_grad, which is right only if Do writes nothing that it reads.
//
// If Do updates a blob in place, which Caffe2 does not support, the loop works on gradients of its
// own, and copies the results afterwards:
//
//   While  c X W Y S -> X Y c S     loop_net { Do X W S -> X Y S }
// is
//   Copy X_grad -> X/GRAD; Copy Y_grad -> Y/GRAD; ConstantFill W -> W/GRAD (0); HasScope S -> cond
//   While  cond ... -> X/GRAD Y/GRAD W/GRAD W/STEP S
//     loop_net { gradient of Do:  ... X/GRAD Y/GRAD S -> X/GRAD W/STEP S
//                Scale Y/GRAD -> Y/GRAD (0); Sum W/GRAD W/STEP -> W/GRAD }
//     cond_net { HasScope S -> cond }
//   Copy X/GRAD -> X_grad; Copy W/GRAD -> W_grad
//
// X is carried from iteration to iteration, and so is its gradient, which starts at 0 if none is
// given. W is the same in all iterations, so its gradients are added up. Only the last Y is used
// after the loop, so that its gradient is 0 for all iterations but the last. If the loop does not
// run at all, a blob still has its value from before the loop, and its gradient is the given one.

#include <algorithm>
#include <map>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "operators/control/do.h"
#include "operators/control/gradients.h"
#include "operators/control/while.h"

namespace caffe2rt {
namespace {

constexpr char kCondNet[] = "gradient_loop_cond_net";
constexpr char kCond[] = "gradient_loop_cond_net/cond";
constexpr char kLoopSuffix[] = "/_WHILE_OPERATOR_GRAD_";
constexpr char kStepSuffix[] = "/_WHILE_OPERATOR_GRAD_STEP_";
// Arguments of ConstantFill and Scale.
constexpr char kLoopFillValue[] = "value";
constexpr char kLoopScaleFactor[] = "scale";

const OperatorDef& LoopBody(const NetDef& net) {
  CAFFE_ENFORCE(net.op_size() == 1 && net.op(0).type() == "Do", "net \"", net.name(), "\" has ",
                CountText(net.op_size(), "operator"),
                net.op_size() > 0 ? ", the first one of type " + net.op(0).type() : "",
                "; a While with a gradient needs one Do as its loop");
  return net.op(0);
}

class WhileGradient {
 public:
  WhileGradient(const OperatorDef& def, const std::vector<GradientWrapper>& g_output)
      : def_(def), net_(RequireNet(def, kWhileLoopNet)), body_(LoopBody(net_)) {
    for (const auto& [blob, gradient] : GivenGradients(def, g_output)) {
      given_[blob] = gradient.dense_;
    }
    for (const std::string& input : body_.input()) {
      if (HasOutput(body_, input) && input != Scope()) carried_.insert(input);
    }
  }

  GradientOpsMeta Make() {
    const bool in_place = !carried_.empty();
    const GradientOpsMeta body =
        in_place ? OwnGradients()
                 : GradientOfDo(body_, OfOutputs(given_),
                                [](const std::string& blob) { return blob + "_grad"; });
    if (body.ops_.empty()) return Unchanged(body);
    std::vector<GradientWrapper> of_inputs(static_cast<size_t>(def_.input_size()));
    NetDef loop;
    if (!net_.name().empty()) loop.set_name(net_.name() + "_grad");
    if (net_.has_device_option()) *loop.mutable_device_option() = net_.device_option();
    *loop.add_op() = body.ops_[0];
    std::map<std::string, std::string> gradients;  // of the inputs of the body
    for (size_t i = 0; i < body.g_input_.size(); ++i) {
      gradients[body_.input(static_cast<int>(i))] = body.g_input_[i].dense_;
    }
    if (in_place) CompleteLoop(&loop, &gradients);
    AddLoop(loop);
    for (OperatorDef& op : after_) ops_.push_back(std::move(op));
    for (int i = 0; i < def_.input_size(); ++i) {
      const auto found = gradients.find(def_.input(i));
      if (found != gradients.end()) of_inputs[static_cast<size_t>(i)].dense_ = found->second;
    }
    return {std::move(ops_), std::move(of_inputs)};
  }

 private:
  using Names = std::map<std::string, std::string>;

  const std::string& Scope() const { return body_.input(body_.input_size() - 1); }

  // The result if the body passes on the gradients of all blobs that have one.
  GradientOpsMeta Unchanged(const GradientOpsMeta& body) const {
    std::vector<GradientWrapper> of_inputs(static_cast<size_t>(def_.input_size()));
    std::set<std::string> passed;
    for (size_t i = 0; i < body.g_input_.size(); ++i) {
      if (!body.g_input_[i].IsEmpty()) passed.insert(body_.input(static_cast<int>(i)));
    }
    for (int i = 0; i < def_.input_size(); ++i) {
      const auto given = given_.find(def_.input(i));
      if (given == given_.end() || !passed.contains(given->first)) continue;
      of_inputs[static_cast<size_t>(i)].dense_ = given->second;
    }
    return {{}, std::move(of_inputs)};
  }

  // The gradients of the body's outputs.
  std::vector<GradientWrapper> OfOutputs(const Names& gradients) const {
    std::vector<GradientWrapper> of_outputs;
    for (const std::string& output : body_.output()) {
      const auto found = gradients.find(output);
      of_outputs.push_back({.dense_ = found == gradients.end() ? "" : found->second});
    }
    return of_outputs;
  }

  // The gradient of the body over the gradients that belong to the loop. A carried blob whose
  // gradient the body computes has one at the end of the body too.
  GradientOpsMeta OwnGradients() {
    CAFFE_ENFORCE(ArgumentHelper(body_).Read(kDoCopyExternalBlobs), "the Do in net \"", net_.name(),
                  "\" updates \"", *carried_.begin(), "\" in place, but its argument \"",
                  kDoCopyExternalBlobs.name,
                  "\" is 0, want 1: the gradient needs the value of each "
                  "iteration");
    for (const auto& [blob, gradient] : given_) {
      if (!HasOutput(body_, blob)) continue;
      loop_[blob] = blob + kLoopSuffix;
      Add("Copy", {gradient}, loop_[blob], &ops_);
    }
    const auto name_of = [this](const std::string& blob) {
      return blob + (carried_.contains(blob) ? kLoopSuffix : kStepSuffix);
    };
    for (;;) {
      GradientOpsMeta body = GradientOfDo(body_, OfOutputs(loop_), name_of);
      const size_t known = loop_.size();
      for (size_t i = 0; i < body.g_input_.size(); ++i) {
        const std::string& blob = body_.input(static_cast<int>(i));
        if (body.g_input_[i].IsEmpty() || !carried_.contains(blob) || loop_.contains(blob))
          continue;
        loop_[blob] = blob + kLoopSuffix;
        AddZero(blob, loop_[blob]);
      }
      if (loop_.size() == known) return body;
    }
  }

  // Adds what turns the gradients of one iteration into those of the loop, and replaces the names
  // in `gradients`.
  void CompleteLoop(NetDef* loop, Names* gradients) {
    for (auto& [blob, gradient] : *gradients) {
      if (gradient.empty()) continue;
      const std::string total = blob + kLoopSuffix;
      if (!carried_.contains(blob)) {
        AddZero(blob, total);
        std::vector<OperatorDef> sum;
        Add("Sum", {total, gradient}, total, &sum);
        *loop->add_op() = std::move(sum[0]);
      }
      gradient = blob + "_grad";
      Add("Copy", {total}, gradient, &after_);
    }
    for (const auto& [blob, gradient] : loop_) {
      if (carried_.contains(blob) && (*gradients)[blob] != "") continue;
      std::vector<OperatorDef> zero;
      Add("Scale", {gradient}, gradient, &zero);
      AddArgument(kLoopScaleFactor, 0.0f, &zero[0]);
      *loop->add_op() = std::move(zero[0]);
      if (!HasInput(def_, blob)) continue;
      (*gradients)[blob] = blob + "_grad";
      Add("Copy", {gradient}, blob + "_grad", &after_);
    }
  }

  void AddLoop(const NetDef& loop) {
    OperatorDef has_scope = CreateOperatorDef("HasScope", "", {Scope()}, {kCond});
    NetDef cond;
    cond.set_name(kCondNet);
    *cond.add_op() = has_scope;
    cond.add_external_input(Scope());
    ops_.push_back(std::move(has_scope));
    OperatorDef op;
    op.set_type("While");
    op.set_is_gradient_op(true);
    if (def_.has_device_option()) *op.mutable_device_option() = def_.device_option();
    op.add_input(kCond);
    std::set<std::string> read, written;
    for (const OperatorDef& inner : loop.op()) {
      for (const std::string& name : inner.input()) {
        if (!written.contains(name) && read.insert(name).second) op.add_input(name);
      }
      for (const std::string& name : inner.output()) {
        if (written.insert(name).second) op.add_output(name);
      }
    }
    AddArgument(kWhileLoopNet.name, loop, &op);
    AddArgument(kWhileCondNet.name, cond, &op);
    ops_.push_back(std::move(op));
  }

  void Add(const std::string& type, const std::vector<std::string>& inputs,
           const std::string& output, std::vector<OperatorDef>* ops) const {
    ops->push_back(CreateOperatorDef(type, "", inputs, {output}));
    if (def_.has_device_option()) *ops->back().mutable_device_option() = def_.device_option();
  }
  void AddZero(const std::string& like, const std::string& output) {
    Add("ConstantFill", {like}, output, &ops_);
    AddArgument(kLoopFillValue, 0.0f, &ops_.back());
  }

  const OperatorDef& def_;
  const NetDef& net_;
  const OperatorDef& body_;
  Names given_;                    // by blob
  Names loop_;                     // the gradients at the end of the body, by blob
  std::set<std::string> carried_;  // inputs and outputs of the body
  std::vector<OperatorDef> ops_;   // before the loop, then the result
  std::vector<OperatorDef> after_;
};

}  // namespace

GradientOpsMeta GetWhileGradient::Get() {
  VerifyOp();
  return WhileGradient(def_, g_output_).Make();
}

}  // namespace caffe2rt
