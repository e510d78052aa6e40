#pragma once
// The attribute and export macros, with the names of later Caffe2 versions.
#include "caffe2/core/macros.h"

#ifndef C10_API
#define C10_API
#endif
#ifndef C10_EXPORT
#define C10_EXPORT __attribute__((visibility("default")))
#endif
#ifndef C10_IMPORT
#define C10_IMPORT __attribute__((visibility("default")))
#endif
#ifndef C10_CUDA_API
#define C10_CUDA_API
#endif
#ifndef TORCH_API
#define TORCH_API
#endif
#ifndef TORCH_CUDA_API
#define TORCH_CUDA_API
#endif
#ifndef TORCH_CUDA_CPP_API
#define TORCH_CUDA_CPP_API
#endif
#ifndef TORCH_CUDA_CU_API
#define TORCH_CUDA_CU_API
#endif
#ifndef C10_UNUSED
#define C10_UNUSED __attribute__((unused))
#endif
#ifndef C10_USED
#define C10_USED __attribute__((used))
#endif
#ifndef C10_LIKELY
#define C10_LIKELY(expression) (__builtin_expect(static_cast<bool>(expression), 1))
#define C10_UNLIKELY(expression) (__builtin_expect(static_cast<bool>(expression), 0))
#endif
#ifndef C10_DISABLE_COPY_AND_ASSIGN
#define C10_DISABLE_COPY_AND_ASSIGN(classname) \
  classname(const classname&) = delete;        \
  classname& operator=(const classname&) = delete
#endif
#ifndef C10_STRINGIZE
#define C10_STRINGIZE_INNER(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_INNER(x)
#endif
#ifndef C10_CONCATENATE
#define C10_CONCATENATE_INNER(a, b) a##b
#define C10_CONCATENATE(a, b) C10_CONCATENATE_INNER(a, b)
#endif
#ifndef __ubsan_ignore_undefined__
#ifdef __clang__
#define __ubsan_ignore_float_divide_by_zero__ __attribute__((no_sanitize("float-divide-by-zero")))
#define __ubsan_ignore_undefined__ __attribute__((no_sanitize("undefined")))
#define __ubsan_ignore_signed_int_overflow__ __attribute__((no_sanitize("signed-integer-overflow")))
#else
#define __ubsan_ignore_float_divide_by_zero__
#define __ubsan_ignore_undefined__
#define __ubsan_ignore_signed_int_overflow__
#endif
#endif
#ifndef C10_NODISCARD
#define C10_NODISCARD [[nodiscard]]
#endif
#ifndef C10_ALWAYS_INLINE
#define C10_ALWAYS_INLINE __attribute__((__always_inline__)) inline
#endif
#ifndef C10_HOST_DEVICE
#ifdef __CUDACC__
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#else
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST
#endif
#endif

// As in Caffe2, the names of c10 are visible in namespace caffe2.
namespace c10 {}
namespace caffe2 {
using namespace c10;  // NOLINT
}
