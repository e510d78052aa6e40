#pragma once
// UpsampleNearest: repeats each pixel `scale` times in both directions.
//   X [*, H, W]  ->  Y [*, H * scale, W * scale]

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

template <class Context>
class UpsampleNearestOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  UpsampleNearestOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), scale_(this->ReadArgument(kUpsampleScale)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GE(X.dim(), 3, "rank of input 0 (X) of shape ", X.sizes(), ", want at least 3");
    const float* x = X.template data<float>();
    const int64_t H = X.size(-2), W = X.size(-1);
    dims_.assign(X.dims().begin(), X.dims().end());
    dims_[dims_.size() - 2] = CheckedMultiply<int64_t>(H, scale_);
    dims_[dims_.size() - 1] = CheckedMultiply<int64_t>(W, scale_);
    CAFFE_ENFORCE(std::in_range<int32_t>(dims_.back()) && std::in_range<int32_t>(H * scale_),
                  "output has height ", H * scale_, " and width ", dims_.back(),
                  ", want at most 2147483647");
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

}  // namespace caffe2rt
