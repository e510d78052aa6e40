#pragma once
// Views of arrays: ArrayRef.
#include "caffe2_core/base/array_ref.h"

namespace c10 {
using ::caffe2rt::ArrayRef;
using ::caffe2rt::IntArrayRef;
using IntList = ::caffe2rt::IntArrayRef;
template <class T>
ArrayRef<T> makeArrayRef(const std::vector<T>& values) {
  return values;
}
template <class T>
ArrayRef<T> makeArrayRef(const T* data, size_t size) {
  return {data, size};
}
}  // namespace c10

namespace at {
using ::c10::ArrayRef;
using ::c10::IntArrayRef;
using ::c10::IntList;
}  // namespace at
