#include "caffe2_core/runtime/operator_registry.h"
#include "operators/distributed/message_arguments.h"

namespace caffe2rt {
namespace {

class SendTensorOp final : public CollectiveOp {
 public:
  SendTensorOp(const OperatorDef& def, Workspace* ws)
      : CollectiveOp(def, ws),
        destination_(ReadArgument(kMessageDestination)),
        tag_(ReadArgument(kMessageTag)) {}

 private:
  void Work() override {
    const CommonWorldBlob world = World();
    const Tensor& x = Input(1);
    const int destination =
        InputSize() > 2 ? NumberInInput(Input(2), "input 2 (dst)") : destination_;
    const int tag = InputSize() > 2 ? NumberInInput(Input(3), "input 3 (tag)") : tag_;
    world->Send(Call(), x.raw_data(), {x.sizes().begin(), x.sizes().end()}, x.dtype(), destination,
                tag);
  }

  const int destination_;
  const int tag_;
};

}  // namespace

void RegisterSendTensor() {
  CollectiveSchema("SendTensor", __FILE__)
      .NumInputs({2, 4})
      .NumOutputs(0)
      .Args(kMessageDestination, kMessageTag, kMessageRawBuffer)
      .Input(0, "comm_world", "a world from CreateCommonWorld or CloneCommonWorld")
      .Input(1, "X", "a tensor")
      .Input(2, "dst", "int32 [1]: the rank to which to send; instead of the argument")
      .Input(3, "tag", "int32 [1]: the tag; instead of the argument")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .SetDoc("Sends a tensor to another rank, and waits until that rank receives it.");
  RegisterCpuOperator<SendTensorOp>("SendTensor", __FILE__);
}

}  // namespace caffe2rt
