#pragma once
// ConvTranspose: transposed convolution of images. Each output axis has size
// (in - 1) * stride + kernel + adj - pads.
//   X [N, C, H, W], filter [C, M / group, kh, kw], optional bias [M]  ->  Y [N, M, out_h, out_w]
// In NHWC: X [N, H, W, C], filter [C, kh, kw, M / group], Y [N, out_h, out_w, M].
// Supports float only.

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/conv_geometry.h"
#include "operators/conv/conv_checks.h"
#include "operators/conv/conv_shape.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

// Computes Y from X and the filter, on the calling thread. `bias` may be null.
void RunConvTranspose(CPUContext& context, const ConvTransposeShape& shape, const float* x,
                      const float* filter, const float* bias, ThreadScratch* scratch, float* y);

// Runner policy: runs transposed convolutions on the CPU. Other devices provide a class with the
// same members.
class ConvTransposeOnCpu {
 public:
  explicit ConvTransposeOnCpu(const OperatorBase&) {}
  // Does what otherwise the first Run in the process does once. REQUIRES: Plan was called.
  void PrepareLibrary() const;
  // Later calls of Run use `shape`.
  void Plan(const ConvTransposeShape& shape) { shape_ = shape; }
  // `bias` may be null. REQUIRES: Plan was called; Y is not empty.
  void Run(CPUContext& context, const float* x, const float* filter, const float* bias, float* y) {
    RunConvTranspose(context, shape_, x, filter, bias, &scratch_, y);
  }

 private:
  ConvTransposeShape shape_;
  ThreadScratch scratch_;
};

template <class Context, class Runner>
class ConvTransposeOp final : public Operator<Context>, public PlansAhead {
 public:
  USE_OPERATOR_FUNCTIONS(Context);

  ConvTransposeOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        window_(ParseWindowArguments(this->args(), WindowUse::kConvTranspose)),
        runner_(*this) {}

  void PlanAhead(const AheadInputs&) override {
    Plan(Input(0), Input(1));
    if constexpr (requires { runner_.PrepareLibrary(); }) runner_.PrepareLibrary();
    Output(0)->Resize(y_dims_);
    (void)Output(0)->template mutable_data<float>();
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& filter = Input(1);
    const float* x = X.template data<float>();
    const float* weights = filter.template data<float>();
    if (y_dims_.empty() || X.dims() != x_dims_ || filter.dims() != filter_dims_) Plan(X, filter);
    const float* bias = nullptr;
    if (InputSize() > 2) {
      bias = Input(2).template data<float>();
      CAFFE_ENFORCE(Input(2).dim() == 1 && Input(2).dim(0) == out_channels_,
                    "input 2 (bias) has shape ", Input(2).sizes(), ", want [", out_channels_,
                    "]: one entry for each output channel");
    }
    Tensor* Y = Output(0);
    Y->Resize(y_dims_);
    float* y = Y->template mutable_data<float>();
    if (Y->numel() > 0) runner_.Run(context_, x, weights, bias, y);
    return true;
  }

 private:
  void Plan(const Tensor& X, const Tensor& filter) {
    y_dims_.clear();
    const ConvTransposeShape shape =
        MakeConvTransposeShape(window_, X.sizes(), filter.sizes(), InputSize() > 2);
    out_channels_ = shape.out_channels;
    runner_.Plan(shape);
    x_dims_ = X.dims();
    filter_dims_ = filter.dims();
    y_dims_ = shape.window.OutputDims(shape.out_channels);
  }

  const WindowArguments window_;
  Runner runner_;
  std::vector<int64_t> x_dims_, filter_dims_, y_dims_;  // the shapes that were planned
  int64_t out_channels_ = 0;
};

}  // namespace caffe2rt
