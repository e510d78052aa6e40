#pragma once
// Types of blobs whose objects synchronize themselves: queues, counters, mutexes, readers.
// Concurrent steps of a plan may use one object of such a type (caffe2_core/runtime/plan_races.h).
//
//   SYNCHRONIZED_BLOB_TYPE(my::Queue);   // at namespace scope of a program or module
//
// Every member function that an operator calls on the object must be safe to call from several
// threads at once. Thread safe. Declarations stay for the life of the process.

#include <type_traits>

#include "caffe2_core/base/type_meta.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

namespace internal {
bool DeclareSynchronized(TypeMeta type) noexcept;
}

// False when there is no memory for it: plans that share the type are then refused. A second
// declaration changes nothing.
template <class T>
bool DeclareSynchronizedType() noexcept {
  static_assert(!std::is_base_of_v<Tensor, T>, "a tensor does not synchronize itself");
  return internal::DeclareSynchronized(TypeMeta::Make<T>());
}

bool IsSynchronizedType(TypeMeta type);

// For users, at namespace scope; it never throws.
#define SYNCHRONIZED_BLOB_TYPE(...) SYNCHRONIZED_BLOB_TYPE_NAMED(__COUNTER__, __VA_ARGS__)
#define SYNCHRONIZED_BLOB_TYPE_NAMED(number, ...) \
  SYNCHRONIZED_BLOB_TYPE_DEFINED(number, __VA_ARGS__)
#define SYNCHRONIZED_BLOB_TYPE_DEFINED(number, ...)                        \
  [[maybe_unused]] static const bool caffe2rt_synchronized_type_##number = \
      ::caffe2rt::DeclareSynchronizedType<__VA_ARGS__>()

}  // namespace caffe2rt
