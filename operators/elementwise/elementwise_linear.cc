#include "operators/elementwise/elementwise_linear.h"

#include <algorithm>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

LinearSize SizeOfLinear(int place, IntArrayRef x, int axis) {
  const int rank = static_cast<int>(x.size());
  CAFFE_ENFORCE(axis >= -rank && axis < rank, "argument axis is ", axis, ", want at least ", -rank,
                " and below ", rank, ", the rank of input ", place, " (X) of shape ", x);
  const int first = axis < 0 ? axis + rank : axis;
  return {size_to_dim_(first, x), size_from_dim_(first, x)};
}

void CheckLinearColumns(int place, const char* name, IntArrayRef dims, int64_t cols) {
  CAFFE_ENFORCE(dims.size() == 1 && dims[0] == cols, "input ", place, " (", name, ") has shape ",
                dims, ", want [", cols, "], the columns of X");
}

namespace {

struct LinearRowsKernel {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t rows, int64_t cols, const float* x, const float* w,
                                       const float* b, float* y) const {
    for (int64_t i = 0; i < rows; ++i, x += cols, y += cols) {
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < cols; ++j) y[j] = x[j] * w[j] + b[j];
    }
  }
};

// dw and db hold zeros before it runs.
struct LinearRowsGradientKernel {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t rows, int64_t cols, const float* x, const float* w,
                                       const float* dy, float* dx, float* dw, float* db) const {
    for (int64_t i = 0; i < rows; ++i, x += cols, dy += cols, dx += cols) {
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < cols; ++j) {
        dx[j] = dy[j] * w[j];
        dw[j] += dy[j] * x[j];
        db[j] += dy[j];
      }
    }
  }
};

}  // namespace

void LinearRows(CPUContext&, int64_t rows, int64_t cols, const float* x, const float* w,
                const float* b, float* y) {
  RunSimd(LinearRowsKernel{}, rows, cols, x, w, b, y);
}

void LinearRowsGradient(CPUContext&, int64_t rows, int64_t cols, const float* x, const float* w,
                        const float* dy, float* dx, float* dw, float* db) {
  std::fill(dw, dw + cols, 0.0f);
  std::fill(db, db + cols, 0.0f);
  RunSimd(LinearRowsGradientKernel{}, rows, cols, x, w, dy, dx, dw, db);
}

namespace {

class GetElementwiseLinearGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("ElementwiseLinearGradient", "",
                             std::vector<std::string>{GO(0), I(0), I(1)},
                             std::vector<std::string>{GI(0), GI(1), GI(2)});
  }
};

}  // namespace

void RegisterElementwiseLinear() {
  RegisterSchema("ElementwiseLinear", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Arg(kElementwiseLinearAxis)
      .Input(0, "X", "any shape, float: a matrix whose columns are the dimensions from `axis` on")
      .Input(1, "w", "one factor for each column")
      .Input(2, "b", "one summand for each column")
      .Output(0, "Y", "the shape of X")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction(PointwiseCostInference<2>)
      .Traits({.family = OperatorFamily::kElementwise, .has_weights = true})
      .SetDoc("Computes Y = X * w + b, column by column.");
  RegisterCpuOperator<ElementwiseLinearOp<CPUContext>>("ElementwiseLinear", __FILE__);
  RegisterGradient<GetElementwiseLinearGradient>("ElementwiseLinear", __FILE__);

  RegisterSchema("ElementwiseLinearGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(3)
      .Arg(kElementwiseLinearAxis)
      .Input(0, "dY", "the gradient of Y")
      .Input(1, "X", "as in ElementwiseLinear")
      .Input(2, "w", "as in ElementwiseLinear")
      .Output(0, "dX", "the gradient of X")
      .Output(1, "dw", "the gradient of w")
      .Output(2, "db", "the gradient of b")
      .IdenticalTypeAndShapeOfMultipleInputs({1, 2, 2})
      .SetDoc("Computes the gradients of the inputs of ElementwiseLinear.");
  RegisterCpuOperator<ElementwiseLinearGradientOp<CPUContext>>("ElementwiseLinearGradient",
                                                               __FILE__);
}

}  // namespace caffe2rt
