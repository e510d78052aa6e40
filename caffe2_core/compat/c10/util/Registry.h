#pragma once
// Registries that map keys to creators, and the macros that declare and define them and register
// creators.
#include <algorithm>
#include <functional>
#include <memory>
#include <sstream>
#include <string>

#include "c10/macros/Macros.h"
#include "caffe2_core/base/registry.h"

namespace c10 {
using ::caffe2rt::Registry;

// Registers a creator from a static object. Never throws.
template <class Key, class ObjectPtr, class... Args>
class Registerer {
 public:
  using Creator = std::function<ObjectPtr(Args...)>;
  Registerer(const Key& key, Registry<Key, ObjectPtr, Args...>* registry, Creator creator,
             const std::string& help = "") {
    registry->Register(key, std::move(creator), "", help);
  }
  template <class Derived>
  static ObjectPtr DefaultCreator(Args... args) {
    return ObjectPtr(new Derived(args...));
  }
};
}  // namespace c10

namespace caffe2 {
using ::c10::Registerer;
using ::caffe2rt::Registry;
}  // namespace caffe2

#ifndef C10_ANONYMOUS_VARIABLE
#define C10_ANONYMOUS_VARIABLE(stem) C10_CONCATENATE(stem, __COUNTER__)
#endif
#ifndef CAFFE_ANONYMOUS_VARIABLE
#define CAFFE_ANONYMOUS_VARIABLE(stem) C10_CONCATENATE(stem, __COUNTER__)
#endif

#ifndef C10_DECLARE_TYPED_REGISTRY
#define C10_DECLARE_TYPED_REGISTRY(name, Key, Object, Pointer, ...)              \
  ::caffe2rt::Registry<Key, Pointer<Object> __VA_OPT__(, ) __VA_ARGS__>* name(); \
  typedef ::c10::Registerer<Key, Pointer<Object> __VA_OPT__(, ) __VA_ARGS__> Registerer##name
#define C10_DEFINE_TYPED_REGISTRY(name, Key, Object, Pointer, ...)                        \
  ::caffe2rt::Registry<Key, Pointer<Object> __VA_OPT__(, ) __VA_ARGS__>* name() {         \
    static auto* const registry =                                                         \
        new ::caffe2rt::Registry<Key, Pointer<Object> __VA_OPT__(, ) __VA_ARGS__>(#name); \
    return registry;                                                                      \
  }
#define C10_DECLARE_REGISTRY(name, Object, ...) \
  C10_DECLARE_TYPED_REGISTRY(name, std::string, Object, std::unique_ptr __VA_OPT__(, ) __VA_ARGS__)
#define C10_DEFINE_REGISTRY(name, Object, ...) \
  C10_DEFINE_TYPED_REGISTRY(name, std::string, Object, std::unique_ptr __VA_OPT__(, ) __VA_ARGS__)
#define C10_DECLARE_SHARED_REGISTRY(name, Object, ...) \
  C10_DECLARE_TYPED_REGISTRY(name, std::string, Object, std::shared_ptr __VA_OPT__(, ) __VA_ARGS__)
#define C10_DEFINE_SHARED_REGISTRY(name, Object, ...) \
  C10_DEFINE_TYPED_REGISTRY(name, std::string, Object, std::shared_ptr __VA_OPT__(, ) __VA_ARGS__)
#define C10_REGISTER_TYPED_CREATOR(name, key, ...)                                      \
  namespace {                                                                           \
  [[maybe_unused]] const Registerer##name C10_ANONYMOUS_VARIABLE(caffe2rt_registered_)( \
      key, name(), ##__VA_ARGS__);                                                      \
  }
#define C10_REGISTER_TYPED_CLASS(name, key, ...)                                        \
  namespace {                                                                           \
  [[maybe_unused]] const Registerer##name C10_ANONYMOUS_VARIABLE(caffe2rt_registered_)( \
      key, name(), Registerer##name::DefaultCreator<__VA_ARGS__>);                      \
  }
#define C10_REGISTER_CREATOR(name, key, ...) C10_REGISTER_TYPED_CREATOR(name, #key, __VA_ARGS__)
#define C10_REGISTER_CLASS(name, key, ...) C10_REGISTER_TYPED_CLASS(name, #key, __VA_ARGS__)
#endif

#ifndef CAFFE_DECLARE_REGISTRY
#define CAFFE_DECLARE_TYPED_REGISTRY C10_DECLARE_TYPED_REGISTRY
#define CAFFE_DEFINE_TYPED_REGISTRY C10_DEFINE_TYPED_REGISTRY
#define CAFFE_DECLARE_REGISTRY C10_DECLARE_REGISTRY
#define CAFFE_DEFINE_REGISTRY C10_DEFINE_REGISTRY
#define CAFFE_DECLARE_SHARED_REGISTRY C10_DECLARE_SHARED_REGISTRY
#define CAFFE_DEFINE_SHARED_REGISTRY C10_DEFINE_SHARED_REGISTRY
#define CAFFE_REGISTER_TYPED_CREATOR C10_REGISTER_TYPED_CREATOR
#define CAFFE_REGISTER_TYPED_CLASS C10_REGISTER_TYPED_CLASS
#define CAFFE_REGISTER_CREATOR C10_REGISTER_CREATOR
#define CAFFE_REGISTER_CLASS C10_REGISTER_CLASS
#endif
