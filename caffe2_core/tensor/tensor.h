#pragma once
// Tensor: a shape, an element type and shared memory on one device.
//
//   Tensor t(CPU);
//   t.Resize(1, 3, 224, 224);              // shape only
//   float* p = t.mutable_data<float>();    // allocates, or reuses memory that is large enough
//
// A tensor that was never shaped has size() == -1. Copy construction and assignment share the
// memory (as the original's copies do); CopyFrom copies it. No virtual function: Caffe2's `template
// <class C> class Tensor` derives from this one.
//
// Not thread safe for writers; concurrent readers are fine.

#include <climits>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/type_meta.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/device/device_type.h"
#include "caffe2_core/tensor/storage.h"

namespace caffe2rt {

// Limits on keeping memory when a tensor shrinks; process-wide, set before nets run.
struct TensorShrinkOptions {
  // Keep the memory of a tensor that gets smaller. `caffe2_keep_on_shrink`.
  bool keep_on_shrink = true;
  // ... unless more than this would lie idle, in bytes. `caffe2_max_keep_on_shrink_memory`.
  int64_t max_keep_on_shrink_bytes = INT64_MAX;
};
TensorShrinkOptions& GlobalTensorShrinkOptions();

class Tensor {
 public:
  static constexpr int kMaxRank = 64;

  Tensor() = default;
  explicit Tensor(DeviceType device) : device_(device) {}
  // Shape only, no memory.
  Tensor(const std::vector<int64_t>& dims, DeviceType device) : device_(device) { Resize(dims); }
  Tensor(const std::vector<int>& dims, DeviceType device) : device_(device) { Resize(dims); }
  Tensor(IntArrayRef dims, DeviceType device) : device_(device) { Resize(dims); }
  Tensor(std::initializer_list<int64_t> dims, DeviceType device) : device_(device) {
    Resize(IntArrayRef(dims));
  }
  // The same on the CPU, as Caffe2's older generation writes it; then with values, copied by
  // `context` when given.
  explicit Tensor(const std::vector<int64_t>& dims) : Tensor(dims, CPU) {}
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  explicit Tensor(const std::vector<T>& dims) : device_(CPU) {
    Resize(dims);
  }
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  explicit Tensor(std::initializer_list<T> dims)
      : Tensor(std::vector<int64_t>(dims.begin(), dims.end()), CPU) {}
  template <class T>
  Tensor(const std::vector<int64_t>& dims, const std::vector<T>& values, BaseContext* context)
      : device_(context != nullptr ? context->device_type() : CPU) {
    CopyFrom(values, context);
    Reshape(dims);
  }
  // A copy of `src` on `device`.
  Tensor(const Tensor& src, DeviceType device) : device_(device) { CopyFrom(src); }
  Tensor(const Tensor&) = default;
  Tensor& operator=(const Tensor&) = default;
  Tensor(Tensor&& other) noexcept { swap(other); }
  Tensor& operator=(Tensor&& other) noexcept {
    if (this != &other) {
      Tensor empty(other.device_);
      swap(other);
      other.swap(empty);
    }
    return *this;
  }

  DeviceType GetDeviceType() const { return device_; }
  BaseStaticContext* GetStaticContext() const { return caffe2rt::GetStaticContext(device_); }
  std::unique_ptr<BaseContext> CreateContext() const { return GetStaticContext()->CreateContext(); }

