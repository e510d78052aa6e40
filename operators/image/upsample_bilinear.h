#pragma once
// UpsampleBilinear: scales height and width by linear interpolation; the corners keep their values.
//   X [N, C, H, W], optional scales [2] (height, width), which override the arguments
//   ->  Y [N, C, trunc(H * height_scale), trunc(W * width_scale)]
//
// UpsampleBilinearGradient: dY, X, optional scales  ->  dX. The scales follow from the shapes.

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/host_input.h"
#include "operators/image/image_scales.h"
#include "operators/image/upsample_bilinear_kernels.h"

namespace caffe2rt {

template <class Context>
class UpsampleBilinearOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  UpsampleBilinearOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        width_scale_(this->ReadArgument(kWidthScale)),
        height_scale_(this->ReadArgument(kHeightScale)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (X) of shape ", X.sizes(), ", want 4");
    const float* x = X.template data<float>();
    float height_scale = height_scale_, width_scale = width_scale_;
    if (this->InputSize() == 2) {
      const Tensor& scales = scales_.Read(*this, 1);
      CAFFE_ENFORCE(scales.dim() == 1 && scales.numel() == 2, "input 1 (scales) has shape ",
                    scales.sizes(), ", want [2]: height and width");
      height_scale = scales.template data<float>()[0];
      width_scale = scales.template data<float>()[1];
    }
    const int64_t N = X.dims()[0], C = X.dims()[1], H = X.dims()[2], W = X.dims()[3];
    const int64_t dims[] = {N, C, ScaledSize(H, height_scale), ScaledSize(W, width_scale)};
    float* y = this->template OutputData<float>(0, dims);
    if (Output(0)->numel() == 0) return true;
    InterpolatePixels(context_, N * C, LinearAxis(H, dims[2]), LinearAxis(W, dims[3]), &tables_, x,
                      y);
    return true;
  }

 private:
  const float width_scale_;
  const float height_scale_;
  LinearTables tables_;
  HostInput scales_;
};

template <class Context>
class UpsampleBilinearGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  UpsampleBilinearGradientOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {
    // The shapes of X and dY decide the scales; the arguments are checked as those of the operator are.
    (void)this->ReadArgument(kWidthScale), (void)this->ReadArgument(kHeightScale);
  }

  bool RunOnDevice() override {
    const Tensor& dY = Input(0);
    const Tensor& X = Input(1);
    CheckScaledGradient(dY.sizes(), X.sizes(), 2);
    if (this->InputSize() > 2) {
      CAFFE_ENFORCE_EQ(InputAnywhere(*this, 2).numel(), 2, "elements of input 2 (scales)");
    }
    const float* dy = dY.template data<float>();
    float* dx = this->template OutputData<float>(0, X.sizes());
    if (X.numel() == 0) return true;
    const LinearAxis height(X.dim(2), dY.dim(2)), width(X.dim(3), dY.dim(3));
    InterpolatePixelsGradient(context_, X.dim(0) * X.dim(1), height, width, &tables_, dy, dx);
    return true;
  }

 private:
  LinearTables tables_;
};

}  // namespace caffe2rt
