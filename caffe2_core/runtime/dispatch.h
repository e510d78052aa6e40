#pragma once
// Type dispatch: calls a template with a tensor's element type, or with a number, that is known
// only at run time.
//
//   return DispatchByType<float, double>(X.dtype(), "input 0 (X)", [&](auto element) {
//     using T = decltype(element);
//     ...
//     return true;
//   });
//
// DispatchHelper is Caffe2's interface for the same, for users' operators. This calls
// DoRunWithType<int32_t>() or DoRunWithType<int64_t>() of the operator:
//
//   return DispatchHelper<TensorTypes<int32_t, int64_t>>::call(this, Input(1));

#include <cstdint>
#include <string>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/type_meta.h"
#include "caffe2_core/tensor/blob.h"
#include "caffe2_core/tensor/tensor.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

namespace internal {
template <class... Ts>
std::string TypeNames() {
  std::string names;
  ((names += (names.empty() ? "" : ", "), names += TypeMeta::Name<Ts>()), ...);
  return names;
}
[[noreturn]] inline void ThrowUnsupportedType(const char* subject, TypeMeta type,
                                              const std::string& wanted) {
  CAFFE_THROW("Unsupported type of tensor: ", subject, " has elements of type ", type.name(),
              ", want ", wanted);
}
}  // namespace internal

// Calls `function(T{})`, where T is the one of the listed types that `type` names, and returns its
// result. THROWS if `type` is none of them; the message names `subject`, the type and the choices.
template <class First, class... Rest, class Function>
decltype(auto) DispatchByType(TypeMeta type, const char* subject, Function&& function) {
  using Result = decltype(function(First{}));
  if constexpr (std::is_void_v<Result>) {
    const bool found = ((type.Match<First>() ? (function(First{}), true) : false) || ... ||
                        (type.Match<Rest>() ? (function(Rest{}), true) : false));
    if (!found)
      internal::ThrowUnsupportedType(subject, type, internal::TypeNames<First, Rest...>());
  } else {
    Result result{};
    const bool found = ((type.Match<First>() ? (result = function(First{}), true) : false) || ... ||
                        (type.Match<Rest>() ? (result = function(Rest{}), true) : false));
    if (!found)
      internal::ThrowUnsupportedType(subject, type, internal::TypeNames<First, Rest...>());
    return result;
  }
}

// --- Caffe2's interface ---
// FixedValues calls DoRunWithValue<value>() of the operator, with value -1 if none matches.
// TensorTypes calls DoRunWithType<T>(); TensorTypes2, DoRunWithType2<T>(). They THROW if no type
// matches, unless the list ends with GenericTensorImplementation, which calls DoRunWithOtherType()
// or DoRunWithOtherType2(). ExtraArgs are inserted before the value or type.
template <int... Values>
struct FixedValues {};
template <typename... Types>
struct TensorTypes {};
template <typename... Types>
struct TensorTypes2 {};
struct GenericTensorImplementation {};

template <typename Sizes, typename... ExtraArgs>
struct DispatchHelper;

template <int First, int... Rest, typename... Extra>
struct DispatchHelper<FixedValues<First, Rest...>, Extra...> {
  template <typename Op>
  static bool call(Op* op, int64_t value) {
    if (value == First) return op->template DoRunWithValue<Extra..., First>();
    return DispatchHelper<FixedValues<Rest...>, Extra...>::call(op, value);
  }
};
template <typename... Extra>
struct DispatchHelper<FixedValues<>, Extra...> {
  template <typename Op>
  static bool call(Op* op, int64_t) {
    return op->template DoRunWithValue<Extra..., -1>();
  }
};

#define CAFFE2RT_DEFINE_TENSOR_DISPATCH(List, DoRun, DoRunOther)               \
  template <typename First, typename... Rest, typename... Extra>               \
  struct DispatchHelper<List<First, Rest...>, Extra...> {                      \
    template <typename Op>                                                     \
    static bool call(Op* op, const TypeMeta& meta) {                           \
      if constexpr (std::is_same_v<First, GenericTensorImplementation>) {      \
        return op->template DoRunOther<Extra...>();                            \
      } else {                                                                 \
        if (meta.Match<First>()) return op->template DoRun<Extra..., First>(); \
        return DispatchHelper<List<Rest...>, Extra...>::call(op, meta);        \
      }                                                                        \
    }                                                                          \
    template <typename Op>                                                     \
    static bool call(Op* op, const Tensor& tensor) {                           \
      return call(op, tensor.dtype());                                         \
    }                                                                          \
    template <typename Op>                                                     \
    static bool call(Op* op, const Blob& blob) {                               \
      return call(op, blob.meta());                                            \
    }                                                                          \
  };                                                                           \
  template <typename... Extra>                                                 \
  struct DispatchHelper<List<>, Extra...> {                                    \
    template <typename Op>                                                     \
    static bool call(Op*, const TypeMeta& meta) {                              \
      CAFFE_THROW("Unsupported type of tensor: ", meta.name());                \
    }                                                                          \
    template <typename Op>                                                     \
    static bool call(Op* op, const Tensor& tensor) {                           \
      return call(op, tensor.dtype());                                         \
    }                                                                          \
    template <typename Op>                                                     \
    static bool call(Op* op, const Blob& blob) {                               \
      return call(op, blob.meta());                                            \
    }                                                                          \
  }
CAFFE2RT_DEFINE_TENSOR_DISPATCH(TensorTypes, DoRunWithType, DoRunWithOtherType);
CAFFE2RT_DEFINE_TENSOR_DISPATCH(TensorTypes2, DoRunWithType2, DoRunWithOtherType2);
#undef CAFFE2RT_DEFINE_TENSOR_DISPATCH

#define USE_DISPATCH_HELPER                           \
  template <typename FirstArg, typename... ExtraArgs> \
  friend struct ::caffe2rt::DispatchHelper

}  // namespace caffe2rt
#pragma GCC visibility pop
