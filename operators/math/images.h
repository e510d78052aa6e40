#pragma once
// Im2Col, Col2Im, layout changes and per-channel arithmetic on images, in Caffe2's argument order.
//
//   math::Im2Col<float, CPUContext, StorageOrder::NCHW>(c, h, w, kh, kw, dh, dw, pt, pl, pb, pr,
//                                                       sh, sw, img, col, &context_);
//
// The columns are [C * kh * kw, oh * ow] for NCHW and [oh * ow, kh * kw * C] for NHWC. Col2Im sums
// the columns that belong to the same image element.

#include <cstdint>
#include <cstring>
#include <vector>

#include "caffe2_core/tensor/data_type.h"
#include "operators/math/context_dispatch.h"
#include "operators/math/random_vectors.h"

#pragma GCC visibility push(default)
namespace caffe2rt::math {
namespace internal {

// Calls f(index into the image or -1 for padding, index into the columns) for every element of the
// columns of an image with `rank` spatial axes.
template <bool kChannelsFirst, class F>
void ForEachColumnElement(int rank, int64_t channels, const int* img, const int* col,
                          const int* kernel, const int* stride, const int* dilation, const int* pad,
                          F f) {
  int64_t kernel_size = 1, out_size = 1, img_size = 1;
  for (int i = 0; i < rank; ++i) {
    CAFFE_ENFORCE(kernel[i] > 0 && stride[i] > 0 && dilation[i] > 0 && col[i] >= 0 && img[i] >= 0,
                  "kernel ", kernel[i], ", stride ", stride[i], ", dilation ", dilation[i],
                  " of axis ", i, ", want all of them positive");
    kernel_size *= kernel[i];
    out_size *= col[i];
    img_size *= img[i];
  }
  for (int64_t o = 0; o < out_size; ++o) {
    for (int64_t k = 0; k < kernel_size; ++k) {
      int64_t at = 0, o_rest = o, k_rest = k, step = 1;
      bool inside = true;
      for (int i = rank - 1; i >= 0; --i) {
        const int64_t p = o_rest % col[i] * stride[i] - pad[i] + k_rest % kernel[i] * dilation[i];
        inside = inside && p >= 0 && p < img[i];
        at += p * step;
        step *= img[i];
        o_rest /= col[i];
        k_rest /= kernel[i];
      }
      for (int64_t c = 0; c < channels; ++c) {
        if constexpr (kChannelsFirst) {
          f(inside ? c * img_size + at : -1, (c * kernel_size + k) * out_size + o);
        } else {
          f(inside ? at * channels + c : -1, (o * kernel_size + k) * channels + c);
        }
      }
    }
  }
}

// A walk that copies from the source (a) to the dense transposed array (b).
template <class Index>
Walk TransposeWalk(int rank, const Index* x_dims, const int* axes) {
  Walk walk;
  int64_t to = 1;
  for (int i = 0; i < rank; ++i) {
    CAFFE_ENFORCE(axes[i] >= 0 && axes[i] < rank, "axis ", axes[i], " of a tensor of rank ", rank);
    to *= x_dims[i];
  }
  for (int i = 0; i < rank; ++i) {
    int64_t from = 1;
    for (int axis = axes[i] + 1; axis < rank; ++axis) from *= x_dims[axis];
    if (x_dims[axes[i]] != 0) to /= x_dims[axes[i]];
    walk.Add(x_dims[axes[i]], from, to);
  }
  return walk;
}

}  // namespace internal

// `img_shape` and `col_shape` hold the channels (of the image, and of the columns) and the spatial
// sizes. The channels come first for NCHW and last for NHWC.
template <class T, class Context, StorageOrder kOrder>
void Im2ColNd(int rank, int /*img_size*/, int /*col_size*/, const int* img_shape,
              const int* col_shape, const int* kernel, const int* stride, const int* dilation,
              const int* pad, const T* img, T* col, [[maybe_unused]] Context* context,
              int /*groups*/ = 1) {
  constexpr bool kFirst = kOrder == NCHW;
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaIm2Col(*context,
                         internal::MakeColumns(
                             kFirst, rank, kFirst ? img_shape[0] : img_shape[rank],
                             img_shape + kFirst, col_shape + kFirst, kernel, stride, dilation, pad),
                         img, col);
    return;
  }
  internal::RequireCpu<Context>();
  internal::ForEachColumnElement<kFirst>(
      rank, kFirst ? img_shape[0] : img_shape[rank], img_shape + kFirst, col_shape + kFirst, kernel,
      stride, dilation, pad,
      [&](int64_t from, int64_t to) { col[to] = from < 0 ? T(0) : img[from]; });
}
template <class T, class Context, StorageOrder kOrder>
void Col2ImNd(int rank, int img_size, int /*col_size*/, const int* img_shape, const int* col_shape,
              const int* kernel, const int* stride, const int* dilation, const int* pad,
              const T* col, T* img, [[maybe_unused]] Context* context, int /*groups*/ = 1) {
  constexpr bool kFirst = kOrder == NCHW;
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaCol2Im(*context,
                         internal::MakeColumns(
                             kFirst, rank, kFirst ? img_shape[0] : img_shape[rank],
                             img_shape + kFirst, col_shape + kFirst, kernel, stride, dilation, pad),
                         col, img);
    return;
  }
  internal::RequireCpu<Context>();
  for (int i = 0; i < img_size; ++i) img[i] = T(0);
  internal::ForEachColumnElement<kFirst>(rank, kFirst ? img_shape[0] : img_shape[rank],
                                         img_shape + kFirst, col_shape + kFirst, kernel, stride,
                                         dilation, pad, [&](int64_t to, int64_t from) {
                                           if (to >= 0) img[to] += col[from];
                                         });
}

