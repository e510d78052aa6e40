#pragma once
// Tensor: a shape, an element type and reference-counted memory on one device.
//
//   Tensor t(CPU);
//   t.Resize(1, 3, 224, 224);              // sets the shape only
//   float* p = t.mutable_data<float>();    // allocates, or reuses memory that is large enough
//
// A tensor whose shape was never set has size() == -1. Copy construction and assignment share the
// memory, as in Caffe2; CopyFrom copies it. The class has no virtual functions.
//
// Concurrent reads are safe. A write requires exclusive access.

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

#pragma GCC visibility push(default)
namespace caffe2rt {

// Whether a tensor keeps its memory when it shrinks. Process-wide; set before nets run.
struct TensorShrinkOptions {
  // Keep the memory of a tensor that becomes smaller. Flag `caffe2_keep_on_shrink`.
  bool keep_on_shrink = true;
  // Free the memory anyway if more than this many bytes would be unused. Flag
  // `caffe2_max_keep_on_shrink_memory`.
  int64_t max_keep_on_shrink_bytes = INT64_MAX;
};
TensorShrinkOptions& GlobalTensorShrinkOptions();

class Tensor {
 public:
  static constexpr int kMaxRank = 64;

  Tensor() = default;
  explicit Tensor(DeviceType device) : device_(device) {}
  // These constructors set the shape and allocate no memory.
  Tensor(const std::vector<int64_t>& dims, DeviceType device) : device_(device) { Resize(dims); }
  Tensor(const std::vector<int>& dims, DeviceType device) : device_(device) { Resize(dims); }
  Tensor(IntArrayRef dims, DeviceType device) : device_(device) { Resize(dims); }
  Tensor(std::initializer_list<int64_t> dims, DeviceType device) : device_(device) {
    Resize(IntArrayRef(dims));
  }
  // The constructors of older Caffe2 sources, without a device: the tensor is on the CPU.
  explicit Tensor(const std::vector<int64_t>& dims) : Tensor(dims, CPU) {}
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  explicit Tensor(const std::vector<T>& dims) : device_(CPU) {
    Resize(dims);
  }
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  explicit Tensor(std::initializer_list<T> dims)
      : Tensor(std::vector<int64_t>(dims.begin(), dims.end()), CPU) {}
  // A tensor that holds `values`. With a context, the tensor is on its device and the context
  // copies the values; with null, the tensor is on the CPU.
  template <class T>
  Tensor(const std::vector<int64_t>& dims, const std::vector<T>& values, BaseContext* context)
      : device_(context != nullptr ? context->device_type() : CPU) {
    CopyFrom(values, context);
    Reshape(dims);
  }
  // Copies the data of `src` to `device`.
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
  // Resize sets the dimensions. Memory that is large enough is kept, subject to
  // TensorShrinkOptions; memory that is too small is released. THROWS if a dimension is negative,
  // the rank exceeds kMaxRank, or the number of elements overflows.
  void Resize() { SetDims(nullptr, 0); }  // a scalar
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
  // Changes the dimensions and keeps the data. THROWS if the number of elements would change.
  void Reshape(IntArrayRef dims);
  void Reshape(const std::vector<int64_t>& dims) { Reshape(IntArrayRef(dims)); }
  void Reshape(std::initializer_list<int64_t> dims) { Reshape(IntArrayRef(dims)); }
  void Reshape(const std::vector<int>& dims) {
    Reshape(IntArrayRef(std::vector<int64_t>(dims.begin(), dims.end())));
  }
  // Lowers dim 0 and keeps the memory. THROWS if the rank is 0, `outer_dim` is greater than dim 0,
  // or other tensors share the memory.
  void ShrinkTo(int64_t outer_dim);
  void Shrink(int64_t outer_dim) { ShrinkTo(outer_dim); }
  // Forgets the shape, the type and the elements, as in a new tensor. Memory of the tensor alone stays, for the next
  // elements.
  void Clear();
  // Allocates capacity for the shape `dims` and keeps the data, the dimensions and the size; if it
  // allocates, `context` copies the data. THROWS if the tensor has no element type.
  void Reserve(IntArrayRef dims, BaseContext* context = nullptr);
  // Allocates capacity for `outer_dim` as dim 0 and keeps the shape. As in Caffe2, the data is lost
  // if new memory is allocated. THROWS if the tensor has rank 0 or no element type.
  void ReserveSpace(int64_t outer_dim);
  // Adds `num` to dim 0 and keeps the data. If the capacity is too small, it grows by at least
  // `growth_percent` of dim 0, and `context` copies the data. THROWS if the rank is 0.
  void Extend(int64_t num, float growth_percent, BaseContext* context = nullptr);
  // The same, with the new dim 0 given as `num`. THROWS if `num` is less than dim 0.
  void ExtendTo(int64_t num, float growth_percent, BaseContext* context = nullptr);