  // --- shape ---
  // Sets the dimensions; keeps memory that is large enough (see TensorShrinkOptions). THROWS on a
  // negative dimension or overflow.
  void Resize(IntArrayRef dims) { SetDims(dims.data(), dims.size()); }
  void Resize(const std::vector<int64_t>& dims) { SetDims(dims.data(), dims.size()); }
  void Resize(std::initializer_list<int64_t> dims) { SetDims(dims.begin(), dims.size()); }
  template <class T, class = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, int64_t>>>
  void Resize(const std::vector<T>& dims) {
    const std::vector<int64_t> wide(dims.begin(), dims.end());
    SetDims(wide.data(), wide.size());
  }
  template <class... Ints,
            class = std::enable_if_t<(sizeof...(Ints) > 0) &&
                                     (std::is_integral_v<std::decay_t<Ints>> && ...)>>
  void Resize(Ints... dims) {
    const int64_t list[] = {static_cast<int64_t>(dims)...};
    SetDims(list, sizeof...(dims));
  }
  void ResizeLike(const Tensor& other) {
    SetDims(other.dims_.data(), other.dims_.size(), other.size_ < 0);
  }
  // Same number of elements, other dimensions. THROWS when the products differ.
  void Reshape(IntArrayRef dims);
  void Reshape(const std::vector<int64_t>& dims) { Reshape(IntArrayRef(dims)); }
  void Reshape(std::initializer_list<int64_t> dims) { Reshape(IntArrayRef(dims)); }
  void Reshape(const std::vector<int>& dims) {
    Reshape(IntArrayRef(std::vector<int64_t>(dims.begin(), dims.end())));
  }
  // Lowers dim 0, keeps the memory. THROWS on rank 0 or a larger dim.
  void ShrinkTo(int64_t outer_dim);
  void Shrink(int64_t outer_dim) { ShrinkTo(outer_dim); }
  // Makes room for `dims` (or an outer dimension) and keeps the data, the dims and the size.
  void Reserve(IntArrayRef dims, BaseContext* context = nullptr);
  void ReserveSpace(int64_t outer_dim);  // does not keep the data, as the original
  // Adds `num` to dim 0 and keeps the data; grows capacity by at least `growth_percent`.
  void Extend(int64_t num, float growth_percent, BaseContext* context = nullptr);
  void ExtendTo(int64_t num, float growth_percent, BaseContext* context = nullptr);

  // Rank, dimensions, number of elements; -1 when never shaped.
  int dim() const { return static_cast<int>(dims_.size()); }
  int ndim() const { return dim(); }
  const std::vector<int64_t>& dims() const { return dims_; }
  IntArrayRef sizes() const { return dims_; }
  int64_t dim(int i) const { return dims_[CheckedIndex(i)]; }
  int64_t size(int i) const { return dim(CanonicalAxis(i)); }
  int dim32(int i) const;  // THROWS when the dimension does not fit into int
  int64_t size() const { return size_; }
  int64_t numel() const { return size_; }
  bool IsShaped() const { return size_ >= 0; }
  bool defined() const { return size_ >= 0; }
  size_t itemsize() const { return meta_.itemsize(); }
  size_t nbytes() const { return static_cast<size_t>(size_ < 0 ? 0 : size_) * meta_.itemsize(); }
  size_t capacity_nbytes() const { return storage_ != nullptr ? storage_->capacity_bytes() : 0; }
  // Products of dimensions: [k, rank), [0, k), (k, l) exclusive of both.
  int64_t size_from_dim(int k) const;
  int64_t size_to_dim(int k) const;
  int64_t size_between_dim(int k, int l) const;
  // Negative axes count from the end. THROWS when out of range.
  int canonical_axis_index(int axis) const { return CanonicalAxis(axis); }

  // --- data ---
  TypeMeta meta() const { return meta_; }
  TypeMeta dtype() const { return meta_; }
  template <class T>
  bool IsType() const {
    return meta_.Match<T>();
  }
  bool HasData() const { return storage_ != nullptr || size_ == 0; }

  // THROWS when there is no memory (unless the tensor is empty) or the type differs.
  template <class T>
  const T* data() const {
    if (__builtin_expect(!meta_.Match<T>() || (storage_ == nullptr && size_ != 0), 0)) {
      ThrowNoData(TypeMeta::Make<T>());
    }
    return static_cast<const T*>(storage_ != nullptr ? storage_->data() : nullptr);
  }
  const void* raw_data() const {
    if (__builtin_expect(storage_ == nullptr && size_ != 0, 0)) ThrowNoData(meta_);
    return storage_ != nullptr ? storage_->data() : nullptr;
  }

  // Memory for the present shape with elements of `meta`: allocates when there is none, it is too
  // small, or the type needs (or needed) constructors; else reuses it. Read-only memory is copied
  // first. THROWS when never shaped.
  void* raw_mutable_data(TypeMeta meta) {
    if (__builtin_expect(meta == meta_ && storage_ != nullptr &&
                             nbytes() <= storage_->capacity_bytes() && !storage_->read_only() &&
                             size_ <= alive_,
                         1)) {
      storage_->MoveVersion();
      return storage_->data();
    }
    return AllocateFor(meta);
  }
  void* raw_mutable_data();  // with the type it has; THROWS when it has none
  template <class T>
  T* mutable_data() {
    return static_cast<T*>(raw_mutable_data(TypeMeta::Make<T>()));
  }

