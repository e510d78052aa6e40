// ReverseSequence: ONNX's operator (opset 10): reverses the beginning of each sequence.
//   X of rank 2 or more, lengths int32 or int64 [batch size]  ->  Y, the shape of X
//
// Arguments batch_axis and time_axis are 0 and 1 in one order or the other. The first lengths[b]
// steps of sequence b are reversed, and the others are copied.

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"
#include "operators/common/strided_copy.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

constexpr ArgumentCheck<int> kFirstTwoAxes{[](int axis) { return axis == 0 || axis == 1; },
                                           "0 or 1"};
constexpr ArgumentSpec<int> kReverseBatchAxis{"batch_axis", 1, "dimension of the sequences: 0 or 1",
                                              kFirstTwoAxes};
constexpr ArgumentSpec<int> kReverseTimeAxis{"time_axis", 0, "dimension of the steps: 0 or 1",
                                             kFirstTwoAxes};

class ReverseSequenceOp final : public Operator<CPUContext> {
 public:
  ReverseSequenceOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), batch_axis_(ReadArgument(kReverseBatchAxis)) {
    CAFFE_ENFORCE_NE(ReadArgument(kReverseTimeAxis), batch_axis_,
                     "argument time_axis, want the other one than batch_axis");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GE(X.dim(), 2, "rank of input 0 (X)");
    const int64_t batch = X.dim(batch_axis_), steps = X.dim(1 - batch_axis_);
    CAFFE_ENFORCE_EQ(Input(1).numel(), batch, "elements of input 1 (lengths), want dim ",
                     batch_axis_, " of input 0 (X) of shape ", X.sizes());
    ReadIntegers(Input(1), "input 1 (lengths)", &lengths_);
    for (const int64_t length : lengths_) {
      CAFFE_ENFORCE(length >= 0 && length <= steps, "element of input 1 (lengths) is ", length,
                    ", want at least 0 and at most ", steps, " steps");
    }
    Tensor* const Y = Output(0);
    Y->Resize(X.sizes());
    void* const y = OutputMemory(Y, X.dtype());
    if (X.numel() == 0) return true;
    const int64_t inner = X.size_from_dim(2), columns = X.dim(1);
    DispatchBySize(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      const T* const x = static_cast<const T*>(X.raw_data());
      ParallelRanges(batch * steps, inner, [&](int64_t first, int64_t last) {
        for (int64_t row = first; row < last; ++row) {
          const int64_t i = row / columns, j = row % columns;
          const int64_t b = batch_axis_ == 0 ? i : j, step = batch_axis_ == 0 ? j : i;
          const int64_t length = lengths_[static_cast<size_t>(b)];
          const int64_t from = step < length ? length - 1 - step : step;
          const int64_t source = batch_axis_ == 0 ? i * columns + from : from * columns + j;
          std::copy_n(x + source * inner, inner, static_cast<T*>(y) + row * inner);
        }
      });
    });
    return true;
  }

 private:
  const int batch_axis_;
  std::vector<int64_t> lengths_;
};

class GetReverseSequenceGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("ReverseSequence", "", {GO(0), I(1)}, {GI(0)});
  }
};

}  // namespace

void RegisterReverseSequence() {
  RegisterSchema("ReverseSequence", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kReverseBatchAxis, kReverseTimeAxis)
      .Input(0, "X", "[T, N, ...] or [N, T, ...], of any type")
      .Input(1, "lengths", "int32 or int64 [N]: the number of steps of each sequence to reverse")
      .Output(0, "Y", "the shape of X")
      .IdenticalTypeAndShapeOfInput(0)
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape, .same_shape = true})
      .SetDoc(
          "Reverses the first steps of each sequence of a batch and copies the others, as ONNX's "
          "ReverseSequence does.");
  RegisterCpuOperator<ReverseSequenceOp>("ReverseSequence", __FILE__);
  RegisterGradient<GetReverseSequenceGradient>("ReverseSequence", __FILE__);
}

}  // namespace caffe2rt
