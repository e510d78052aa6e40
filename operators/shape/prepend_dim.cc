#include "operators/shape/prepend_dim.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void PrependedDims(IntArrayRef input, int64_t dim_size, std::vector<int64_t>* dims) {
  CAFFE_ENFORCE_GE(input.size(), size_t{1}, "rank of input 0, want at least 1");
  CAFFE_ENFORCE_EQ(input[0] % dim_size, 0, "dim 0 of input 0 of shape ", input,
                   ", want a multiple of argument dim_size ", dim_size);
  dims->assign({dim_size, input[0] / dim_size});
  dims->insert(dims->end(), input.begin() + 1, input.end());
}

namespace {

class GetPrependDimGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  bool CopyArguments() const override { return false; }

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("MergeDim", "", {GO(0)}, {GI(0)});
  }
};

}  // namespace

void RegisterPrependDim() {
  RegisterSchema("PrependDim", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Arg(kPrependedSize)
      .Input(0, "data", "tensor of rank 1 or more")
      .Output(0, "reshaped", "the elements of data in the new shape")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        std::vector<int64_t> dims;
        PrependedDims(GetDimsVector(in[0]), ArgumentHelper(def).Read(kPrependedSize), &dims);
        return std::vector<TensorShape>{CreateTensorShape(dims, in[0].data_type())};
      })
      .Traits({.family = OperatorFamily::kShape, .only_changes_shape = true})
      .SetDoc("Splits the first dimension into two: dim_size and the rest.");
  RegisterCpuOperator<PrependDimOp<CPUContext>>("PrependDim", __FILE__);
  RegisterGradient<GetPrependDimGradient>("PrependDim", __FILE__);
}

}  // namespace caffe2rt
