// The gradient of
//
//   Do  X W S -> Y S     inner_blobs x w y     net { MatMul x w -> t; Tanh t -> y }
// is
//   Do  Y Y_grad X W S -> X_grad W_grad S      saved_fwd_blobs -
//     inner_blobs  x/COPY w/COPY y y/GRAD x w
//     net { TanhGradient y y/GRAD -> t_grad; MatMulGradient x w t_grad -> x_grad w_grad
//           Copy x_grad -> x/COPY; Copy w_grad -> w/COPY }
//
// where COPY and GRAD stand for longer suffixes. It runs in the workspace of the forward operator,
// which holds t. The copies separate the gradients, which this workspace keeps, from the blobs
// outside. A blob that Do updates in place has one name for both gradients, x/GRAD, which the net
// reads and overwrites at its end.

#include <map>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "operators/control/do.h"
#include "operators/control/gradients.h"

namespace caffe2rt {
namespace {

constexpr char kGivenSuffix[] = "/_DO_OPERATOR_INNER_GRAD_";
constexpr char kCopySuffix[] = "/_DO_OPERATOR_INNER_GRAD_COPY_";

class DoGradient {
 public:
  DoGradient(const OperatorDef& def, const std::vector<GradientWrapper>& g_output)
      : def_(def), net_(RequireNet(def, kDoNet)) {
    for (DoBinding& binding : ReadDoBindings(def)) {
      inner_of_[binding.outer] = binding.inner;
      outer_of_[binding.inner] = binding.outer;
    }
    GradientStart start;
    for (const auto& [outer, gradient] : GivenGradients(def, g_output)) {
      const auto found = inner_of_.find(outer);
      CAFFE_ENFORCE(found != inner_of_.end(), "the scope \"", outer, "\" has a gradient, \"",
                    gradient.dense_, "\"; only tensors can have one");
      const std::string inner = found->second + kGivenSuffix;
      given_[inner] = gradient.dense_;
      start.push_back({found->second, {.dense_ = inner}});
    }
    pass_ = GetBackwardPass(net_.op(), start);
  }

  GradientOpsMeta Make(const std::function<std::string(const std::string&)>& name_of) {
    AddInputs();
    for (int i = 0; i + 1 < def_.input_size(); ++i) BindGivenGradientOf(def_.input(i));
    std::vector<GradientWrapper> of_inputs(static_cast<size_t>(def_.input_size()));
    for (int i = 0; i + 1 < def_.input_size(); ++i) {
      of_inputs[static_cast<size_t>(i)].dense_ = AddGradientOf(def_.input(i), name_of);
    }
    for (std::vector<OperatorDef>* copies : {&copies_, &last_copies_}) {
      for (OperatorDef& copy : *copies) pass_.ops.push_back(std::move(copy));
    }
    if (order_of_outputs_.empty()) return {{}, std::move(of_inputs)};
    return {{Build()}, std::move(of_inputs)};
  }

 private:
  // The blobs that the gradient operators of the net read from outside.
  void AddInputs() {
    std::set<std::string> known;
    for (const OperatorDef& op : pass_.ops) {
      for (const std::string& name : op.input()) {
        if (!known.insert(name).second) continue;
        if (const auto given = given_.find(name); given != given_.end()) {
          Bind(name, given->second, &inputs_);
        } else if (const auto outer = outer_of_.find(name); outer != outer_of_.end()) {
          Bind(name, outer->second, &inputs_);
        } else {
          saved_.push_back(name);
        }
      }
      known.insert(op.output().begin(), op.output().end());
    }
  }

  // The gradient of an input in the net, or "" if there is none.
  std::string GradientOf(const std::string& outer) const {
    const std::string& inner = inner_of_.at(outer);
    const auto found = pass_.gradients.find(inner);
    if (found == pass_.gradients.end() || !pass_.from_outside.contains(inner)) return "";
    CAFFE_ENFORCE(!found->second.IsSparse(), "the gradient of blob \"", inner, "\" in net \"",
                  net_.name(), "\" is sparse, want a dense one: Do cannot return it");
    return found->second.dense_;
  }

  // Adds the gradient of an input to the outputs. Returns its name, or "" if there is none.
  std::string AddGradientOf(const std::string& outer,
                            const std::function<std::string(const std::string&)>& name_of) {
    const std::string gradient = GradientOf(outer);
    if (gradient.empty()) return "";
    const std::string& inner = inner_of_.at(outer);
    // The net passes the gradient of the blob on, or does not use the blob.
    if (gradient == inner + kGivenSuffix) return given_.at(gradient);
    const std::string name = name_of(outer);
    const std::string copy = inner + kCopySuffix;
    if (const auto input = inputs_.find(name); input == inputs_.end()) {
      Bind(copy, name, &outputs_);
      AddCopy(gradient, copy, &copies_);
    } else {  // in place, after all reads of the old value
      const bool given = given_.contains(gradient);
      if (given) AddCopy(gradient, copy, &copies_);
      AddCopy(given ? copy : gradient, input->second, &last_copies_);
    }
    order_of_outputs_.push_back(name);
    return name;
  }

