#pragma once
// Memory that knows how to free itself.

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace caffe2rt {

// How to free a piece of memory: a function and a state, so that freeing never looks an address up.
// A plain `void (*)(void*)` converts. A null deleter frees nothing.
class MemoryDeleter {
 public:
  using Function = void (*)(void* data, void* state);

  constexpr MemoryDeleter() = default;
  constexpr MemoryDeleter(std::nullptr_t) {}
  constexpr MemoryDeleter(Function function, void* state) : function_(function), state_(state) {}
  MemoryDeleter(void (*plain)(void*))
      : function_(plain != nullptr ? &CallPlain : nullptr),
        state_(reinterpret_cast<void*>(plain)) {}

  // A lambda without captures, too.
  template <class F>
  requires(std::is_class_v<F>&& std::is_convertible_v<F, void (*)(void*)>)
      MemoryDeleter(F plain)  // NOLINT: converts
      : MemoryDeleter(static_cast<void (*)(void*)>(plain)) {}
  // Any other callable, which frees one piece of memory and dies then. The memory must be freed
  // through this deleter once, or the callable leaks.
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
  // For the memory's own context, which knows its blocks by them.
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

// An owned piece of memory; move only.
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
  // Gives up ownership.
  std::pair<void*, MemoryDeleter> Release() {
    return {std::exchange(data_, nullptr), std::exchange(deleter_, {})};
  }
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
