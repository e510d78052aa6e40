#pragma once
// UpsampleNearest: repeats each pixel `scale` times in both directions.
//   X [*, H, W]  ->  Y [*, H * scale, W * scale]
//
// UpsampleNearestGradient: X, dY  ->  dX, the sums of the repeated pixels. Caffe2 has it for CUDA
// only.

#include <utility>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/image/resize_nearest_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kUpsampleScale{
    "scale",
    2,
    "number of times each pixel is repeated in both directions",
    {[](int scale) { return scale > 0; }, "above 0"}};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Computes the shape of the output. THROWS if X has less than three dimensions or the output is too
// large.
void UpsampledDims(IntArrayRef x, int64_t scale, std::vector<int64_t>* dims);
#pragma GCC visibility pop

template <class Context>
class UpsampleNearestOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  UpsampleNearestOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), scale_(this->ReadArgument(kUpsampleScale)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    UpsampledDims(X.sizes(), scale_, &dims_);
    const float* x = X.template data<float>();
    const int64_t H = X.size(-2), W = X.size(-1);
    float* y = this->template OutputData<float>(0, dims_);
    if (X.numel() == 0) return true;
    const NearestAxis height = {.in = H, .out = H * scale_, .repeat = scale_};
    const NearestAxis width = {.in = W, .out = W * scale_, .repeat = scale_};
    TakePixels(context_, X.size_to_dim(X.dim() - 2), 1, height, width, &tables_, x, y);
    return true;
  }

 private:
  const int scale_;
  std::vector<int64_t> dims_;
  PixelTables tables_;
};

template <class Context>
class UpsampleNearestGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  UpsampleNearestGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), scale_(this->ReadArgument(kUpsampleScale)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& dY = Input(1);
    UpsampledDims(X.sizes(), scale_, &dims_);
    CAFFE_ENFORCE(dY.dims() == dims_, "input 1 (dY) has shape ", dY.sizes(), ", want ",
                  IntArrayRef(dims_), ": input 0 (X) enlarged by ", scale_);
    const float* dy = dY.template data<float>();
    float* dx = this->template OutputData<float>(0, X.sizes());
    if (X.numel() == 0) return true;
    const int64_t H = X.size(-2), W = X.size(-1);
    const NearestAxis height = {.in = H, .out = H * scale_, .repeat = scale_};
    const NearestAxis width = {.in = W, .out = W * scale_, .repeat = scale_};
    TakePixelsGradient(context_, X.size_to_dim(X.dim() - 2), 1, height, width, &tables_, dy, dx);
    return true;
  }

 private:
  const int scale_;
  std::vector<int64_t> dims_;
  PixelTables tables_;
};

}  // namespace caffe2rt
