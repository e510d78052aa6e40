#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/distributed/store.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<std::string> kFileStorePath{
    "path", "", "an existing folder that all processes of a run see"};
constexpr ArgumentSpec<std::string> kFileStorePrefix{
    "prefix", "", "identifies the run: its keys are files in the folder of this name below `path`"};

class FileStoreHandlerCreateOp final : public Operator<CPUContext> {
 public:
  FileStoreHandlerCreateOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        path_(ReadArgument(kFileStorePath)),
        prefix_(ReadArgument(kFileStorePrefix)) {}

  bool RunOnDevice() override {
    *OperatorBase::Output<StoreBlob>(0) = MakeFileStore(path_, prefix_, workspace()->file_access());
    return true;
  }

 private:
  const std::string path_;
  const std::string prefix_;
};

}  // namespace

void RegisterFileStoreHandlerCreate() {
  RegisterSchema("FileStoreHandlerCreate", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Args(kFileStorePath, kFileStorePrefix)
      .Output(0, "handler", "a store")
      .AccessesFiles()
      .SetDoc(
          "Creates a store of keys and values, by which the processes of a run find each other, in "
          "a folder.");
  RegisterCpuOperator<FileStoreHandlerCreateOp>("FileStoreHandlerCreate", __FILE__);
}

}  // namespace caffe2rt
