// Convolution by the built-in Winograd kernel (winograd_conv.h) on row-major tensors: some images at a
// time are copied to blocks of 16 channels, so that the copies stay in the second-level cache.
#include <algorithm>

#include "operators/conv/bordered_image.h"
#include "operators/conv/conv_kernel.h"
#include "operators/conv/winograd_conv.h"
#include "operators/primitives/packed_gemm.h"

namespace caffe2rt {

namespace {

class CopyingWinogradConv final : public ConvKernel {
 public:
  explicit CopyingWinogradConv(const ConvShape& shape) : shape_(shape) {
    const WindowAxis &rows = shape.window.axis[0], &columns = shape.window.axis[1];
    // Enough tiles for the multiplications to take longer than reading the filter.
    constexpr int64_t kTiles = 64;
    const int64_t tiles = ((rows.out + 3) / 4) * ((columns.out + 3) / 4);
    conv_ = {.x = {.batch = std::clamp<int64_t>(kTiles / tiles, 1, shape.window.batch),
                   .channels = shape.window.channels,
                   .height = rows.in,
                   .width = columns.in,
                   .blocked = true},
             .out_channels = shape.out_channels,
             .out_height = rows.out,
             .out_width = columns.out,
             .pad_top = rows.pad_head,
             .pad_left = columns.pad_head};
    x_ = Whole(conv_.x);
    y_ = Whole(conv_.y());
  }

  std::string FilterForm() const override { return MakeString("winograd ", PanelForm()); }
  int64_t PreparedSize() const override { return PreparedWinogradSize(conv_); }
  void PrepareFilterIn(const float* filter, float* prepared) override {
    PrepareWinogradFilter(conv_, filter, prepared);
  }
  int64_t ScratchSize() const override {
    return AlignedFloats(conv_.x.size()) + AlignedFloats(conv_.y().size()) +
           WinogradScratchSize(conv_, 1);
  }

  void Run(const float* x, const void* filter, const float* bias, float* y,
           PieceScratch scratch) override {
    float* const copied_x = scratch[0];
    float* const copied_y = copied_x + AlignedFloats(conv_.x.size());
    float* const inner = copied_y + AlignedFloats(conv_.y().size());
    WinogradConv conv = conv_;
    for (int64_t first = 0; first < shape_.window.batch; first += conv_.x.batch) {
      conv.x.batch = std::min(conv_.x.batch, shape_.window.batch - first);
      for (int64_t i = 0; i < conv.x.batch; ++i) {
        CopyIntoBorder(x_, shape_.channels_last(), x + (first + i) * x_.size(),
                       copied_x + i * x_.size());
      }
      RunWinograd(conv, copied_x, static_cast<const float*>(filter), shape_.bias ? bias : nullptr,
                  copied_y, 1, inner);
      for (int64_t i = 0; i < conv.x.batch; ++i) {
        CopyFromBorder(y_, shape_.channels_last(), copied_y + i * y_.size(),
                       y + (first + i) * y_.size());
      }
    }
  }

 private:
  // A copy without border.
  static BorderedImage Whole(const ChannelPlanes& planes) {
    return {.channels = planes.channels,
            .height = planes.height,
            .width = planes.width,
            .rows = planes.height,
            .columns = planes.width};
  }
  std::string PanelForm() const {
    return MakeString(conv_.x.channels, "x", conv_.out_channels, " in panels of ", PanelWidth());
  }

  const ConvShape shape_;
  WinogradConv conv_;  // of the images that are copied at a time
  BorderedImage x_, y_;
};

}  // namespace

std::unique_ptr<ConvKernel> NewCopyingWinogradConv(const ConvShape& shape) {
  const auto fits = [](const WindowAxis& axis) {
    return axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1;
  };
  const WindowGeometry& window = shape.window;
  if (shape.channels_last() || window.axes != 2 || shape.group != 1 || !fits(window.axis[0]) ||
      !fits(window.axis[1]) || !WinogradSupports(window.channels, shape.out_channels)) {
    return nullptr;
  }
  return std::make_unique<CopyingWinogradConv>(shape);
}

}  // namespace caffe2rt
