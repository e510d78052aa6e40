#include "caffe2_core/runtime/operator_registry.h"
#include "operators/distributed/message_arguments.h"

namespace caffe2rt {
namespace {

class ReceiveTensorOp final : public CollectiveOp {
 public:
  ReceiveTensorOp(const OperatorDef& def, Workspace* ws)
      : CollectiveOp(def, ws),
        source_(ReadArgument(kMessageSource)),
        tag_(ReadArgument(kMessageTag)) {}

 private:
  void Work() override {
    const CommonWorldBlob world = World();
    const int source = InputSize() > 2 ? NumberInInput(Input(2), "input 2 (src)") : source_;
    const int tag = InputSize() > 2 ? NumberInInput(Input(3), "input 3 (tag)") : tag_;
    const ReceivedTensor received =
        world->Receive(Call(), source, tag, [this](const ReceivedTensor& tensor) {
          return Output(0, tensor.dims, tensor.type)->raw_mutable_data();
        });
    *OutputData<int>(1, {1}) = received.source;
    *OutputData<int>(2, {1}) = received.tag;
  }

  const int source_;
  const int tag_;
};

}  // namespace

void RegisterReceiveTensor() {
  CollectiveSchema("ReceiveTensor", __FILE__)
      .NumInputs({2, 4})
      .NumOutputs(3)
      .EnforceInplace({{1, 0}})
      .AllowInplace({{2, 1}, {3, 2}})
      .Args(kMessageSource, kMessageTag, kMessageRawBuffer)
      .Input(0, "comm_world", "a world from CreateCommonWorld or CloneCommonWorld")
      .Input(1, "Y", "the tensor to replace")
      .Input(2, "src", "int32 [1]: the rank from which to receive; instead of the argument")
      .Input(3, "tag", "int32 [1]: the tag; instead of the argument")
      .Output(0, "Y", "the tensor that was sent")
      .Output(1, "src", "int32 [1]: its sender")
      .Output(2, "tag", "int32 [1]: its tag")
      .SynchronizedInputs({0})
      .ModifiesInputs({0})
      .SetDoc("Waits for a tensor that another rank sends with SendTensor.");
  RegisterCpuOperator<ReceiveTensorOp>("ReceiveTensor", __FILE__);
}

}  // namespace caffe2rt
