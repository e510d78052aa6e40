// ONNXSlice: ONNX's Slice (opset 13): from starts to ends in steps, in any dimensions.
//   X, starts, ends, axes, steps (arguments, or int32 or int64 inputs 1 to 4)  ->  Y
// ONNXSliceGradient: a tensor of zeros in which dY takes the place of the slice.
//   X (for its shape), starts, ends, axes, steps, dY  ->  dX
//
// Unlike in Slice, which is Caffe2's, -1 is the last element, not the one after it, and bounds that
// lie outside a dimension are moved to its border. An input without elements counts as not given.

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"
#include "operators/common/strided_copy.h"

namespace caffe2rt {

namespace {

constexpr RepeatedArgumentSpec<int64_t> kOnnxSliceStarts{
    "starts", "first index on each axis; negative ones count from the end"};
constexpr RepeatedArgumentSpec<int64_t> kOnnxSliceEnds{
    "ends", "index after the last one on each axis; negative ones count from the end"};
constexpr RepeatedArgumentSpec<int64_t> kOnnxSliceAxes{
    "axes", "dimensions to slice; negative ones count from the end; default: the first ones"};
constexpr RepeatedArgumentSpec<int64_t> kOnnxSliceSteps{
    "steps", "distance of the elements on each axis, negative to go backwards; default: 1"};

// The elements of a slice: `dims`, and in X the first index and the step of each dimension.
struct StepsPlan {
  std::vector<int64_t> dims, starts, steps;
  std::vector<int64_t> placed;  // scratch

  // THROWS if the lists do not fit each other or the input.
  void Make(IntArrayRef input, IntArrayRef first, IntArrayRef ends, IntArrayRef axes,
            IntArrayRef step);
  // The loops over the slice, in a tensor of shape `input`; *offset is that of its first element.
  // `from_slice`: the slice is the source.
  StridedCopy Loops(IntArrayRef input, bool from_slice, int64_t* offset) const;
};

void StepsPlan::Make(IntArrayRef input, IntArrayRef first, IntArrayRef ends, IntArrayRef axes,
                     IntArrayRef step) {
  CAFFE_ENFORCE_EQ(ends.size(), first.size(), "elements of ends, want as many as of starts");
  CAFFE_ENFORCE(axes.empty() || axes.size() == first.size(), "axes are ", axes,
                ", want as many as ", first.size(), " starts");
  CAFFE_ENFORCE(step.empty() || step.size() == first.size(), "steps are ", step,
                ", want as many as ", first.size(), " starts");
  CAFFE_ENFORCE_LE(first.size(), input.size(),
                   "elements of starts, want at most the rank of input 0");
  dims.assign(input.begin(), input.end());
  starts.assign(input.size(), 0);
  steps.assign(input.size(), 1);
  PlaceAxes(axes, static_cast<int64_t>(input.size()), &placed);
  for (size_t i = 0; i < first.size(); ++i) {
    const size_t axis = static_cast<size_t>(placed[i]);
    const int64_t size = input[axis];
    // A longer step ends the slice after one element, too.
    const int64_t most = std::max<int64_t>(size, 1);
    CAFFE_ENFORCE(step.empty() || step[i] != 0, "element ", i, " of steps is 0");
    const int64_t by = step.empty() ? 1 : std::clamp(step[i], -most, most);
    const int64_t low = by > 0 ? 0 : -1, high = by > 0 ? size : size - 1;
    const auto place = [&](int64_t bound) {
      return std::clamp(bound < 0 ? bound + size : bound, low, high);
    };
    const int64_t begin = by > 0 ? place(first[i]) : std::max<int64_t>(place(first[i]), 0);
    const int64_t length = by > 0 ? place(ends[i]) - begin : begin - place(ends[i]);
    const int64_t distance = by > 0 ? by : -by;
    // A start before the first element of a backward slice leaves nothing.
    const bool none = length <= 0 || size == 0 || place(first[i]) < 0;
    dims[axis] = none ? 0 : (length - 1) / distance + 1;
    starts[axis] = begin;
    steps[axis] = by;
  }
}

StridedCopy StepsPlan::Loops(IntArrayRef input, bool from_slice, int64_t* offset) const {
  StridedCopy copy;
  int64_t whole = CheckedProduct(input), part = CheckedProduct(dims);
  *offset = 0;
  if (part == 0) return copy;
  for (size_t i = 0; i < input.size(); ++i) {
    whole /= input[i];
    part /= dims[i];
    *offset += starts[i] * whole;
    const int64_t stride = steps[i] * whole;
    copy.Add(dims[i], from_slice ? part : stride, from_slice ? stride : part);
  }
  return copy;
}

// The bounds of a slice, from the arguments or from inputs 1 to 4.
class StepBounds {
 public:
  // `inputs`: how many inputs hold bounds.
  StepBounds(const ArgumentHelper& args, int inputs)
      : inputs_(inputs),
        lists_{args.Read(kOnnxSliceStarts), args.Read(kOnnxSliceEnds), args.Read(kOnnxSliceAxes),
               args.Read(kOnnxSliceSteps)} {
    CAFFE_ENFORCE(
        inputs >= 2 || (args.HasArgument(kOnnxSliceStarts) && args.HasArgument(kOnnxSliceEnds)),
        "starts and ends are neither arguments nor inputs 1 and 2");
  }
  const StepsPlan& Plan(const Operator<CPUContext>& op, IntArrayRef input) {
    static constexpr const char* kNames[] = {"input 1 (starts)", "input 2 (ends)", "input 3 (axes)",
                                             "input 4 (steps)"};
    IntArrayRef lists[4] = {lists_[0], lists_[1], lists_[2], lists_[3]};
    for (int i = 0; i < inputs_; ++i)
      lists[i] = IntegersOf(op, i + 1, kNames[i], lists_[i], &values_[i]);
    plan_.Make(input, lists[0], lists[1], lists[2], lists[3]);
    return plan_;
  }

