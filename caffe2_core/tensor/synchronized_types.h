#pragma once
// Declares the types of blobs that synchronize themselves, such as queues, counters, mutexes and
// readers. Concurrent steps of a plan may share an object of such a type
// (caffe2_core/plan/plan_races.h).
//
//   SYNCHRONIZED_BLOB_TYPE(my::Queue);   // at namespace scope of a program or module
//
// Every member function that an operator calls on such an object must be thread safe. A declaration
// is never removed. The functions of this header are thread safe.

#include <type_traits>

#include "caffe2_core/base/type_meta.h"
#include "caffe2_core/tensor/tensor.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

namespace internal {
bool DeclareSynchronized(TypeMeta type) noexcept;
}

// Declares T. Returns false if there is not enough memory; plans that share an object of the type
// are then rejected. Declaring a type again has no effect.
template <class T>
bool DeclareSynchronizedType() noexcept {
  static_assert(!std::is_base_of_v<Tensor, T>, "a tensor does not synchronize itself");
  return internal::DeclareSynchronized(TypeMeta::Make<T>());
}

bool IsSynchronizedType(TypeMeta type);

// Declares a type from namespace scope of a user's program or module. Never throws.
#define SYNCHRONIZED_BLOB_TYPE(...) SYNCHRONIZED_BLOB_TYPE_NAMED(__COUNTER__, __VA_ARGS__)
#define SYNCHRONIZED_BLOB_TYPE_NAMED(number, ...) \
  SYNCHRONIZED_BLOB_TYPE_DEFINED(number, __VA_ARGS__)
#define SYNCHRONIZED_BLOB_TYPE_DEFINED(number, ...)                        \
  [[maybe_unused]] static const bool caffe2rt_synchronized_type_##number = \
      ::caffe2rt::DeclareSynchronizedType<__VA_ARGS__>()

}  // namespace caffe2rt
#pragma GCC visibility pop
