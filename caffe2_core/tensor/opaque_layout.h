#pragma once
// OpaqueLayout: the order of a tensor's elements in memory, where it is not row-major.
//
// Operators of one device may keep intermediate results in a layout of their own, for example with
// channels in blocks of 16. The storage of such a tensor carries an OpaqueLayout, and the tensor is
// called opaque. Its shape and element type are those of the logical tensor. Its memory may hold
// more than nbytes() bytes, or fewer if the layout keeps floats in fewer bits.
//
//   y->Resize(dims);
//   void* memory = y->mutable_opaque_data(TypeMeta::Make<float>(), layout);   // to write
//   const void* memory = x.opaque_data();                                     // to read
//   const OpaqueLayout* layout = x.opaque_layout();                           // null: row-major
//
// Code that does not know the layout cannot misread it: data<T>() and raw_data() of an opaque
// tensor throw. Tensor::CopyFrom, and with it serialization, printing and the copies between
// devices, converts to row-major. mutable_data<T>() and raw_mutable_data() drop the layout; the
// caller then writes the elements in row-major order. A tensor on the CPU is never opaque.
//
// The memory of an opaque tensor is accessible to the host, and the work that writes it is complete
// when the operator returns.
//
// Layouts are immutable and may be shared by threads.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

class OpaqueLayout {
 public:
  virtual ~OpaqueLayout() = default;
  OpaqueLayout(const OpaqueLayout&) = delete;
  OpaqueLayout& operator=(const OpaqueLayout&) = delete;

  // The shape of the logical tensor, and the number of its elements.
  const std::vector<int64_t>& dims() const { return dims_; }
  int64_t count() const { return count_; }
  // The bytes that the tensor occupies in this layout, including padding.
  size_t nbytes() const { return nbytes_; }

  // Writes the count() elements of the tensor at `from`, which is in this layout, to `to` in
  // row-major order. Both are host memory and do not overlap. THROWS if the conversion fails.
  virtual void ToPlain(const void* from, void* to) const = 0;
  // For messages, for example "nChw16c".
  virtual std::string Description() const = 0;

 protected:
  // `count` is the product of `dims`.
  OpaqueLayout(std::vector<int64_t> dims, int64_t count, size_t nbytes)
      : dims_(std::move(dims)), count_(count), nbytes_(nbytes) {}

 private:
  const std::vector<int64_t> dims_;
  const int64_t count_;
  const size_t nbytes_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
