// Conv, Conv2D and ConvFusion on IDEEP, for images of two axes in NCHW order. X and S may be in any
// layout of contexts/onednn; filter and bias are plain tensors on the CPU.

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/onednn/onednn_context.h"
#include "contexts/onednn/onednn_version.h"
#include "operators/common/host_input.h"
#include "operators/common/onednn_argument.h"
#include "operators/conv/conv_fusion.h"
#include "operators/conv/conv_tuning.h"
#include "operators/conv/onednn_built_in.h"
#include "operators/conv/onednn_conv_plan.h"
#include "operators/primitives/onednn_reorder.h"

namespace caffe2rt {

namespace {

// A convolution for which oneDNN has only a reference implementation: the algorithms of the CPU, on
// row-major copies.
class PlainConv {
 public:
  PlainConv(const ConvShape& shape, const dnnl::memory::desc& source, bool direct_only)
      : plan_(shape, direct_only) {
    to_plain_.Plan(source, DescIn(OnednnFormat::kNchw, DimsOf(source)));
    x_.Resize(DimsOf(source));
  }

  // If epilogue.sum is set, y contains the tensor to add.
  void Run(const ConvEpilogue& epilogue, const float* x, const Tensor& filter, const float* bias,
           Tensor* Y) {
    to_plain_.Run(x, x_.mutable_data<float>());
    if (Y->numel() == 0) return;
    if (epilogue.sum) s_.CopyFrom(*Y);
    float* y = static_cast<float*>(Y->mutable_opaque_data(TypeMeta::Make<float>(), nullptr));
    plan_.Run(x_.data<float>(), filter, bias, y);
    RunConvEpilogue(epilogue, Y->numel(), epilogue.sum ? s_.data<float>() : nullptr, y);
  }

 private:
  ConvPlan plan_;
  OnednnReorder to_plain_;
  Tensor x_{CPU}, s_{CPU};
};

class OnednnConvOp final : public Operator<IDEEPContext> {
 public:
  OnednnConvOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws),
        window_(ParseWindowArguments(args(), WindowUse::kConv)),
        fused_(type() == "ConvFusion"),
        epilogue_(fused_ ? ReadConvEpilogue(args()) : ConvEpilogue()),
        inputs_(FindConvFusionInputs(*this, epilogue_)),
        layout_name_(ReadArgument(kOnednnLayout)),
        direct_only_(ReadArgument(kDeterministic) != 0),
        winograd_filter_bytes_(ReadArgument(kWinogradFilterBytes)) {
    CAFFE_ENFORCE(window_.order == StorageOrder::NCHW,
                  "argument order is NHWC: convolutions on IDEEP support NCHW only");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& filter = InputAnywhere(*this, 1);
    const float* x = OnednnData(X);
    (void)filter.data<float>();
    if (!x_input_.Matches(X) || filter.dims() != filter_dims_) Plan(X, filter);
    const float* bias = nullptr;
    if (inputs_.bias >= 0) bias = ConvBias(InputAnywhere(*this, inputs_.bias), filter_dims_[0]);
    Tensor* Y = Output(0);
    float* y = epilogue_.sum ? PlaceSum(Y) : PrepareOutput(Y, y_dims_, layout());
    if (built_in_ != nullptr) {
      built_in_->Run(X, filter, bias, y);
    } else if (plain_ != nullptr) {
      plain_->Run(epilogue_, x, filter, bias, Y);
    } else {
      plan_->Run(x, filter, bias, y);
    }
    return true;
  }

 private:
  const std::shared_ptr<const OnednnLayout>& layout() const {
    return built_in_ != nullptr ? built_in_->layout() : plan_->layout();
  }

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
    plan_ = nullptr;  // free their memory before the new plan is built
    plain_ = nullptr;
    built_in_ = nullptr;
    const BuiltInConvOptions options{.format = WantedFormat(X),
                                     .direct_only = direct_only_,
                                     .winograd_filter_bytes = winograd_filter_bytes_};
    built_in_ = NewBuiltInConv(shape, epilogue_, X, options);
    if (built_in_ == nullptr) PlanOnednn(shape, X, options.format, options.direct_only);
    x_input_.Remember(X);
    filter_dims_ = filter.dims();
  }

  void PlanOnednn(const ConvShape& shape, const Tensor& X, OnednnFormat format, bool direct_only) {
    const dnnl::memory::desc source = DescOf(X);
    plan_ = std::make_unique<OnednnConvPlan>(shape, epilogue_, source,
                                             OnednnConvOptions{.format = format});
    if (!plan_->supported()) plain_ = std::make_unique<PlainConv>(shape, source, direct_only);
  }

  dnnl::memory::desc ResultDesc() const {
    if (built_in_ != nullptr) return built_in_->result();
    return plan_->supported() ? plan_->result() : DescIn(OnednnFormat::kNchw, y_dims_);
  }

  // Prepares Y with the values of S in the layout of the result. If Y is in place with S and the
  // layout is the same, nothing needs to be done.
  float* PlaceSum(Tensor* Y) {
    const Tensor& S = Input(inputs_.sum);
    (void)OnednnData(S);
    CAFFE_ENFORCE(S.dims() == y_dims_, "input ", inputs_.sum, " (S) has shape ", S.sizes(),
                  ", want that of the convolution, ", IntArrayRef(y_dims_));
    const bool in_place = &S == Y;
    if (!s_input_.Matches(S)) {
      s_input_.Forget();
      const dnnl::memory::desc from = DescOf(S);
      s_same_ = IsSameMemory(from, ResultDesc());
      s_bytes_ = from.get_size();
      s_reorder_.Plan(from, ResultDesc());
      s_input_.Remember(S);
    }
    if (in_place && s_same_ && !S.storage()->read_only())
      return PrepareOutput(Y, y_dims_, layout());
    const float* s = OnednnData(S);
    if (in_place) s = CopyOfSum(S);
    float* y = PrepareOutput(Y, y_dims_, layout());
    s_reorder_.Run(s, y);
    return y;
  }

  // The bytes of S in memory of this operator.
  const float* CopyOfSum(const Tensor& S) {
    s_copy_.Resize(static_cast<int64_t>((s_bytes_ + sizeof(float) - 1) / sizeof(float)));
    float* copy = s_copy_.mutable_data<float>();
    context_.CopyBytesSameDevice(s_bytes_, OnednnData(S), copy);
    return copy;
  }

  const WindowArguments window_;
  const bool fused_;
  const ConvEpilogue epilogue_;
  const ConvFusionInputs inputs_;
  const std::string layout_name_;
  const bool direct_only_;
  const int64_t winograd_filter_bytes_;
  OnednnInput x_input_, s_input_;
  std::vector<int64_t> filter_dims_, y_dims_;  // the shapes that were planned
  // One of these runs: plan_, built_in_ if that is faster, or plain_ if oneDNN does not support the
  // shape.
  std::unique_ptr<OnednnConvPlan> plan_;
  std::unique_ptr<BuiltInConv> built_in_;
  std::unique_ptr<PlainConv> plain_;
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
