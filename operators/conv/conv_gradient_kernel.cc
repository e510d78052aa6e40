// The gradients of a convolution by GEMM, on the data in place or by im2col.
#include "operators/conv/conv_gradient_kernel.h"

#include <algorithm>

#include "operators/conv/conv_columns.h"
#include "operators/primitives/gemm.h"
#include "operators/primitives/scratch.h"
#include "operators/primitives/transpose.h"

namespace caffe2rt {

namespace {

// With C the columns of X: dFilter = dY C^T, and dX is what the reverse of im2col makes of
// Filter^T dY. In NHWC all matrices are transposed.
class Im2ColConvGradient final : public ConvGradientKernel {
 public:
  Im2ColConvGradient(const ConvShape& shape, ConvGradientParts parts)
      : shape_(shape),
        parts_(parts),
        columns_(shape),
        in_size_(shape.window.in_size()),
        out_size_(shape.window.out_size()) {}

  int64_t ScratchSize() const override { return columns_.size(); }

  void Run(const float* x, const float* filter, const float* dy, float* dfilter, float* dx,
           float* scratch) override {
    const WindowGeometry& window = shape_.window;
    const int64_t in_image = window.channels * in_size_,
                  out_image = shape_.out_channels * out_size_;
    for (int64_t image = 0; image < window.batch; ++image) {
      RunImage(x + image * in_image, filter, dy + image * out_image, image == 0, scratch, dfilter,
               parts_.x ? dx + image * in_image : nullptr);
    }
  }

  // One image. Unless it is the first, its gradient of the filter is added to `dfilter`.
  void RunImage(const float* x, const float* filter, const float* dy, bool first, float* columns,
                float* dfilter, float* dx) const {
    const bool last = shape_.channels_last();
    if (parts_.x) std::fill_n(dx, shape_.window.channels * in_size_, 0.f);
    const int64_t rows = shape_.window.axis[0].out, at_once = columns_.rows_at_once();
    for (int64_t row = 0; row < rows; row += at_once) {
      const int64_t count = std::min(at_once, rows - row), pixel = row * columns_.row_size();
      for (int64_t g = 0; g < shape_.group; ++g) {
        const int64_t filters = g * shape_.out_group(), at_filter = filters * columns_.depth();
        const int64_t at_x = g * shape_.in_group() * (last ? 1 : in_size_);
        const int64_t at_y =
            last ? pixel * shape_.out_channels + filters : filters * out_size_ + pixel;
        if (parts_.filter) {
          columns_.Fill(x + at_x, row, count, columns);
          AddFilterGradient(first && row == 0, count * columns_.row_size(), columns, dy + at_y,
                            dfilter + at_filter);
        }
        if (parts_.x) {
          MakeColumns(count * columns_.row_size(), filter + at_filter, dy + at_y, columns);
          columns_.Add(columns, row, count, dx + at_x);
        }
      }
    }
  }

 private:
  // dFilter [out_group, depth] of one group.
  void AddFilterGradient(bool first, int64_t pixels, const float* columns, const float* dy,
                         float* dfilter) const {
    const int64_t depth = columns_.depth();
    const bool last = shape_.channels_last();
    Sgemm(last, !last, shape_.out_group(), depth, pixels, 1.f, dy,
          last ? shape_.out_channels : out_size_, columns, last ? depth : pixels, first ? 0.f : 1.f,
          dfilter, depth);
  }

  // The gradient of the columns.
  void MakeColumns(int64_t pixels, const float* filter, const float* dy, float* columns) const {
    const int64_t depth = columns_.depth(), out_group = shape_.out_group();
    if (shape_.channels_last()) {
      Sgemm(false, false, pixels, depth, out_group, 1.f, dy, shape_.out_channels, filter, depth,
            0.f, columns, depth);
    } else {
      Sgemm(true, false, depth, pixels, out_group, 1.f, filter, depth, dy, out_size_, 0.f, columns,
            pixels);
    }
  }

  const ConvShape shape_;
  const ConvGradientParts parts_;
  const ConvColumns columns_;
  const int64_t in_size_, out_size_;
};

// The same for NCHW, on copies with channels last: the columns then consist of longer runs.
class TurnedConvGradient final : public ConvGradientKernel {
 public:
  TurnedConvGradient(const ConvShape& shape, ConvGradientParts parts)
      : parts_(parts),
        batch_(shape.window.batch),
        x_size_(shape.window.channels * shape.window.in_size()),
        y_size_(shape.out_channels * shape.window.out_size()),
        filter_size_(shape.out_channels * shape.in_group() * shape.window.kernel_size()),
        inner_(WithChannelsLast(shape), parts) {
    Plan(shape.window.channels, shape.window.in_size(), &x_to_last_, &x_to_first_);
    Plan(shape.out_channels, shape.window.out_size(), &y_to_last_, nullptr);
    const int64_t taps = shape.window.kernel_size();
    math::PlanTranspose({shape.out_channels, shape.in_group(), taps}, {0, 2, 1}, &filter_to_last_);
    math::PlanTranspose({shape.out_channels, taps, shape.in_group()}, {0, 2, 1}, &filter_to_first_);
  }

  int64_t ScratchSize() const override {
    return AlignedFloats(inner_.ScratchSize()) + 2 * AlignedFloats(x_size_) +
           2 * AlignedFloats(filter_size_) + AlignedFloats(y_size_);
  }

