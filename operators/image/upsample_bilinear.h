#pragma once
// UpsampleBilinear: scales height and width by linear interpolation; the corners keep their values.
//   X [N, C, H, W], optional scales [2] (height, width; before the arguments)
//   ->  Y [N, C, trunc(H * height_scale), trunc(W * width_scale)]

#include <vector>

#include "caffe2_core/base/host_device.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/host_input.h"

namespace caffe2rt {

class CUDAContext;

// Between which indices an index of the output lies, and how far from the first.
struct LinearSource {
  int32_t first = 0;
  int32_t second = 0;
  float share = 0;  // of the second
};
struct LinearAxis {
  int64_t in = 0;
  int64_t out = 0;
  float step = 0;

  LinearAxis(int64_t in_size, int64_t out_size)
      : in(in_size),
        out(out_size),
        step(out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : 0) {}
  CAFFE2RT_HOST_DEVICE LinearSource Source(int64_t i) const {
    const float at = step * static_cast<float>(i);
    const int64_t whole = static_cast<int64_t>(at), first = whole < in ? whole : in - 1;
    return {static_cast<int32_t>(first), static_cast<int32_t>(first + 1 < in ? first + 1 : first),
            at - static_cast<float>(first)};
  }
};

// The sources of all rows and columns: room for the CPU, kept from run to run.
struct LinearTables {
  std::vector<LinearSource> rows, columns;
};

void InterpolatePixels(CPUContext& context, int64_t planes, const LinearAxis& height,
                       const LinearAxis& width, LinearTables* tables, const float* x, float* y);
void InterpolatePixels(CUDAContext& context, int64_t planes, const LinearAxis& height,
                       const LinearAxis& width, LinearTables* tables, const float* x, float* y);

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

}  // namespace caffe2rt
