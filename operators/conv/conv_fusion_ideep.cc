// Conv, Conv2D and ConvFusion on IDEEP, for images of two axes in NCHW order. X and S may be in any
// layout of contexts/onednn; filter and bias are plain tensors on the CPU.

#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/host_input.h"
#include "operators/common/onednn_argument.h"
#include "operators/common/onednn_planes.h"
#include "operators/conv/conv_fusion.h"
#include "operators/conv/ideep_conv.h"
#include "operators/conv/onednn_int8.h"
#include "operators/primitives/onednn_reorder.h"

namespace caffe2rt {

namespace {

class OnednnConvOp final : public Operator<IDEEPContext>, public ChoosesKernel, public PlansAhead {
 public:
  OnednnConvOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws),
        window_(ParseWindowArguments(args(), WindowUse::kConv)),
        fused_(type() == "ConvFusion"),
        epilogue_(fused_ ? ReadConvEpilogue(args()) : ConvEpilogue()),
        inputs_(FindConvFusionInputs(*this, epilogue_)),
        layout_name_(ReadArgument(kOnednnLayout)),
        limits_{.deterministic = ReadArgument(kDeterministic) != 0,
                .winograd_filter_bytes = ReadArgument(kWinogradFilterBytes)},
        precision_(ReadArgument(kPrecision)),
        result_precision_(ReadArgument(kOutputPrecision)),
        x_quantization_(QuantizationOfRange(ReadArgument(kInputMin), ReadArgument(kInputMax))),
        y_quantization_(QuantizationOfRange(ReadArgument(kOutputMin), ReadArgument(kOutputMax))) {
    CAFFE_ENFORCE(window_.order == StorageOrder::NCHW,
                  "argument order is NHWC: convolutions on IDEEP support NCHW only");
  }

  void PlanAhead(const AheadInputs& inputs) override {
    const Tensor& filter = InputAnywhere(*this, 1);
    Plan(Input(0), filter);
    if (inputs.is_constant(1)) conv_->PrepareFilter(filter);
    if (epilogue_.sum) PlanSum(Input(inputs_.sum));
    PrepareOutputMemory(Output(0), y_dims_, conv_->layout());
  }
  bool PreparesWeights() const override { return true; }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& filter = InputAnywhere(*this, 1);
    (void)OnednnMemory(X);
    filter.CheckData<float>();
    if (!x_input_.Matches(X) || filter.dims() != filter_dims_) Plan(X, filter);
    const float* bias = nullptr;
    if (inputs_.bias >= 0) bias = ConvBias(InputAnywhere(*this, inputs_.bias), filter_dims_[0]);
    Tensor* Y = Output(0);
    void* y = epilogue_.sum ? PlaceSum(Y) : PrepareOutputMemory(Y, y_dims_, conv_->layout());
    conv_->Run(X, filter, bias, y);
    return true;
  }

  std::optional<KernelChoice> Kernel() const override {
    if (conv_ == nullptr) return std::nullopt;
    return KernelChoiceOf(choice_);
  }

 private:
  // The layout that Y should have: that of the argument, otherwise that of X.
  OnednnFormat WantedFormat(const Tensor& X) const {
    const OnednnFormat named = layout_name_.empty() ? FormatOf(X) : ParseOnednnFormat(layout_name_);
    return named == OnednnFormat::kBlocked16 ? named : OnednnFormat::kNhwc;
  }

  void Plan(const Tensor& X, const Tensor& filter) {
    x_input_.Forget();  // if a check below throws, the next run plans again
    s_input_.Forget();
    // Reports the same errors as on the CPU.
    const ConvShape shape = MakeConvShape(window_, X.sizes(), filter.sizes(), inputs_.bias >= 0);
    CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (X) of a convolution on IDEEP");
    y_dims_ = shape.window.OutputDims(shape.out_channels);
    conv_ = nullptr;  // free its memory before the new plan is built
    const ConvProblem problem{
        .shape = shape,
        .limits = limits_,
        .ideep = ConvOnIdeep{.format = WantedFormat(X),
                             .activation = epilogue_.activation,
                             .sum = epilogue_.sum,
                             .bf16 = precision_ != "f32" && !limits_.any_machine &&
                                     WhyNoBf16Convs().empty(),
                             .bf16_result = result_precision_ != "f32",
                             .bf16_source = IsReduced(X),
                             .int8_speed = precision_ == "int8" ? Int8ConvSpeed(limits_.any_machine) : 0,
                             .int8_result = result_precision_ == "int8",
                             .int8_source = IsQuantized(X),
                             .x_quantization = x_quantization_,
                             .y_quantization = y_quantization_}};
    choice_ = ChooseConv(problem, *GetConvTuning());
    conv_ = NewIdeepConv(problem, X, &choice_);
    x_input_.Remember(X);
    filter_dims_ = filter.dims();
  }

  // Prepares Y with the values of S in the layout of the result. If Y is in place with S and the
  // layout is the same, nothing needs to be done.
  void* PlaceSum(Tensor* Y) {
    const Tensor& S = Input(inputs_.sum);
    (void)OnednnMemory(S);
    CAFFE_ENFORCE(S.dims() == y_dims_, "input ", inputs_.sum, " (S) has shape ", S.sizes(),
                  ", want that of the convolution, ", IntArrayRef(y_dims_));
    const bool in_place = &S == Y;
    if (!s_input_.Matches(S)) PlanSum(S);
    if (in_place && s_same_ && !S.storage()->read_only())
      return PrepareOutputMemory(Y, y_dims_, conv_->layout());
    const float* s = SourceOfReorder(S);
    if (in_place) s = CopyOfSum(S);
    void* y = PrepareOutputMemory(Y, y_dims_, conv_->layout());
    s_reorder_.Run(s, static_cast<float*>(y));
    return y;
  }

  void PlanSum(const Tensor& S) {
    s_input_.Forget();
    const dnnl::memory::desc from = DescOf(S);
    s_same_ = IsSameMemory(from, conv_->result());
    s_bytes_ = from.get_size();
    s_reorder_.Plan(from, conv_->result());
    s_input_.Remember(S);
  }

  // The bytes of S in memory of this operator.
  const float* CopyOfSum(const Tensor& S) {
    s_copy_.Resize(static_cast<int64_t>((s_bytes_ + sizeof(float) - 1) / sizeof(float)));
    float* copy = s_copy_.mutable_data<float>();
    context_.CopyBytesSameDevice(s_bytes_, OnednnMemory(S), copy);
    return copy;
  }

  const WindowArguments window_;
  const bool fused_;
  const ConvEpilogue epilogue_;
  const ConvFusionInputs inputs_;
  const std::string layout_name_;
  const ConvLimits limits_;
  const std::string precision_, result_precision_;
  const OnednnQuantization x_quantization_, y_quantization_;
  OnednnInput x_input_, s_input_;
  std::vector<int64_t> filter_dims_, y_dims_;  // the shapes that were planned
  ConvChoice choice_;
  std::unique_ptr<IdeepConv> conv_;
  bool s_same_ = false;  // S has the layout of Y
  size_t s_bytes_ = 0;
  OnednnReorder s_reorder_;
  Tensor s_copy_{CPU};
};

}  // namespace

void RegisterConvFusionIdeep() {
  for (const char* type : {"Conv", "Conv2D", "ConvFusion"}) {
    RegisterOperator<OnednnConvOp>(IDEEP, type, __FILE__);
  }
}

}  // namespace caffe2rt
