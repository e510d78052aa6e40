#pragma once
// The CUDA implementations that the functions of this folder call for a CUDAContext. This header
// includes no CUDA header. The .cu files define the templates and list the element types for which
// they instantiate them. A user's source, whether compiled by nvcc or not, therefore needs only
// libcaffe2_cuda.
//
// All functions are asynchronous on the context's stream. Pointers are to memory of its device,
// unless stated otherwise. THROWS if a launch fails.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/base/host_device.h"
#include "operators/primitives/cuda_gemm.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class CUDAContext;

namespace math {

namespace internal {

template <class Context>
inline constexpr bool kIsCuda = std::is_same_v<Context, CUDAContext>;

// --- element functions; F is a plain struct of unary.h or binary.h ---

// y[i] = f(x[i]). x may be y.
template <class F, class T>
void CudaMap(CUDAContext& context, int64_t n, const T* x, T* y, const F& f);
// y[i] = f(x[i], y[i]).
template <class F, class T>
void CudaUpdate(CUDAContext& context, int64_t n, const T* x, T* y, const F& f);
template <class T>
void CudaSet(CUDAContext& context, int64_t n, T value, T* x);

inline constexpr int kMaxAxes = 8;

// A loop nest over a dense result that computes, for each element, an index into one or two other
// arrays.
struct Walk {
  int rank = 0;
  int64_t size = 1;  // elements of the result
  int64_t dims[kMaxAxes] = {};
  int64_t a_step[kMaxAxes] = {};
  int64_t b_step[kMaxAxes] = {};

  // Adds the next axis; the outermost one is added first. An axis is merged with the previous one
  // if every array can walk both as one. THROWS if there are too many axes.
  void Add(int64_t dim, int64_t a, int64_t b);
  // A walk by numpy's broadcasting rules. THROWS if the dimensions do not fit.
  static Walk Broadcast(int a_rank, const int* a_dims, int b_rank, const int* b_dims);

  CAFFE2RT_HOST_DEVICE void Locate(int64_t i, int64_t* a, int64_t* b) const {
    *a = 0;
    *b = 0;
    for (int axis = rank - 1; axis > 0; --axis) {
      const int64_t at = i % dims[axis];
      i /= dims[axis];
      *a += at * a_step[axis];
      *b += at * b_step[axis];
    }
    if (rank > 0) {
      *a += i * a_step[0];
      *b += i * b_step[0];
    }
  }
};

// z[i] = F()(x[a], y[b]), where the walk gives a and b for each i.
template <class F, class T, class Result>
void CudaZip(CUDAContext& context, const Walk& walk, const T* x, const T* y, Result* z);
// y[i] = alpha * x[a], where the walk gives a for each i.
template <class T>
void CudaBroadcast(CUDAContext& context, const Walk& walk, T alpha, const T* x, T* y);
// y[b] = x[a], for items of 1, 2, 4, 8 or 16 bytes.
void CudaCopyItems(CUDAContext& context, const Walk& walk, size_t item_size, const void* x,
                   void* y);

// Copies rows of `row_bytes` bytes; the pitches are the distances between rows in bytes.
void CudaCopyRows(CUDAContext& context, int64_t rows, size_t row_bytes, const void* a,
                  size_t a_pitch, void* b, size_t b_pitch);

// --- reductions ---

enum class Reduction { kSum, kMean, kL1, kL2, kMin, kMax };

// y_dims is x_dims with 1 for each axis that is reduced.
template <Reduction kKind, class T>
void CudaReduce(CUDAContext& context, int rank, const int* x_dims, const int* y_dims, T alpha,
                const T* x, T* y);
// Reduces every row of x [rows, cols], or every column if `columns` is true.
template <Reduction kKind, class T>
void CudaReduceMatrix(CUDAContext& context, int64_t rows, int64_t cols, bool columns, const T* x,
                      T* y);
template <class T>
void CudaDot(CUDAContext& context, int64_t n, const T* a, const T* b, T* y);
template <class T>
void CudaMoments(CUDAContext& context, int rank, const int* x_dims, const int* y_dims, const T* x,
                 T* mean, T* var);
template <class T>
void CudaSelect(CUDAContext& context, int64_t n, int64_t d, const T* x, const int* idx, T* y);
template <class T>
void CudaAddStripedBatch(CUDAContext& context, int64_t n, const T* first, T* y, int64_t stripe,
                         int64_t batch);

// --- images ---

// The geometry of an image and its columns (im2col).
struct Columns {
  bool channels_first = true;
  int rank = 0;
  int64_t channels = 0;
  int64_t img[kMaxAxes] = {}, col[kMaxAxes] = {};
  int64_t kernel[kMaxAxes] = {}, stride[kMaxAxes] = {}, dilation[kMaxAxes] = {}, pad[kMaxAxes] = {};
};
// THROWS for invalid sizes.
Columns MakeColumns(bool channels_first, int rank, int64_t channels, const int* img, const int* col,
                    const int* kernel, const int* stride, const int* dilation, const int* pad);
template <class T>
void CudaIm2Col(CUDAContext& context, const Columns& columns, const T* img, T* col);
template <class T>
void CudaCol2Im(CUDAContext& context, const Columns& columns, const T* col, T* img);
// y = scale[c] * x + bias[c] for n elements, where element i has channel c = i / inner % channels.
// scale may be null, which means 1. x may equal y.
template <class T>
void CudaAffineChannel(CUDAContext& context, int64_t n, int64_t channels, int64_t inner, const T* x,
                       const T* scale, const T* bias, T* y);

// --- random vectors: they depend on the context's seed and on the number of earlier draws ---
template <class T>
void CudaRandUniform(CUDAContext& context, size_t n, T a, T b, T* r);
template <class T>
void CudaRandGaussian(CUDAContext& context, size_t n, T mean, T std, T* r);

}  // namespace internal
}  // namespace math

}  // namespace caffe2rt
#pragma GCC visibility pop
