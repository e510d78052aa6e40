#include "caffe2_core/runtime/operator_registry.h"
#include "operators/distributed/collective.h"

namespace caffe2rt {
namespace {

class CloneCommonWorldOp final : public CollectiveOp {
 public:
  CloneCommonWorldOp(const OperatorDef& def, Workspace* ws)
      : CollectiveOp(def, ws), name_(def.name().empty() ? def.output(0) : def.name()) {}

 private:
  void Work() override {
    const CommonWorldBlob world = World();
    OutputBlob(0)->Reset();  // an earlier clone with the same name
    OutputBlob(0)->Reset(new CommonWorldBlob(world->Clone(name_)));
  }

  const std::string name_;
};

}  // namespace

void RegisterCloneCommonWorld() {
  CollectiveSchema("CloneCommonWorld", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kCollectiveSync)
      .Input(0, "existing_comm_world", "a world")
      .Output(0, "comm_world", "another world of the same ranks")
      .SynchronizedInputs({0})
      .SetDoc(
          "Clones a world, so that operators on both can be under way at the same time. The clone "
          "has the operator's "
          "name, or that of its output, which must be the same on all ranks; it uses the "
          "connections of the world.");
  RegisterCpuOperator<CloneCommonWorldOp>("CloneCommonWorld", __FILE__);
}

}  // namespace caffe2rt
