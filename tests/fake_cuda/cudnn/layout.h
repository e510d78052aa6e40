#pragma once

// Converts tensors of any layout to and from plain arrays. All functions of the fake cuDNN compute
// on dense arrays of double in the order of the dimensions, so that strides, types and blend
// factors are implemented in one place.

#include <array>
#include <cstdint>
#include <vector>

#include "element/element.h"

namespace fakecuda {

struct Layout {
  Element type = Element::kFloat;
  std::vector<int> dims;
  std::vector<int64_t> strides;  // in elements

  int64_t size() const;
  // Bytes from the first element to the end of the last one.
  size_t extent_bytes() const;
  bool operator==(const Layout&) const = default;
};

// The strides of a dense tensor. With `channels_last`, dimension 1 is the innermost.
std::vector<int64_t> PackedStrides(const std::vector<int>& dims, bool channels_last);

struct Tensor {
  const char* name;
  Layout layout;
  const void* data;
};

using Values = std::vector<double>;

Values Read(const Tensor& tensor);

// How cuDNN writes every result: y = alpha * value + beta * y. With beta 0 the old y is not read.
struct Blend {
  double alpha = 1;
  double beta = 0;
};
void Write(const Tensor& tensor, const Values& values, const Blend& blend);

// Calls function(offset in memory, index in dimension order) for every element.
template <class Function>
void ForEachElement(const Layout& layout, Function function) {
  std::vector<int> at(layout.dims.size(), 0);
  int64_t offset = 0;
  const int64_t size = layout.size();
  for (int64_t i = 0; i < size; ++i) {
    function(offset, static_cast<size_t>(i));
    for (size_t d = layout.dims.size(); d-- > 0;) {
      offset += layout.strides[d];
      if (++at[d] < layout.dims[d]) break;
      offset -= layout.strides[d] * layout.dims[d];
      at[d] = 0;
    }
  }
}

// For a tensor of dimensions `small` that is broadcast to `dims` along dimensions of size 1: the
// index in `small` of every element of `dims`.
std::vector<size_t> BroadcastIndices(const std::vector<int>& dims, const std::vector<int>& small);

}  // namespace fakecuda