  // Drops the memory; keeps dims and type.
  void FreeMemory();
  // Takes over memory, type and capacity of `src`, which must have as many elements (its shape may
  // differ).
  void ShareData(const Tensor& src);
  // Uses foreign memory of `capacity_bytes` (0: what the shape needs). THROWS when not shaped. A
  // null deleter never frees.
  template <class T>
  void ShareExternalPointer(T* data, size_t capacity_bytes = 0, MemoryDeleter deleter = nullptr) {
    ShareForeign(data, TypeMeta::Make<std::remove_const_t<T>>(), capacity_bytes, deleter);
  }
  // The same with a deleter of any type, called once with the memory.
  template <class T, class F>
  requires(
      std::is_invocable_v<F&, void*> &&
      !std::is_convertible_v<F, MemoryDeleter>) void ShareExternalPointer(T* data,
                                                                          size_t capacity_bytes,
                                                                          F deleter) {
    ShareExternalPointer(data, capacity_bytes, MemoryDeleter::Once(std::move(deleter)));
  }
  template <class F>
  requires(
      std::is_invocable_v<F&, void*> &&
      !std::is_convertible_v<F, MemoryDeleter>) void ShareExternalPointer(void* data, TypeMeta meta,
                                                                          size_t capacity_bytes,
                                                                          F deleter) {
    ShareExternalPointer(data, meta, capacity_bytes, MemoryDeleter::Once(std::move(deleter)));
  }
  void ShareExternalPointer(void* data, TypeMeta meta, size_t capacity_bytes = 0,
                            MemoryDeleter deleter = nullptr) {
    ShareForeign(data, meta, capacity_bytes, deleter);
  }
  bool shares_data() const { return shares_data_; }

  // Copies type, shape and data; across devices too. The context does the copy when given; else one
  // is made and waited for. Copying a tensor to itself does nothing; an unshaped source makes this
  // one unshaped.
  void CopyFrom(const Tensor& src, BaseContext* context = nullptr);
  template <class T>
  void CopyFrom(const std::vector<T>& values, BaseContext* context = nullptr);
  Tensor Clone() const;
  Tensor Alias() const { return *this; }
  Tensor UnsafeSharedInstance() const { return *this; }
  void swap(Tensor& other) noexcept;

  // The memory; null when there is none. Weights are prepared through Storage::Derived.
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  // Marks the memory read-only: the next mutable access through any tensor copies it first.
  void MarkReadOnly() {
    if (storage_ != nullptr) storage_->set_read_only();
  }

  // "Tensor (CPU) of type float. Dims: (1,3,): " as a line for logs.
  std::string DebugString() const;

 private:
  void SetDims(const int64_t* dims, size_t rank, bool unshaped = false);
  void* AllocateFor(TypeMeta meta);
  // Memory that the caller says may be written, however its type is qualified.
  void ShareForeign(const void* data, TypeMeta meta, size_t capacity_bytes, MemoryDeleter deleter);
  [[noreturn]] void ThrowNoData(TypeMeta wanted) const;
  size_t CheckedIndex(int i) const {
    if (__builtin_expect(i < 0 || static_cast<size_t>(i) >= dims_.size(), 0)) ThrowBadAxis(i);
    return static_cast<size_t>(i);
  }
  int CanonicalAxis(int axis) const;
  [[noreturn]] void ThrowBadAxis(int axis) const;
  void CopyData(const Tensor& src, BaseContext* context);

  std::vector<int64_t> dims_;
  int64_t size_ = -1;
  int64_t alive_ =
      INT64_MAX;  // elements that may be used without construction; INT64_MAX for plain data
  TypeMeta meta_;
  std::shared_ptr<Storage> storage_;
  DeviceType device_ = CPU;
  bool shares_data_ = false;
  bool reserved_ = false;
};

// An axis as an index: negative counts from the end. THROWS when out of range.
int canonical_axis_index_(int axis, int rank);
int64_t size_from_dim_(int k, IntArrayRef dims);
int64_t size_to_dim_(int k, IntArrayRef dims);
int64_t size_between_dim_(int k, int l, IntArrayRef dims);

template <class T>
void Tensor::CopyFrom(const std::vector<T>& values, BaseContext* context) {
  Tensor host(CPU);
  host.Resize(static_cast<int64_t>(values.size()));
  host.ShareExternalPointer(values.data());
  Resize(static_cast<int64_t>(values.size()));
  raw_mutable_data(TypeMeta::Make<T>());
  CopyData(host, context);
}

}  // namespace caffe2rt
