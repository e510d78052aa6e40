#pragma once
// Storage: the reference-counted memory of tensors.
//
// A storage holds a pointer, its capacity, deleter and device, and a read-only mark. It also holds
// a version, which every mutable access increments, and the prepared forms of its data
// (prepared_forms.h), which are dropped when the version changes. The elements may be in an opaque
// layout (opaque_layout.h). The pages of read-only data can be released while their prepared forms
// can restore them.
//
// Thread safety: concurrent reads and uses of the forms are safe. A write requires exclusive access.

#include <atomic>
#include <cstdint>
#include <memory>

#include "caffe2_core/base/type_meta.h"
#include "caffe2_core/device/device_type.h"
#include "caffe2_core/device/memory.h"
#include "caffe2_core/tensor/opaque_layout.h"
#include "caffe2_core/tensor/prepared_forms.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// A scope in which the calling thread's mutable accesses keep no pointer into the memory. The
// library opens one around runs of nets and around its own copies. A pointer that is handed out
// outside such a scope may be written through at any later time; its storage is marked as exposed.
// Scopes may be nested. Create them on the stack only.
class TransientWrites {
 public:
  TransientWrites() { ++depth_; }
  ~TransientWrites() { --depth_; }
  TransientWrites(const TransientWrites&) = delete;
  TransientWrites& operator=(const TransientWrites&) = delete;
  static bool active() { return depth_ > 0; }

 private:
// nvcc does not support the attribute tls_model.
#if defined(__CUDACC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1835
#endif
  // Every mutable access reads this variable. The initial-exec model avoids a function call per
  // access in a shared library.
  static constinit thread_local int depth_ [[gnu::tls_model("initial-exec")]];
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif
};

class ReleasedData;

class Storage {
 public:
  // Takes ownership of `data`, which has `capacity_bytes` bytes and is freed with `deleter`. If
  // `meta` has a destructor, `data` must hold `count` constructed elements, which are destroyed
  // before the memory is freed.
  Storage(void* data, size_t capacity_bytes, MemoryDeleter deleter, DeviceType device,
          TypeMeta meta, int64_t count);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const { return data_; }
  size_t capacity_bytes() const { return capacity_bytes_; }
  DeviceType device() const { return device_; }
  TypeMeta meta() const { return meta_; }
  // The function and state that free the memory. The context that allocated the memory identifies
  // it by them.
  const MemoryDeleter& deleter() const { return deleter_; }
  // The number of constructed elements in this memory; 0 for plain data.
  int64_t constructed() const { return constructed_; }

  // The version. MoveVersion, which every mutable access calls, increments it and drops the prepared
  // forms.
  uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  void MoveVersion() {
    version_.store(version() + 1, std::memory_order_relaxed);
    if (forms_.any()) forms_.Clear();
    if (__builtin_expect(opaque_, 0)) DropLayout();
    if (!TransientWrites::active()) set_exposed();
  }

  // The layout of the elements, or null if they are in row-major order. MoveVersion drops it.
  // MoveVersionInLayout increments the version too and sets the layout. It allocates nothing.
  const std::shared_ptr<const OpaqueLayout>& layout() const { return layout_; }
  bool opaque() const { return opaque_; }
  void MoveVersionInLayout(const std::shared_ptr<const OpaqueLayout>& layout) {
    version_.store(version() + 1, std::memory_order_relaxed);
    if (forms_.any()) forms_.Clear();
    if (layout_ != layout) layout_ = layout;
    opaque_ = layout != nullptr;
    unreadable_.store(opaque_, std::memory_order_relaxed);
  }

  // Whether the memory may change without a call of MoveVersion: a pointer into it was handed out,
  // or it is external. Always false for read-only memory, which must not be written.
  bool exposed() const { return exposed_.load(std::memory_order_relaxed) && !read_only(); }
  void set_exposed() { exposed_.store(true, std::memory_order_relaxed); }
  // version(), for a caller that keeps a prepared form. If the memory is exposed, computes a
  // checksum of its first `nbytes` bytes first, and increments the version if the checksum has
  // changed.
  uint64_t VerifiedVersion(size_t nbytes) {
    if (__builtin_expect(exposed(), 0)) VerifyContent(nbytes);
    return version();
  }

  // Whether a mutable access through a tensor must copy the memory first. Predictors mark the
  // weights that they share.
  bool read_only() const { return read_only_.load(std::memory_order_relaxed); }
  void set_read_only() { read_only_.store(true, std::memory_order_relaxed); }

  // Releases the pages of the data, if the prepared forms can restore every byte. data() stays the
  // same, but what is there is not the data until RestoreData, which Tensor's accessors call. Does
  // nothing for memory that is small, not read-only, exposed, on a device or in an opaque layout.
  // Returns the number of bytes released. REQUIRES: nobody keeps a pointer into the memory or uses it
  // meanwhile.
  size_t ReleaseData();
  bool released() const { return unreadable() && !opaque_; }
  // Does nothing if the data are not released. Thread safe.
  void RestoreData();
  // Whether the memory does not hold the elements in row-major order: they are in an opaque layout, or
  // released.
  bool unreadable() const { return unreadable_.load(std::memory_order_acquire); }

  // The prepared forms of the current data. Keep a form that was returned, and ask again only after
  // the storage or version() has changed.
  PreparedForms& forms() { return forms_; }

 private:
  void DropLayout() {
    layout_ = nullptr;
    opaque_ = false;
    unreadable_.store(false, std::memory_order_relaxed);
  }
  void VerifyContent(size_t nbytes);

  // The members that a mutable access reads or writes come first, in one cache line.
  void* const data_;
  const size_t capacity_bytes_;
  std::atomic<uint64_t> version_{0};
  std::atomic<bool> read_only_{false};
  std::atomic<bool> exposed_{false};
  bool opaque_ = false;  // whether layout_ is set
  std::atomic<bool> unreadable_{false};
  PreparedForms forms_;
  const DeviceType device_;
  const MemoryDeleter deleter_;
  const TypeMeta meta_;
  const int64_t constructed_;
  std::shared_ptr<const OpaqueLayout> layout_;  // shared with the operators that use it
  std::atomic<uint64_t> content_sum_{0};
  std::unique_ptr<ReleasedData> released_;  // made by the first ReleaseData
};

}  // namespace caffe2rt
#pragma GCC visibility pop
