#include "operators/shape/expand_dims.h"

#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void ExpandedDims(IntArrayRef input, const std::vector<int>& places, std::vector<int64_t>* dims) {
  CAFFE_ENFORCE_GT(input.size() + places.size(), static_cast<size_t>(places.back()),
                   "rank of the output for input 0 of shape ", input,
                   ", want more than the largest of argument dims");
  dims->clear();
  size_t next_input = 0, next_place = 0;
  while (next_input < input.size() || next_place < places.size()) {
    if (next_place < places.size() && static_cast<size_t>(places[next_place]) == dims->size()) {
      dims->push_back(1);
      ++next_place;
    } else {
      dims->push_back(input[next_input++]);
    }
  }
}

namespace {

std::vector<TensorShape> InferExpandDims(const OperatorDef& def,
                                         const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  std::vector<int64_t> dims;
  ExpandedDims(GetDimsVector(in[0]), ReadDimsArgument(ArgumentHelper(def)), &dims);
  return {CreateTensorShape(dims, in[0].data_type())};
}

class GetExpandDimsGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("Squeeze", "", {GO(0)}, {GI(0)});
  }
};

}  // namespace

void RegisterExpandDims() {
  RegisterSchema("ExpandDims", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Arg(kUnitDims)
      .Input(0, "data", "any tensor")
      .Output(0, "expanded", "the elements of data in the new shape")
      .TensorInferenceFunction(InferExpandDims)
      .Traits({.family = OperatorFamily::kShape, .only_changes_shape = true})
      .SetDoc("Inserts dimensions of size 1 into the shape of a tensor.");
  RegisterCpuOperator<ExpandDimsOp<CPUContext>>("ExpandDims", __FILE__);
  RegisterGradient<GetExpandDimsGradient>("ExpandDims", __FILE__);
}

}  // namespace caffe2rt
