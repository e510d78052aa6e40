#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "operators/distributed/store_arguments.h"

namespace caffe2rt {
namespace {

class StoreGetOp final : public Operator<CPUContext> {
 public:
  StoreGetOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), key_(ReadArgument(kStoreBlobName)) {
    if (key_.empty()) key_ = def.output(0);
  }

  bool RunOnDevice() override {
    const std::string bytes = StoreInput(*this).Get(key_);
    const FileAccessScope scope(workspace()->file_access());
    DeserializeBlob(bytes, OutputBlob(0));
    return true;
  }

 private:
  std::string key_;
};

}  // namespace

void RegisterStoreGet() {
  StoreSchema("StoreGet", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kStoreBlobName)
      .Output(0, "data", "the blob that StoreSet stored")
      .SetDoc("Waits up to 30 seconds for a key of a store, and reads its blob.");
  RegisterCpuOperator<StoreGetOp>("StoreGet", __FILE__);
}

}  // namespace caffe2rt
