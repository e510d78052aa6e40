#pragma once
// BRGNCHWCToPackedInt8BGRAStylizerDeprocess: converts the output of a style transfer net to a
// packed image.
//   X float [N, 3, H, W], mean float [3]
//   ->  Y uint8 [N, H, W, 4]: X + mean clamped to 0..255 and truncated, alpha 255
// A NaN becomes 0.

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void PackPixels(CPUContext& context, int64_t pixels, const float* x, const float* mean, uint8_t* y);

template <class Context>
class BRGNCHWCToPackedInt8BGRAStylizerDeprocessOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  BRGNCHWCToPackedInt8BGRAStylizerDeprocessOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& mean = Input(1);
    CAFFE_ENFORCE(X.dim() == 4 && X.dims()[1] == 3, "input 0 (X) has shape ", X.sizes(),
                  ", want [N, 3, H, W]");
    CAFFE_ENFORCE_EQ(mean.numel(), 3, "elements of input 1 (mean), want 3");
    const float* x = X.template data<float>();
    const float* means = mean.template data<float>();
    const int64_t N = X.dims()[0], H = X.dims()[2], W = X.dims()[3];
    const int64_t dims[] = {N, H, W, 4};
    uint8_t* y = this->template OutputData<uint8_t>(0, dims);
    if (X.numel() == 0) return true;
    for (int64_t n = 0; n < N; ++n) {
      PackPixels(context_, H * W, x + 3 * n * H * W, means, y + 4 * n * H * W);
    }
    return true;
  }
};

}  // namespace caffe2rt
