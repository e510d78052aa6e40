#include "operators/shape/slice.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {

SliceBounds::SliceBounds(const ArgumentHelper& args, bool are_inputs)
    : are_inputs_(are_inputs), starts_(args.Read(kSliceStarts)), ends_(args.Read(kSliceEnds)) {
  if (are_inputs) return;
  CAFFE_ENFORCE(args.HasArgument(kSliceStarts), "argument starts is missing");
  CAFFE_ENFORCE(args.HasArgument(kSliceEnds), "argument ends is missing");
}

void SliceBounds::CheckInputs(IntArrayRef input, const Tensor& starts, const Tensor& ends) {
  CAFFE_ENFORCE_EQ(starts.dim(), 1, "rank of input 1 (starts), want a vector");
  RequireElementsOf<int32_t, int64_t>(starts, "input 1 (starts)");
  CAFFE_ENFORCE(ends.dtype() == starts.dtype(), "input 2 (ends) has elements of type ",
                ends.dtype().name(), ", want ", starts.dtype().name(), " as input 1 (starts)");
  CAFFE_ENFORCE_EQ(ends.dim(), 1, "rank of input 2 (ends), want a vector");
  CheckSliceBounds(input, static_cast<size_t>(starts.numel()), static_cast<size_t>(ends.numel()));
}

void SliceBounds::ReadBounds(const Tensor& tensor, std::vector<int64_t>* bounds) {
  DispatchByType<int32_t, int64_t>(tensor.dtype(), "bounds", [&](auto element) {
    const auto* values = tensor.data<decltype(element)>();
    bounds->assign(values, values + tensor.numel());
  });
}

namespace {

std::vector<TensorShape> InferSlice(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || def.input_size() > 1) return UnknownOutputs(def);
  const ArgumentHelper args(def);
  CAFFE_ENFORCE(args.HasArgument(kSliceStarts), "argument starts is missing");
  CAFFE_ENFORCE(args.HasArgument(kSliceEnds), "argument ends is missing");
  SlicePlan plan;
  PlanSlice(GetDimsVector(in[0]), args.Read(kSliceStarts), args.Read(kSliceEnds), &plan);
  return {CreateTensorShape(plan.dims, in[0].data_type())};
}

// dX has the shape of X and the type of dY.
std::vector<TensorShape> InferSliceGradient(const OperatorDef& def,
                                            const std::vector<TensorShape>& in) {
  if (in.size() < 2 || !IsKnown(in[0])) return UnknownOutputs(def);
  return {CreateTensorShape(GetDimsVector(in[0]), in.back().data_type())};
}

class GetSliceGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs = {I(0)};
    if (def_.input_size() > 1) inputs.insert(inputs.end(), {I(1), I(2)});
    inputs.push_back(GO(0));
    return SingleGradientDef("SliceGradient", "", inputs, {GI(0)});
  }
};

}  // namespace

void RegisterSlice() {
  RegisterSchema("Slice", __FILE__)
      .NumInputs(1, 3)
      .NumOutputs(1)
      .Args(kSliceStarts, kSliceEnds)
      .Input(0, "X", "input, of any shape")
      .Input(1, "starts", "(optional) int32 or int64, instead of the argument")
      .Input(2, "ends", "(optional) the type of starts, instead of the argument")
      .Output(0, "Y", "the selected part of X")
      .TensorInferenceFunction(InferSlice)
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the shape of the slice depends on the values of its inputs"})
      .SetDoc("Copies a range of indices of one dimension of a tensor.");
  RegisterCpuOperator<SliceOp<CPUContext>>("Slice", __FILE__);
  RegisterGradient<GetSliceGradient>("Slice", __FILE__);

  RegisterSchema("SliceGradient", __FILE__)
      .NumInputs(std::set<int>{2, 4})
      .NumOutputs(1)
      .Args(kSliceStarts, kSliceEnds)
      .Input(0, "X", "the input of Slice, for its shape")
      .Input(1, "starts", "(optional) int32 or int64, instead of the argument")
      .Input(2, "ends", "(optional) the type of starts, instead of the argument")
      .Input(3, "dY", "the gradient of the output of Slice; input 1 without starts and ends")
      .Output(0, "dX", "dY in the place of the slice, 0 elsewhere; the shape of X")
      .TensorInferenceFunction(InferSliceGradient)
      .SetDoc("Computes the gradient of Slice.");
  RegisterCpuOperator<SliceGradientOp<CPUContext>>("SliceGradient", __FILE__);
}

}  // namespace caffe2rt
