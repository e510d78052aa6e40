#pragma once
// PackedInt8BGRANHWCToNCHWCStylizerPreprocess: converts a packed image to the input of a style
// transfer net.
//   X uint8 [N, H, W, 4] (B, G, R, alpha), mean float [3]
//   ->  Y float [N, 3, H, W] = X - mean + noise[(3 * pixel + channel) mod noise_size]
// Pixels are counted from the start of each image. The noise is the workspace's blob
// __CAFFE2_STYLIZER_NOISE__. The first such operator fills it from normal(0, noise_std); later ones
// use its contents, whatever their arguments are.

#include <vector>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/reads_unlisted.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/primitives/random.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kNoiseSize{
    "noise_size",
    491,
    "number of noise values; only the first such operator of a workspace uses it",
    {[](int size) { return size > 0; }, "above 0"}};
inline constexpr ArgumentSpec<float> kNoiseStd{
    "noise_std",
    10,
    "standard deviation of the noise; only the first such operator of a workspace uses it",
    {[](float std) { return std >= 0; }, "at least 0"}};

// `noise` [3, period] is added to each channel: the value for a pixel is at pixel mod period.
void UnpackPixels(CPUContext& context, int64_t pixels, const uint8_t* x, const float* mean,
                  const float* noise, int64_t period, float* y);

template <class Context>
class PackedInt8BGRANHWCToNCHWCStylizerPreprocessOp final : public Operator<Context>,
                                                            public ReadsUnlisted {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PackedInt8BGRANHWCToNCHWCStylizerPreprocessOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), noise_(ws->CreateBlob("__CAFFE2_STYLIZER_NOISE__")) {
    const int size = this->ReadArgument(kNoiseSize);
    const float std = this->ReadArgument(kNoiseStd);
    static Mutex filling;  // operators of several nets may be created at once
    const MutexLock lock(filling);
    if (noise_->template IsType<Tensor>()) return;
    Tensor noise(CPU);
    noise.Resize(size);
    // The noise is part of no run of a net.
    RandomRuns runs;
    runs.SetSeed(ws->random_seed());
    this->random_place().Set(&runs, RandomKeyOf("__CAFFE2_STYLIZER_NOISE__"));
    math::FillNormal(context_.RandGenerator(), static_cast<size_t>(size), 0, std,
                     noise.mutable_data<float>());
    this->random_place().Set(nullptr, 0);
    *noise_->template GetMutable<Tensor>() = std::move(noise);
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& mean = Input(1);
    CAFFE_ENFORCE(X.dim() == 4 && X.dims()[3] == 4, "input 0 (X) has shape ", X.sizes(),
                  ", want [N, H, W, 4]");
    CAFFE_ENFORCE_EQ(mean.numel(), 3, "elements of input 1 (mean), want 3");
    const uint8_t* x = X.template data<uint8_t>();
    const float* means = mean.template data<float>();
    const int64_t N = X.dims()[0], H = X.dims()[1], W = X.dims()[2];
    const int64_t dims[] = {N, 3, H, W};
    float* y = this->template OutputData<float>(0, dims);
    if (X.numel() == 0) return true;
    const int64_t pixels = H * W, period = SpreadNoise(pixels);
    for (int64_t n = 0; n < N; ++n) {
      UnpackPixels(context_, pixels, x + 4 * n * pixels, means, spread_.template data<float>(),
                   period, y + 3 * n * pixels);
    }
    return true;
  }

 private:
  // Arranges the noise by channel, in the layout of UnpackPixels, and returns its period in pixels.
  int64_t SpreadNoise(int64_t pixels) {
    const Tensor& noise = noise_->template Get<Tensor>();
    const int64_t size = noise.numel();
    CAFFE_ENFORCE_GE(size, 1, "elements of blob \"__CAFFE2_STYLIZER_NOISE__\", want at least 1");
    const float* values = noise.template data<float>();
    const int64_t period = std::min(size, pixels);
    spread_.Resize(3, period);
    float* spread = spread_.template mutable_data<float>();
    for (int64_t i = 0; i < period; ++i) {
      for (int64_t c = 0; c < 3; ++c) spread[c * period + i] = values[(3 * i + c) % size];
    }
    return period;
  }

  Blob* const noise_;
  Tensor spread_{CPU};
};

}  // namespace caffe2rt
