// IntegralImage: sums over the pixels above and to the left (Crow 1984).
//   X [N, C, H, W] float  ->  Y [N, C, H + 1, W + 1]: Y[i][j] = the sum of X over rows < i and columns < j
// IntegralImageGradient: X, dY  ->  dX[i][j] = the sum of dY over rows > i and columns > j

#include <algorithm>
#include <array>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

std::array<int64_t, 4> IntegralDims(IntArrayRef x) {
  CAFFE_ENFORCE_EQ(x.size(), 4u, "rank of input 0 (X) of shape ", x);
  return {x[0], x[1], CheckedAdd<int64_t>(x[2], 1), CheckedAdd<int64_t>(x[3], 1)};
}

class IntegralImageOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const std::array<int64_t, 4> dims = IntegralDims(X.sizes());
    const float* x = X.data<float>();
    float* y = OutputData<float>(0, IntArrayRef(dims.data(), dims.size()));
    const int64_t height = X.dim(2), width = X.dim(3);
    for (int64_t p = 0; p < X.dim(0) * X.dim(1); ++p) {
      std::fill_n(y, width + 1, 0.0f);
      y += width + 1;
      for (int64_t i = 0; i < height; ++i, x += width, y += width + 1) {
        const float* const above = y - width - 1;
        float sum = 0;
        y[0] = 0;
        for (int64_t j = 0; j < width; ++j) {
          sum += x[j];
          y[j + 1] = above[j + 1] + sum;
        }
      }
    }
    return true;
  }
};

class IntegralImageGradientOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& dY = Input(1);
    CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (X) of shape ", X.sizes());
    CAFFE_ENFORCE(dY.dim() == 4 && dY.dim(0) == X.dim(0) && dY.dim(1) == X.dim(1) &&
                      dY.dim(2) - 1 == X.dim(2) && dY.dim(3) - 1 == X.dim(3),
                  "input 1 (dY) has shape ", dY.sizes(), ", want one row and one column more than ",
                  "input 0 (X) of shape ", X.sizes());
    RequireElements<float>(X);
    const float* dy = dY.data<float>();
    float* dx = OutputData<float>(0, X.sizes());
    const int64_t height = X.dim(2), width = X.dim(3);
    for (int64_t p = 0; p < X.dim(0) * X.dim(1); ++p, dx += height * width) {
      for (int64_t i = height - 1; i >= 0; --i) {
        const float* const row = dy + (i + 1) * (width + 1) + 1;
        float sum = 0;
        for (int64_t j = width - 1; j >= 0; --j) {
          sum += row[j];
          dx[i * width + j] = sum + (i + 1 < height ? dx[(i + 1) * width + j] : 0.0f);
        }
      }
      dy += (height + 1) * (width + 1);
    }
    return true;
  }
};

class GetIntegralImageGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("IntegralImageGradient", "", {ShapeOf(0), GO(0)}, {GI(0)});
  }
};

}  // namespace

void RegisterIntegralImage() {
  RegisterSchema("IntegralImage", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "X", "[N, C, H, W] float")
      .Output(0, "Y", "[N, C, H + 1, W + 1]: the sums; row 0 and column 0 are 0")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputsOfInputType(def, in);
        const std::array<int64_t, 4> dims = IntegralDims(GetDimsVector(in[0]));
        return std::vector<TensorShape>{
            CreateTensorShape(std::vector<int64_t>(dims.begin(), dims.end()), in[0].data_type())};
      })
      .SetDoc(
          "Computes the integral image (summed-area table) of each plane: Y[i][j] is the sum of X "
          "over the rows before i and the columns before j.");
  RegisterCpuOperator<IntegralImageOp>("IntegralImage", __FILE__);
  RegisterSchema("IntegralImageGradient", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "X", "[N, C, H, W] float; only its shape is used")
      .Input(1, "dY", "[N, C, H + 1, W + 1] float: the gradient of Y")
      .Output(0, "dX", "the shape of X: the gradient of X")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc(
          "Computes the gradient of IntegralImage: the sum of dY over the rows after i and the "
          "columns after j, of which X[i][j] is a part. Caffe2 adds up those before them.");
  RegisterCpuOperator<IntegralImageGradientOp>("IntegralImageGradient", __FILE__);
  RegisterGradient<GetIntegralImageGradient>("IntegralImage", __FILE__);
}

}  // namespace caffe2rt
