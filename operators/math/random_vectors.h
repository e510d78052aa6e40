#pragma once
// Random vectors. On the CPU they come from the context's generator. On CUDA they depend on the
// context's seed and on the number of earlier draws.
//
//   math::RandUniform<float, CPUContext>(n, 0, 1, r, &context_);

#include <cstdint>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "operators/math/context_dispatch.h"
#include "operators/primitives/random.h"

#pragma GCC visibility push(default)
namespace caffe2rt::math {

template <class T, class Context>
void RandUniform(size_t n, std::type_identity_t<T> a, std::type_identity_t<T> b, T* r,
                 Context* context) {
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaRandUniform<T>(*context, n, a, b, r);
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, int32_t>) {
    internal::RequireCpu<Context>();
    FillUniform(context->RandGenerator(), n, a, b, r);
  } else {
    internal::RequireCpu<Context>();
    for (size_t i = 0; i < n; ++i) {
      const float unit = UniformFloat(context->RandGenerator(), 0.0f, 1.0f);
      r[i] = std::is_integral_v<T> ? static_cast<T>(a + static_cast<T>(unit * (double(b - a) + 1)))
                                   : static_cast<T>(a + (b - a) * unit);
    }
  }
}
template <class T, class Context>
void RandGaussian(size_t n, std::type_identity_t<T> mean, std::type_identity_t<T> std, T* r,
                  Context* context) {
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaRandGaussian<T>(*context, n, mean, std, r);
  } else {
    internal::RequireCpu<Context>();
    std::vector<float> values(n);
    FillNormal(context->RandGenerator(), n, static_cast<float>(mean), static_cast<float>(std),
               values.data());
    for (size_t i = 0; i < n; ++i) r[i] = static_cast<T>(values[i]);
  }
}
// Draws n different integers from [a, b] that are not among the m values of `avoid`. CPU only.
// THROWS if there are too few such integers.
template <class T, class Context>
void RandUniformUnique(size_t n, std::type_identity_t<T> a, std::type_identity_t<T> b, T* r,
                       size_t m, const T* avoid, Context* context) {
  internal::RequireCpu<Context>();
  std::unordered_set<int64_t> taken(avoid, avoid + m);
  CAFFE_ENFORCE(b >= a && static_cast<uint64_t>(b - a) + 1 >= n + taken.size(), "cannot draw ", n,
                " different values from [", a, ", ", b, "] without ", taken.size(), " of them");
  for (size_t i = 0; i < n;) {
    const T value =
        static_cast<T>(a + static_cast<T>(UniformBelow(context->RandGenerator(),
                                                       static_cast<uint64_t>(b - a) + 1)));
    if (taken.insert(value).second) r[i++] = value;
  }
}

}  // namespace caffe2rt::math
#pragma GCC visibility pop
