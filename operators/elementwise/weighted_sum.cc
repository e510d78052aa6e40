#include "operators/elementwise/weighted_sum.h"

#include <algorithm>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/primitives/lane_sum.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kGradOnW{
    "grad_on_w", false, "1: the backward pass also computes the gradients of the weights"};

namespace {

struct ScaleKernel {
  float w;
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const float* x, float* y) const {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] * w;
  }
};

// y = a * w + b * v
struct ScaleBothKernel {
  float w, v;
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const float* a, const float* b, float* y) const {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) y[i] = a[i] * w + b[i] * v;
  }
};

struct AddScaledKernel {
  float w;
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const float* x, float* y) const {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) y[i] += x[i] * w;
  }
};

struct Product {
  const float* x;
  const float* y;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t i) const { return x[i] * y[i]; }
};

// The sum of x[i] * y[i].
struct DotKernel {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const float* x, const float* y,
                                       float* result) const {
    *result = SumOfTerms(n, Product{x, y});
  }
};

}  // namespace

void WeightedSum(CPUContext&, const WeightedInput* inputs, size_t count, int64_t n, float* y) {
  // A block stays in the first-level cache while all inputs are added.
  constexpr int64_t kBlock = 2048;
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t length = std::min(kBlock, n - start);
    const float* const first = inputs[0].x + start;
    const float w = *inputs[0].weight;
    if (count == 1) {
      RunSimd(ScaleKernel{w}, length, first, y + start);
    } else {
      RunSimd(ScaleBothKernel{w, *inputs[1].weight}, length, first, inputs[1].x + start, y + start);
    }
    for (size_t k = 2; k < count; ++k) {
      RunSimd(AddScaledKernel{*inputs[k].weight}, length, inputs[k].x + start, y + start);
    }
  }
}

namespace {

// dY, X0, W0, X1, W1, ...  ->  dX0, dX1, ... and, with grad_on_w, dW0, dW1, ...
class WeightedSumGradientOp final : public Operator<CPUContext> {
 public:
  WeightedSumGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), grad_on_w_(ReadArgument(kGradOnW)) {
    CAFFE_ENFORCE_EQ(OutputSize(), grad_on_w_ ? InputSize() - 1 : InputSize() / 2,
                     "number of outputs for ", CountText(InputSize(), "input"),
                     grad_on_w_ ? " with argument grad_on_w" : "");
  }

  bool RunOnDevice() override {
    const Tensor& dY = Input(0);
    const int64_t n = dY.numel();
    const int count = InputSize() / 2;
    for (int k = 0; k < count; ++k) CheckPair(k, dY);
    const float* const dy = dY.data<float>();
    for (int k = 0; k < count; ++k) {
      const float* const w = Input(2 * k + 2).data<float>();
      RunSimd(ScaleKernel{*w}, n, dy, OutputData<float>(k, dY.sizes()));
      if (!grad_on_w_) continue;
      const float* const x = Input(2 * k + 1).data<float>();
      const int64_t dims[] = {1};
      RunSimd(DotKernel{}, n, x, dy, OutputData<float>(count + k, dims));
    }
    return true;
  }

 private:
  // Checks weight k, and X if it is read.
  void CheckPair(int k, const Tensor& dY) const {
    CheckWeight(2 * k + 2, Input(2 * k + 2));
    RequireElements<float>(Input(2 * k + 2));
    if (!grad_on_w_) return;
    const Tensor& X = Input(2 * k + 1);
    CAFFE_ENFORCE_EQ(X.numel(), dY.numel(), "elements of input ", 2 * k + 1, " of shape ",
                     X.sizes(), ", want as many as input 0 (dY) of shape ", dY.sizes());
    RequireElements<float>(X);
  }

  const bool grad_on_w_;
};

std::vector<TensorShape> InferWeightedSumGradient(const OperatorDef& def,
                                                  const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  std::vector<TensorShape> out(static_cast<size_t>(def.output_size()), in[0]);
  for (size_t i = in.size() / 2; i < out.size(); ++i) {
    out[i] = CreateTensorShape(std::vector<int64_t>{1}, in[0].data_type());
  }
  return out;
}

class GetWeightedSumGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs{GO(0)}, outputs;
    for (int i = 0; i < def_.input_size(); ++i) inputs.push_back(I(i));
    for (int i = 0; i < def_.input_size(); i += 2) outputs.push_back(GI(i));
    if (ArgumentHelper(def_).Read(kGradOnW)) {
      for (int i = 1; i < def_.input_size(); i += 2) outputs.push_back(GI(i));
    }
    return SingleGradientDef("WeightedSumGradient", "", inputs, outputs);
  }
};

}  // namespace

void RegisterWeightedSum() {
  RegisterSchema("WeightedSum", __FILE__)
      .NumInputs([](int n) { return n > 0 && n % 2 == 0; })
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Arg(kGradOnW)
      .Input(0, "X0", "float; X1, X2, ... have as many elements")
      .Input(1, "W0", "the weight of X0: one element")
      .Input(2, "X1, W1, ...", "further tensors and their weights")
      .Output(0, "Y", "the shape of X0")
      .IdenticalTypeAndShapeOfInput(0)
      .Traits({.family = OperatorFamily::kElementwise})
      .SetDoc("Computes Y = X0 * W0 + X1 * W1 + ..., without broadcasting.");
  RegisterCpuOperator<WeightedSumOp<CPUContext>>("WeightedSum", __FILE__);
  RegisterGradient<GetWeightedSumGradient>("WeightedSum", __FILE__);

  RegisterSchema("WeightedSumGradient", __FILE__)
      .NumInputs([](int n) { return n > 0 && n % 2 == 1; })
      .NumOutputs(1, INT_MAX)
      .Arg(kGradOnW)
      .Input(0, "dY", "the gradient of Y")
      .Input(1, "X0, W0, X1, W1, ...", "the inputs of WeightedSum")
      .Output(0, "dX0, dX1, ...", "dY times the weight, in the shape of dY")
      .Output(1, "dW0, dW1, ...", "with grad_on_w: the gradients of the weights, [1] each")
      .TensorInferenceFunction(InferWeightedSumGradient)
      .SetDoc("Computes the gradients of the inputs of WeightedSum.");
  RegisterCpuOperator<WeightedSumGradientOp>("WeightedSumGradient", __FILE__);
}

}  // namespace caffe2rt