  // If the gradient of an input is the given one of another blob, adds that to the inputs.
  void BindGivenGradientOf(const std::string& outer) {
    const std::string gradient = GradientOf(outer);
    const auto given = given_.find(gradient);
    if (given == given_.end() || gradient == inner_of_.at(outer) + kGivenSuffix) return;
    if (!inputs_.contains(given->second)) Bind(gradient, given->second, &inputs_);
  }

  void AddCopy(const std::string& from, const std::string& to, std::vector<OperatorDef>* copies) {
    copies->push_back(CreateOperatorDef("Copy", "", {from}, {to}));
    if (def_.has_device_option()) *copies->back().mutable_device_option() = def_.device_option();
  }

  using Names = std::map<std::string, std::string>;
  void Bind(const std::string& inner, const std::string& outer, Names* blobs) {
    CAFFE_ENFORCE(blobs->emplace(outer, inner).second, "the gradient of Do uses \"", outer,
                  "\" for two purposes; give the gradient another name");
    if (blobs == &inputs_) order_of_inputs_.push_back(outer);
  }

  OperatorDef Build() {
    OperatorDef op;
    op.set_type("Do");
    op.set_is_gradient_op(true);
    if (def_.has_device_option()) *op.mutable_device_option() = def_.device_option();
    const std::string& scope = def_.input(def_.input_size() - 1);
    for (const std::string& name : order_of_inputs_) op.add_input(name);
    for (const std::string& name : order_of_outputs_) op.add_output(name);
    op.add_input(scope);
    op.add_output(scope);
    std::vector<std::string> inner;
    std::vector<int64_t> indices;
    for (size_t i = 0; i < order_of_outputs_.size(); ++i) {
      const auto bound = outputs_.find(order_of_outputs_[i]);
      if (bound == outputs_.end()) continue;  // in place: the name of the input
      inner.push_back(bound->second);
      indices.push_back(static_cast<int64_t>(order_of_inputs_.size() + i));
    }
    for (size_t i = 0; i < order_of_inputs_.size(); ++i) {
      inner.push_back(inputs_.at(order_of_inputs_[i]));
      indices.push_back(static_cast<int64_t>(i));
    }
    NetDef net;
    if (!net_.name().empty()) net.set_name(net_.name() + "_grad");
    if (net_.has_device_option()) *net.mutable_device_option() = net_.device_option();
    for (OperatorDef& gradient_op : pass_.ops) net.add_op()->Swap(&gradient_op);
    AddArgument(kDoNet.name, net, &op);
    AddArgument(kDoInnerBlobs.name, inner, &op);
    AddArgument(kDoOuterBlobsIdx.name, indices, &op);
    AddArgument(kDoSavedFwdBlobs.name, saved_, &op);
    return op;
  }

  const OperatorDef& def_;
  const NetDef& net_;
  Names inner_of_, outer_of_;  // of the forward operator
  Names given_;                // inner to outer names of the gradients that are given
  BackwardPass pass_;          // of net_
  Names inputs_, outputs_;     // outer to inner names
  std::vector<std::string> order_of_inputs_, order_of_outputs_;
  std::vector<OperatorDef> copies_, last_copies_;  // of the gradients, at the end of the net
  std::vector<std::string> saved_;
};

}  // namespace

GradientStart GivenGradients(const OperatorDef& def, const std::vector<GradientWrapper>& g_output) {
  CAFFE_ENFORCE_EQ(g_output.size(), static_cast<size_t>(def.output_size()),
                   "gradients of the outputs of ", def.type());
  GradientStart start;
  for (size_t i = 0; i < g_output.size(); ++i) {
    if (g_output[i].IsEmpty()) continue;
    const std::string& output = def.output(static_cast<int>(i));
    CAFFE_ENFORCE(g_output[i].IsDense(), "the gradient of output \"", output,
                  "\" is sparse, want a dense one");
    start.emplace_back(output, g_output[i]);
  }
  CAFFE_ENFORCE(!start.empty(), "no output of ", def.type(), " has a gradient");
  return start;
}

GradientOpsMeta GradientOfDo(const OperatorDef& def, const std::vector<GradientWrapper>& g_output,
                             const std::function<std::string(const std::string&)>& name_of) {
  return DoGradient(def, g_output).Make(name_of);
}

GradientOpsMeta GetDoGradient::Get() {
  VerifyOp();
  return GradientOfDo(def_, g_output_, [](const std::string& blob) { return blob + "_grad"; });
}

}  // namespace caffe2rt
