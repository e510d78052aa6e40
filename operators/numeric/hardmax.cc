// Hardmax: 1 at the first largest element along an axis, 0 elsewhere.

#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/numeric/numbers.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kHardmaxAxis{"axis", -1, "the axis; negative axes count from the end"};

class HardmaxOp final : public Operator<CPUContext> {
 public:
  HardmaxOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), axis_(ReadArgument(kHardmaxAxis)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    return DispatchByType<float, double>(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      const NumberAxis span = NumberAxisOf(X.sizes(), axis_);
      T* y = OutputData<T>(0, X.sizes());
      if (X.numel() == 0) return true;
      const T* x = X.data<T>();
      std::fill_n(y, X.numel(), T(0));
      for (int64_t o = 0; o < span.outer; ++o) {
        for (int64_t i = 0; i < span.inner; ++i) {
          const int64_t first = o * span.size * span.inner + i;
          int64_t best = first;
          for (int64_t j = 1; j < span.size; ++j) {
            if (x[first + j * span.inner] > x[best]) best = first + j * span.inner;
          }
          y[best] = T(1);
        }
      }
      return true;
    });
  }

 private:
  const int axis_;
};

}  // namespace

void RegisterHardmax() {
  RegisterSchema("Hardmax", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kHardmaxAxis)
      .Input(0, "X", "float or double, rank 1 or more")
      .Output(0, "Y", "the shape and type of X")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction(PointwiseCostInference<1>)
      .Traits({.same_shape = true})
      .SetDoc("Writes 1 at the first largest element along an axis and 0 elsewhere, as ONNX does.");
  RegisterCpuOperator<HardmaxOp>("Hardmax", __FILE__);
  // The output is piecewise constant.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Hardmax", __FILE__);
}

}  // namespace caffe2rt