template <class T, class Context, StorageOrder kOrder>
void Im2Col(int channels, int height, int width, int kernel_h, int kernel_w, int dilation_h,
            int dilation_w, int pad_t, int pad_l, int pad_b, int pad_r, int stride_h, int stride_w,
            const T* img, T* col, [[maybe_unused]] Context* context, int /*groups*/ = 1) {
  CAFFE_ENFORCE(stride_h > 0 && stride_w > 0, "strides are ", stride_h, " and ", stride_w);
  const int shape[] = {height, width}, kernel[] = {kernel_h, kernel_w},
            stride[] = {stride_h, stride_w};
  const int dilation[] = {dilation_h, dilation_w}, pad[] = {pad_t, pad_l};
  const int out[] = {(height + pad_t + pad_b - (dilation_h * (kernel_h - 1) + 1)) / stride_h + 1,
                     (width + pad_l + pad_r - (dilation_w * (kernel_w - 1) + 1)) / stride_w + 1};
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaIm2Col(*context,
                         internal::MakeColumns(kOrder == NCHW, 2, channels, shape, out, kernel,
                                               stride, dilation, pad),
                         img, col);
    return;
  }
  internal::RequireCpu<Context>();
  internal::ForEachColumnElement<kOrder == NCHW>(
      2, channels, shape, out, kernel, stride, dilation, pad,
      [&](int64_t from, int64_t to) { col[to] = from < 0 ? T(0) : img[from]; });
}
template <class T, class Context, StorageOrder kOrder>
void Col2Im(int channels, int height, int width, int kernel_h, int kernel_w, int dilation_h,
            int dilation_w, int pad_t, int pad_l, int pad_b, int pad_r, int stride_h, int stride_w,
            const T* col, T* img, [[maybe_unused]] Context* context, int /*groups*/ = 1) {
  CAFFE_ENFORCE(stride_h > 0 && stride_w > 0, "strides are ", stride_h, " and ", stride_w);
  const int shape[] = {height, width}, kernel[] = {kernel_h, kernel_w},
            stride[] = {stride_h, stride_w};
  const int dilation[] = {dilation_h, dilation_w}, pad[] = {pad_t, pad_l};
  const int out[] = {(height + pad_t + pad_b - (dilation_h * (kernel_h - 1) + 1)) / stride_h + 1,
                     (width + pad_l + pad_r - (dilation_w * (kernel_w - 1) + 1)) / stride_w + 1};
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaCol2Im(*context,
                         internal::MakeColumns(kOrder == NCHW, 2, channels, shape, out, kernel,
                                               stride, dilation, pad),
                         col, img);
    return;
  }
  internal::RequireCpu<Context>();
  for (int64_t i = 0; i < int64_t{channels} * height * width; ++i) img[i] = T(0);
  internal::ForEachColumnElement<kOrder == NCHW>(2, channels, shape, out, kernel, stride, dilation,
                                                 pad, [&](int64_t to, int64_t from) {
                                                   if (to >= 0) img[to] += col[from];
                                                 });
}

