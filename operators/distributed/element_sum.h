#pragma once
// ElementSum: how elements of a type are added, for engines.

#include <cstddef>

#include "caffe2_core/base/type_meta.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct ElementSum {
  TypeMeta type;
  size_t bytes;  // of an element
  // to[i] = a[i] + b[i] for i < count. `to` may be `a` or `b`. Integers wrap around. Sums of float16
  // and bfloat16 are rounded once.
  void (*add)(void* to, const void* a, const void* b, size_t count);
};

// THROWS if elements of the type cannot be added. They can if they are float, double, float16, bfloat16,
// or integers of 8, 16, 32 or 64 bits.
const ElementSum& ElementSumOf(TypeMeta type);

}  // namespace caffe2rt
#pragma GCC visibility pop