  void Run(const float* x, const float* filter, const float* dy, float* dfilter, float* dx,
           float* scratch) override {
    const int64_t x_size = AlignedFloats(x_size_), filter_size = AlignedFloats(filter_size_);
    float* const x_last = scratch + AlignedFloats(inner_.ScratchSize());
    float* const dx_last = x_last + x_size;
    float* const filter_last = dx_last + x_size;
    float* const dfilter_last = filter_last + filter_size;
    float* const dy_last = dfilter_last + filter_size;
    if (parts_.x) Turn(filter_to_last_, filter, filter_last);
    for (int64_t image = 0; image < batch_; ++image) {
      if (parts_.filter) Turn(x_to_last_, x + image * x_size_, x_last);
      Turn(y_to_last_, dy + image * y_size_, dy_last);
      inner_.RunImage(x_last, filter_last, dy_last, image == 0, scratch, dfilter_last, dx_last);
      if (parts_.x) Turn(x_to_first_, dx_last, dx + image * x_size_);
    }
    if (parts_.filter) Turn(filter_to_first_, dfilter_last, dfilter);
  }

 private:
  static ConvShape WithChannelsLast(ConvShape shape) {
    shape.window.order = StorageOrder::NHWC;
    return shape;
  }
  static void Plan(int64_t channels, int64_t size, math::TransposePlan* to_last,
                   math::TransposePlan* to_first) {
    math::PlanTranspose({channels, size}, {1, 0}, to_last);
    if (to_first != nullptr) math::PlanTranspose({size, channels}, {1, 0}, to_first);
  }
  static void Turn(math::TransposePlan& plan, const float* from, float* to) {
    math::Transpose(plan, sizeof(float), from, to);
  }

  const ConvGradientParts parts_;
  const int64_t batch_, x_size_, y_size_, filter_size_;
  const Im2ColConvGradient inner_;
  math::TransposePlan x_to_last_, x_to_first_, y_to_last_, filter_to_last_, filter_to_first_;
};

// Pointwise convolutions: X is its own columns.
class GemmConvGradient final : public ConvGradientKernel {
 public:
  GemmConvGradient(const ConvShape& shape, ConvGradientParts parts)
      : shape_(shape), parts_(parts), pixels_(shape.window.in_size()) {}

  void Run(const float* x, const float* filter, const float* dy, float* dfilter, float* dx,
           float*) override {
    // With one pixel in an image, channels are contiguous in both layouts.
    const bool last = shape_.channels_last() || pixels_ == 1;
    for (int64_t g = 0; g < shape_.group; ++g) {
      const int64_t at_filter = g * shape_.out_group() * shape_.in_group();
      float* const to = parts_.filter ? dfilter + at_filter : nullptr;
      if (last) {
        RunGroupLast(g, x, filter + at_filter, dy, to, dx);
      } else {
        RunGroupFirst(g, x, filter + at_filter, dy, to, dx);
      }
    }
  }

 private:
  void RunGroupLast(int64_t g, const float* x, const float* filter, const float* dy, float* dfilter,
                    float* dx) const {
    const int64_t in = shape_.window.channels, out = shape_.out_channels;
    const int64_t in_group = shape_.in_group(), out_group = shape_.out_group();
    const int64_t rows = shape_.window.batch * pixels_;
    dy += g * out_group;
    if (parts_.filter) {
      Sgemm(true, false, out_group, in_group, rows, 1.f, dy, out, x + g * in_group, in, 0.f,
            dfilter, in_group);
    }
    if (parts_.x) {
      Sgemm(false, false, rows, in_group, out_group, 1.f, dy, out, filter, in_group, 0.f,
            dx + g * in_group, in);
    }
  }

  void RunGroupFirst(int64_t g, const float* x, const float* filter, const float* dy,
                     float* dfilter, float* dx) const {
    const int64_t in_group = shape_.in_group(), out_group = shape_.out_group();
    for (int64_t image = 0; image < shape_.window.batch; ++image) {
      const int64_t at_x = (image * shape_.group + g) * in_group * pixels_;
      const float* from = dy + (image * shape_.group + g) * out_group * pixels_;
      if (parts_.filter) {
        Sgemm(false, true, out_group, in_group, pixels_, 1.f, from, pixels_, x + at_x, pixels_,
              image == 0 ? 0.f : 1.f, dfilter, in_group);
      }
      if (parts_.x) {
        Sgemm(true, false, in_group, pixels_, out_group, 1.f, filter, in_group, from, pixels_, 0.f,
              dx + at_x, pixels_);
      }
    }
  }

  const ConvShape shape_;
  const ConvGradientParts parts_;
  const int64_t pixels_;
};

}  // namespace

std::unique_ptr<ConvGradientKernel> NewConvGradientKernel(ConvGradientAlgorithm algorithm,
                                                          const ConvShape& shape,
                                                          ConvGradientParts parts) {
  switch (algorithm) {
    case ConvGradientAlgorithm::kIm2Col:
      return std::make_unique<Im2ColConvGradient>(shape, parts);
    case ConvGradientAlgorithm::kTurned:
      if (shape.channels_last()) return nullptr;
      return std::make_unique<TurnedConvGradient>(shape, parts);
    case ConvGradientAlgorithm::kGemm:
      if (!shape.IsPointwise()) return nullptr;
      return std::make_unique<GemmConvGradient>(shape, parts);
    case ConvGradientAlgorithm::kOnednn:
      return NewOnednnConvGradient(shape, parts);
    case ConvGradientAlgorithm::kWinograd:
      return NewWinogradConvGradient(shape, parts);
  }
  return nullptr;
}

}  // namespace caffe2rt
