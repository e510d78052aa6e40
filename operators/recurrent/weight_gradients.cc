#include "operators/recurrent/weight_gradients.h"

#include <algorithm>

#include "caffe2_core/runtime/net_operators.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

namespace {

// The axis of FC in step nets: dims 0 and 1 are the time step and the batch.
constexpr int kStepAxis = 2;

bool HasStepAxis(const OperatorDef& op) {
  return std::any_of(
             op.arg().begin(), op.arg().end(),
             [](const Argument& arg) { return arg.name() == "axis" && arg.i() == kStepAxis; }) &&
         std::none_of(op.arg().begin(), op.arg().end(),
                      [](const Argument& arg) { return arg.name() == "axis_w"; });
}

template <class Names>
int CountOf(const Names& names, const std::string& name) {
  return static_cast<int>(std::count(names.begin(), names.end(), name));
}

class Search {
 public:
  Search(const WeightGradientRequest& request, NetDef* net) : request_(request), net_(*net) {}

  // Fills in `found` if the operator at `position` can be taken out.
  bool Find(int position, WeightGradient* found) const {
    const OperatorDef& op = net_.op(position);
    if (op.type() != "FCGradient" || op.input_size() != 3 || op.output_size() < 2 ||
        op.output_size() > 3 || op.control_input_size() > 0 || !HasStepAxis(op)) {
      return false;
    }
    return FindParam(op.output(0), &found->weight_param) &&
           FindParam(op.output(1), &found->bias_param) &&
           op.input(1) == ParamName(found->weight_param) && FindState(op.input(0), found) &&
           IsInputGradient(op.input(2), position) && FindDevice(op, found);
  }

 private:
  int Writers(const std::string& blob, int from = 0) const {
    int count = 0;
    for (int i = from; i < net_.op_size(); ++i) count += CountOf(net_.op(i).output(), blob);
    return count;
  }
  int Readers(const std::string& blob) const {
    int count = 0;
    for (const OperatorDef& op : net_.op()) count += CountOf(op.input(), blob);
    return count;
  }

  const std::string& ParamName(size_t param) const {
    const int first = static_cast<int>(request_.arguments->outputs_with_grads.size());
    return request_.def->input(first + request_.arguments->params[param]);
  }

  // Whether the blob is the gradient of one parameter and used for nothing else.
  bool FindParam(const std::string& blob, size_t* param) const {
    const std::vector<std::string>& grads = *request_.grads;
    if (CountOf(grads, blob) != 1 || Writers(blob) != 1 || Readers(blob) != 0) return false;
    *param = static_cast<size_t>(std::find(grads.begin(), grads.end(), blob) - grads.begin());
    return true;
  }

  // Whether the blob is a row of a state that the backward step net does not change.
  bool FindState(const std::string& blob, WeightGradient* found) const {
    const std::vector<StepLink>& links = request_.arguments->links;
    const auto row = std::find_if(links.begin(), links.end(),
                                  [&](const StepLink& link) { return link.internal == blob; });
    if (row == links.end() || row->window != 1 ||
        CountOf(request_.arguments->states, row->external) != 1) {
      return false;
    }
    found->state = row->external;
    found->offset = row->offset;
    return std::none_of(links.begin(), links.end(), [&](const StepLink& link) {
      return link.external == row->external && Writers(link.internal) > 0;
    });
  }

  // Whether the blob is a row of output 0 and has its final value at `position`.
  bool IsInputGradient(const std::string& blob, int position) const {
    int links = 0;
    bool is_linked = false;
    for (const StepLink& link : *request_.links) {
      if (link.external != request_.def->output(0)) continue;
      ++links;
      is_linked |= link.internal == blob && link.offset == 0 && link.window == 1;
    }
    return is_linked && links == 1 && Writers(blob) > 0 && Writers(blob, position) == 0;
  }

  bool FindDevice(const OperatorDef& op, WeightGradient* found) const {
    *found->op.mutable_device_option() =
        MergeDeviceOption(net_.device_option(), op.device_option());
    return found->op.device_option().device_type() == request_.device;
  }

  const WeightGradientRequest& request_;
  const NetDef& net_;
};

// Completes `found` for the operator `op`, and makes `op` what remains in the step net.
void TakeOut(const WeightGradientRequest& request, OperatorDef* op, WeightGradient* found) {
  const std::string weight = op->input(1);
  const DeviceOption device = found->op.device_option();
  found->rows = weight + "_all_steps";
  found->op = *op;
  *found->op.mutable_device_option() = device;
  found->op.set_input(0, found->rows);
  found->op.set_input(2, request.def->output(0));
  found->op.clear_output();
  found->op.add_output(request.def->output(1 + static_cast<int>(found->weight_param)));
  found->op.add_output(request.def->output(1 + static_cast<int>(found->bias_param)));
  if (op->output_size() < 3) return;
  found->zero = weight + "_zero_bias";
  const std::vector<std::string> inputs = {op->input(2), weight, found->zero};
  const std::vector<std::string> outputs = {op->output(2)};
  op->set_type("FCTransposed");
  op->mutable_input()->Assign(inputs.begin(), inputs.end());
  op->mutable_output()->Assign(outputs.begin(), outputs.end());
}

}  // namespace

std::vector<WeightGradient> TakeWeightGradients(const WeightGradientRequest& request, NetDef* net) {
  std::vector<WeightGradient> taken;
  for (int i = 0; i < net->op_size(); ++i) {
    WeightGradient found;
    if (!Search(request, net).Find(i, &found)) continue;
    TakeOut(request, net->mutable_op(i), &found);
    if (found.zero.empty()) {
      net->mutable_op()->DeleteSubrange(i--, 1);
    } else if (net->external_input_size() > 0) {
      net->add_external_input(found.zero);
    }
    taken.push_back(std::move(found));
  }
  return taken;
}

WeightGradientRun::WeightGradientRun(WeightGradient plan, Workspace* ws, DeviceType device)
    : plan_(std::move(plan)), ws_(ws), device_(device) {}

Tensor* WeightGradientRun::Zero(const std::shared_ptr<StepWorkspaces>& spaces,
                                const Tensor& weight) {
  if (plan_.zero.empty()) return nullptr;
  if (spaces != spaces_) {
    spaces->shared_blobs().CreateLocalBlob(plan_.zero);
    zero_ = spaces->shared_blobs().FindBlob(plan_.zero);
    spaces_ = spaces;
  }
  CAFFE_ENFORCE(weight.dim() >= 1 && weight.dim(0) > 0, "the weight \"", plan_.op.input(1),
                "\" has shape ", weight.sizes(), ", want rows");
  Tensor* const zero = zero_->GetMutableTensor(device_);
  zero->Resize(weight.numel() / weight.dim(0));
  return zero;
}

void WeightGradientRun::Run(int64_t steps) {
  if (local_ == nullptr) {
    local_ = std::make_unique<Workspace>(ws_->RootFolder(), ws_);
    local_->CreateLocalBlob(plan_.rows);
    rows_ = local_->FindBlob(plan_.rows);
    state_ = ws_->FindBlob(plan_.state);
  }
  CAFFE_ENFORCE(state_ != nullptr && state_->IsTensor(device_), "the state \"", plan_.state,
                "\" is not a tensor on ", DeviceTypeName(device_));
  *rows_->GetMutableTensor(device_) = view_.Of(state_->Get<Tensor>(), plan_.offset, steps);
  if (op_ == nullptr) op_ = CreateOperator(plan_.op, local_.get());
  StartOperator(op_.get(), 0);
}

}  // namespace caffe2rt
