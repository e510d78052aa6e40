#include "operators/shape/ensure_dense.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

namespace {

// A dense gradient is passed on without an operator.
class GetEnsureDenseGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    CAFFE_ENFORCE(!GradOut(0).IsEmpty(), "the gradient of output ", O(0), " is not given");
    if (GradOut(0).IsSparse()) {
      return SingleGradientDef("SparseToDense", "", {GO_I(0), GO_V(0), ShapeOf(0)}, {GI(0)});
    }
    SetDense(0, GO(0));
    return {};
  }
};

}  // namespace

void RegisterEnsureDense() {
  RegisterSchema("EnsureDense", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .IdenticalTypeAndShape()
      .Input(0, "input", "a tensor of rank 1 or more")
      .Output(0, "output", "copy of the input")
      .SetDoc("Copies a tensor. Its gradient converts a sparse gradient to a dense one.");
  RegisterCpuOperator<EnsureDenseOp<CPUContext>>("EnsureDense", __FILE__);
  RegisterGradient<GetEnsureDenseGradient>("EnsureDense", __FILE__);
}

}  // namespace caffe2rt
