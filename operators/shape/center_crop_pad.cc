// CenterCropPad: ONNX's operator (opset 18): crops or pads dimensions around their centre.
//   X, shape (argument, or int32 or int64 input 1), argument axes  ->  Y
//
// Added elements are 0. Of an odd difference, the larger half is cropped or added at the end.

#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"
#include "operators/shape/padded_copy.h"

namespace caffe2rt {

namespace {

constexpr RepeatedArgumentSpec<int64_t> kCenterCropPadShape{
    "shape", "new size of each axis; required unless input 1 is given"};
constexpr RepeatedArgumentSpec<int64_t> kCenterCropPadAxes{
    "axes", "dimensions to change; negative ones count from the end; default: all"};

// The numbers of elements to add before and after each axis.
void CenteredPads(IntArrayRef input, IntArrayRef axes, IntArrayRef shape,
                  std::vector<int64_t>* pads) {
  CAFFE_ENFORCE_EQ(shape.size(), axes.size(), "elements of shape, want one for each axis");
  pads->assign(2 * axes.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    CAFFE_ENFORCE_GE(shape[i], 0, "element ", i, " of shape");
    const int64_t more = shape[i] - input[static_cast<size_t>(axes[i])];
    (*pads)[i] = more / 2;  // toward zero
    (*pads)[i + axes.size()] = more - more / 2;
  }
}

class CenterCropPadOp final : public Operator<CPUContext> {
 public:
  CenterCropPadOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        shape_argument_(ReadArgument(kCenterCropPadShape)),
        axes_(ReadArgument(kCenterCropPadAxes)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const IntArrayRef shape = IntegersOf(*this, 1, "input 1 (shape)", shape_argument_, &shape_);
    PlaceAxes(axes_, X.dim(), &placed_);
    CenteredPads(X.sizes(), placed_, shape, &pads_);
    padding_.Plan(X.sizes(), placed_, pads_, PadMode::kConstant);
    Tensor* const Y = Output(0);
    Y->Resize(padding_.dims());
    void* const y = OutputMemory(Y, X.dtype());
    if (Y->numel() == 0) return true;
    padding_.Run(X.dtype(), X.numel() > 0 ? X.raw_data() : nullptr, nullptr, y);
    return true;
  }

 private:
  const std::vector<int64_t> shape_argument_, axes_;
  std::vector<int64_t> shape_, placed_, pads_;
  PaddedCopy padding_;
};

std::vector<TensorShape> InferCenterCropPad(const OperatorDef& def,
                                            const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || MayBeGiven(def, in, 1))
    return {in.empty() ? UnknownShape() : UnknownShapeLike(in[0])};
  const ArgumentHelper args(def);
  std::vector<int64_t> dims = GetDimsVector(in[0]), placed, pads;
  PlaceAxes(args.Read(kCenterCropPadAxes), in[0].dims_size(), &placed);
  const std::vector<int64_t> shape = args.Read(kCenterCropPadShape);
  CenteredPads(dims, placed, shape, &pads);
  for (size_t i = 0; i < placed.size(); ++i) dims[static_cast<size_t>(placed[i])] = shape[i];
  return {CreateTensorShape(dims, in[0].data_type())};
}

}  // namespace

void RegisterCenterCropPad() {
  RegisterSchema("CenterCropPad", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1)
      .Args(kCenterCropPadShape, kCenterCropPadAxes)
      .Input(0, "X", "any tensor")
      .Input(1, "shape", "(optional) int32 or int64, instead of the argument")
      .Output(0, "Y", "X cropped or padded")
      .TensorInferenceFunction(InferCenterCropPad)
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the shape is that of an input's values"})
      .SetDoc("Crops dimensions around their centre or pads them with zeros, to the given sizes.");
  RegisterCpuOperator<CenterCropPadOp>("CenterCropPad", __FILE__);
  // Models are trained by other operators.
  RegisterGradient<GradientNotImplementedYet>("CenterCropPad", __FILE__);
}

}  // namespace caffe2rt
