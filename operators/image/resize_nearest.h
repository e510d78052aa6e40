#pragma once
// ResizeNearest: scales height and width by repeating or leaving out pixels.
//   X [N, C, H, W] or [N, H, W, C], optional scales [2] (height, width; before the arguments)
//   ->  Y[y][x] = X[min(trunc(y / height_scale), H - 1)][...], height trunc(H * height_scale), in
//   float arithmetic

#include <string>
#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/channels.h"

namespace caffe2rt {

// trunc(in * scale). THROWS when that is negative or does not fit an int.
int64_t ScaledSize(int64_t in, float scale);
// sources[i] is the index that index i of `out` is taken from.
void NearestSources(int64_t in, int64_t out, float scale, std::vector<int32_t>* sources);

// `planes` images of rows of `items` floats a pixel; `rows` and `columns` say where each pixel
// comes from.
void TakePixels(CPUContext& context, int64_t planes, int64_t in_height, int64_t in_width,
                int64_t items, const std::vector<int32_t>& rows,
                const std::vector<int32_t>& columns, const float* x, float* y);

template <class Context>
class ResizeNearestOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ResizeNearestOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        width_scale_(this->template GetSingleArgument<float>("width_scale", 1)),
        height_scale_(this->template GetSingleArgument<float>("height_scale", 1)),
        order_(
            StringToStorageOrder(this->template GetSingleArgument<std::string>("order", "NCHW"))) {
    CAFFE_ENFORCE(width_scale_ > 0, "argument width_scale is ", width_scale_, ", want above 0");
    CAFFE_ENFORCE(height_scale_ > 0, "argument height_scale is ", height_scale_, ", want above 0");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (X) of shape ", X.sizes(), ", want 4");
    const float* x = X.template data<float>();
    float height_scale = height_scale_, width_scale = width_scale_;
    if (this->InputSize() == 2) {
      const Tensor& scales = Input(1);
      CAFFE_ENFORCE(scales.dim() == 1 && scales.numel() == 2, "input 1 (scales) has shape ",
                    scales.sizes(), ", want [2]: height and width");
      height_scale = scales.template data<float>()[0];
      width_scale = scales.template data<float>()[1];
    }
    const bool last = order_ == StorageOrder::NHWC;
    const int64_t H = X.dims()[last ? 1 : 2], W = X.dims()[last ? 2 : 3];
    const int64_t C = X.dims()[last ? 3 : 1], N = X.dims()[0];
    const int64_t height = ScaledSize(H, height_scale), width = ScaledSize(W, width_scale);
    const int64_t nchw[] = {N, C, height, width}, nhwc[] = {N, height, width, C};
    float* y = this->template OutputData<float>(0, last ? nhwc : nchw);
    if (Output(0)->numel() == 0) return true;
    NearestSources(H, height, height_scale, &rows_);
    NearestSources(W, width, width_scale, &columns_);
    TakePixels(context_, last ? N : N * C, H, W, last ? C : 1, rows_, columns_, x, y);
    return true;
  }

 private:
  const float width_scale_;
  const float height_scale_;
  const StorageOrder order_;
  std::vector<int32_t> rows_, columns_;
};

}  // namespace caffe2rt
