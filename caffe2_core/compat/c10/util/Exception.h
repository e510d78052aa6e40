#pragma once
// The error classes and the checks of later Caffe2 versions. The checks throw EnforceNotMet.
#include "caffe2/core/logging.h"

namespace c10 {
using IndexError = Error;
using TypeError = Error;
using ValueError = Error;
}  // namespace c10

#ifndef TORCH_CHECK
#define TORCH_CHECK(condition, ...) CAFFE_ENFORCE(condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#endif
#ifndef TORCH_INTERNAL_ASSERT_DEBUG_ONLY
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  while (false) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
#endif
#ifndef TORCH_WARN
#define TORCH_WARN(...) LOG(WARNING) << ::c10::str(__VA_ARGS__)
#endif
#ifndef AT_ASSERT
#define AT_ASSERT(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#endif
#ifndef AT_CHECK
#define AT_CHECK(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#endif
#ifndef AT_ERROR
#define AT_ERROR(...) CAFFE_THROW(__VA_ARGS__)
#endif
