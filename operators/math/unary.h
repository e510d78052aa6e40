#pragma once
// Functions of one vector: y[i] = f(x[i]). x and y may be the same.
//
//   math::Exp<float, CPUContext>(n, x, y, &context_);

#include <cmath>
#include <cstdint>

#include "operators/math/primitives.h"

namespace caffe2rt::math {

#define CAFFE2RT_MATH_UNARY(Name, value)                                   \
  template <class T, class Context>                                        \
  void Name(int64_t n, const T* x_values, T* y_values, Context*) {         \
    internal::RequireCpu<Context>();                                       \
    internal::Map1(n, x_values, y_values, [](T x) -> T { return value; }); \
  }
CAFFE2RT_MATH_UNARY(Exp, std::exp(x))
CAFFE2RT_MATH_UNARY(Log, std::log(x))
CAFFE2RT_MATH_UNARY(Log1p, std::log1p(x))
CAFFE2RT_MATH_UNARY(Sin, std::sin(x))
CAFFE2RT_MATH_UNARY(Cos, std::cos(x))
CAFFE2RT_MATH_UNARY(Tan, std::tan(x))
CAFFE2RT_MATH_UNARY(Asin, std::asin(x))
CAFFE2RT_MATH_UNARY(Acos, std::acos(x))
CAFFE2RT_MATH_UNARY(Atan, std::atan(x))
CAFFE2RT_MATH_UNARY(Sinh, std::sinh(x))
CAFFE2RT_MATH_UNARY(Cosh, std::cosh(x))
CAFFE2RT_MATH_UNARY(Tanh, std::tanh(x))
CAFFE2RT_MATH_UNARY(Sqrt, std::sqrt(x))
CAFFE2RT_MATH_UNARY(Rsqrt, T(1) / std::sqrt(x))
CAFFE2RT_MATH_UNARY(InvSqrt, T(1) / std::sqrt(x))
CAFFE2RT_MATH_UNARY(Cbrt, std::cbrt(x))
CAFFE2RT_MATH_UNARY(Erf, std::erf(x))
CAFFE2RT_MATH_UNARY(CdfNorm, T(0.5) * std::erfc(-x * T(0.70710678118654752440)))
CAFFE2RT_MATH_UNARY(Abs, x < T(0) ? T(-x) : x)
CAFFE2RT_MATH_UNARY(Sqr, x* x)
CAFFE2RT_MATH_UNARY(Cube, x* x* x)
CAFFE2RT_MATH_UNARY(Neg, -x)
CAFFE2RT_MATH_UNARY(Sign, T((x > T(0)) - (x < T(0))))
CAFFE2RT_MATH_UNARY(Inv, T(1) / x)
CAFFE2RT_MATH_UNARY(Not, !x)
#undef CAFFE2RT_MATH_UNARY

// s = sin(x), c = cos(x).
template <class T, class Context>
void SinCos(int64_t n, const T* x, T* s, T* c, Context*) {
  internal::RequireCpu<Context>();
  for (int64_t i = 0; i < n; ++i) {
    const T value = x[i];
    s[i] = std::sin(value);
    c[i] = std::cos(value);
  }
}

// y = a to the power of b.
template <class T, class Context>
void Powx(int64_t n, const T* a, std::type_identity_t<T> b, T* y, Context*) {
  internal::RequireCpu<Context>();
  internal::Map1(n, a, y, [b](T x) -> T { return std::pow(x, b); });
}

// 1 / sqrt(var + epsilon).
template <class T, class Context>
void InvStd(int64_t n, std::type_identity_t<T> epsilon, const T* var, T* inv_std, Context*) {
  internal::RequireCpu<Context>();
  internal::Map1(n, var, inv_std, [epsilon](T x) -> T { return T(1) / std::sqrt(x + epsilon); });
}

template <class T, class Context>
void Set(size_t n, std::type_identity_t<T> alpha, T* x, Context*) {
  internal::RequireCpu<Context>();
  for (size_t i = 0; i < n; ++i) x[i] = alpha;
}

// y = max(x, alpha).
template <class T, class Context>
void Maximum(int64_t n, float alpha, const T* x, T* y, Context*) {
  internal::RequireCpu<Context>();
  internal::Map1(n, x, y, [alpha](T v) -> T { return v > T(alpha) ? v : T(alpha); });
}

// --- y = alpha x, y += alpha x, y = alpha x + beta y; alpha may be a pointer. With two template
// arguments (element, context) or three (alpha, element, context), or deduced. ---
template <class A, class T, class Context>
void Scale(int64_t n, A alpha, const T* x, T* y, Context*) {
  internal::RequireCpu<Context>();
  internal::Map1(n, x, y, [alpha](T v) -> T { return static_cast<T>(alpha * v); });
}
template <class A, class T, class Context>
void Scale(int64_t n, const A* alpha, const T* x, T* y, Context* context) {
  Scale<A, T, Context>(n, *alpha, x, y, context);
}
template <class T, class Context>
void Scale(int64_t n, std::type_identity_t<T> alpha, const std::type_identity_t<T>* x,
           std::type_identity_t<T>* y, Context* context) {
  Scale<T, T, Context>(n, alpha, x, y, context);
}
template <class T, class Context>
void Scale(int64_t n, const std::type_identity_t<T>* alpha, const std::type_identity_t<T>* x,
           std::type_identity_t<T>* y, Context* context) {
  Scale<T, T, Context>(n, *alpha, x, y, context);
}

template <class A, class T, class Context>
void Axpy(int64_t n, A alpha, const T* x, T* y, Context*) {
  internal::RequireCpu<Context>();
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(y[i] + alpha * x[i]);
}
template <class A, class T, class Context>
void Axpy(int64_t n, const A* alpha, const T* x, T* y, Context* context) {
  Axpy<A, T, Context>(n, *alpha, x, y, context);
}
template <class T, class Context>
void Axpy(int64_t n, std::type_identity_t<T> alpha, const std::type_identity_t<T>* x,
          std::type_identity_t<T>* y, Context* context) {
  Axpy<T, T, Context>(n, alpha, x, y, context);
}
template <class T, class Context>
void Axpy(int64_t n, const std::type_identity_t<T>* alpha, const std::type_identity_t<T>* x,
          std::type_identity_t<T>* y, Context* context) {
  Axpy<T, T, Context>(n, *alpha, x, y, context);
}

template <class A, class T, class Context>
void Axpby(int64_t n, A alpha, const T* x, A beta, T* y, Context*) {
  internal::RequireCpu<Context>();
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(alpha * x[i] + beta * y[i]);
}
template <class T, class Context>
void Axpby(int64_t n, std::type_identity_t<T> alpha, const std::type_identity_t<T>* x,
           std::type_identity_t<T> beta, std::type_identity_t<T>* y, Context* context) {
  Axpby<T, T, Context>(n, alpha, x, beta, y, context);
}

}  // namespace caffe2rt::math
