// CUDA implementation of images.h. One thread writes one element.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/math/cuda.h"

namespace caffe2rt::math::internal {

namespace {

// Maps between element indices of the columns and of the image.
struct Indices {
  Columns columns;
  int64_t kernel_size = 1, col_size = 1, img_size = 1;

  explicit Indices(const Columns& of) : columns(of) {
    for (int i = 0; i < of.rank; ++i) {
      kernel_size *= of.kernel[i];
      col_size *= of.col[i];
      img_size *= of.img[i];
    }
  }

  // The image element that element i of the columns is copied from, or -1 if it is padding.
  CAFFE2RT_HOST_DEVICE int64_t InImage(int64_t i) const {
    int64_t c, k, o;
    if (columns.channels_first) {
      o = i % col_size;
      k = i / col_size % kernel_size;
      c = i / col_size / kernel_size;
    } else {
      c = i % columns.channels;
      k = i / columns.channels % kernel_size;
      o = i / columns.channels / kernel_size;
    }
    int64_t at = 0, step = 1;
    for (int axis = columns.rank - 1; axis >= 0; --axis) {
      const int64_t p = o % columns.col[axis] * columns.stride[axis] - columns.pad[axis] +
                        k % columns.kernel[axis] * columns.dilation[axis];
      if (p < 0 || p >= columns.img[axis]) return -1;
      at += p * step;
      step *= columns.img[axis];
      o /= columns.col[axis];
      k /= columns.kernel[axis];
    }
    return columns.channels_first ? c * img_size + at : at * columns.channels + c;
  }

  // The columns element to which position k of the kernel copies image element i, or -1 if there is
  // none.
  CAFFE2RT_HOST_DEVICE int64_t InColumns(int64_t i, int64_t k) const {
    const int64_t c = columns.channels_first ? i / img_size : i % columns.channels;
    int64_t at = columns.channels_first ? i % img_size : i / columns.channels;
    int64_t o = 0, step = 1, k_rest = k;
    for (int axis = columns.rank - 1; axis >= 0; --axis) {
      const int64_t p = at % columns.img[axis] + columns.pad[axis] -
                        k_rest % columns.kernel[axis] * columns.dilation[axis];
      if (p < 0 || p % columns.stride[axis] != 0) return -1;
      const int64_t out = p / columns.stride[axis];
      if (out >= columns.col[axis]) return -1;
      o += out * step;
      step *= columns.col[axis];
      at /= columns.img[axis];
      k_rest /= columns.kernel[axis];
    }
    return columns.channels_first ? (c * kernel_size + k) * col_size + o
                                  : (o * kernel_size + k) * columns.channels + c;
  }
};

template <class T>
struct ToColumns {
  Indices indices;
  const T* img;
  T* col;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t from = indices.InImage(i);
    col[i] = from < 0 ? T(0) : img[from];
  }
};
template <class T>
struct ToImage {
  Indices indices;
  const T* col;
  T* img;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    T sum = T(0);
    for (int64_t k = 0; k < indices.kernel_size; ++k) {
      const int64_t from = indices.InColumns(i, k);
      if (from >= 0) sum += col[from];
    }
    img[i] = sum;
  }
};
template <class T>
struct ChannelLine {
  int64_t channels, inner;
  const T* x;
  const T* scale;
  const T* bias;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t c = i / inner % channels;
    y[i] = (scale != nullptr ? scale[c] * x[i] : x[i]) + bias[c];
  }
};

}  // namespace

// g++ takes the visibility of a function template from its definition.
#pragma GCC visibility push(default)
template <class T>
void CudaIm2Col(CUDAContext& context, const Columns& columns, const T* img, T* col) {
  const Indices indices(columns);
  ForEach(context, columns.channels * indices.kernel_size * indices.col_size,
          ToColumns<T>{indices, img, col}, "math::Im2Col");
}
template <class T>
void CudaCol2Im(CUDAContext& context, const Columns& columns, const T* col, T* img) {
  const Indices indices(columns);
  ForEach(context, columns.channels * indices.img_size, ToImage<T>{indices, col, img},
          "math::Col2Im");
}
template <class T>
void CudaAffineChannel(CUDAContext& context, int64_t n, int64_t channels, int64_t inner, const T* x,
                       const T* scale, const T* bias, T* y) {
  ForEach(context, n, ChannelLine<T>{channels, inner, x, scale, bias, y}, "math::AffineChannel");
}

#define IMAGES(T)                                                                              \
  template void CudaIm2Col(CUDAContext&, const Columns&, const T*, T*);                        \
  template void CudaCol2Im(CUDAContext&, const Columns&, const T*, T*);                        \
  template void CudaAffineChannel(CUDAContext&, int64_t, int64_t, int64_t, const T*, const T*, \
                                  const T*, T*);
IMAGES(float)
IMAGES(double)
IMAGES(int32_t)
IMAGES(uint8_t)
#undef IMAGES
#pragma GCC visibility pop

}  // namespace caffe2rt::math::internal
