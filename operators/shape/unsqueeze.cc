// Unsqueeze, ONNXSqueeze: ONNX's Unsqueeze and Squeeze (opset 13): insert or remove dimensions of size
// 1.
//   X, axes (argument, or int32 or int64 input 1)  ->  Y, the elements of X in the new shape
//
// Axes may be negative, and count from the end of the output of Unsqueeze, of the input of ONNXSqueeze.
// Without axes, ONNXSqueeze removes all dimensions of size 1. ExpandDims and Squeeze are Caffe2's
// operators, whose dims are arguments and not negative.

#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"

namespace caffe2rt {

namespace {

constexpr RepeatedArgumentSpec<int64_t> kUnsqueezeAxes{
    "axes", "dimensions of size 1 to insert or to remove; negative ones count from the end"};

// Sets *dims to the new shape; *placed is scratch. THROWS if the axes do not fit the input.
template <bool kInserts>
void UnitDims(IntArrayRef input, IntArrayRef axes, std::vector<int64_t>* placed,
              std::vector<int64_t>* dims) {
  const int64_t rank = static_cast<int64_t>(input.size() + (kInserts ? axes.size() : 0));
  placed->clear();
  if (!axes.empty()) PlaceAxes(axes, rank, placed);
  const auto is_named = [&](int64_t i) {
    return std::find(placed->begin(), placed->end(), i) != placed->end();
  };
  dims->clear();
  size_t next = 0;
  for (int64_t i = 0; i < rank; ++i) {
    if (kInserts) {
      dims->push_back(is_named(i) ? 1 : input[next++]);
      continue;
    }
    const int64_t size = input[static_cast<size_t>(i)];
    const bool removed = axes.empty() ? size == 1 : is_named(i);
    CAFFE_ENFORCE(!removed || size == 1, "dim ", i, " of input 0 of shape ", input,
                  " is in axes, want size 1");
    if (!removed) dims->push_back(size);
  }
}

template <bool kInserts>
class UnitDimsOp final : public Operator<CPUContext> {
 public:
  UnitDimsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), argument_(ReadArgument(kUnsqueezeAxes)) {
    CAFFE_ENFORCE(!kInserts || InputSize() == 2 || HasArgument(kUnsqueezeAxes),
                  "argument axes is missing, and input 1 is not given either");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const IntArrayRef axes = IntegersOf(*this, 1, "input 1 (axes)", argument_, &axes_);
    UnitDims<kInserts>(X.sizes(), axes, &placed_, &dims_);
    CopyReshaped(context_, X, dims_, Output(0));
    return true;
  }

 private:
  const std::vector<int64_t> argument_;
  std::vector<int64_t> axes_, placed_, dims_;
};

template <bool kInserts>
std::vector<TensorShape> InferUnitDims(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || MayBeGiven(def, in, 1))
    return {in.empty() ? UnknownShape() : UnknownShapeLike(in[0])};
  std::vector<int64_t> placed, dims;
  UnitDims<kInserts>(GetDimsVector(in[0]), ArgumentHelper(def).Read(kUnsqueezeAxes), &placed,
                     &dims);
  return {CreateTensorShape(dims, in[0].data_type())};
}

// The other operator with the same axes; without axes, the shape of X is read.
template <bool kInserts>
class GetUnitDimsGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    if (def_.input_size() < 2 && !ArgumentHelper(def_).HasArgument(kUnsqueezeAxes))
      return SingleGradientDef("ResizeLike", "", {GO(0), ShapeOf(0)}, {GI(0)});
    std::vector<std::string> inputs = {GO(0)};
    if (def_.input_size() > 1) inputs.push_back(I(1));
    return SingleGradientDef(kInserts ? "ONNXSqueeze" : "Unsqueeze", "", inputs, {GI(0)});
  }
};

template <bool kInserts>
void RegisterUnitDims(const char* type, const char* onnx, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Arg(kUnsqueezeAxes)
      .Input(0, "X", "any tensor")
      .Input(1, "axes", "(optional) int32 or int64, instead of the argument")
      .Output(0, "Y", "the elements of X in the new shape")
      .TensorInferenceFunction(InferUnitDims<kInserts>)
      .InheritOnnxSchema(onnx)
      .Traits({.family = OperatorFamily::kShape,
               .only_changes_shape = true,
               .no_shape_reason = "the shape depends on the values of its inputs"})
      .SetDoc(doc);
  RegisterCpuOperator<UnitDimsOp<kInserts>>(type, __FILE__);
  RegisterGradient<GetUnitDimsGradient<kInserts>>(type, __FILE__);
}

}  // namespace

void RegisterUnsqueeze() {
  RegisterUnitDims<true>("Unsqueeze", "Unsqueeze",
                         "Inserts dimensions of size 1 into the shape, as ONNX's Unsqueeze does.");
  RegisterUnitDims<false>(
      "ONNXSqueeze", "Squeeze",
      "Removes dimensions of size 1 from the shape, all of them without axes, as ONNX's Squeeze "
      "does.");
}

}  // namespace caffe2rt
