#include "operators/shape/squeeze.h"

#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void SqueezedDims(IntArrayRef input, const std::vector<int>& places, std::vector<int64_t>* dims) {
  CAFFE_ENFORCE_GT(input.size(), static_cast<size_t>(places.back()), "rank of input 0 of shape ",
                   input, ", want more than the largest of argument dims");
  dims->clear();
  for (size_t i = 0; i < input.size(); ++i) {
    if (std::binary_search(places.begin(), places.end(), static_cast<int>(i))) {
      CAFFE_ENFORCE_EQ(input[i], 1, "dim ", i, " of input 0 of shape ", input,
                       " is in argument dims, want size 1");
    } else {
      dims->push_back(input[i]);
    }
  }
}

namespace {

std::vector<TensorShape> InferSqueeze(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  std::vector<int64_t> dims;
  SqueezedDims(GetDimsVector(in[0]), ReadDimsArgument(ArgumentHelper(def)), &dims);
  return {CreateTensorShape(dims, in[0].data_type())};
}

class GetSqueezeGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("ExpandDims", "", {GO(0)}, {GI(0)});
  }
};

}  // namespace

void RegisterSqueeze() {
  RegisterSchema("Squeeze", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Arg(kUnitDims)
      .Input(0, "data", "any tensor")
      .Output(0, "squeezed", "the elements of data in the new shape")
      .TensorInferenceFunction(InferSqueeze)
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape, .only_changes_shape = true})
      .SetDoc("Removes dimensions of size 1 from the shape of a tensor.");
  RegisterCpuOperator<SqueezeOp<CPUContext>>("Squeeze", __FILE__);
  RegisterGradient<GetSqueezeGradient>("Squeeze", __FILE__);
}

}  // namespace caffe2rt
