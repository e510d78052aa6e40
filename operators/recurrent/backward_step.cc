#include "operators/recurrent/backward_step.h"

#include <algorithm>
#include <set>

#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/graph/net_blobs.h"

namespace caffe2rt {

namespace {

using Names = std::vector<std::string>;

// Builds the net and its links step by step, in the order of the public functions.
class BackwardStep {
 public:
  explicit BackwardStep(const OperatorDef& def)
      : def_(def),
        arguments_(ReadStepArguments(def)),
        forward_(ReadStepNet(def, kStepNet)),
        blobs_(forward_) {
    net_.set_name(forward_.name() + "_backward");
    net_.set_type("simple");
    if (forward_.has_device_option()) *net_.mutable_device_option() = forward_.device_option();
  }

  void Differentiate() {
    GradientStart start;
    NetDef copies;
    *copies.mutable_op() = forward_.op();
    for (const StepLink& link : arguments_.links) {
      CAFFE_ENFORCE_EQ(link.window, 1, "window of the link of blob \"", link.internal,
                       "\"; a step net with windows needs a backward_step_net");
      if (!blobs_.Writes(link.internal)) continue;
      const uint32_t blob = blobs_.Find(link.internal);
      const std::vector<uint32_t>& read = blobs_.read_first();
      CAFFE_ENFORCE(std::find(read.begin(), read.end(), blob) == read.end(),
                    "the step net reads and then overwrites the linked blob \"", link.internal,
                    "\"; it needs a backward_step_net");
      // The gradient that other operators of the step net contribute must be added to that of the
      // rows. A copy at the end makes the two differ.
      std::string end = link.internal;
      if (blobs_.Reads(link.internal)) {
        end += "_end_of_step";
        OperatorDef* const copy = copies.add_op();
        *copy = CreateOperatorDef("Copy", "", Names{link.internal}, Names{end});
        const OperatorDef& writer = forward_.op(static_cast<int>(blobs_.last_writer(blob)));
        if (writer.has_device_option()) *copy->mutable_device_option() = writer.device_option();
      }
      GradientWrapper gradient;
      gradient.dense_ = end + "_grad";
      AddLink(gradient.dense_, link);
      start.emplace_back(end, gradient);
    }
    BackwardPass pass = GetBackwardPass(copies.op(), start);
    AddRecomputation();
    for (OperatorDef& op : pass.ops) net_.add_op()->Swap(&op);
    gradients_ = std::move(pass.gradients);
  }

  void LinkInputs() {
    std::set<std::string> externals;
    for (const StepLink& link : arguments_.links) {
      if (blobs_.Writes(link.internal) || !blobs_.Reads(link.internal)) continue;
      const std::string gradient = GradientOf(link.internal);
      if (gradient.empty()) continue;
      CAFFE_ENFORCE(externals.insert(link.external).second, "the step net reads blob \"",
                    link.external, "\" through two links; it needs a backward_step_net");
      AddLink(Own(gradient), link);
    }
  }

  void AddParams() {
    std::set<std::string> others;  // inputs that are not parameters
    for (const StepLink& link : arguments_.links) others.insert(link.external);
    for (const int id : arguments_.initial_ids) {
      if (id >= 0 && id < def_.input_size()) others.insert(def_.input(id));
    }
    if (arguments_.params.empty()) RequireNoDirectReads(others);
    std::vector<int> ids = arguments_.params;
    for (int i = 0; i < def_.input_size() && arguments_.params.empty(); ++i) {
      if (others.insert(def_.input(i)).second && !GradientOf(def_.input(i)).empty())
        ids.push_back(i);
    }
    for (const int id : ids) {
      CAFFE_ENFORCE(id >= 0 && id < def_.input_size(), "argument ", kRecurrentParam.name,
                    " contains ", id, ", want an input, at most ", def_.input_size() - 1);
      const std::string gradient = GradientOf(def_.input(id));
      CAFFE_ENFORCE(!gradient.empty(), "argument ", kRecurrentParam.name, " contains ", id,
                    ", but the step net gives input \"", def_.input(id), "\" no gradient");
      params_.push_back(id);
      param_grads_.push_back(Own(gradient));
    }
  }

  std::vector<Argument> Arguments() const {
    return {MakeArgument(kBackwardStepNet.name, net_),
            MakeArgument(kBackwardLinkInternal.name, internal_),
            MakeArgument(kBackwardLinkExternal.name, external_),
            MakeArgument(kBackwardLinkOffset.name, offset_),
            MakeArgument(kRecurrentParam.name, params_),
            MakeArgument(kRecurrentParamGrads.name, param_grads_)};
  }

 private:
  // What the step net reads through a link has no further gradient of its own.
  void RequireNoDirectReads(std::set<std::string> others) const {
    for (const StepLink& link : arguments_.links) others.erase(link.internal);
    for (const uint32_t read : blobs_.read_first()) {
      const std::string& name = blobs_.name(read);
      CAFFE_ENFORCE(!others.contains(name) || GradientOf(name).empty(),
                    "the step net reads blob \"", name,
                    "\", which has a link or is an initial value, under its own name as well; "
                    "it needs a backward_step_net");
    }
  }

  void AddLink(const std::string& internal, const StepLink& link) {
    used_.insert(internal);
    internal_.push_back(internal);
    external_.push_back(link.external + "_grad");
    offset_.push_back(link.offset);
  }

  // The operators that compute the blobs which the steps do not keep.
  void AddRecomputation() {
    const std::set<std::string> wanted(arguments_.recomputed.begin(), arguments_.recomputed.end());
    for (const OperatorDef& op : forward_.op()) {
      for (const std::string& output : op.output()) {
        if (!wanted.contains(output)) continue;
        *net_.add_op() = op;
        break;
      }
    }
  }

  // The name of the blob's gradient, or "" if it has none.
  std::string GradientOf(const std::string& blob) const {
    const auto found = gradients_.find(blob);
    if (found == gradients_.end()) return "";
    CAFFE_ENFORCE(!found->second.IsSparse(), "the gradient of blob \"", blob,
                  "\" of the step net is sparse, want a dense one");
    return found->second.dense_;
  }

  // The gradient under a name that no link and no parameter uses.
  std::string Own(const std::string& gradient) {
    if (used_.insert(gradient).second) return gradient;
    std::string name;
    do {
      name = MakeString(gradient, "_copy_", copies_++);
    } while (!used_.insert(name).second);
    *net_.add_op() = CreateOperatorDef("Copy", "", Names{gradient}, Names{name});
    if (net_.op_size() > 1 && net_.op(0).has_device_option()) {
      *net_.mutable_op(net_.op_size() - 1)->mutable_device_option() = net_.op(0).device_option();
    }
    return name;
  }

  const OperatorDef& def_;
  const StepArguments arguments_;
  const NetDef forward_;
  const NetBlobs blobs_;
  NetDef net_;
  GradientMap gradients_;
  std::set<std::string> used_;
  int copies_ = 0;
  Names internal_, external_, param_grads_;
  std::vector<int> offset_, params_;
};

}  // namespace

std::vector<Argument> DeriveBackwardStep(const OperatorDef& def) {
  BackwardStep step(def);
  step.Differentiate();
  step.LinkInputs();
  step.AddParams();
  return step.Arguments();
}

}  // namespace caffe2rt
