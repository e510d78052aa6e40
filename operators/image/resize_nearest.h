#pragma once
// ResizeNearest: scales height and width by repeating or dropping pixels.
//   X [N, C, H, W] or [N, H, W, C], optional scales [2] (height, width), which override the
//   arguments
//   ->  Y of height trunc(H * height_scale) and width trunc(W * width_scale)
// Row y of Y is row min(trunc(y / height_scale), H - 1) of X, computed in float; columns likewise.
//
// ResizeNearestGradient: dY, X, optional scales  ->  dX. Each pixel of dX is the sum of the pixels of
// dY that were copied from it.

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/host_input.h"
#include "operators/common/order_argument.h"
#include "operators/image/image_scales.h"
#include "operators/image/resize_nearest_kernels.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Reads the scales from input `i`. THROWS unless it has two.
void ReadScales(const Tensor& scales, int i, float* height, float* width);
#pragma GCC visibility pop

template <class Context>
class ResizeNearestOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ResizeNearestOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        width_scale_(this->ReadArgument(kWidthScale)),
        height_scale_(this->ReadArgument(kHeightScale)),
        order_(ReadStorageOrder(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (X) of shape ", X.sizes(), ", want 4");
    const float* x = X.template data<float>();
    float height_scale = height_scale_, width_scale = width_scale_;
    if (this->InputSize() == 2) {
      ReadScales(scales_.Read(*this, 1), 1, &height_scale, &width_scale);
    }
    const bool last = order_ == StorageOrder::NHWC;
    const int64_t H = X.dims()[last ? 1 : 2], W = X.dims()[last ? 2 : 3];
    const int64_t C = X.dims()[last ? 3 : 1], N = X.dims()[0];
    const int64_t height = ScaledSize(H, height_scale), width = ScaledSize(W, width_scale);
    const int64_t nchw[] = {N, C, height, width}, nhwc[] = {N, height, width, C};
    float* y = this->template OutputData<float>(0, last ? nhwc : nchw);
    if (Output(0)->numel() == 0) return true;
    TakePixels(context_, last ? N : N * C, last ? C : 1, {H, height, height_scale},
               {W, width, width_scale}, &tables_, x, y);
    return true;
  }

 private:
  const float width_scale_;
  const float height_scale_;
  const StorageOrder order_;
  PixelTables tables_;
  HostInput scales_;
};

template <class Context>
class ResizeNearestGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ResizeNearestGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        width_scale_(this->ReadArgument(kWidthScale)),
        height_scale_(this->ReadArgument(kHeightScale)),
        order_(ReadStorageOrder(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& dY = Input(0);
    const Tensor& X = Input(1);
    const bool last = order_ == StorageOrder::NHWC;
    const int row = last ? 1 : 2;
    CheckScaledGradient(dY.sizes(), X.sizes(), row);
    const float* dy = dY.template data<float>();
    float height_scale = height_scale_, width_scale = width_scale_;
    if (this->InputSize() == 3) {
      ReadScales(scales_.Read(*this, 2), 2, &height_scale, &width_scale);
    }
    CAFFE_ENFORCE(dY.numel() == 0 || (height_scale > 0 && width_scale > 0), "input 2 (scales) is ",
                  height_scale, " and ", width_scale, ", want values above 0");
    float* dx = this->template OutputData<float>(0, X.sizes());
    if (X.numel() == 0) return true;
    const NearestAxis height = {X.dim(row), dY.dim(row), height_scale};
    const NearestAxis width = {X.dim(row + 1), dY.dim(row + 1), width_scale};
    const int64_t N = X.dim(0), C = X.dim(last ? 3 : 1);
    TakePixelsGradient(context_, last ? N : N * C, last ? C : 1, height, width, &tables_, dy, dx);
    return true;
  }

 private:
  const float width_scale_;
  const float height_scale_;
  const StorageOrder order_;
  PixelTables tables_;
  HostInput scales_;
};

}  // namespace caffe2rt