  // The rank.
  int dim() const { return static_cast<int>(dims_.size()); }
  int ndim() const { return dim(); }
  const std::vector<int64_t>& dims() const { return dims_; }
  IntArrayRef sizes() const { return dims_; }
  // Dimension i. THROWS if i is out of range. size(i) also accepts a negative i, which counts from
  // the end.
  int64_t dim(int i) const { return dims_[CheckedIndex(i)]; }
  int64_t size(int i) const { return dim(CanonicalAxis(i)); }
  // dim(i) as an int. THROWS if it is INT_MAX or greater.
  int dim32(int i) const;
  // The number of elements, or -1 if the shape was never set.
  int64_t size() const { return size_; }
  int64_t numel() const { return size_; }
  bool IsShaped() const { return size_ >= 0; }
  bool defined() const { return size_ >= 0; }
  explicit operator bool() const { return defined(); }
  bool dtype_initialized() const { return meta_ != TypeMeta(); }
  bool storage_initialized() const { return storage_ != nullptr; }
  bool is_contiguous() const { return true; }  // every tensor is
  size_t itemsize() const { return meta_.itemsize(); }
  size_t nbytes() const { return static_cast<size_t>(size_ < 0 ? 0 : size_) * meta_.itemsize(); }
  size_t capacity_nbytes() const { return storage_ != nullptr ? storage_->capacity_bytes() : 0; }
  // The product of dimensions k to rank - 1, of 0 to k - 1, and of those between k and l, both
  // excluded. An empty product is 1.
  int64_t size_from_dim(int k) const;
  int64_t size_to_dim(int k) const;
  int64_t size_between_dim(int k, int l) const;
  // `axis` as a non-negative index; a negative axis counts from the end. THROWS if it is out of
  // range.
  int canonical_axis_index(int axis) const { return CanonicalAxis(axis); }

  // --- data ---
  TypeMeta meta() const { return meta_; }
  TypeMeta dtype() const { return meta_; }
  template <class T>
  bool IsType() const {
    return meta_.Match<T>();
  }
  bool HasData() const { return storage_ != nullptr || size_ == 0; }

  // The elements; null is possible only if the tensor is empty. THROWS if the element type is not
  // T, if a tensor that is not empty has no memory, or if the tensor is opaque. Released data
  // (Storage::ReleaseData) are restored.
  template <class T>
  const T* data() const {
    if (__builtin_expect(!meta_.Match<T>() || !IsReadable(), 0)) MakeReadable(TypeMeta::Make<T>());
    return static_cast<const T*>(storage_ != nullptr ? storage_->data() : nullptr);
  }
  const void* raw_data() const {
    if (__builtin_expect(!IsReadable(), 0)) MakeReadable(meta_);
    return storage_ != nullptr ? storage_->data() : nullptr;
  }
  // THROWS as data<T>() does, and restores nothing.
  template <class T>
  void CheckData() const {
    const bool readable = storage_ != nullptr ? !storage_->opaque() : size_ == 0;
    if (__builtin_expect(!meta_.Match<T>() || !readable, 0)) ThrowNoData(TypeMeta::Make<T>());
  }

  // Memory for the current shape with elements of type `meta`. Reuses the memory if it is large
  // enough, is not read-only, and the old and the new type are plain data (or the type has
  // constructors and stays the same); otherwise allocates. If the memory is read-only, its data is
  // copied to the new memory. THROWS if the shape was never set.
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
  // The same with the current element type. THROWS if there is none.
  void* raw_mutable_data();
  template <class T>
  T* mutable_data() {
    return static_cast<T*>(raw_mutable_data(TypeMeta::Make<T>()));
  }

  // --- opaque layouts (opaque_layout.h), for operators of the device that defines the layout ---
  // The layout of the elements, or null if they are in row-major order.
  const OpaqueLayout* opaque_layout() const {
    return storage_ != nullptr ? storage_->layout().get() : nullptr;
  }
  // The memory in its current layout. THROWS if a tensor that is not empty has no memory.
  const void* opaque_data() const {
    if (__builtin_expect(storage_ != nullptr ? storage_->released() : size_ != 0, 0))
      MakeReadable(meta_);
    return storage_ != nullptr ? storage_->data() : nullptr;
  }
  // Memory to write the tensor in `layout`; null: in row-major order. Reuses the memory if it is
  // large enough and not read-only. If the layout stays the same, the elements keep their values.
  // THROWS if the shape was never set, if the layout is for another number of elements, if the
  // elements have constructors, or if the tensor is on the CPU.
  void* mutable_opaque_data(TypeMeta meta, const std::shared_ptr<const OpaqueLayout>& layout);

