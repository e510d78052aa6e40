// Expand: ONNX's operator (opset 13): X broadcast to a shape by numpy's rules.
//   X, shape (argument, or int32 or int64 input 1)  ->  Y
// ONNXTile: ONNX's Tile (opset 13): X repeated along all dimensions.
//   X, repeats (argument, or int32 or int64 input 1)  ->  Y
// NumpyTile: Caffe2's name for the same with repeats as an input.
//
// Caffe2's Tile repeats one dimension.

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"
#include "operators/common/strided_copy.h"

namespace caffe2rt {

namespace {

constexpr RepeatedArgumentSpec<int64_t> kExpandShape{
    "shape",
    "shape that X is broadcast with; 1 keeps the dimension of X; required unless input 1 is given"};
constexpr RepeatedArgumentSpec<int64_t> kTileRepeats{
    "repeats",
    "number of repetitions along each dimension, at least 0; required unless input 1 is given"};

// The shape of X broadcast with `shape`. THROWS if they do not match.
void ExpandToDims(IntArrayRef input, IntArrayRef shape, std::vector<int64_t>* dims) {
  const size_t rank = std::max(input.size(), shape.size());
  dims->assign(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = i < input.size() ? input[input.size() - 1 - i] : 1;
    const int64_t wanted = i < shape.size() ? shape[shape.size() - 1 - i] : 1;
    CAFFE_ENFORCE(wanted >= 0 && (size == wanted || size == 1 || wanted == 1),
                  "input 0 (X) has shape ", input, ", which cannot be broadcast with shape ",
                  shape);
    (*dims)[rank - 1 - i] = size == 1 ? wanted : size;
  }
  (void)CheckedProduct(*dims);
}

// The shape of X repeated. THROWS if there is not one number, at least 0, for each dimension.
void RepeatedDims(IntArrayRef input, IntArrayRef repeats, std::vector<int64_t>* dims) {
  CAFFE_ENFORCE_EQ(repeats.size(), input.size(),
                   "elements of repeats, want the rank of input 0 (X) of shape ", input);
  dims->assign(input.begin(), input.end());
  for (size_t i = 0; i < repeats.size(); ++i) {
    CAFFE_ENFORCE_GE(repeats[i], 0, "element ", i, " of repeats");
    (*dims)[i] = CheckedMultiply((*dims)[i], repeats[i]);
  }
  (void)CheckedProduct(*dims);
}

template <bool kExpands>
class RepeatingOp : public Operator<CPUContext> {
 public:
  RepeatingOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), argument_(ReadArgument(Spec())) {
    CAFFE_ENFORCE(InputSize() == 2 || HasArgument(Spec()), "argument ", Spec().name,
                  " is missing, and input 1 is not given either");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const IntArrayRef numbers = IntegersOf(*this, 1, "input 1", argument_, &numbers_);
    if (kExpands) {
      ExpandToDims(X.sizes(), numbers, &dims_);
    } else {
      RepeatedDims(X.sizes(), numbers, &dims_);
    }
    Tensor* const Y = Output(0);
    Y->Resize(dims_);
    void* const y = OutputMemory(Y, X.dtype());
    if (Y->numel() > 0) CopyRepeated(X, Y->numel(), y);
    return true;
  }

 private:
  static constexpr const RepeatedArgumentSpec<int64_t>& Spec() {
    return kExpands ? kExpandShape : kTileRepeats;
  }
  // Each dimension of Y is a loop over repetitions, with stride 0 in X, around one over X.
  void CopyRepeated(const Tensor& X, int64_t total, void* y) const {
    StridedCopy copy;
    int64_t src = X.numel(), dst = total;
    const size_t added = dims_.size() - X.dims().size();
    for (size_t i = 0; i < dims_.size(); ++i) {
      const int64_t size = i < added ? 1 : X.dims()[i - added];
      dst /= dims_[i];
      src /= size;
      copy.Add(dims_[i] / size, 0, size * dst);
      copy.Add(size, src, dst);
    }
    copy.Run(X.dtype(), X.raw_data(), y);
  }

  const std::vector<int64_t> argument_;
  std::vector<int64_t> numbers_, dims_;
};

class NumpyTileOp final : public RepeatingOp<false> {
 public:
  using RepeatingOp<false>::RepeatingOp;

  bool RunOnDevice() override {
    RequireElements<int64_t>(Input(1));
    return RepeatingOp<false>::RunOnDevice();
  }
};

template <bool kExpands>
std::vector<TensorShape> InferRepeating(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || MayBeGiven(def, in, 1))
    return {in.empty() ? UnknownShape() : UnknownShapeLike(in[0])};
  const ArgumentHelper args(def);
  std::vector<int64_t> dims;
  if (kExpands) {
    ExpandToDims(GetDimsVector(in[0]), args.Read(kExpandShape), &dims);
  } else {
    RepeatedDims(GetDimsVector(in[0]), args.Read(kTileRepeats), &dims);
  }
  return {CreateTensorShape(dims, in[0].data_type())};
}

class GetOnnxExpandGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  bool CopyArguments() const override { return false; }

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("SumReduceLike", "", {GO(0), ShapeOf(0)}, {GI(0)},
                             {MakeArgument("numpy", 1)});
  }
};

}  // namespace

void RegisterOnnxExpand() {
  RegisterSchema("ONNXExpand", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1)
      .Arg(kExpandShape)
      .Input(0, "X", "any tensor")
      .Input(1, "shape", "(optional) int32 or int64, instead of the argument")
      .Output(0, "Y", "X broadcast with the shape")
      .TensorInferenceFunction(InferRepeating<true>)
      .InheritOnnxSchema("Expand")
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the shape is that of an input's values"})
      .SetDoc(
          "Broadcasts a tensor with a shape by numpy's rules, as ONNX's Expand does: dimensions of "
          "size 1 are repeated, and dimensions are added before the first one.");
  RegisterCpuOperator<RepeatingOp<true>>("ONNXExpand", __FILE__);
  RegisterGradient<GetOnnxExpandGradient>("ONNXExpand", __FILE__);

  RegisterSchema("ONNXTile", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1)
      .Arg(kTileRepeats)
      .Input(0, "X", "any tensor")
      .Input(1, "repeats", "(optional) int32 or int64, one for each dimension of X")
      .Output(0, "Y", "X repeated")
      .TensorInferenceFunction(InferRepeating<false>)
      .InheritOnnxSchema("Tile")
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the shape depends on the values of its inputs"})
      .SetDoc("Repeats a tensor along all of its dimensions, as ONNX's Tile does.");
  RegisterCpuOperator<RepeatingOp<false>>("ONNXTile", __FILE__);
  // Models are trained by other operators.
  RegisterGradient<GradientNotImplementedYet>("ONNXTile", __FILE__);

  RegisterSchema("NumpyTile", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "data", "any tensor")
      .Input(1, "repeats", "[rank of data] int64, at least 0")
      .TypesOfInput(1, {.accepted = {TensorProto::INT64}})
      .Output(0, "tiled_data", "data repeated")
      .TensorInferenceFunction(InferRepeating<false>)
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the shape depends on the values of its inputs"})
      .SetDoc("Repeats a tensor along all of its dimensions, as numpy.tile does.");
  RegisterCpuOperator<NumpyTileOp>("NumpyTile", __FILE__);
  // As in Caffe2, no gradient maker.
}

}  // namespace caffe2rt
