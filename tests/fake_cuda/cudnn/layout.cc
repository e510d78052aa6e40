#include "cudnn/layout.h"

namespace fakecuda {

int64_t Layout::size() const {
  int64_t product = 1;
  for (const int dim : dims) product *= dim;
  return product;
}

size_t Layout::extent_bytes() const {
  int64_t last = 0;
  for (size_t d = 0; d < dims.size(); ++d) last += (dims[d] - 1) * strides[d];
  return static_cast<size_t>(last + 1) * SizeOf(type);
}

std::vector<int64_t> PackedStrides(const std::vector<int>& dims, bool channels_last) {
  std::vector<int64_t> strides(dims.size());
  int64_t step = 1;
  if (channels_last && dims.size() > 1) {
    strides[1] = 1;
    step = dims[1];
  }
  for (size_t d = dims.size(); d-- > 0;) {
    if (channels_last && d == 1) continue;
    strides[d] = step;
    step *= dims[d];
  }
  return strides;
}

Values Read(const Tensor& tensor) {
  Values values(static_cast<size_t>(tensor.layout.size()));
  ForEachElement(tensor.layout, [&](int64_t offset, size_t i) {
    values[i] = Load(tensor.layout.type, tensor.data, offset);
  });
  return values;
}

void Write(const Tensor& tensor, const Values& values, const Blend& blend) {
  void* data = const_cast<void*>(tensor.data);
  const Element type = tensor.layout.type;
  ForEachElement(tensor.layout, [&](int64_t offset, size_t i) {
    const double old = blend.beta == 0 ? 0 : blend.beta * Load(type, data, offset);
    Store(type, data, offset, blend.alpha * values[i] + old);
  });
}

std::vector<size_t> BroadcastIndices(const std::vector<int>& dims, const std::vector<int>& small) {
  Layout repeated;
  repeated.dims = dims;
  repeated.strides = PackedStrides(small, false);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (small[d] == 1) repeated.strides[d] = 0;
  }
  std::vector<size_t> indices(static_cast<size_t>(repeated.size()));
  ForEachElement(repeated,
                 [&](int64_t offset, size_t i) { indices[i] = static_cast<size_t>(offset); });
  return indices;
}

}  // namespace fakecuda
