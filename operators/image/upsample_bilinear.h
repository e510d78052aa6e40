#pragma once
// UpsampleBilinear: scales height and width by linear interpolation; the corners keep their values.
//   X [N, C, H, W], optional scales [2] (height, width; before the arguments)
//   ->  Y [N, C, trunc(H * height_scale), trunc(W * width_scale)]

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

// Between which indices an index of the output lies, and how far from the first.
struct LinearSource {
  int32_t first = 0;
  int32_t second = 0;
  float share = 0;  // of the second
};
void LinearSources(int64_t in, int64_t out, std::vector<LinearSource>* sources);

void InterpolatePixels(CPUContext& context, int64_t planes, int64_t in_height, int64_t in_width,
                       const std::vector<LinearSource>& rows,
                       const std::vector<LinearSource>& columns, const float* x, float* y);

// trunc(in * scale), see resize_nearest.h.
int64_t ScaledSize(int64_t in, float scale);

template <class Context>
class UpsampleBilinearOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  UpsampleBilinearOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        width_scale_(this->template GetSingleArgument<float>("width_scale", 1)),
        height_scale_(this->template GetSingleArgument<float>("height_scale", 1)) {
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
    const int64_t N = X.dims()[0], C = X.dims()[1], H = X.dims()[2], W = X.dims()[3];
    const int64_t dims[] = {N, C, ScaledSize(H, height_scale), ScaledSize(W, width_scale)};
    float* y = this->template OutputData<float>(0, dims);
    if (Output(0)->numel() == 0) return true;
    LinearSources(H, dims[2], &rows_);
    LinearSources(W, dims[3], &columns_);
    InterpolatePixels(context_, N * C, H, W, rows_, columns_, x, y);
    return true;
  }

 private:
  const float width_scale_;
  const float height_scale_;
  std::vector<LinearSource> rows_, columns_;
};

}  // namespace caffe2rt
