// Pointwise convolutions: matrix multiplication on the data in place.
#include <algorithm>

#include "operators/conv/conv_kernel.h"
#include "operators/primitives/gemm.h"

namespace caffe2rt {

namespace {

class GemmConv final : public ConvKernel {
 public:
  explicit GemmConv(const ConvShape& shape)
      : shape_(shape), pixels_(shape.window.in_size()), rows_(pixels_ * shape.window.batch) {
    PrepareSgemm(shape.out_group(), pixels_, shape.in_group());
  }

  void Run(const float* x, const void* filter, const float* bias, float* y, PieceScratch) override {
    // With one pixel in an image, channels are contiguous in both layouts.
    if (shape_.channels_last() || pixels_ == 1) {
      RunChannelsLast(x, static_cast<const float*>(filter), bias, y);
    } else {
      RunChannelsFirst(x, static_cast<const float*>(filter), bias, y);
    }
  }

 private:
  void RunChannelsLast(const float* x, const float* filter, const float* bias, float* y) const {
    const int64_t in = shape_.window.channels, out = shape_.out_channels;
    const int64_t in_group = shape_.in_group(), out_group = shape_.out_group();
    if (bias != nullptr) FillRowVector(rows_, out, bias, y);
    for (int64_t g = 0; g < shape_.group; ++g) {
      Sgemm(false, true, rows_, out_group, in_group, 1.f, x + g * in_group, in,
            filter + g * out_group * in_group, in_group, bias != nullptr ? 1.f : 0.f,
            y + g * out_group, out);
    }
  }

  void RunChannelsFirst(const float* x, const float* filter, const float* bias, float* y) const {
    const int64_t in_group = shape_.in_group(), out_group = shape_.out_group();
    for (int64_t i = 0; i < shape_.window.batch * shape_.group; ++i) {
      const int64_t g = i % shape_.group;
      float* out = y + i * out_group * pixels_;
      if (bias != nullptr) {
        for (int64_t m = 0; m < out_group; ++m) {
          std::fill_n(out + m * pixels_, pixels_, bias[g * out_group + m]);
        }
      }
      Sgemm(false, false, out_group, pixels_, in_group, 1.f, filter + g * out_group * in_group,
            in_group, x + i * in_group * pixels_, pixels_, bias != nullptr ? 1.f : 0.f, out,
            pixels_);
    }
  }

  const ConvShape shape_;
  const int64_t pixels_;
  const int64_t rows_;
};

}  // namespace

std::unique_ptr<ConvKernel> NewGemmConv(const ConvShape& shape) {
  if (!shape.IsPointwise()) return nullptr;
  return std::make_unique<GemmConv>(shape);
}

}  // namespace caffe2rt
