#pragma once
// Copies between tensors whose elements lie in loops with strides, or at offsets from tables.
// Elements are moved as bytes, so the functions are compiled once for each element size; elements
// with constructors are copied by their copy function. CPU only. Nothing is allocated.
//
//   StridedCopy copy;
//   copy.Add(rows, 2 * row_size, row_size);   // outermost first: every other row of src
//   copy.Add(row_size, 1, 1);
//   copy.Run(type, src, dst);                 // rows in parallel, each with memcpy

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/tensor/tensor.h"
#include "operators/common/loop_nest.h"

namespace caffe2rt {

// A nest of loops over elements of src and dst, outermost first. Neighbouring loops that continue
// each other in both arrays are joined.
class StridedCopy {
 public:
  // Adds an inner loop. A stride, in elements, may be 0 (of src) or negative. REQUIRES: size >= 0; at
  // most kMaxLoops loops.
  void Add(int64_t size, int64_t src_stride, int64_t dst_stride);
  // Copies from the elements that begin at src to those that begin at dst. REQUIRES: they do not
  // overlap, and no element of dst is written twice.
  void Run(TypeMeta type, const void* src, void* dst) const;

 private:
  struct Loop {
    int64_t size, src, dst;
  };
  int count_ = 0;
  bool empty_ = false;
  std::array<Loop, kMaxLoops> loops_;
};

// Writes dst, of shape `dims` in row-major order: the element at (i, j, ...) is the one of src at
// tables[0][i] + tables[1][j] + ...
void CopyByTables(TypeMeta type, IntArrayRef dims, const int64_t* const* tables, const void* src,
                  void* dst);

// Sets `count` elements of dst to *value.
void FillWith(TypeMeta type, int64_t count, const void* value, void* dst);

// Calls function(T()) with an unsigned integer of the size of the elements, or std::string. THROWS
// for other elements.
template <class F>
decltype(auto) DispatchBySize(TypeMeta type, const char* subject, const F& function) {
  if (type.IsPlainData()) {
    switch (type.itemsize()) {
      case 1:
        return function(uint8_t());
      case 2:
        return function(uint16_t());
      case 4:
        return function(uint32_t());
      case 8:
        return function(uint64_t());
    }
  }
  CAFFE_ENFORCE(type.Match<std::string>(), subject, " has elements of type ", type.name(),
                ", which this operator does not support");
  return function(std::string());
}

// The elements of a tensor as such a type.
template <class T>
const T* ElementsAs(const void* data) {
  return static_cast<const T*>(data);
}

// Steps through the outer loops of a nest from a row on: visit(i) is called once for each row of
// [first, last), after index[] has been set to its place in `sizes`.
template <class Visit>
void ForEachRowOf(IntArrayRef sizes, int64_t first, int64_t last, const Visit& visit) {
  std::array<int64_t, kMaxLoops> index;
  const int rank = static_cast<int>(sizes.size());
  int64_t rest = first;
  for (int i = rank - 1; i >= 0; --i) {
    const int64_t size = sizes[static_cast<size_t>(i)];
    index[static_cast<size_t>(i)] = rest % size;
    rest /= size;
  }
  for (int64_t row = first; row < last; ++row) {
    visit(row, index.data());
    for (int i = rank - 1; i >= 0; --i) {
      if (++index[static_cast<size_t>(i)] < sizes[static_cast<size_t>(i)]) break;
      index[static_cast<size_t>(i)] = 0;
    }
  }
}

}  // namespace caffe2rt
