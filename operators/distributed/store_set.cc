#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/distributed/store_arguments.h"

namespace caffe2rt {
namespace {

class StoreSetOp final : public Operator<CPUContext> {
 public:
  StoreSetOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), key_(ReadArgument(kStoreBlobName)) {
    if (key_.empty()) key_ = def.input(1);
  }

  bool RunOnDevice() override {
    StoreInput(*this).Set(key_, SerializeBlob(InputBlob(1), key_));
    return true;
  }

 private:
  std::string key_;
};

}  // namespace

void RegisterStoreSet() {
  StoreSchema("StoreSet", __FILE__)
      .NumInputs(2)
      .NumOutputs(0)
      .Arg(kStoreBlobName)
      .Input(1, "data", "a blob")
      .SetDoc("Sets a key of a store to a blob.");
  RegisterCpuOperator<StoreSetOp>("StoreSet", __FILE__);
}

}  // namespace caffe2rt
