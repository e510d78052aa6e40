#pragma once
// Run-time types of elements and blobs: TypeMeta.
#include <cstdint>
#include <string>

#include "caffe2_core/base/type_meta.h"

namespace caffe2 {
using ::caffe2rt::CaffeTypeId;
using ::caffe2rt::float16;
using ::caffe2rt::TypeMeta;
using TypeIdentifier = ::caffe2rt::CaffeTypeId;

template <class T>
inline const char* DemangleType() {
  return TypeMeta::Name<T>();
}
inline std::string GetExceptionString(const std::exception& error) {
  return std::string("Exception: ") + error.what();
}
}  // namespace caffe2

// Types need not be declared: these macros do nothing.
#ifndef CAFFE_KNOWN_TYPE
#define CAFFE_KNOWN_TYPE(...) static_assert(true, "")
#define CAFFE_DECLARE_KNOWN_TYPE(...) static_assert(true, "")
#define CAFFE_DEFINE_KNOWN_TYPE(...) static_assert(true, "")
#endif

namespace c10 {
using ::caffe2rt::TypeMeta;
using Half = ::caffe2rt::float16;
}  // namespace c10
namespace at {
using Half = ::caffe2rt::float16;
}  // namespace at
