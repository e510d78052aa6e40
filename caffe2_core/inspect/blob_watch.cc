#include "caffe2_core/inspect/blob_watch.h"

#include <memory>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

class OperatorWatch final : public ObserverBase<OperatorBase> {
 public:
  OperatorWatch(OperatorBase* op, const OperatorDef& def, int position,
                std::shared_ptr<const BlobWatch::Callback> callback)
      : ObserverBase<OperatorBase>(op),
        def_(def),
        position_(position),
        callback_(std::move(callback)) {}

  void Stop() override {
    const std::vector<Blob*>& outputs = subject_->Outputs();
    for (int i = 0; i < def_.output_size(); ++i) {
      (*callback_)({position_, def_, def_.output(i), *outputs[static_cast<size_t>(i)]});
    }
  }

 private:
  const OperatorDef&
      def_;  // the names in the operator's own def may be those of copies on a device
  const int position_;
  const std::shared_ptr<const BlobWatch::Callback> callback_;  // shared by all operators of the net
};

}  // namespace

NetDef NetToWatch(NetDef net) {
  net.set_type("simple");
  auto* const args = net.mutable_arg();
  for (int i = args->size() - 1; i >= 0; --i) {
    if (args->Get(i).name() == "cuda_graph") args->DeleteSubrange(i, 1);
  }
  RemoveUserOperators(&net);
  MarkUserOperators(&net);
  return net;
}

BlobWatch::BlobWatch(const NetDef& def, NetBase* net, Callback callback) {
  CAFFE_ENFORCE(net != nullptr && callback != nullptr, "an argument of BlobWatch is null");
  const auto shared = std::make_shared<const Callback>(std::move(callback));
  // Before any operator is observed, so that an error leaves the net as it was.
  std::vector<std::pair<OperatorBase*, int>> watched;
  for (OperatorBase* op : net->GetOperators()) {
    const std::vector<UserOperator> users = UserOperatorsOf(op->debug_def());
    if (users.empty()) continue;  // a copy between devices that the user did not write
    const int position = users[0].position;
    CAFFE_ENFORCE(position >= 0 && position < def.op_size() &&
                      def.op(position).output_size() == op->OutputSize(),
                  "net \"", net->Name(), "\" was not created from the def that is watched");
    watched.emplace_back(op, position);
  }
  for (const auto& [op, position] : watched) {
    auto watch = std::make_unique<OperatorWatch>(op, def.op(position), position, shared);
    observers_.emplace_back(op, op->AttachObserver(std::move(watch)));
  }
}

BlobWatch::~BlobWatch() {
  for (const auto& [op, observer] : observers_) op->DetachObserver(observer);
}

bool CopyBlobToCpu(const Blob& from, Blob* to) {
  CAFFE_ENFORCE(to != nullptr, "argument to of CopyBlobToCpu is null");
  if (from.IsType<std::string>()) {
    *to->GetMutable<std::string>() = from.Get<std::string>();
    return true;
  }
  const Tensor* const tensor = FindTensor(from);
  if (tensor == nullptr || !tensor->IsShaped() || !tensor->meta().IsSet() || !tensor->HasData()) {
    to->Reset();
    return false;
  }
  if (from.IsType<Int8TensorCPU>()) {
    const auto& quantized = from.Get<Int8TensorCPU>();
    auto* const copy = to->GetMutable<Int8TensorCPU>();
    copy->scale = quantized.scale;
    copy->zero_point = quantized.zero_point;
    copy->t = quantized.t.Clone();
  } else {
    to->GetMutableTensor(CPU)->CopyFrom(*tensor);
  }
  return true;
}

std::string OperatorText(const OperatorDef& op) {
  return op.name().empty() ? op.type() : MakeString(op.type(), " \"", op.name(), "\"");
}

}  // namespace caffe2rt
