#pragma once
// TypeMeta: the run-time identity of an element or blob type, and the functions that construct,
// copy and destroy its objects.
//
// A TypeMeta is a pointer to a description of the type. There is one description per type and
// process, keyed by the type's mangled name, so the identity is the same in all shared libraries.
// Two TypeMetas are compared by comparing pointers. Thread safe.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "caffe2_core/base/float16.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

using CaffeTypeId = intptr_t;

namespace internal {
struct TypeData {
  CaffeTypeId id = 0;
  size_t itemsize = 0;
  const char* name = "nullptr (uninitialized)";
  void (*ctor)(void* items, size_t n) = nullptr;                 // null for plain data
  void (*copy)(const void* src, void* dst, size_t n) = nullptr;  // null for plain data
  void (*dtor)(void* items, size_t n) = nullptr;                 // null for plain data
  void (*destroy)(void* object) = nullptr;                       // deletes one heap object
};
extern const TypeData kNoType;

// The description of the type `info`. The first call for a type stores a copy of `candidate`.
const TypeData* RegisterType(const std::type_info& info, const TypeData& candidate);

[[noreturn]] void ThrowNotCopyable(const char* name);

template <class T>
inline constexpr bool kIsPlainData = std::is_fundamental_v<T> || std::is_pointer_v<T> ||
                                     std::is_enum_v<T> || std::is_same_v<T, float16>;

template <class T>
TypeData MakeTypeData() {
  TypeData data;
  data.itemsize = sizeof(T);
  if constexpr (!kIsPlainData<T>) {
    if constexpr (std::is_default_constructible_v<T>) {
      data.ctor = [](void* items, size_t n) {
        std::uninitialized_value_construct_n(static_cast<T*>(items), n);
      };
    }
    data.copy = [](const void* src, void* dst, size_t n) {
      if constexpr (std::is_copy_assignable_v<T>) {
        const T* from = static_cast<const T*>(src);
        T* to = static_cast<T*>(dst);
        for (size_t i = 0; i < n; ++i) to[i] = from[i];
      } else {
        (void)src, (void)dst, (void)n;
        ThrowNotCopyable(typeid(T).name());
      }
    };
    data.dtor = [](void* items, size_t n) { std::destroy_n(static_cast<T*>(items), n); };
  }
  data.destroy = [](void* object) { delete static_cast<T*>(object); };
  return data;
}

template <class T>
const TypeData* TypeDataOf() {
  static const TypeData* const data = RegisterType(typeid(T), MakeTypeData<T>());
  return data;
}
}  // namespace internal

class TypeMeta {
 public:
  using PlacementNew = void (*)(void*, size_t);
  using TypedCopy = void (*)(const void*, void*, size_t);
  using TypedDestructor = void (*)(void*, size_t);

  TypeMeta() : data_(&internal::kNoType) {}
  template <class T>
  static TypeMeta Make() {
    return TypeMeta(internal::TypeDataOf<T>());
  }
  template <class T>
  static CaffeTypeId Id() {
    return internal::TypeDataOf<T>()->id;
  }
  template <class T>
  static size_t ItemSize() {
    return sizeof(T);
  }
  template <class T>
  static const char* Name() {
    return internal::TypeDataOf<T>()->name;
  }
  template <class T>
  static const char* TypeName() {
    return Name<T>();
  }

  CaffeTypeId id() const { return data_->id; }
  size_t itemsize() const { return data_->itemsize; }
  // The demangled name, for messages.
  const char* name() const { return data_->name; }
  // The functions that construct, copy and destroy n elements in memory. Null for plain data;
  // ctor() is also null for a type without a default constructor. copy() THROWS if the type is not
  // copyable.
  PlacementNew ctor() const { return data_->ctor; }
  TypedCopy copy() const { return data_->copy; }
  TypedDestructor dtor() const { return data_->dtor; }
  // Deletes one heap object of this type.
  void Destroy(void* object) const { data_->destroy(object); }

  template <class T>
  bool Match() const {
    return data_ == internal::TypeDataOf<T>();
  }
  // Whether elements need no constructor, copy function or destructor.
  bool IsPlainData() const { return data_->copy == nullptr && data_->dtor == nullptr; }
  bool IsSet() const { return data_ != &internal::kNoType; }

  friend bool operator==(const TypeMeta& a, const TypeMeta& b) { return a.data_ == b.data_; }

 private:
  explicit TypeMeta(const internal::TypeData* data) : data_(data) {}
  const internal::TypeData* data_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
