#include "operators/shape/flatten_to_vec.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

class GetFlattenToVecGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("ResizeLike", "", {GO(0), I(0)}, {GI(0)});
  }
};

}  // namespace

void RegisterFlattenToVec() {
  RegisterSchema("FlattenToVec", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "input", "tensor of rank 1 or more")
      .Output(0, "output", "vector of all elements")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        CAFFE_ENFORCE_GE(in[0].dims_size(), 1, "rank of input 0, want at least 1");
        const std::vector<int64_t> dims = {CheckedProduct(GetDimsVector(in[0]))};
        return std::vector<TensorShape>{CreateTensorShape(dims, in[0].data_type())};
      })
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc("Flattens a tensor to a vector.");
  RegisterCpuOperator<FlattenToVecOp<CPUContext>>("FlattenToVec", __FILE__);
  RegisterGradient<GetFlattenToVecGradient>("FlattenToVec", __FILE__);
}

}  // namespace caffe2rt
