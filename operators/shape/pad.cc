// Pad: ONNX's operator (opset 25). Adds elements before and after each dimension, or takes them away.
//   X, pads (argument, or int64 input 1), value (argument, or input 2 of the type of X), axes
//   (argument, or input 3)  ->  Y
//
// An input without elements counts as not given.

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"
#include "operators/shape/number_argument.h"
#include "operators/shape/padded_copy.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<std::string> kPadMode{
    "mode",
    "constant",
    "constant, reflect (without repeating the border), edge or wrap",
    {[](const std::string& mode) {
       return mode == "constant" || mode == "reflect" || mode == "edge" || mode == "wrap";
     },
     "constant, reflect, edge or wrap"}};
constexpr RepeatedArgumentSpec<int64_t> kPadNumbers{
    "pads",
    "elements to add before the first element of each axis, then those after the last; negative "
    "numbers take elements away; required unless input 1 is given"};
constexpr ArgumentSpec<float> kPadValue{"value", 0.0f, "value of the added elements"};
constexpr RepeatedArgumentSpec<int64_t> kPadAxes{
    "axes", "dimensions that the pads belong to; negative ones count from the end; default: all"};

PadMode PadModeOf(const ArgumentHelper& args) {
  const std::string mode = args.Read(kPadMode);
  if (mode == "reflect") return PadMode::kReflect;
  if (mode == "edge") return PadMode::kEdge;
  return mode == "wrap" ? PadMode::kWrap : PadMode::kConstant;
}

class PadOp final : public Operator<CPUContext> {
 public:
  PadOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        mode_(PadModeOf(args())),
        pads_argument_(ReadArgument(kPadNumbers)),
        axes_argument_(ReadArgument(kPadAxes)),
        value_(ReadArgument(kPadValue)) {
    CAFFE_ENFORCE(InputSize() > 1 || HasArgument(kPadNumbers),
                  "argument pads is missing, and input 1 is not given either");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const TypeMeta type = X.dtype();
    const bool has_value = IsGiven(*this, 2);
    if (has_value) {
      const Tensor& value = Input(2);
      CAFFE_ENFORCE(value.dtype() == type, "input 2 (value) has elements of type ",
                    value.dtype().name(), ", want ", type.name(), " as input 0 (X)");
      CAFFE_ENFORCE_EQ(value.numel(), 1, "elements of input 2 (value), want one");
    }
    const IntArrayRef axes = IntegersOf(*this, 3, "input 3 (axes)", axes_argument_, &axes_);
    PlaceAxes(axes, X.dim(), &placed_);
    // No pads at all are right for a scalar.
    const IntArrayRef pads = IntegersOf(*this, 1, "input 1 (pads)", pads_argument_, &pads_);
    padding_.Plan(X.sizes(), placed_, pads, mode_);
    Tensor* const Y = Output(0);
    Y->Resize(padding_.dims());
    void* const y = OutputMemory(Y, type);
    if (Y->numel() == 0) return true;
    const void* value = nullptr;
    if (has_value) {
      value = Input(2).raw_data();
    } else if (value_ != 0) {
      value = number_.Convert(type, value_, kPadValue.name);
    }
    padding_.Run(type, X.numel() > 0 ? X.raw_data() : nullptr, value, y);
    return true;
  }

 private:
  const PadMode mode_;
  const std::vector<int64_t> pads_argument_, axes_argument_;
  const float value_;
  NumberArgument number_;
  std::vector<int64_t> pads_, axes_, placed_;
  PaddedCopy padding_;
};

std::vector<TensorShape> InferPad(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || MayBeGiven(def, in, 1) || MayBeGiven(def, in, 3))
    return {in.empty() ? UnknownShape() : UnknownShapeLike(in[0])};
  const ArgumentHelper args(def);
  std::vector<int64_t> placed;
  const std::vector<int64_t> axes = args.Read(kPadAxes), pads = args.Read(kPadNumbers);
  PlaceAxes(axes, in[0].dims_size(), &placed);
  PaddedCopy padding;
  padding.Plan(GetDimsVector(in[0]), placed, pads, PadModeOf(args));
  return {CreateTensorShape(padding.dims(), in[0].data_type())};
}

// Takes the added elements of dY away, and adds zeros for those that were taken away.
class GetPadGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  bool CopyArguments() const override { return false; }

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const ArgumentHelper args(def_);
    CAFFE_ENFORCE(PadModeOf(args) == PadMode::kConstant, "the gradient of Pad in mode \"",
                  args.Read(kPadMode), "\" is not implemented, want mode constant");
    std::vector<Argument> arguments;
    if (args.HasArgument(kPadAxes.name))
      arguments.push_back(MakeArgument(kPadAxes.name, args.Read(kPadAxes)));
    std::vector<OperatorDef> ops;
    std::vector<std::string> inputs = {GO(0)};
    if (def_.input_size() == 1) {
      std::vector<int64_t> pads = args.Read(kPadNumbers);
      for (int64_t& pad : pads) pad = -pad;
      arguments.push_back(MakeArgument(kPadNumbers.name, pads));
    } else {
      inputs.push_back(GI(0) + "_pads");
      ops.push_back(CreateOperatorDef("Negative", "", {I(1)}, {inputs.back()}));
    }
    if (def_.input_size() > 3) {
      inputs.push_back(GI(0) + "_zero");
      ops.push_back(CreateOperatorDef("ConstantFill", "", {}, {inputs.back()}, {}));
      inputs.push_back(I(3));
    }
    ops.push_back(CreateOperatorDef("Pad", "", inputs, {GI(0)}, arguments));
    return ops;
  }
};

}  // namespace

void RegisterPad() {
  RegisterSchema("Pad", __FILE__)
      .NumInputs(1, 4)
      .NumOutputs(1)
      .Args(kPadMode, kPadNumbers, kPadValue, kPadAxes)
      .Input(0, "X", "any tensor")
      .Input(1, "pads",
             "(optional) int32 or int64: the elements to add before each axis, then those after "
             "each; instead of the argument")
      .Input(2, "value", "(optional) one element of the type of X, instead of the argument")
      .Input(3, "axes", "(optional) int32 or int64: instead of the argument")
      .Output(0, "Y", "X padded, or cropped where pads are negative")
      .TensorInferenceFunction(InferPad)
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the shape depends on the values of its inputs"})
      .SetDoc(
          "Pads or crops a tensor of any rank, as ONNX's Pad does: with a constant, the nearest "
          "elements (edge), the mirrored ones (reflect) or those of the other end (wrap). "
          "Dimensions "
          "are cropped first.");
  RegisterCpuOperator<PadOp>("Pad", __FILE__);
  RegisterGradient<GetPadGradient>("Pad", __FILE__);
}

}  // namespace caffe2rt
