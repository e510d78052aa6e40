// ConvRelu: Conv, then max(Y, 0), in one operator. As in Caffe2, NaN becomes 0, which Relu keeps.
#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/conv/conv.h"
#include "operators/conv/conv_arguments.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

class ConvReluOnCpu {
 public:
  explicit ConvReluOnCpu(const OperatorBase& op) : conv_(op) {}

  void Plan(const ConvShape& shape) {
    conv_.Plan(shape);
    size_ = CheckedProduct(shape.window.OutputDims(shape.out_channels));
  }
  void Run(CPUContext& context, const float* x, const Tensor& filter, const float* bias, float* y) {
    conv_.Run(context, x, filter, bias, y);
    ParallelElements(size_, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) y[i] = y[i] > 0.f ? y[i] : 0.f;
    });
  }
  void Prepare(const Tensor& filter) { conv_.Prepare(filter); }
  std::optional<KernelChoice> Kernel() const { return conv_.Kernel(); }

 private:
  ConvOnCpu conv_;
  int64_t size_ = 0;
};

OpSchema::Cost ConvReluCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  OpSchema::Cost cost = ConvCost(def, in);
  cost.flops += cost.bytes_written / sizeof(float);
  return cost;
}

}  // namespace

void RegisterConvRelu() {
  OpSchema& schema =
      RegisterSchema("ConvRelu", __FILE__)
          .NumInputs(2, 3)
          .NumOutputs(1)
          .TensorInferenceFunction(InferConvShape)
          .CostInferenceFunction(ConvReluCost)
          .FloatInputs(3)
          .Traits({.family = OperatorFamily::kConv,
                   .writes_float = true,
                   .multiply_adds = MultiplyAddCount::kConv,
                   .has_weights = true})
          .Memory({.extra = ConvExtraMemory})
          .SetDoc(
              "Computes a convolution as Conv does, and replaces what is not above 0 by 0, NaN "
              "too.")
          .Input(0, "X",
                 "input, [N, C, H, W] or [N, H, W, C]; the number of spatial axes may differ")
          .Input(1, "filter",
                 "weights, [M, C / group, kernel...] in NCHW, [M, kernel..., C / group] in NHWC")
          .Input(2, "bias", "optional bias, [M]: one value for each output channel")
          .Output(0, "Y", "result, in the layout of X, with M channels");
  DeclareWindowArguments(schema, WindowUse::kConv);
  DeclareConvArguments(schema);
  RegisterCpuOperator<ConvOp<CPUContext, ConvReluOnCpu>>("ConvRelu", __FILE__);
  // Caffe2 has no gradient either.
  RegisterGradient<GradientNotImplementedYet>("ConvRelu", __FILE__);
}

}  // namespace caffe2rt