// image [channels, size] += bias [channels].
template <class T, class Context>
void BiasCHW(const T* bias, const T* /*bias_multiplier*/, int channels, int size, T* image,
             [[maybe_unused]] Context* context) {
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaAffineChannel<T>(*context, int64_t{channels} * size, channels, size, image,
                                   nullptr, bias, image);
    return;
  }
  internal::RequireCpu<Context>();
  for (int c = 0; c < channels; ++c) {
    for (int i = 0; i < size; ++i) image[int64_t{c} * size + i] += bias[c];
  }
}
template <class T, class Context>
void BiasCHW(const T* bias, int channels, int size, T* image, Context* context) {
  BiasCHW<T, Context>(bias, nullptr, channels, size, image, context);
}

// y = scale[c] * x + bias[c].
template <class T, class Context, StorageOrder kOrder>
void AffineChannel(int n, int channels, int size, const T* x, const T* scale, const T* bias, T* y,
                   [[maybe_unused]] Context* context) {
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaAffineChannel(*context, int64_t{n} * channels * size, channels,
                                kOrder == NCHW ? size : 1, x, scale, bias, y);
    return;
  }
  internal::RequireCpu<Context>();
  for (int64_t i = 0; i < int64_t{n} * channels * size; ++i) {
    const int64_t c = kOrder == NCHW ? i / size % channels : i % channels;
    y[i] = scale[c] * x[i] + bias[c];
  }
}

template <class T, class Context>
void NCHW2NHWC(int64_t n, int64_t channels, int64_t size, const T* x, T* y,
               [[maybe_unused]] Context* context) {
  if constexpr (internal::kIsCuda<Context>) {
    internal::Walk walk;
    walk.Add(n, channels * size, channels * size);
    walk.Add(size, 1, channels);
    walk.Add(channels, size, 1);
    internal::CudaCopyItems(*context, walk, sizeof(T), x, y);
    return;
  }
  internal::RequireCpu<Context>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t p = 0; p < size; ++p) {
        y[(i * size + p) * channels + c] = x[(i * channels + c) * size + p];
      }
    }
  }
}
template <class T, class Context>
void NHWC2NCHW(int64_t n, int64_t channels, int64_t size, const T* x, T* y, Context* context) {
  NCHW2NHWC<T, Context>(n, size, channels, x, y, context);
}

// y_dims[i] = x_dims[axes[i]].
template <class T, class Context, class Index>
void TransposeAxes(int rank, const Index* x_dims, const int* axes, const T* x, T* y,
                   [[maybe_unused]] Context* context) {
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaCopyItems(*context, internal::TransposeWalk(rank, x_dims, axes), sizeof(T), x, y);
    return;
  }
  internal::RequireCpu<Context>();
  std::vector<int64_t> step(static_cast<size_t>(rank)), at(step), dims(step);
  int64_t size = 1;
  for (int i = rank - 1; i >= 0; --i) {
    CAFFE_ENFORCE(axes[i] >= 0 && axes[i] < rank, "axis ", axes[i], " of a tensor of rank ", rank);
    step[static_cast<size_t>(i)] = size;
    size *= x_dims[i];
  }
  std::vector<int64_t> from(step);
  for (int i = 0; i < rank; ++i) {
    from[static_cast<size_t>(i)] = step[static_cast<size_t>(axes[i])];
    dims[static_cast<size_t>(i)] = x_dims[axes[i]];
  }
  for (int64_t i = 0; i < size; ++i) {
    int64_t source = 0;
    for (size_t a = 0; a < at.size(); ++a) source += at[a] * from[a];
    y[i] = x[source];
    for (size_t a = at.size(); a-- > 0;) {
      if (++at[a] < dims[a]) break;
      at[a] = 0;
    }
  }
}
template <class T, class Context>
void Transpose(int rank, const int* dims, const int* axes, const T* x, T* y, Context* context) {
  TransposeAxes<T, Context>(rank, dims, axes, x, y, context);
}
template <class Index, class T, class Context>
void Transpose(int rank, const Index* dims, const int* axes, const T* x, T* y, Context* context) {
  TransposeAxes<T, Context>(rank, dims, axes, x, y, context);
}

}  // namespace caffe2rt::math
#pragma GCC visibility pop
