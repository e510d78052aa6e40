// GetAllBlobNames: the names of the blobs in the workspace.
//   no inputs  ->  strings [N], sorted
#include <algorithm>

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kIncludeShared{
    "include_shared", 1, "unless 0: also the names of blobs that the workspace sees in its parent"};

class GetAllBlobNamesOp final : public Operator<CPUContext> {
 public:
  GetAllBlobNamesOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), include_shared_(ReadArgument(kIncludeShared) != 0) {}

  bool RunOnDevice() override {
    const std::vector<std::string> names =
        include_shared_ ? workspace()->Blobs() : workspace()->LocalBlobs();
    std::string* const out = OutputData<std::string>(0, {static_cast<int64_t>(names.size())});
    std::copy(names.begin(), names.end(), out);
    return true;
  }

 private:
  const bool include_shared_;
};

}  // namespace

void RegisterGetAllBlobNames() {
  RegisterSchema("GetAllBlobNames", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Arg(kIncludeShared)
      .Output(0, "blob_names", "strings [N], sorted")
      .HasEffect(Effect::kEverything)
      .SetDoc("Returns the names of the blobs in the workspace.");
  RegisterCpuOperator<GetAllBlobNamesOp>("GetAllBlobNames", __FILE__);
  // As in Caffe2, no gradient maker: names are not differentiable.
}

}  // namespace caffe2rt