  // Releases the memory; keeps the dimensions and the element type.
  void FreeMemory();
  // Shares the memory of `src` and adopts its element type. THROWS if the device type or the number
  // of elements differs (the shape may differ), or if `src` has no data.
  void ShareData(const Tensor& src);
  // Uses memory that the caller provides, of `capacity_bytes` (0: as many as the shape needs). The
  // deleter is called when the last tensor releases the memory; with a null deleter the memory is
  // never freed. With a deleter, elements of a type that has a destructor are destroyed first.
  // THROWS if the shape was never set.
  template <class T>
  void ShareExternalPointer(T* data, size_t capacity_bytes = 0, MemoryDeleter deleter = nullptr) {
    ShareForeign(data, TypeMeta::Make<std::remove_const_t<T>>(), capacity_bytes, deleter);
  }
  // The same with any callable as the deleter. It is called once, with the address of the memory.
  // clang-format 14 misplaces line breaks around a requires clause.
  // clang-format off
  template <class T, class F>
  requires(std::is_invocable_v<F&, void*> && !std::is_convertible_v<F, MemoryDeleter>)
  void ShareExternalPointer(T* data, size_t capacity_bytes, F deleter) {
    ShareExternalPointer(data, capacity_bytes, MemoryDeleter::Once(std::move(deleter)));
  }
  template <class F>
  requires(std::is_invocable_v<F&, void*> && !std::is_convertible_v<F, MemoryDeleter>)
  void ShareExternalPointer(void* data, TypeMeta meta, size_t capacity_bytes, F deleter) {
    ShareExternalPointer(data, meta, capacity_bytes, MemoryDeleter::Once(std::move(deleter)));
  }
  // clang-format on
  void ShareExternalPointer(void* data, TypeMeta meta, size_t capacity_bytes = 0,
                            MemoryDeleter deleter = nullptr) {
    ShareForeign(data, meta, capacity_bytes, deleter);
  }
  bool shares_data() const { return shares_data_; }

  // Copies the element type, the shape and the data; this tensor keeps its device. If `context`
  // belongs to the device that does the copy, it enqueues the copy and does not wait for it.
  // Otherwise a temporary context copies and waits. If `src` was never shaped, this tensor becomes
  // unshaped. If `src` is opaque, this tensor gets its elements in row-major order. THROWS if the
  // tensors are on different device types and neither is the CPU.
  void CopyFrom(const Tensor& src, BaseContext* context = nullptr);
  // The form of later Caffe2 sources. A temporary context copies and waits, whatever `async` is.
  template <class Bool, class = std::enable_if_t<std::is_same_v<Bool, bool>>>
  void CopyFrom(const Tensor& src, Bool /*async*/) {
    CopyFrom(src);
  }
  // Makes this a tensor of rank 1 that holds `values`. If `context` copies asynchronously, `values`
  // must stay valid until the copy has finished.
  template <class T>
  void CopyFrom(const std::vector<T>& values, BaseContext* context = nullptr);
  Tensor Clone() const;
  Tensor Alias() const { return *this; }
  Tensor UnsafeSharedInstance() const { return *this; }
  void swap(Tensor& other) noexcept;

  // The memory, or null if there is none. Storage::forms holds prepared forms of weights.
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  // Marks the memory read-only: a later mutable access through any tensor that shares it copies it
  // first.
  void MarkReadOnly() {
    if (storage_ != nullptr) storage_->set_read_only();
  }

  // One line for logs: "A Tensor of item size 4 and type float and dimension (1,3,).".
  std::string DebugString() const;

 private:
  void SetDims(const int64_t* dims, size_t rank, bool unshaped = false);
  void* AllocateFor(TypeMeta meta);
  // Implements ShareExternalPointer. The memory counts as writable even if it was passed as const.
  void ShareForeign(const void* data, TypeMeta meta, size_t capacity_bytes, MemoryDeleter deleter);
  [[noreturn]] void ThrowNoData(TypeMeta wanted) const;
  // Restores released data. THROWS if that is not the reason why `wanted` elements cannot be read.
  void MakeReadable(TypeMeta wanted) const;
  bool IsReadable() const { return storage_ != nullptr ? !storage_->unreadable() : size_ == 0; }
  size_t CheckedIndex(int i) const {
    if (__builtin_expect(i < 0 || static_cast<size_t>(i) >= dims_.size(), 0)) ThrowBadAxis(i);
    return static_cast<size_t>(i);
  }
  int CanonicalAxis(int axis) const;
  [[noreturn]] void ThrowBadAxis(int axis) const;
  void CopyData(const Tensor& src, BaseContext* context);
  void CopyOpaqueData(const Tensor& src);

  std::vector<int64_t> dims_;
  int64_t size_ = -1;
  // How many elements have been constructed; INT64_MAX for plain data.
  int64_t alive_ = INT64_MAX;
  TypeMeta meta_;
  std::shared_ptr<Storage> storage_;
  DeviceType device_ = CPU;
  bool shares_data_ = false;
  bool reserved_ = false;  // allocated by Reserve or ReserveSpace: kept when the tensor shrinks
};

// `axis` as a non-negative index; a negative axis counts from the end. THROWS if it is out of
// range.
int canonical_axis_index_(int axis, int rank);
// Products of dimensions, as the member functions of Tensor without the underscore.
int64_t size_from_dim_(int k, IntArrayRef dims);
int64_t size_to_dim_(int k, IntArrayRef dims);
int64_t size_between_dim_(int k, int l, IntArrayRef dims);

namespace internal {
extern template TypeData MakeTypeData<Tensor>();
}

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
#pragma GCC visibility pop
