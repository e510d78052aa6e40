// Convolution by im2col and GEMM: any shape (conv_columns.h).
#include <algorithm>

#include "operators/conv/conv_columns.h"
#include "operators/conv/conv_kernel.h"
#include "operators/primitives/gemm.h"

namespace caffe2rt {

namespace {

class Im2ColConv final : public ConvKernel {
 public:
  explicit Im2ColConv(const ConvShape& shape)
      : shape_(shape),
        columns_(shape),
        in_size_(shape.window.in_size()),
        out_size_(shape.window.out_size()) {
    PrepareSgemm(shape.out_group(), columns_.rows_at_once() * columns_.row_size(),
                 columns_.depth());
  }

  int64_t ScratchSize() const override { return columns_.size(); }

  void Run(const float* x, const void* filter, const float* bias, float* y,
           PieceScratch scratch) override {
    float* const columns = scratch[0];
    const int64_t rows = shape_.window.axis[0].out;
    for (int64_t image = 0; image < shape_.window.batch; ++image) {
      const float* from = x + image * shape_.window.channels * in_size_;
      float* to = y + image * shape_.out_channels * out_size_;
      for (int64_t row = 0; row < rows; row += columns_.rows_at_once()) {
        const int64_t count = std::min(columns_.rows_at_once(), rows - row);
        for (int64_t g = 0; g < shape_.group; ++g) {
          RunRows(from, static_cast<const float*>(filter), bias, to, g, row, count, columns);
        }
      }
    }
  }

 private:
  void RunRows(const float* x, const float* filter, const float* bias, float* y, int64_t g,
               int64_t row, int64_t count, float* columns) const {
    const int64_t in_group = shape_.in_group(), out_group = shape_.out_group();
    const int64_t row_size = columns_.row_size(), depth = columns_.depth();
    const int64_t pixels = count * row_size;
    const float* w = filter + g * out_group * depth;
    const float beta = bias != nullptr ? 1.f : 0.f;
    columns_.Fill(x + g * in_group * (shape_.channels_last() ? 1 : in_size_), row, count, columns);
    if (shape_.channels_last()) {
      float* out = y + row * row_size * shape_.out_channels + g * out_group;
      if (bias != nullptr) {
        for (int64_t p = 0; p < pixels; ++p) {
          std::copy_n(bias + g * out_group, out_group, out + p * shape_.out_channels);
        }
      }
      Sgemm(false, true, pixels, out_group, depth, 1.f, columns, depth, w, depth, beta, out,
            shape_.out_channels);
      return;
    }
    float* out = y + g * out_group * out_size_ + row * row_size;
    if (bias != nullptr) {
      for (int64_t m = 0; m < out_group; ++m) {
        std::fill_n(out + m * out_size_, pixels, bias[g * out_group + m]);
      }
    }
    Sgemm(false, false, out_group, pixels, depth, 1.f, w, depth, columns, pixels, beta, out,
          out_size_);
  }

  const ConvShape shape_;
  const ConvColumns columns_;
  const int64_t in_size_, out_size_;
};

}  // namespace

std::unique_ptr<ConvKernel> NewIm2ColConv(const ConvShape& shape) {
  return std::make_unique<Im2ColConv>(shape);
}

}  // namespace caffe2rt
