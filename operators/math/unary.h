#pragma once
// Functions of one vector, y[i] = f(x[i]). x may equal y.
//
//   math::Exp<float, CPUContext>(n, x, y, &context_);

#include <cmath>
#include <cstdint>

#include "operators/math/context_dispatch.h"

#pragma GCC visibility push(default)
namespace caffe2rt::math {

#define CAFFE2RT_MATH_UNARY(Name, value)                                    \
  namespace internal {                                                      \
  struct Name##Value {                                                      \
    template <class T>                                                      \
    CAFFE2RT_SIMD_INLINE T operator()(T x) const {                          \
      return value;                                                         \
    }                                                                       \
  };                                                                        \
  }                                                                         \
  template <class T, class Context>                                         \
  void Name(int64_t n, const T* x_values, T* y_values, Context* context) {  \
    internal::Map(context, n, x_values, y_values, internal::Name##Value()); \
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

namespace internal {

struct PowxValue {
  double power;
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return std::pow(x, static_cast<T>(power));
  }
};
struct InvStdValue {
  double epsilon;
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return T(1) / std::sqrt(x + static_cast<T>(epsilon));
  }
};
struct MaximumValue {
  float alpha;
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return x > T(alpha) ? x : T(alpha);
  }
};
// A factor that is a number, or a pointer to memory of the context's device.
template <class A>
struct Factor {
  A number;
  const A* pointer = nullptr;
  CAFFE2RT_SIMD_INLINE A value() const { return pointer != nullptr ? *pointer : number; }
};
template <class A>
struct ScaleValue {
  Factor<A> alpha;
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return static_cast<T>(alpha.value() * x);
  }
};
template <class A>
struct AxpyValue {
  Factor<A> alpha;
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x, T y) const {
    return static_cast<T>(y + alpha.value() * x);
  }
};
template <class A>
struct AxpbyValue {
  A alpha, beta;
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x, T y) const {
    return static_cast<T>(alpha * x + beta * y);
  }
};

// On the CPU the pointer is dereferenced now, on CUDA in the kernel.
template <class Context, class A>
Factor<A> FactorAt(const A* pointer) {
  if constexpr (kIsCuda<Context>) return {A(), pointer};
  return {*pointer};
}

}  // namespace internal

// s = sin(x), c = cos(x). x may equal s or c.
template <class T, class Context>
void SinCos(int64_t n, const T* x, T* s, T* c, Context* context) {
  if (s == x) {
    Cos<T, Context>(n, x, c, context);
    Sin<T, Context>(n, x, s, context);
  } else {
    Sin<T, Context>(n, x, s, context);
    Cos<T, Context>(n, x, c, context);
  }
}

// y = a to the power of b.
template <class T, class Context>
void Powx(int64_t n, const T* a, std::type_identity_t<T> b, T* y, Context* context) {
  internal::Map(context, n, a, y, internal::PowxValue{static_cast<double>(b)});
}

// 1 / sqrt(var + epsilon).
template <class T, class Context>
void InvStd(int64_t n, std::type_identity_t<T> epsilon, const T* var, T* inv_std,
            Context* context) {
  internal::Map(context, n, var, inv_std, internal::InvStdValue{static_cast<double>(epsilon)});
}

template <class T, class Context>
void Set(size_t n, std::type_identity_t<T> alpha, T* x, [[maybe_unused]] Context* context) {
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaSet<T>(*context, static_cast<int64_t>(n), alpha, x);
  } else {
    internal::RequireCpu<Context>();
    for (size_t i = 0; i < n; ++i) x[i] = alpha;
  }
}

// y = max(x, alpha).
template <class T, class Context>
void Maximum(int64_t n, float alpha, const T* x, T* y, Context* context) {
  internal::Map(context, n, x, y, internal::MaximumValue{alpha});
}

// --- Scale: y = alpha x. Axpy: y += alpha x. Axpby: y = alpha x + beta y. ---
//
// alpha of Scale and Axpy may be a pointer to memory of the context's device. The template
// arguments are (element, context) or (alpha, element, context), or are deduced.
template <class A, class T, class Context>
void Scale(int64_t n, A alpha, const T* x, T* y, Context* context) {
  internal::Map(context, n, x, y, internal::ScaleValue<A>{{alpha}});
}
template <class A, class T, class Context>
void Scale(int64_t n, const A* alpha, const T* x, T* y, Context* context) {
  internal::Map(context, n, x, y, internal::ScaleValue<A>{internal::FactorAt<Context>(alpha)});
}
template <class T, class Context>
void Scale(int64_t n, std::type_identity_t<T> alpha, const std::type_identity_t<T>* x,
           std::type_identity_t<T>* y, Context* context) {
  Scale<T, T, Context>(n, alpha, x, y, context);
}
template <class T, class Context>
void Scale(int64_t n, const std::type_identity_t<T>* alpha, const std::type_identity_t<T>* x,
           std::type_identity_t<T>* y, Context* context) {
  Scale<T, T, Context>(n, alpha, x, y, context);
}

template <class A, class T, class Context>
void Axpy(int64_t n, A alpha, const T* x, T* y, Context* context) {
  internal::Update(context, n, x, y, internal::AxpyValue<A>{{alpha}});
}
template <class A, class T, class Context>
void Axpy(int64_t n, const A* alpha, const T* x, T* y, Context* context) {
  internal::Update(context, n, x, y, internal::AxpyValue<A>{internal::FactorAt<Context>(alpha)});
}
template <class T, class Context>
void Axpy(int64_t n, std::type_identity_t<T> alpha, const std::type_identity_t<T>* x,
          std::type_identity_t<T>* y, Context* context) {
  Axpy<T, T, Context>(n, alpha, x, y, context);
}
template <class T, class Context>
void Axpy(int64_t n, const std::type_identity_t<T>* alpha, const std::type_identity_t<T>* x,
          std::type_identity_t<T>* y, Context* context) {
  Axpy<T, T, Context>(n, alpha, x, y, context);
}

template <class A, class T, class Context>
void Axpby(int64_t n, A alpha, const T* x, A beta, T* y, Context* context) {
  internal::Update(context, n, x, y, internal::AxpbyValue<A>{alpha, beta});
}
template <class T, class Context>
void Axpby(int64_t n, std::type_identity_t<T> alpha, const std::type_identity_t<T>* x,
           std::type_identity_t<T> beta, std::type_identity_t<T>* y, Context* context) {
  Axpby<T, T, Context>(n, alpha, x, beta, y, context);
}

}  // namespace caffe2rt::math
#pragma GCC visibility pop
