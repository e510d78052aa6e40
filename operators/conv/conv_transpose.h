#pragma once
// ConvTranspose: the transposed convolution of pictures, out = (in - 1) * stride + kernel + adj -
// pads.
//   X [N, C, H, W], filter [C, M / group, kh, kw], bias [M] (may be left out)  ->  Y [N, M, out_h,
//   out_w]
// NHWC: X [N, H, W, C], filter [C, kh, kw, M / group], Y [N, out_h, out_w, M].
// float only.

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/conv_geometry.h"
#include "operators/math/scratch.h"

namespace caffe2rt {

struct ConvTransposeShape {
  WindowGeometry window;
  int64_t out_channels = 0;
  int64_t group = 1;
};

// Y of the shape's size from X and the filter; `bias` may be null.
void RunConvTranspose(CPUContext& context, const ConvTransposeShape& shape, const float* x,
                      const float* filter, const float* bias, ThreadScratch* scratch, float* y);

template <class Context>
class ConvTransposeOp final : public Operator<Context> {
 public:
  USE_OPERATOR_FUNCTIONS(Context);

  ConvTransposeOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        window_(ParseWindowArguments(this->args(), WindowUse::kConvTranspose)) {
    CAFFE_ENFORCE_GE(window_.group, 1, "argument group, want at least 1");
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
      CAFFE_ENFORCE(Input(2).dim() == 1 && Input(2).dim(0) == shape_.out_channels,
                    "input 2 (bias) has shape ", Input(2).sizes(), ", want [", shape_.out_channels,
                    "]: one entry for each output channel");
    }
    Tensor* Y = Output(0);
    Y->Resize(y_dims_);
    float* y = Y->template mutable_data<float>();
    if (Y->numel() > 0) RunConvTranspose(context_, shape_, x, weights, bias, &scratch_, y);
    return true;
  }

 private:
  void Plan(const Tensor& X, const Tensor& filter) {
    y_dims_.clear();
    const WindowGeometry geometry = MakeWindowGeometry(window_, X.sizes());
    CAFFE_ENFORCE_EQ(filter.dim(), 4, "rank of input 1 (filter) of shape ", filter.sizes());
    const bool last = window_.order == StorageOrder::NHWC;
    CAFFE_ENFORCE_EQ(filter.dim(0), geometry.channels, "dim 0 of input 1 (filter) of shape ",
                     filter.sizes(), ", want the channels of input 0 (X) of shape ", X.sizes());
    CAFFE_ENFORCE_EQ(geometry.channels % window_.group, 0, "input 0 (X) has ", geometry.channels,
                     " channels, want a multiple of group ", window_.group);
    for (int i = 0; i < 2; ++i) {
      CAFFE_ENFORCE_EQ(filter.dim(i + (last ? 1 : 2)), geometry.axis[static_cast<size_t>(i)].kernel,
                       "axis ", i, " of input 1 (filter) of shape ", filter.sizes(),
                       ", want the kernel argument");
    }
    shape_.window = geometry;
    shape_.group = window_.group;
    shape_.out_channels = CheckedMultiply(filter.dim(last ? 3 : 1), window_.group);
    x_dims_ = X.dims();
    filter_dims_ = filter.dims();
    std::vector<int64_t> dims = geometry.OutputDims(shape_.out_channels);
    (void)CheckedProduct(dims);
    y_dims_ = std::move(dims);
  }

  const WindowArguments window_;
  std::vector<int64_t> x_dims_, filter_dims_, y_dims_;
  ConvTransposeShape shape_;
  ThreadScratch scratch_;
};

}  // namespace caffe2rt
