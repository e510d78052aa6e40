#pragma once
// Copies between tensors that differ only in shape, or in the distance between their rows. Elements
// with constructors (std::string) are copied by their copy function. FillZeros clears memory.

#include <cstring>

#include "caffe2_core/tensor/tensor.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

class CUDAContext;

// Copies `rows` rows of `row_items` items. Rows of src are `src_stride` items apart, rows of dst
// `dst_stride` items. REQUIRES: the memory of src and dst holds the rows and does not overlap.
// Pointers may be null if nothing is copied.
void CopyRows(CPUContext& context, TypeMeta type, int64_t rows, int64_t row_items, const void* src,
              int64_t src_stride, void* dst, int64_t dst_stride);
// Uses one copy or one kernel, for any number of rows. THROWS for elements with constructors.
void CopyRows(CUDAContext& context, TypeMeta type, int64_t rows, int64_t row_items, const void* src,
              int64_t src_stride, void* dst, int64_t dst_stride);

// Sets `nbytes` bytes to 0.
void FillZeros(CPUContext& context, size_t nbytes, void* y);
void FillZeros(CUDAContext& context, size_t nbytes, void* y);
// Writes zeros, or empty strings, to CPU memory. THROWS for other elements with constructors.
void FillBlanks(TypeMeta type, int64_t items, void* y);

// Size in bytes of an element in CUDA memory. THROWS for elements with constructors.
inline int64_t PlainItemBytes(TypeMeta type) {
  CAFFE_ENFORCE(type.IsPlainData(), "elements of type ", type.name(),
                " have constructors and cannot be on CUDA");
  return static_cast<int64_t>(type.itemsize());
}

// Copies one row of items.
inline void CopyRow(CPUContext&, TypeMeta type, int64_t items, const void* src, void* dst) {
  if (type.IsPlainData()) {
    std::memcpy(dst, src, static_cast<size_t>(items) * type.itemsize());
  } else {
    type.copy()(src, dst, static_cast<size_t>(items));
  }
}

// The address of item `index`.
inline const void* ItemAt(const void* base, TypeMeta type, int64_t index) {
  return index == 0 ? base
                    : static_cast<const char*>(base) + static_cast<size_t>(index) * type.itemsize();
}
inline void* ItemAt(void* base, TypeMeta type, int64_t index) {
  return index == 0 ? base
                    : static_cast<char*>(base) + static_cast<size_t>(index) * type.itemsize();
}

// Allocates `Y` for elements of `type` and returns its memory. Returns null for a tensor without
// elements and without a type.
inline void* OutputMemory(Tensor* Y, TypeMeta type) {
  return Y->numel() == 0 && !type.IsSet() ? nullptr : Y->raw_mutable_data(type);
}

// Copies X to Y with the shape `dims`, which must have as many elements as X. If Y is X, only the
// shape changes.
template <class Context>
void CopyReshaped(Context& context, const Tensor& X, IntArrayRef dims, Tensor* Y) {
  if (Y == &X) {
    Y->Resize(dims);
    return;
  }
  const TypeMeta type = X.dtype();
  const void* src = X.raw_data();
  Y->Resize(dims);
  void* dst = OutputMemory(Y, type);
  if (X.numel() > 0) context.CopyItemsSameDevice(type, static_cast<size_t>(X.numel()), src, dst);
}

}  // namespace caffe2rt
