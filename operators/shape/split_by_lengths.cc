// SplitByLengths: splits a tensor along one dimension into as many pieces as there are outputs. Each output gets the sum of
// an equal part of the lengths.
//   input, lengths int32 [a multiple of the outputs]  ->  Y1, Y2, ...
#include <climits>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/shape/join_axis.h"
#include "operators/shape/row_pieces.h"
#include "operators/shape/split.h"
#include "operators/shape/split_gradient.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<bool> kScalingLengths{
    "use_scaling_lengths", false,
    "1: multiply the lengths by one number so that they add up to the dimension's size"};

class SplitByLengthsOp final : public Operator<CPUContext> {
 public:
  SplitByLengthsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        join_(ReadJoinAxis(args())),
        scales_(ReadArgument(kScalingLengths)) {}
  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const int axis = X.canonical_axis_index(join_.axis);
    FindSizes(X.dim(axis));
    const void* const x = X.numel() > 0 ? X.raw_data() : nullptr;
    PlacePieces(*this, X, x, axis, false, sizes_, &dims_, &pieces_);
    if (X.numel() > 0) SplitRows(context_, X.dtype(), X.size_to_dim(axis), x, pieces_);
    return true;
  }

 private:
  void FindSizes(int64_t size) {
    const Tensor& lengths = Input(1);
    CAFFE_ENFORCE_EQ(lengths.dim(), 1, "rank of input 1 (lengths) of shape ", lengths.sizes());
    CAFFE_ENFORCE_EQ(lengths.numel() % OutputSize(), 0, "elements of input 1 (lengths), ",
                     lengths.numel(), ", modulo the outputs, ", OutputSize());
    const int32_t* const length = lengths.data<int32_t>();
    const int64_t part = lengths.numel() / OutputSize();
    sizes_.assign(static_cast<size_t>(OutputSize()), 0);
    int64_t total = 0;
    for (int64_t i = 0; i < lengths.numel(); ++i) {
      CAFFE_ENFORCE_GE(length[i], 0, "element ", i, " of input 1 (lengths), want at least 0");
      sizes_[static_cast<size_t>(i / part)] += length[i];
      total += length[i];
    }
    if (scales_ && total > 0) {
      CAFFE_ENFORCE_EQ(size % total, 0, "size of the dimension, ", size,
                       ", modulo the sum of the lengths, ", total);
      for (int64_t& piece : sizes_) piece *= size / total;
      total = size;
    }
    CAFFE_ENFORCE_EQ(total, size,
                     "sum of the lengths, want the size of the dimension that is split");
  }

  const JoinAxis join_;
  const bool scales_;
  std::vector<int64_t> sizes_, dims_;
  std::vector<TargetPiece> pieces_;
};

}  // namespace

void RegisterSplitByLengths() {
  RegisterSchema("SplitByLengths", __FILE__)
      .NumInputs(2)
      .NumOutputs(1, INT_MAX)
      .Args(kJoinAxis, kJoinOrder, kScalingLengths)
      .Input(0, "input", "input, of any shape")
      .Input(1, "lengths", "int32, a multiple of the outputs: sizes of parts of the outputs")
      .Output(0, "[output_0, output_1, ...]", "the pieces")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return UnknownOutputsOfInputType(def, in);
      })
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the sizes are the values of an input"})
      .SetDoc(
          "Splits a tensor into pieces along one dimension, one for each output. The size of a "
          "piece is the sum of "
          "its part of the lengths.");
  RegisterCpuOperator<SplitByLengthsOp>("SplitByLengths", __FILE__);
  RegisterGradient<GetSplitGradient>("SplitByLengths", __FILE__);
}

}  // namespace caffe2rt
