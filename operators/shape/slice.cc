#include "operators/shape/slice.h"

#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

// Converts a bound to a position between 0 and size; the result is negative if it lies before the
// beginning.
int64_t Place(int64_t bound, int64_t size) {
  return bound < 0 ? size + 1 + bound : std::min(bound, size);
}

}  // namespace

void PlanSlice(IntArrayRef input, IntArrayRef starts, IntArrayRef ends, SlicePlan* plan) {
  CAFFE_ENFORCE_EQ(starts.size(), ends.size(), "elements of starts, want as many as of ends");
  CAFFE_ENFORCE_LE(starts.size(), input.size(),
                   "elements of starts, want at most the rank of input 0");
  plan->dims.assign(input.begin(), input.end());
  plan->axis = -1;
  plan->start = 0;
  int cut = 0;
  bool empty = false;
  for (size_t i = 0; i < input.size(); ++i) {
    const int64_t size = input[i];
    empty = empty || size == 0;
    if (i >= starts.size() || size == 0) continue;
    const int64_t start = Place(starts[i], size), end = Place(ends[i], size);
    CAFFE_ENFORCE(0 <= start && start <= end, "dim ", i, " of input 0 of shape ", input,
                  " cannot be sliced from ", starts[i], " to ", ends[i]);
    plan->dims[i] = end - start;
    if (start == 0 && end == size) continue;
    ++cut;
    plan->axis = static_cast<int>(i);
    plan->start = start;
  }
  CAFFE_ENFORCE(cut <= 1 || empty, "starts ", starts, " and ends ", ends, " slice ", cut,
                " dimensions, want one: use several Slice operators");
}

SliceRows RowsOfSlice(IntArrayRef input, const SlicePlan& plan) {
  const int64_t total = CheckedProduct(input);
  if (plan.axis < 0) return {.outer = 1, .all = total, .taken = total, .start = 0};
  const size_t axis = static_cast<size_t>(plan.axis);
  const int64_t inner = CheckedProduct(input.slice(axis + 1));
  return {.outer = CheckedProduct(input.slice(0, axis)),
          .all = input[axis] * inner,
          .taken = plan.dims[axis] * inner,
          .start = plan.start * inner};
}

SliceBounds::SliceBounds(const ArgumentHelper& args, bool are_inputs)
    : are_inputs_(are_inputs), starts_(args.Read(kSliceStarts)), ends_(args.Read(kSliceEnds)) {
  if (are_inputs) return;
  CAFFE_ENFORCE(args.HasArgument(kSliceStarts), "argument starts is missing");
  CAFFE_ENFORCE(args.HasArgument(kSliceEnds), "argument ends is missing");
}

void SliceBounds::ReadBounds(const Tensor& tensor, const char* subject,
                             std::vector<int64_t>* bounds) {
  CAFFE_ENFORCE_EQ(tensor.dim(), 1, "rank of ", subject, ", want a vector");
  DispatchByType<int32_t, int64_t>(tensor.dtype(), subject, [&](auto element) {
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
