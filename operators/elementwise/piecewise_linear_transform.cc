// PiecewiseLinearTransform: functions that are linear between bounds, and constant outside.
//   predictions [N, M] float; bounds, slopes, intercepts: arguments, or float inputs
//   ->  transforms [N, M]: y = slope * x + intercept of the piece, with a function for each column
// With `binary` there is one function: of predictions [N] or [N, 1], or of column 1 of [N, 2], whose column 0 becomes
// 1 - column 1.
#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr RepeatedArgumentSpec<float> kPiecewiseBounds{
    "bounds", "the ends of the pieces, ascending, one more than pieces for each function"};
constexpr RepeatedArgumentSpec<float> kPiecewiseSlopes{"slopes", "the slope of each piece"};
constexpr RepeatedArgumentSpec<float> kPiecewiseIntercepts{"intercepts",
                                                           "the intercept of each piece"};
constexpr ArgumentSpec<bool> kPiecewiseBinary{
    "binary", false, "1: the predictions are those of two classes, and there is one function"};

// Some functions of equally many pieces, in arrays that others own.
struct PiecewiseFunctions {
  const float *bounds, *slopes, *intercepts;
  int64_t functions = 0, pieces = 0;

  // THROWS unless the numbers fit, and the bounds of each function ascend.
  void Check(int64_t bound_count, int64_t slope_count, int64_t intercept_count) {
    CAFFE_ENFORCE_EQ(intercept_count, slope_count, "intercepts, want as many as slopes");
    functions = bound_count - slope_count;
    CAFFE_ENFORCE(functions > 0 && slope_count > 0 && slope_count % functions == 0, "there are ",
                  bound_count, " bounds and ", slope_count,
                  " slopes, want one bound more than slopes for each function");
    pieces = slope_count / functions;
  }
  void CheckBounds() const {
    for (int64_t i = 0; i < functions * (pieces + 1); ++i) {
      const bool first = i % (pieces + 1) == 0;
      CAFFE_ENFORCE(bounds[first ? i : i - 1] <= bounds[i], "bound ", i, " is ", bounds[i],
                    ", want ascending bounds for each function");
    }
  }
  float Apply(int64_t function, float x) const {
    const float* const first = bounds + function * (pieces + 1);
    const float* const last = first + pieces;
    const int64_t above = std::lower_bound(first, last + 1, x) - first;
    const int64_t place =
        x > *first && x >= *last ? pieces - 1 : std::clamp<int64_t>(above - 1, 0, pieces - 1);
    const int64_t piece = function * pieces + place;
    return slopes[piece] * (x < *first ? *first : x > *last ? *last : x) + intercepts[piece];
  }
};

class PiecewiseLinearTransformOp final : public Operator<CPUContext> {
 public:
  PiecewiseLinearTransformOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        binary_(ReadArgument(kPiecewiseBinary)),
        bounds_(ReadArgument(kPiecewiseBounds)),
        slopes_(ReadArgument(kPiecewiseSlopes)),
        intercepts_(ReadArgument(kPiecewiseIntercepts)) {
    from_arguments_ = !bounds_.empty();
    CAFFE_ENFORCE(slopes_.empty() != from_arguments_ && intercepts_.empty() != from_arguments_,
                  "arguments bounds, slopes and intercepts have ", bounds_.size(), ", ",
                  slopes_.size(), " and ", intercepts_.size(),
                  " elements, want all of them or none");
    CAFFE_ENFORCE_EQ(InputSize(), from_arguments_ ? 1 : 4, "inputs, want bounds, slopes and ",
                     "intercepts as 3 arguments or as 3 inputs");
    if (!from_arguments_) return;
    functions_ = {bounds_.data(), slopes_.data(), intercepts_.data()};
    functions_.Check(static_cast<int64_t>(bounds_.size()), static_cast<int64_t>(slopes_.size()),
                     static_cast<int64_t>(intercepts_.size()));
    functions_.CheckBounds();
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const bool vector = X.dim() == 1 && binary_;
    CAFFE_ENFORCE(X.dim() == 2 || vector, "rank of input 0 (predictions) of shape ", X.sizes(),
                  ", want 2", binary_ ? " or 1" : "");
    const int64_t rows = X.dim(0), columns = vector ? 1 : X.dim(1);
    RequireElements<float>(X);
    if (!from_arguments_) {
      for (int i = 1; i < 4; ++i) RequireElements<float>(Input(i));
      functions_.Check(Input(1).numel(), Input(2).numel(), Input(3).numel());
    }
    CAFFE_ENFORCE_EQ(
        functions_.functions, binary_ ? 1 : columns, "functions, want ",
        binary_ ? "1 with argument binary" : "one for each column of input 0 (predictions)");
    CAFFE_ENFORCE(!binary_ || columns == 1 || columns == 2, "input 0 (predictions) has shape ",
                  X.sizes(), ", want 1 or 2 columns with argument binary");
    if (!from_arguments_) {
      functions_.bounds = Input(1).data<float>();
      functions_.slopes = Input(2).data<float>();
      functions_.intercepts = Input(3).data<float>();
      functions_.CheckBounds();
    }
    const float* x = X.data<float>();
    float* y = OutputData<float>(0, X.sizes());
    if (binary_ && columns == 2) {
      for (int64_t i = 0; i < rows; ++i) {
        y[2 * i + 1] = functions_.Apply(0, x[2 * i + 1]);
        y[2 * i] = 1 - y[2 * i + 1];
      }
      return true;
    }
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t c = 0; c < columns; ++c) *y++ = functions_.Apply(c, *x++);
    }
    return true;
  }

 private:
  const bool binary_;
  const std::vector<float> bounds_, slopes_, intercepts_;
  bool from_arguments_;
  PiecewiseFunctions functions_{};
};

}  // namespace

void RegisterPiecewiseLinearTransform() {
  RegisterSchema("PiecewiseLinearTransform", __FILE__)
      .NumInputs(1, 4)
      .NumOutputs(1)
      .Args(kPiecewiseBounds, kPiecewiseSlopes, kPiecewiseIntercepts, kPiecewiseBinary)
      .Input(0, "predictions", "[N, M] float; with binary [N], [N, 1] or [N, 2]")
      .Input(1, "bounds (optional)", "float, instead of the argument, as inputs 2 and 3 are")
      .Input(2, "slopes (optional)", "float, instead of the argument")
      .Input(3, "intercepts (optional)", "float, instead of the argument")
      .Output(0, "transforms", "the shape of predictions")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc(
          "Applies a function that is linear between bounds to each column: slope * x + intercept "
          "of the piece where x is. Below the first bound and above the last one the function is "
          "constant. A bound belongs to the piece below it.");
  RegisterCpuOperator<PiecewiseLinearTransformOp>("PiecewiseLinearTransform", __FILE__);
  // It calibrates predictions after the training.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("PiecewiseLinearTransform", __FILE__);
}

}  // namespace caffe2rt
