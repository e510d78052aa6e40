#include "caffe2_core/runtime/operator_registry.h"
#include "operators/distributed/store_arguments.h"

namespace caffe2rt {
namespace {

constexpr RepeatedArgumentSpec<std::string> kStoreWaitNames{
    "blob_names", "the keys, unless there is an input for them"};

class StoreWaitOp final : public Operator<CPUContext> {
 public:
  StoreWaitOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), names_(ReadArgument(kStoreWaitNames)) {}

  bool RunOnDevice() override {
    std::vector<std::string> names = names_;
    if (InputSize() > 1) {
      const Tensor& input = Input(1);
      const std::string* const values = input.data<std::string>();
      names.assign(values, values + input.numel());
    }
    StoreInput(*this).Wait(names);
    return true;
  }

 private:
  const std::vector<std::string> names_;
};

}  // namespace

void RegisterStoreWait() {
  StoreSchema("StoreWait", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(0)
      .Arg(kStoreWaitNames)
      .Input(1, "names", "strings: the keys")
      .SetDoc("Waits up to 30 seconds until keys of a store exist.");
  RegisterCpuOperator<StoreWaitOp>("StoreWait", __FILE__);
}

}  // namespace caffe2rt
