// Int8Conv, Int8ConvRelu: convolutions of quantized images. int8_convolution.h describes the algorithm.

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "operators/common/window_arguments.h"
#include "operators/int8/int8_convolution.h"

namespace caffe2rt {

namespace {

template <bool kRelu>
class Int8ConvOp final : public Int8Operator, public PlansAhead {
 public:
  Int8ConvOp(const OperatorDef& def, Workspace* ws)
      : Int8Operator(def, ws), window_(ReadNhwcWindow(args(), WindowUse::kConv)) {}

  void PlanAhead(const AheadInputs& inputs) override {
    const QuantizedInput x = InputInt8(0, "X"), filter = InputInt8(1, "filter");
    Plan(*x.tensor, *filter.tensor);
    OutputInt8(0, out_dims_);
    const bool is_empty = OperatorBase::Output<Int8TensorCPU>(0)->t.numel() == 0;
    if (!is_empty && inputs.is_constant(1)) convolution_.Prepare(filter);
  }
  bool PreparesWeights() const override { return true; }

  bool RunOnDevice() override {
    const QuantizedInput x = InputInt8(0, "X"), filter = InputInt8(1, "filter");
    if (dims_.empty() || x.tensor->dims() != dims_ || filter.tensor->dims() != filter_dims_) {
      Plan(*x.tensor, *filter.tensor);
    }
    const int32_t* bias = InputInt8Bias(2, convolution_.shape().out_channels);
    const Requantization requantization = MakeRequantization(
        x.quantization.scale * filter.quantization.scale / output().scale, output().zero_point,
        LowestInt8(output(), kRelu),
        "scale of input 0 (X) times that of input 1 (filter) divided by argument Y_scale");
    uint8_t* y = OutputInt8(0, out_dims_);
    if (OperatorBase::Output<Int8TensorCPU>(0)->t.numel() == 0) return true;
    convolution_.Run(x, filter, bias, requantization, y);
    return true;
  }

 private:
  void Plan(const Tensor& x, const Tensor& filter) {
    dims_.clear();  // if a check below throws, the next run plans again
    convolution_.Plan(window_, x.sizes(), filter.sizes());
    out_dims_ = convolution_.shape().window.OutputDims(convolution_.shape().out_channels);
    filter_dims_ = filter.dims();
    dims_ = x.dims();
  }

  const WindowArguments window_;
  std::vector<int64_t> dims_, filter_dims_, out_dims_;  // shapes of the last run
  Int8Convolution convolution_;
};

void RegisterInt8ConvSchema(const char* type, const std::string& doc) {
  OpSchema& schema =
      RegisterInt8Schema(type, __FILE__)
          .NumInputs(3)
          .NumOutputs(1)
          .Input(0, "X", "a quantized tensor [N, H, W, C]")
          .Input(1, "filter", "quantized weights [M, kernel_h, kernel_w, C / group]")
          .Input(2, "bias",
                 "a quantized tensor of int32 elements [M]; its scale and zero point "
                 "have no effect")
          .Output(0, "Y", "a quantized tensor [N, windows.., M]")
          .TensorInferenceFunction(InferConvShape)
          .Traits({.multiply_adds = MultiplyAddCount::kConv})
          .Memory(MemoryOfInt8Weights())
          .SetDoc(doc +
                  " The argument order must be NHWC, and the scale of X times that of the "
                  "filter must be below Y_scale.");
  DeclareWindowArguments(schema, WindowUse::kConv);
}

}  // namespace

void RegisterInt8Conv() {
  RegisterInt8ConvSchema("Int8Conv", "Convolves quantized images, with sums of 32 bits.");
  RegisterCpuOperator<Int8ConvOp<false>>("Int8Conv", __FILE__);
  RegisterInt8ConvSchema(
      "Int8ConvRelu",
      "Convolves quantized images, with sums of 32 bits; negative results become 0.");
  RegisterCpuOperator<Int8ConvOp<true>>("Int8ConvRelu", __FILE__);
}

}  // namespace caffe2rt
