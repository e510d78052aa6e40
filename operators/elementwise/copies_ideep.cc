// Copies on IDEEP, and between IDEEP and the CPU. They convert layouts.

#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/onednn_argument.h"
#include "operators/common/onednn_planes.h"
#include "operators/elementwise/copies.h"
#include "operators/primitives/onednn_reorder.h"

namespace caffe2rt {

namespace {

// Copies a tensor to IDEEP, to the layout of the argument, or else in the layout of the input; with
// output_precision bf16, to elements of bf16 where convolutions multiply them. Tensors other than float images are copied in row-major order.
class CopyToOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  CopyToOnednnOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws),
        layout_name_(ReadArgument(kOnednnLayout)),
        bf16_(ReadArgument(kOutputPrecision) == "bf16" && WhyNoBf16Convs().empty()) {}

  bool RunOnDevice() override {
    const Tensor& X = InputAnywhere(*this, 0);
    Tensor* Y = Output(0);
    if (Y == &X) return true;
    if (!X.IsType<float>() || X.dim() != 4) {
      Y->CopyFrom(X, &context_);
      return true;
    }
    const float* x = OnednnData(X);
    if (!input_.Matches(X)) Plan(X);
    reorder_.Run(x, static_cast<float*>(PrepareOutputMemory(Y, X.dims(), layout_)));
    return true;
  }

  void PlanAhead(const AheadInputs&) override {
    const Tensor& X = InputAnywhere(*this, 0);
    Tensor* Y = Output(0);
    if (Y == &X) return;
    if (!X.IsType<float>() || X.dim() != 4) {
      Y->ResizeLike(X);
      Y->raw_mutable_data(X.dtype());
      return;
    }
    Plan(X);
    PrepareOutputMemory(Y, X.dims(), layout_);
  }

 private:
  void Plan(const Tensor& X) {
    input_.Forget();
    const dnnl::memory::desc from = DescOf(X);
    const OnednnFormat format =
        layout_name_.empty() ? FormatOf(X) : ParseOnednnFormat(layout_name_);
    dnnl::memory::desc to = from;
    if (bf16_ && format != OnednnFormat::kOther) {
      to = DescIn(format, X.dims(), dnnl::memory::data_type::bf16);
    } else if (!layout_name_.empty()) {
      to = DescIn(format, X.dims());
    }
    layout_ = OnednnLayout::New(to);
    reorder_.Plan(from, to);
    input_.Remember(X);
  }

  const std::string layout_name_;
  const bool bf16_;
  OnednnInput input_;
  std::shared_ptr<const OnednnLayout> layout_;  // of Y
  OnednnReorder reorder_;
};

// Copies a tensor from IDEEP or the CPU to the CPU, in row-major order.
class CopyFromOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  CopyFromOnednnOp(const OperatorDef& def, Workspace* ws) : Operator<IDEEPContext>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = InputAnywhere(*this, 0);
    Tensor* Y = OutputTensor(0, CPU);
    if (Y == &X) return true;
    if (!Reorders(X)) {
      Y->CopyFrom(X, &context_);
      return true;
    }
    const float* x = SourceOfReorder(X);
    if (!input_.Matches(X)) Plan(X);
    Y->ResizeLike(X);
    reorder_.Run(x, Y->mutable_data<float>());
    return true;
  }

  void PlanAhead(const AheadInputs&) override {
    const Tensor& X = InputAnywhere(*this, 0);
    Tensor* Y = OutputTensor(0, CPU);
    if (Y == &X) return;
    if (Reorders(X)) Plan(X);
    Y->ResizeLike(X);
    Y->raw_mutable_data(X.dtype());
  }

 private:
  // A reorder does not know the scale of integers.
  static bool Reorders(const Tensor& X) {
    const auto* const layout = static_cast<const OnednnLayout*>(X.opaque_layout());
    return layout != nullptr && layout->quantization() == OnednnQuantization{};
  }

  void Plan(const Tensor& X) {
    input_.Forget();
    reorder_.Plan(DescOf(X), DescIn(OnednnFormat::kNchw, X.dims()));
    input_.Remember(X);
  }

  OnednnInput input_;
  OnednnReorder reorder_;
};

}  // namespace

void RegisterCopiesIdeep() {
  RegisterOperator<CopyToOnednnOp>(IDEEP, "Copy", __FILE__);
  RegisterOperator<CopyToOnednnOp>(IDEEP, "CopyFromCPUInput", __FILE__);
  RegisterOperator<CopyFromOnednnOp>(IDEEP, "EnsureCPUOutput", __FILE__);
}

}  // namespace caffe2rt
