#pragma once
// Caffe2's attribute and export macros. Each is defined only if it is not defined already.

#ifndef CAFFE2_VERSION
#define CAFFE2_VERSION_MAJOR 0
#define CAFFE2_VERSION_MINOR 8
#define CAFFE2_VERSION_PATCH 2
#define CAFFE2_VERSION \
  (CAFFE2_VERSION_MAJOR * 10000 + CAFFE2_VERSION_MINOR * 100 + CAFFE2_VERSION_PATCH)
#endif
#ifndef CAFFE2_API
#define CAFFE2_API
#endif
#ifndef CAFFE2_EXPORT
#define CAFFE2_EXPORT __attribute__((visibility("default")))
#endif
#ifndef CAFFE2_IMPORT
#define CAFFE2_IMPORT __attribute__((visibility("default")))
#endif
#ifndef CAFFE2_CUDA_API
#define CAFFE2_CUDA_API
#endif
#ifndef CAFFE2_CUDA_EXPORT
#define CAFFE2_CUDA_EXPORT
#endif
#ifndef CAFFE2_UNUSED
#define CAFFE2_UNUSED __attribute__((unused))
#endif
#ifndef CAFFE2_USED
#define CAFFE2_USED __attribute__((used))
#endif
#ifndef CAFFE2_ALIGNED
#define CAFFE2_ALIGNED(n) __attribute__((aligned(n)))
#endif
#ifndef CAFFE2_NORETURN
#define CAFFE2_NORETURN __attribute__((noreturn))
#endif
// Like Caffe2's macro, it begins with `private:`, which users rely on.
#ifndef DISABLE_COPY_AND_ASSIGN
#define DISABLE_COPY_AND_ASSIGN(classname) \
 private:                                  \
  classname(const classname&) = delete;    \
  classname& operator=(const classname&) = delete
#endif
#ifndef CAFFE2_MOBILE
#define CAFFE2_MOBILE 0
#endif
#ifndef CAFFE2_ANDROID
#define CAFFE2_ANDROID 0
#endif
#ifndef CAFFE2_IOS
#define CAFFE2_IOS 0
#endif
