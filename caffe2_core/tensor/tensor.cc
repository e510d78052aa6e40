#include "caffe2_core/tensor/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <new>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/tensor/data_source.h"
#include "caffe2_core/tensor/shape_only.h"

namespace caffe2rt {

namespace internal {
template TypeData MakeTypeData<Tensor>();
}

TensorShrinkOptions& GlobalTensorShrinkOptions() {
  static TensorShrinkOptions options;
  return options;
}

namespace {

// std::equal would call memcmp, which costs more than comparing a few numbers here.
bool AreEqual(const int64_t* a, const int64_t* b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace

void Tensor::SetDims(const int64_t* dims, size_t rank, bool unshaped) try {
  if (unshaped) {
    dims_.clear();
    size_ = -1;
    return;
  }
  // Fast path: the shape is unchanged.
  if (size_ >= 0 && rank == dims_.size() && AreEqual(dims, dims_.data(), rank)) return;
  CAFFE_ENFORCE_LE(rank, static_cast<size_t>(kMaxRank), "rank of a tensor");
  const int64_t new_size = CheckedProduct(IntArrayRef(dims, rank));
  if (dims != dims_.data()) dims_.assign(dims, dims + rank);
  const int64_t old_size = size_;
  size_ = new_size;
  if (old_size == new_size || storage_ == nullptr) return;

  // Release memory that is too small, and memory that is larger than the options allow.
  const size_t needed = CheckedMultiply<size_t>(static_cast<size_t>(new_size), meta_.itemsize());
  const size_t capacity = storage_->capacity_bytes();
  const TensorShrinkOptions& options = GlobalTensorShrinkOptions();
  const bool too_small = capacity < needed;
  const bool idle = !reserved_ && (!options.keep_on_shrink ||
                                   capacity - std::min(needed, capacity) >
                                       static_cast<size_t>(options.max_keep_on_shrink_bytes));
  if (too_small || (idle && new_size < old_size)) FreeMemory();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void Tensor::Reshape(IntArrayRef dims) try {
  const int64_t count = CheckedProduct(dims);
  CAFFE_ENFORCE_EQ(count, size_, "number of elements of the new shape ", dims, ", want that of ",
                   sizes());
  dims_.assign(dims.begin(), dims.end());
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void Tensor::ShrinkTo(int64_t outer_dim) {
  CAFFE_ENFORCE_GE(dim(), 1, "rank of a tensor to shrink");
  CAFFE_ENFORCE(outer_dim >= 0 && outer_dim <= dims_[0], "cannot shrink dim 0 from ", dims_[0],
                " to ", outer_dim, ", want at most the current dim");
  CAFFE_ENFORCE(storage_ == nullptr || storage_.use_count() == 1,
                "cannot shrink a tensor whose memory is shared");
  dims_[0] = outer_dim;
  size_ = CheckedProduct(dims_);
}

void Tensor::Reserve(IntArrayRef dims, BaseContext* context) try {
  const size_t needed = CheckedMultiply<size_t>(static_cast<size_t>(CheckedProduct(dims)),
                                                std::max<size_t>(meta_.itemsize(), 1));
  CAFFE_ENFORCE(meta_.IsSet(), "cannot reserve memory for a tensor without an element type");
  if (needed <= capacity_nbytes()) return;
  // Allocate into a second tensor, so that this one is unchanged if an exception is thrown.
  Tensor room(dims, device_);
  room.AllocateFor(meta_);
  if (storage_ != nullptr && size_ > 0) room.CopyData(*this, context);
  storage_ = std::move(room.storage_);
  alive_ = room.alive_;
  shares_data_ = false;
  reserved_ = true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void Tensor::ReserveSpace(int64_t outer_dim) try {
  CAFFE_ENFORCE_GE(dim(), 1, "rank of a tensor that reserves space for dim 0");
  CAFFE_ENFORCE(meta_.IsSet(), "cannot reserve memory for a tensor without an element type");
  std::vector<int64_t> wanted = dims_;
  wanted[0] = outer_dim;
  const size_t needed =
      CheckedMultiply<size_t>(static_cast<size_t>(CheckedProduct(wanted)), meta_.itemsize());
  if (needed <= capacity_nbytes()) return;
  FreeMemory();
  Tensor room(wanted, device_);
  room.AllocateFor(meta_);
  storage_ = std::move(room.storage_);
  alive_ = room.alive_;
  reserved_ = true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void Tensor::Extend(int64_t num, float growth_percent, BaseContext* context) try {
  CAFFE_ENFORCE_GE(dim(), 1, "rank of a tensor to extend");
  CAFFE_ENFORCE_GE(num, 0, "argument num of Extend");
  std::vector<int64_t> wanted = dims_;
  wanted[0] = CheckedAdd<int64_t>(wanted[0], num);
  if (storage_ == nullptr) {
    Resize(wanted);
    return;
  }
  const int64_t new_size = CheckedProduct(wanted);
  const size_t needed = CheckedMultiply<size_t>(static_cast<size_t>(new_size), meta_.itemsize());
  const int64_t alive = meta_.IsPlainData() ? INT64_MAX : storage_->constructed();
  if (needed > storage_->capacity_bytes() || new_size > alive) {
    std::vector<int64_t> room = wanted;
    const double grown = std::ceil(static_cast<double>(dims_[0]) *
                                   (100.0 + static_cast<double>(growth_percent)) / 100.0);
    if (grown > static_cast<double>(room[0]) && grown < 9e18) room[0] = static_cast<int64_t>(grown);
    Reserve(room, context);
  }
  dims_ = wanted;
  size_ = new_size;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void Tensor::ExtendTo(int64_t num, float growth_percent, BaseContext* context) {
  CAFFE_ENFORCE_GE(dim(), 1, "rank of a tensor to extend");
  CAFFE_ENFORCE_GE(num, dims_[0], "dim 0 to extend to, want at least the current dim");
  Extend(num - dims_[0], growth_percent, context);
}

int Tensor::dim32(int i) const {
  const int64_t value = dim(i);
  CAFFE_ENFORCE_LT(value, INT_MAX, "dim ", i, " does not fit into int");
  return static_cast<int>(value);
}

int64_t Tensor::size_from_dim(int k) const { return size_from_dim_(k, dims_); }
int64_t Tensor::size_to_dim(int k) const { return size_to_dim_(k, dims_); }
int64_t Tensor::size_between_dim(int k, int l) const { return size_between_dim_(k, l, dims_); }
int Tensor::CanonicalAxis(int axis) const { return canonical_axis_index_(axis, dim()); }

void Tensor::ThrowBadAxis(int axis) const {
  CAFFE_THROW("axis ", axis, " of a tensor of shape ", sizes(), ", want 0 to ", dim() - 1);
}

void Tensor::MakeReadable(TypeMeta wanted) const {
  // Another thread may restore them meanwhile.
  if (wanted != meta_ || storage_ == nullptr || storage_->opaque()) ThrowNoData(wanted);
  storage_->RestoreData();
}

void Tensor::ThrowNoData(TypeMeta wanted) const {
  CAFFE_ENFORCE(IsShaped() && (HasData() || meta_.IsSet()),
                "the tensor is not initialized: it has no shape or no data yet; has the operator "
                "that produces it run?");
  CAFFE_ENFORCE(wanted == meta_, "the tensor holds elements of type ", meta_.name(), ", want ",
                wanted.name());
  CAFFE_ENFORCE(opaque_layout() == nullptr, "the tensor of shape ", sizes(), " on ",
                DeviceTypeName(device_), " is in the opaque layout ",
                opaque_layout() != nullptr ? opaque_layout()->Description() : "",
                ", which this code cannot read: copy it to the CPU first");
  ThrowNoElements(MakeString("the tensor of shape ", sizes(),
                             " has no memory yet: mutable_data has not been called since the last "
                             "call of Resize"));
}

namespace {

// Makes a storage that owns `allocation`, and constructs `count` elements in it if `meta` has
// constructors. If this throws, the elements are destroyed and the memory is freed.
std::shared_ptr<Storage> NewStorage(const std::pair<void*, MemoryDeleter>& allocation,
                                    size_t nbytes, DeviceType device, TypeMeta meta,
                                    int64_t count) {
  DataPtr memory(allocation);
  const bool constructed = meta.ctor() != nullptr && !meta.IsPlainData();
  if (constructed) meta.ctor()(memory.get(), static_cast<size_t>(count));
  std::shared_ptr<Storage> storage;
  try {
    storage =
        std::make_shared<Storage>(allocation.first, nbytes, allocation.second, device, meta, count);
  } catch (...) {
    if (constructed) meta.dtor()(memory.get(), static_cast<size_t>(count));
    throw;
  }
  memory.Release();
  return storage;
}

// Whether elements of type `meta` may be at `address`. A view begins at an element of another type.
// The alignment of a type is at most the largest power of two that divides its size.
bool IsAligned(const void* address, TypeMeta meta) {
  const size_t size = std::max<size_t>(meta.itemsize(), 1);
  const size_t alignment = std::min(size & (~size + 1), alignof(std::max_align_t));
  return reinterpret_cast<uintptr_t>(address) % alignment == 0;
}

}  // namespace

void* Tensor::AllocateFor(TypeMeta meta) try {
  CAFFE_ENFORCE(IsShaped(), "cannot allocate a tensor that was never shaped: call Resize first");
  CAFFE_ENFORCE(meta.IsSet(), "cannot allocate a tensor without an element type");
  const size_t needed = CheckedMultiply<size_t>(static_cast<size_t>(size_), meta.itemsize());
  const bool plain = meta.IsPlainData();
  const bool reusable = storage_ != nullptr && !storage_->read_only() &&
                        needed <= storage_->capacity_bytes() && plain &&
                        storage_->meta().IsPlainData() && IsAligned(storage_->data(), meta);
  if (reusable || (storage_ != nullptr && !plain && meta == storage_->meta() &&
                   !storage_->read_only() && size_ <= storage_->constructed())) {
    meta_ = meta;
    alive_ = plain ? INT64_MAX : storage_->constructed();
    storage_->MoveVersion();
    return storage_->data();
  }
  ShapeOnlyScope::BeforeAllocation(needed, meta_.IsSet() && storage_ == nullptr);
  CAFFE_ENFORCE(plain || device_ == CPU, "elements of type ", meta.name(),
                " have constructors and are supported only on the CPU, not on ",
                DeviceTypeName(device_));
  // Read-only memory is copied on write. Other memory is released before the new memory is
  // allocated, which lowers the peak.
  const bool copies = storage_ != nullptr && storage_->read_only() && meta == meta_ &&
                      needed <= storage_->capacity_bytes() &&
                      (plain || size_ <= storage_->constructed()) &&
                      (!storage_->opaque() || storage_->layout()->count() == size_);
  if (!copies) {
    storage_.reset();
    shares_data_ = false;
  }
  std::shared_ptr<Storage> fresh =
      NewStorage(GetStaticContext()->New(needed), needed, device_, meta, size_);
  if (copies && storage_->opaque()) {
    storage_->layout()->ToPlain(storage_->data(), fresh->data());
  } else if (copies && needed > 0) {
    storage_->RestoreData();
    const std::unique_ptr<BaseContext> context = CreateContext();
    context->CopyItemsSameDevice(meta, static_cast<size_t>(size_), storage_->data(), fresh->data());
    // Wait: the caller may write on another stream, and an error of the copy must be thrown here.
    context->FinishDeviceComputation();
  }
  storage_ = std::move(fresh);
  shares_data_ = false;
  meta_ = meta;
  alive_ = plain ? INT64_MAX : size_;
  storage_->MoveVersion();
  return storage_->data();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void* Tensor::mutable_opaque_data(TypeMeta meta,
                                  const std::shared_ptr<const OpaqueLayout>& layout) try {
  CAFFE_ENFORCE(IsShaped(), "cannot allocate a tensor that was never shaped: call Resize first");
  CAFFE_ENFORCE(meta.IsSet() && meta.IsPlainData(), "elements of type ", meta.name(),
                " cannot be in an opaque layout");
  CAFFE_ENFORCE(device_ != CPU, "a tensor on the CPU cannot be in an opaque layout");
  CAFFE_ENFORCE(layout == nullptr || layout->count() == size_, "the tensor has shape ", sizes(),
                ", but the layout is for a tensor of another size");
  const size_t plain = CheckedMultiply<size_t>(static_cast<size_t>(size_), meta.itemsize());
  // A layout may keep the elements in fewer bytes.
  const size_t needed = layout == nullptr ? plain : layout->nbytes();
  const bool reusable = storage_ != nullptr && !storage_->read_only() &&
                        needed <= storage_->capacity_bytes() && storage_->meta().IsPlainData();
  if (!reusable) {
    FreeMemory();
    storage_ = NewStorage(GetStaticContext()->New(needed), needed, device_, meta, size_);
  }
  meta_ = meta;
  alive_ = INT64_MAX;
  storage_->MoveVersionInLayout(layout);
  return storage_->data();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void* Tensor::raw_mutable_data() {
  CAFFE_ENFORCE(meta_.IsSet(), "the tensor has no element type yet: call mutable_data<T>() first");
  return raw_mutable_data(meta_);
}

void Tensor::FreeMemory() {
  storage_.reset();
  alive_ = INT64_MAX;
  shares_data_ = false;
  reserved_ = false;
}

void Tensor::Clear() {
  const bool stays = storage_ != nullptr && storage_.use_count() == 1 && !shares_data_ &&
                     !storage_->read_only() && !storage_->opaque() &&
                     storage_->meta().IsPlainData();
  std::shared_ptr<Storage> memory = stays ? std::move(storage_) : nullptr;
  *this = Tensor(device_);
  storage_ = std::move(memory);
}

void Tensor::ShareData(const Tensor& src) {
  CAFFE_ENFORCE_EQ(src.device_, device_, "device type of the tensor whose data is shared");
  CAFFE_ENFORCE_EQ(src.size_, size_,
                   "number of elements of the tensor whose data is shared; call Resize first");
  if (src.storage_ == nullptr && src.size_ != 0)
    ThrowNoElements("cannot share the data of a tensor that has none");
  storage_ = src.storage_;
  meta_ = src.meta_;
  alive_ = src.alive_;
  shares_data_ = true;
}

void Tensor::ShareForeign(const void* foreign, TypeMeta meta, size_t capacity_bytes,
                          MemoryDeleter deleter) try {
  CAFFE_ENFORCE(IsShaped(), "cannot share external memory with a tensor that was never shaped");
  CAFFE_ENFORCE(meta.IsSet(), "external memory needs an element type");
  const size_t needed = CheckedMultiply<size_t>(static_cast<size_t>(size_), meta.itemsize());
  void* const data = const_cast<void*>(foreign);
  DataPtr memory(data, deleter);  // frees the memory if make_shared throws
  storage_ = std::make_shared<Storage>(data, capacity_bytes != 0 ? capacity_bytes : needed, deleter,
                                       device_, meta, deleter ? size_ : 0);
  memory.Release();
  const bool sourced = IsSourced(deleter);  // memory of this library, which only tensors write
  if (!sourced) storage_->set_exposed();
  meta_ = meta;
  alive_ = meta.IsPlainData() ? INT64_MAX : size_;
  shares_data_ = !sourced;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void Tensor::CopyFrom(const Tensor& src, BaseContext* context) try {
  if (&src == this) return;
  const TransientWrites scope;
  if (storage_ != nullptr && storage_ == src.storage_) FreeMemory();  // do not overwrite `src`
  if (!src.IsShaped()) {
    SetDims(nullptr, 0, true);
    FreeMemory();
    meta_ = src.meta_;
    return;
  }
  if (storage_ != nullptr && storage_->read_only()) FreeMemory();
  Resize(src.sizes());
  if (!src.meta_.IsSet() || !src.HasData()) {
    if (src.size_ != 0 && src.meta_.IsSet())
      ThrowNoElements(
          MakeString("cannot copy a tensor of shape ", src.sizes(), " that has no data"));
    FreeMemory();
    meta_ = src.meta_;
    return;
  }
  raw_mutable_data(src.meta_);
  CopyData(src, context);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void Tensor::CopyData(const Tensor& src, BaseContext* context) {
  if (src.size_ <= 0) return;
  if (src.opaque_layout() != nullptr) return CopyOpaqueData(src);
  const size_t n = static_cast<size_t>(src.size_);
  void* dst = storage_->data();
  const void* from = src.raw_data();
  std::unique_ptr<BaseContext> own;
  const DeviceType worker = device_ != CPU ? device_ : src.device_;
  if (context == nullptr || context->device_type() != worker) {
    own = caffe2rt::GetStaticContext(worker)->CreateContext();
    context = own.get();
  }
  if (src.device_ == device_) {
    context->CopyItemsSameDevice(src.meta_, n, from, dst);
  } else if (src.device_ == CPU) {
    context->CopyItemsFromCPU(src.meta_, n, from, dst);
  } else {
    CAFFE_ENFORCE(device_ == CPU, "cannot copy from ", DeviceTypeName(src.device_), " to ",
                  DeviceTypeName(device_), " directly: copy through the CPU");
    context->CopyItemsToCPU(src.meta_, n, from, dst);
  }
  if (own != nullptr) own->FinishDeviceComputation();
}

// Copies in row-major order. The memory of an opaque tensor is host memory.
void Tensor::CopyOpaqueData(const Tensor& src) {
  const OpaqueLayout& layout = *src.opaque_layout();
  CAFFE_ENFORCE(device_ == CPU || device_ == src.device_, "cannot copy from ",
                DeviceTypeName(src.device_), " to ", DeviceTypeName(device_),
                " directly: copy through the CPU");
  CAFFE_ENFORCE_EQ(layout.count(), src.size_, "elements in the opaque layout of a tensor of shape ",
                   src.sizes(), " that was resized after it was written");
  layout.ToPlain(src.opaque_data(), storage_->data());
}

Tensor Tensor::Clone() const try {
  Tensor copy(device_);
  copy.CopyFrom(*this);
  return copy;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void Tensor::swap(Tensor& other) noexcept {
  std::swap(dims_, other.dims_);
  std::swap(size_, other.size_);
  std::swap(alive_, other.alive_);
  std::swap(meta_, other.meta_);
  std::swap(storage_, other.storage_);
  std::swap(device_, other.device_);
  std::swap(shares_data_, other.shares_data_);
  std::swap(reserved_, other.reserved_);
}

std::string Tensor::DebugString() const {
  std::string text = MakeString("A Tensor of item size ", itemsize(), " and type ", meta_.name(),
                                " and dimension (");
  for (const int64_t d : dims_) text += MakeString(d, ",");
  return text + ").";
}

int canonical_axis_index_(int axis, int rank) {
  CAFFE_ENFORCE(axis >= -rank && axis < rank, "axis ", axis, " of a tensor of rank ", rank,
                ", want ", -rank, " to ", rank - 1);
  return axis < 0 ? axis + rank : axis;
}

int64_t size_from_dim_(int k, IntArrayRef dims) {
  CAFFE_ENFORCE_GE(k, 0, "first dimension of a product");
  int64_t product = 1;
  for (size_t i = static_cast<size_t>(k); i < dims.size(); ++i)
    product = CheckedMultiply(product, dims[i]);
  return product;
}

int64_t size_to_dim_(int k, IntArrayRef dims) {
  CAFFE_ENFORCE(k >= 0 && static_cast<size_t>(k) <= dims.size(),
                "end of a product of dimensions is ", k, ", want 0 to the rank ", dims.size());
  int64_t product = 1;
  for (int i = 0; i < k; ++i) product = CheckedMultiply(product, dims[i]);
  return product;
}

int64_t size_between_dim_(int k, int l, IntArrayRef dims) {
  CAFFE_ENFORCE(k >= 0 && l >= 0 && static_cast<size_t>(std::max(k, l)) < dims.size(),
                "dimensions ", k, " and ", l, " of a tensor of rank ", dims.size());
  int64_t product = 1;
  for (int i = std::min(k, l) + 1; i < std::max(k, l); ++i)
    product = CheckedMultiply(product, dims[i]);
  return product;
}

}  // namespace caffe2rt
