#pragma once
// Checks of element types. An operator makes them, and all checks of sizes, before it uses the
// elements of an input: `caffe2 check` runs the operator up to there (shape_only.h).

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

// THROWS what data<T>() throws, unless the elements are of type T. Does not need the elements.
template <class T>
void RequireElements(const Tensor& tensor) {
  if (!tensor.IsType<T>()) (void)tensor.data<T>();
}

// THROWS what DispatchByType throws, unless the elements are of one of the types.
template <class... Ts>
void RequireElementsOf(const Tensor& tensor, const char* subject) {
  DispatchByType<Ts...>(tensor.dtype(), subject, [](const auto&) {});
}

}  // namespace caffe2rt
