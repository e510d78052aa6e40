#pragma once
// ArrayRef: a read-only view of a contiguous array, as in later versions of Caffe2. It does not own
// the array, which must outlive it.

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <vector>

#include "caffe2_core/base/enforce.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  ArrayRef(const std::vector<T>& vec) : data_(vec.data()), size_(vec.size()) {}
  // A list lives only until the end of the full expression: use this constructor for arguments.
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  constexpr ArrayRef(const std::initializer_list<T>& list)
      : data_(list.begin() == list.end() ? nullptr : list.begin()), size_(list.size()) {}
#pragma GCC diagnostic pop
  template <size_t N>
  constexpr ArrayRef(const T (&array)[N]) : data_(array), size_(N) {}

  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T* cbegin() const { return begin(); }
  constexpr const T* cend() const { return end(); }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  const T& front() const { return at(0); }
  const T& back() const { return at(size_ - 1); }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  // THROWS if `i` is out of range; operator[] does not check.
  const T& at(size_t i) const {
    CAFFE_ENFORCE_LT(i, size_, "index into an array of ", size_, " elements");
    return data_[i];
  }
  // Elements first to first + count - 1. THROWS if they are out of range.
  ArrayRef slice(size_t first, size_t count) const {
    CAFFE_ENFORCE(first <= size_ && count <= size_ - first, "slice [", first, ", +", count,
                  ") of an array of ", size_, " elements");
    return {data_ + first, count};
  }
  ArrayRef slice(size_t first) const { return slice(first, size_ - first); }
  bool equals(ArrayRef other) const {
    if (size_ != other.size_) return false;
    for (size_t i = 0; i < size_; ++i) {
      if (!(data_[i] == other.data_[i])) return false;
    }
    return true;
  }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  explicit operator std::vector<T>() const { return vec(); }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <class T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) {
  return ArrayRef<T>(a).equals(b);
}
template <class T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(ArrayRef<T>(b));
}

// Prints "[1, 3, 224, 224]".
template <class T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> array) {
  out << '[';
  for (size_t i = 0; i < array.size(); ++i) {
    if (i > 0) out << ", ";
    out << array[i];
  }
  return out << ']';
}

using IntArrayRef = ArrayRef<int64_t>;

}  // namespace caffe2rt
#pragma GCC visibility pop
