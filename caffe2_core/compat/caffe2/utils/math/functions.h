#pragma once
// The vector and matrix functions of caffe2/utils/math.h, without Eigen.
#include <algorithm>
#include <random>
#include <type_traits>

#include "c10/util/ArrayRef.h"
#include "caffe2/core/common.h"
#include "caffe2/core/context.h"
#include "caffe2/core/types.h"
#include "caffe2/utils/cblas.h"
#include "caffe2/utils/math/utils.h"
#include "operators/math/binary.h"
#include "operators/math/blas.h"
#include "operators/math/images.h"
#include "operators/math/reductions.h"
#include "operators/math/unary.h"

namespace caffe2 {
using ::caffe2rt::math::DefaultEngine;

namespace math {
using ::caffe2rt::math::Abs;
using ::caffe2rt::math::Acos;
using ::caffe2rt::math::Add;
using ::caffe2rt::math::AddStripedBatch;
using ::caffe2rt::math::AddToCol;
using ::caffe2rt::math::AddToRow;
using ::caffe2rt::math::AffineChannel;
using ::caffe2rt::math::And;
using ::caffe2rt::math::AndToRow;
using ::caffe2rt::math::Asin;
using ::caffe2rt::math::Atan;
using ::caffe2rt::math::Axpby;
using ::caffe2rt::math::Axpy;
using ::caffe2rt::math::BiasCHW;
using ::caffe2rt::math::BitwiseAnd;
using ::caffe2rt::math::BitwiseAndToRow;
using ::caffe2rt::math::BitwiseOr;
using ::caffe2rt::math::BitwiseOrToRow;
using ::caffe2rt::math::BitwiseXor;
using ::caffe2rt::math::BitwiseXorToRow;
using ::caffe2rt::math::Broadcast;
using ::caffe2rt::math::Cbrt;
using ::caffe2rt::math::CdfNorm;
using ::caffe2rt::math::Col2Im;
using ::caffe2rt::math::Col2ImNd;
using ::caffe2rt::math::ColwiseAdd;
using ::caffe2rt::math::ColwiseAnd;
using ::caffe2rt::math::ColwiseBitwiseAnd;
using ::caffe2rt::math::ColwiseBitwiseOr;
using ::caffe2rt::math::ColwiseBitwiseXor;
using ::caffe2rt::math::ColwiseDiv;
using ::caffe2rt::math::ColwiseEQ;
using ::caffe2rt::math::ColwiseGE;
using ::caffe2rt::math::ColwiseGT;
using ::caffe2rt::math::ColwiseLE;
using ::caffe2rt::math::ColwiseLT;
using ::caffe2rt::math::ColwiseMax;
using ::caffe2rt::math::ColwiseMin;
using ::caffe2rt::math::ColwiseMul;
using ::caffe2rt::math::ColwiseNE;
using ::caffe2rt::math::ColwiseOr;
using ::caffe2rt::math::ColwiseSub;
using ::caffe2rt::math::ColwiseXor;
using ::caffe2rt::math::CopyMatrix;
using ::caffe2rt::math::CopyVector;
using ::caffe2rt::math::Cos;
using ::caffe2rt::math::Cosh;
using ::caffe2rt::math::Cube;
using ::caffe2rt::math::DefaultEngine;
using ::caffe2rt::math::Div;
using ::caffe2rt::math::DivToCol;
using ::caffe2rt::math::DivToRow;
using ::caffe2rt::math::Dot;
using ::caffe2rt::math::ElemwiseMax;
using ::caffe2rt::math::EQ;
using ::caffe2rt::math::EQToRow;
using ::caffe2rt::math::Erf;
using ::caffe2rt::math::Exp;
using ::caffe2rt::math::GE;
using ::caffe2rt::math::Gemm;
using ::caffe2rt::math::GemmBatched;
using ::caffe2rt::math::GemmEx;
using ::caffe2rt::math::GemmStridedBatched;
using ::caffe2rt::math::Gemv;
using ::caffe2rt::math::GEToRow;
using ::caffe2rt::math::GT;
using ::caffe2rt::math::GTToRow;
using ::caffe2rt::math::Im2Col;
using ::caffe2rt::math::Im2ColNd;
using ::caffe2rt::math::Inv;
using ::caffe2rt::math::InvSqrt;
using ::caffe2rt::math::InvStd;
using ::caffe2rt::math::LE;
using ::caffe2rt::math::LEToRow;
using ::caffe2rt::math::Log;
using ::caffe2rt::math::Log1p;
using ::caffe2rt::math::LT;
using ::caffe2rt::math::LTToRow;
using ::caffe2rt::math::Max;
using ::caffe2rt::math::Maximum;
using ::caffe2rt::math::MaxToRow;
using ::caffe2rt::math::Min;
using ::caffe2rt::math::MinToRow;
using ::caffe2rt::math::Moments;
using ::caffe2rt::math::Mul;
using ::caffe2rt::math::MulToCol;
using ::caffe2rt::math::MulToRow;
using ::caffe2rt::math::NCHW2NHWC;
using ::caffe2rt::math::NE;
using ::caffe2rt::math::Neg;
using ::caffe2rt::math::NEToRow;
using ::caffe2rt::math::NHWC2NCHW;
using ::caffe2rt::math::Not;
using ::caffe2rt::math::Or;
using ::caffe2rt::math::OrToRow;
using ::caffe2rt::math::Powx;
using ::caffe2rt::math::RandGaussian;
using ::caffe2rt::math::RandUniform;
using ::caffe2rt::math::RandUniformUnique;
using ::caffe2rt::math::ReduceL1;
using ::caffe2rt::math::ReduceL2;
using ::caffe2rt::math::ReduceMax;
using ::caffe2rt::math::ReduceMean;
using ::caffe2rt::math::ReduceMin;
using ::caffe2rt::math::ReduceSum;
using ::caffe2rt::math::RowwiseAdd;
using ::caffe2rt::math::RowwiseAnd;
using ::caffe2rt::math::RowwiseBitwiseAnd;
using ::caffe2rt::math::RowwiseBitwiseOr;
using ::caffe2rt::math::RowwiseBitwiseXor;
using ::caffe2rt::math::RowwiseDiv;
using ::caffe2rt::math::RowwiseEQ;
using ::caffe2rt::math::RowwiseGE;
using ::caffe2rt::math::RowwiseGT;
using ::caffe2rt::math::RowwiseLE;
using ::caffe2rt::math::RowwiseLT;
using ::caffe2rt::math::RowwiseMax;
using ::caffe2rt::math::RowwiseMin;
using ::caffe2rt::math::RowwiseMul;
using ::caffe2rt::math::RowwiseNE;
using ::caffe2rt::math::RowwiseOr;
using ::caffe2rt::math::RowwiseSub;
using ::caffe2rt::math::RowwiseXor;
using ::caffe2rt::math::Rsqrt;
using ::caffe2rt::math::Scale;
using ::caffe2rt::math::Select;
using ::caffe2rt::math::Set;
using ::caffe2rt::math::Sign;
using ::caffe2rt::math::Sin;
using ::caffe2rt::math::SinCos;
using ::caffe2rt::math::Sinh;
using ::caffe2rt::math::Sqr;
using ::caffe2rt::math::Sqrt;
using ::caffe2rt::math::Sub;
using ::caffe2rt::math::SubToCol;
using ::caffe2rt::math::SubToRow;
using ::caffe2rt::math::Sum;
using ::caffe2rt::math::SumSqr;
using ::caffe2rt::math::Tan;
using ::caffe2rt::math::Tanh;
using ::caffe2rt::math::Transpose;
using ::caffe2rt::math::Xor;
using ::caffe2rt::math::XorToRow;

// Fills r with n random numbers from a to b whose sum is `sum`. Each is uniform in the range that
// leaves the rest possible. CPU only. THROWS if the sum is not from n * a to n * b.
template <class T, class Context>
void RandFixedSum(size_t n, std::type_identity_t<T> a, std::type_identity_t<T> b,
                  std::type_identity_t<T> sum, T* r, Context* context) {
  static_assert(Context::GetDeviceType() == CPU, "RandFixedSum is implemented for the CPU");
  const double low = static_cast<double>(a), high = static_cast<double>(b);
  double rest = static_cast<double>(sum);
  CAFFE_ENFORCE(
      low <= high && rest >= low * static_cast<double>(n) && rest <= high * static_cast<double>(n),
      n, " numbers from ", a, " to ", b, " cannot have the sum ", sum);
  for (size_t i = 0; i < n; ++i) {
    const double after = static_cast<double>(n - 1 - i);
    const double from = std::max(low, rest - after * high), to = std::min(high, rest - after * low);
    double value = from;
    if constexpr (std::is_integral_v<T>) {
      if (to > from) {
        value = static_cast<double>(std::uniform_int_distribution<int64_t>(
            static_cast<int64_t>(from), static_cast<int64_t>(to))(context->RandGenerator()));
      }
    } else if (to > from) {
      value = std::uniform_real_distribution<double>(from, to)(context->RandGenerator());
    }
    r[i] = static_cast<T>(value);
    rest -= static_cast<double>(r[i]);
  }
}

// Scale and Axpy. `kFixedSize` is N where that is a constant.
template <class T, class Context, int kFixedSize>
void ScaleFixedSize(const int N, const float alpha, const T* X, T* Y, Context* context) {
  Scale<T, Context>(N, static_cast<T>(alpha), X, Y, context);
}
template <class T, class Context, int kFixedSize>
void AxpyFixedSize(const int N, const float alpha, const T* X, T* Y, Context* context) {
  Axpy<T, Context>(N, static_cast<T>(alpha), X, Y, context);
}

// The functions of earlier Caffe2 versions, whose first argument is the input data.
template <class T, class Context, int order>
void Im2col(const T* img, int channels, int height, int width, int kernel_h, int kernel_w,
            int dilation_h, int dilation_w, int pad_t, int pad_l, int pad_b, int pad_r,
            int stride_h, int stride_w, T* col, Context* context) {
  Im2Col<T, Context, static_cast<StorageOrder>(order)>(
      channels, height, width, kernel_h, kernel_w, dilation_h, dilation_w, pad_t, pad_l, pad_b,
      pad_r, stride_h, stride_w, img, col, context);
}
template <class T, class Context, int order>
void Col2im(const T* col, int channels, int height, int width, int kernel_h, int kernel_w,
            int dilation_h, int dilation_w, int pad_t, int pad_l, int pad_b, int pad_r,
            int stride_h, int stride_w, T* img, Context* context) {
  Col2Im<T, Context, static_cast<StorageOrder>(order)>(
      channels, height, width, kernel_h, kernel_w, dilation_h, dilation_w, pad_t, pad_l, pad_b,
      pad_r, stride_h, stride_w, col, img, context);
}
template <class T, class Context, int order>
void Im2colNd(const T* img, const int* img_shape, const int* col_shape, int img_size, int col_size,
              const int* kernel, const int* stride, const int* dilation, const int* pad, int rank,
              T* col, Context* context, bool accumulate_output = false) {
  CAFFE_ENFORCE(!accumulate_output, "Im2colNd does not add to its output; use Col2imNd");
  Im2ColNd<T, Context, static_cast<StorageOrder>(order)>(rank, img_size, col_size, img_shape,
                                                         col_shape, kernel, stride, dilation, pad,
                                                         img, col, context);
}
template <class T, class Context, int order>
void Col2imNd(const T* col, const int* img_shape, const int* col_shape, int img_size, int col_size,
              const int* kernel, const int* stride, const int* dilation, const int* pad, int rank,
              T* img, Context* context) {
  Col2ImNd<T, Context, static_cast<StorageOrder>(order)>(rank, img_size, col_size, img_shape,
                                                         col_shape, kernel, stride, dilation, pad,
                                                         col, img, context);
}
// Has the sizes of the output, which follow from those of the input, and the number of elements.
template <class T, class Context>
void Transpose(int rank, const int* x_dims, const int* /*y_dims*/, const int* axes, int /*size*/,
               const T* x, T* y, Context* context) {
  Transpose<T, Context>(rank, x_dims, axes, x, y, context);
}
}  // namespace math
}  // namespace caffe2
