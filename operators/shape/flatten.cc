#include "operators/shape/flatten.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

class GetFlattenGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("ResizeLike", "", {GO(0), I(0)}, {GI(0)});
  }
};

}  // namespace

void RegisterFlatten() {
  RegisterSchema("Flatten", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kFlattenAxis)
      .Input(0, "input", "tensor whose rank is at least axis")
      .Output(0, "output",
              "matrix: the dimensions before axis are the rows, the others the columns")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        std::vector<int64_t> dims;
        FlattenedDims(GetDimsVector(in[0]), ArgumentHelper(def).Read(kFlattenAxis), &dims);
        return std::vector<TensorShape>{CreateTensorShape(dims, in[0].data_type())};
      })
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc(
          "Flattens a tensor to a matrix: the dimensions before axis are merged into the first "
          "dimension, the others into the second.");
  RegisterCpuOperator<FlattenOp<CPUContext>>("Flatten", __FILE__);
  RegisterGradient<GetFlattenGradient>("Flatten", __FILE__);
}

}  // namespace caffe2rt