 private:
  const int inputs_;
  const std::vector<int64_t> lists_[4];
  std::vector<int64_t> values_[4];
  StepsPlan plan_;
};

class ONNXSliceOp final : public Operator<CPUContext> {
 public:
  ONNXSliceOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), bounds_(args(), InputSize() - 1) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const StepsPlan& plan = bounds_.Plan(*this, X.sizes());
    Tensor* const Y = Output(0);
    Y->Resize(plan.dims);
    void* const y = OutputMemory(Y, X.dtype());
    if (Y->numel() == 0) return true;
    int64_t offset = 0;
    const StridedCopy copy = plan.Loops(X.sizes(), false, &offset);
    copy.Run(X.dtype(), ItemAt(X.raw_data(), X.dtype(), offset), y);
    return true;
  }

 private:
  StepBounds bounds_;
};

class ONNXSliceGradientOp final : public Operator<CPUContext> {
 public:
  ONNXSliceGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), bounds_(args(), InputSize() - 2) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const int last = InputSize() - 1;
    const Tensor& dY = Input(last);
    const TypeMeta type = dY.dtype();
    CAFFE_ENFORCE(type.IsPlainData(), "input ", last, " (dY) has elements of type ", type.name(),
                  ", want numbers");
    const StepsPlan& plan = bounds_.Plan(*this, X.sizes());
    CAFFE_ENFORCE(dY.dims() == plan.dims, "input ", last, " (dY) has shape ", dY.sizes(),
                  ", want that of the slice ", IntArrayRef(plan.dims));
    Tensor* const dX = Output(0);
    dX->Resize(X.sizes());
    void* const dx = OutputMemory(dX, type);
    if (dX->numel() == 0) return true;
    FillZeros(context_, dX->nbytes(), dx);
    if (dY.numel() == 0) return true;
    int64_t offset = 0;
    const StridedCopy copy = plan.Loops(X.sizes(), true, &offset);
    copy.Run(type, dY.raw_data(), ItemAt(dx, type, offset));
    return true;
  }

 private:
  StepBounds bounds_;
};

std::vector<TensorShape> InferOnnxSlice(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || def.input_size() > 1)
    return {in.empty() ? UnknownShape() : UnknownShapeLike(in[0])};
  const ArgumentHelper args(def);
  const std::vector<int64_t> starts = args.Read(kOnnxSliceStarts), ends = args.Read(kOnnxSliceEnds),
                             axes = args.Read(kOnnxSliceAxes), steps = args.Read(kOnnxSliceSteps);
  StepsPlan plan;
  plan.Make(GetDimsVector(in[0]), starts, ends, axes, steps);
  return {CreateTensorShape(plan.dims, in[0].data_type())};
}

class GetOnnxSliceGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs = {I(0)};
    for (int i = 1; i < def_.input_size(); ++i) inputs.push_back(I(i));
    inputs.push_back(GO(0));
    return SingleGradientDef("ONNXSliceGradient", "", inputs, {GI(0)});
  }
};

}  // namespace

void RegisterOnnxSlice() {
  RegisterSchema("ONNXSlice", __FILE__)
      .NumInputs(std::set<int>{1, 3, 4, 5})
      .NumOutputs(1)
      .Args(kOnnxSliceStarts, kOnnxSliceEnds, kOnnxSliceAxes, kOnnxSliceSteps)
      .Input(0, "X", "any tensor")
      .Input(1, "starts", "(optional) int32 or int64, instead of the argument")
      .Input(2, "ends", "(optional) int32 or int64, instead of the argument")
      .Input(3, "axes", "(optional) int32 or int64, instead of the argument")
      .Input(4, "steps", "(optional) int32 or int64, instead of the argument")
      .Output(0, "Y", "the selected part of X")
      .TensorInferenceFunction(InferOnnxSlice)
      .InheritOnnxSchema("Slice")
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the shape of the slice depends on the values of its inputs"})
      .SetDoc(
          "Copies ranges of indices of any dimensions, with steps, as ONNX's Slice does. Bounds "
          "outside a dimension mean its border; -1 is the last element.");
  RegisterCpuOperator<ONNXSliceOp>("ONNXSlice", __FILE__);
  RegisterGradient<GetOnnxSliceGradient>("ONNXSlice", __FILE__);

  RegisterSchema("ONNXSliceGradient", __FILE__)
      .NumInputs(std::set<int>{2, 4, 5, 6})
      .NumOutputs(1)
      .Args(kOnnxSliceStarts, kOnnxSliceEnds, kOnnxSliceAxes, kOnnxSliceSteps)
      .Input(0, "X", "the input of ONNXSlice, for its shape")
      .Input(1, "starts", "(optional) as for ONNXSlice, followed by ends, axes and steps")
      .Input(2, "ends", "(optional) as for ONNXSlice")
      .Input(3, "axes", "(optional) as for ONNXSlice")
      .Input(4, "steps", "(optional) as for ONNXSlice")
      .Input(5, "dY", "the gradient of the output, always the last input")
      .Output(0, "dX", "dY in the place of the slice, 0 elsewhere; the shape of X")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!IsKnown(in[0])) return UnknownOutputs(def);
        return std::vector<TensorShape>{
            CreateTensorShape(GetDimsVector(in[0]), in.back().data_type())};
      })
      .SetDoc("Computes the gradient of ONNXSlice.");
  RegisterCpuOperator<ONNXSliceGradientOp>("ONNXSliceGradient", __FILE__);
}

}  // namespace caffe2rt
