#pragma once
// MemoryDeleter and DataPtr: memory together with the function that frees it.

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "caffe2_core/base/language.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Frees a block of memory: a function and its state. With the state, freeing never needs to look up
// the address of the block. A plain `void (*)(void*)` converts to a deleter. A null deleter frees
// nothing.
class MemoryDeleter {
 public:
  using Function = void (*)(void* data, void* state);

  constexpr MemoryDeleter() = default;
  constexpr MemoryDeleter(std::nullptr_t) {}
  constexpr MemoryDeleter(Function function, void* state) : function_(function), state_(state) {}
  MemoryDeleter(void (*plain)(void*))
      : function_(plain != nullptr ? &CallPlain : nullptr),
        state_(reinterpret_cast<void*>(plain)) {}

  // Also accepts a lambda without captures.
  // clang-format 14 misplaces line breaks around a requires clause.
  // clang-format off
  template <class F>
  requires(std::is_class_v<F> && std::is_convertible_v<F, void (*)(void*)>)
  MemoryDeleter(F plain)  // NOLINT: converts
      : MemoryDeleter(static_cast<void (*)(void*)>(plain)) {}
  // clang-format on
  // A deleter that owns any other callable and destroys it after the first call. It must be called
  // exactly once; if it is never called, the callable leaks.
  template <class F>
  static MemoryDeleter Once(F callable) {
    return {[](void* data, void* state) {
              const std::unique_ptr<F> owned(static_cast<F*>(state));
              (*owned)(data);
            },
            new F(std::move(callable))};
  }

  void operator()(void* data) const {
    if (function_ != nullptr) function_(data, state_);
  }
  constexpr explicit operator bool() const { return function_ != nullptr; }
  // The context that allocated the memory identifies its blocks by these two.
  constexpr Function function() const { return function_; }
  constexpr void* state() const { return state_; }
  constexpr bool operator==(const MemoryDeleter& other) const = default;

 private:
  static void CallPlain(void* data, void* state) { reinterpret_cast<void (*)(void*)>(state)(data); }
  Function function_ = nullptr;
  void* state_ = nullptr;
};

// Frees nothing.
inline void NoDelete(void*) {}

// An owned block of memory. Movable, not copyable.
class DataPtr {
 public:
  DataPtr() = default;
  DataPtr(void* data, MemoryDeleter deleter) : data_(data), deleter_(deleter) {}
  DataPtr(const std::pair<void*, MemoryDeleter>& allocation)
      : data_(allocation.first), deleter_(allocation.second) {}
  DataPtr(DataPtr&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), deleter_(std::exchange(other.deleter_, {})) {}
  DataPtr& operator=(DataPtr&& other) noexcept {
    if (this != &other) {
      Reset();
      data_ = std::exchange(other.data_, nullptr);
      deleter_ = std::exchange(other.deleter_, {});
    }
    return *this;
  }
  DataPtr(const DataPtr&) = delete;
  DataPtr& operator=(const DataPtr&) = delete;
  ~DataPtr() { Reset(); }

  void* get() const { return data_; }
  explicit operator bool() const { return data_ != nullptr; }
  // Gives up ownership and returns the memory with its deleter.
  std::pair<void*, MemoryDeleter> Release() {
    return {std::exchange(data_, nullptr), std::exchange(deleter_, {})};
  }
  // Frees the memory.
  void Reset() {
    if (data_ != nullptr) deleter_(data_);
    data_ = nullptr;
    deleter_ = {};
  }

 private:
  void* data_ = nullptr;
  MemoryDeleter deleter_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
