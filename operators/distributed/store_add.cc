#include "caffe2_core/runtime/operator_registry.h"
#include "operators/distributed/store_arguments.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int64_t> kStoreAddValue{"add_value", 1, "what to add"};

class StoreAddOp final : public Operator<CPUContext> {
 public:
  StoreAddOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        key_(ReadArgument(kStoreBlobName)),
        value_(ReadArgument(kStoreAddValue)) {
    if (key_.empty()) key_ = def.output(0);
  }

  bool RunOnDevice() override {
    *OutputData<int64_t>(0, {1}) = StoreInput(*this).Add(key_, value_);
    return true;
  }

 private:
  std::string key_;
  const int64_t value_;
};

}  // namespace

void RegisterStoreAdd() {
  StoreSchema("StoreAdd", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kStoreBlobName, kStoreAddValue)
      .Output(0, "value", "int64 [1]: the sum")
      .SetDoc("Adds a number to the number of a key of a store, which is 0 at first.");
  RegisterCpuOperator<StoreAddOp>("StoreAdd", __FILE__);
}

}  // namespace caffe2rt
