#pragma once
// Storage: the memory behind tensors, shared by reference count.
//
// Holds pointer, capacity, deleter, device, a version that every mutable access moves, a read-only
// mark, and derived forms: copies of the data prepared for one use (reordered, packed or quantised
// weights), keyed by layout, made once for all who share the storage, and gone when the version
// moves.
//
// Thread safety: concurrent reads and Derived calls are fine; a writer must be alone, as with any
// memory.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "caffe2_core/base/type_meta.h"
#include "caffe2_core/device/device_type.h"
#include "caffe2_core/device/memory.h"

namespace caffe2rt {

// While one lives, the thread's mutable accesses keep no pointer into the memory: runs of nets, and
// copies that the library makes itself. Pointers handed out elsewhere may be written through at any
// time, so that storages mark them (exposed()). Nestable; on the stack only.
class TransientWrites {
 public:
  TransientWrites() { ++depth_; }
  ~TransientWrites() { --depth_; }
  TransientWrites(const TransientWrites&) = delete;
  TransientWrites& operator=(const TransientWrites&) = delete;
  static bool active() { return depth_ > 0; }

 private:
// nvcc does not know the attribute.
#if defined(__CUDACC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1835
#endif
  // Read by every mutable access; the model saves a call in a shared library.
  static constinit thread_local int depth_ [[gnu::tls_model("initial-exec")]];
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif
};

class Storage {
 public:
  // Takes over `data` of `capacity_bytes`, freed with `deleter`. When `meta` has constructors,
  // `count` elements are alive in it and are destroyed first.
  Storage(void* data, size_t capacity_bytes, MemoryDeleter deleter, DeviceType device,
          TypeMeta meta, int64_t count);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const { return data_; }
  size_t capacity_bytes() const { return capacity_bytes_; }
  DeviceType device() const { return device_; }
  TypeMeta meta() const { return meta_; }
  // How the memory will be freed; its context knows it by this.
  const MemoryDeleter& deleter() const { return deleter_; }
  // Elements with constructors that are alive in this memory; 0 for plain data.
  int64_t constructed() const { return constructed_; }

  // Moves with every mutable access; derived forms of older versions are dropped.
  uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  void MoveVersion() {
    version_.store(version() + 1, std::memory_order_relaxed);
    if (has_derived_.load(std::memory_order_relaxed)) DropDerived();
    if (!TransientWrites::active()) set_exposed();
  }

  // Memory that may change without a sign: a pointer into it was handed out, or it is somebody
  // else's. Never read-only memory, which is not to be written.
  bool exposed() const { return exposed_.load(std::memory_order_relaxed) && !read_only(); }
  void set_exposed() { exposed_.store(true, std::memory_order_relaxed); }
  // version(), for those who keep a derived form. Exposed memory is summed up first (its first
  // `nbytes`), and the version moves when the sum has changed.
  uint64_t VerifiedVersion(size_t nbytes) {
    if (__builtin_expect(exposed(), 0)) VerifyContent(nbytes);
    return version();
  }

  // Read-only memory (weights shared by predictors): a tensor's mutable access copies it first.
  bool read_only() const { return read_only_.load(std::memory_order_relaxed); }
  void set_read_only() { read_only_.store(true, std::memory_order_relaxed); }

  using DerivedMaker = std::function<std::shared_ptr<const void>()>;
  // The form of the present data under `key`; made by `make` when it is not there yet, once even
  // when several threads ask. Takes a lock: callers keep the result and ask again only when storage
  // or version() changed.
  std::shared_ptr<const void> Derived(const std::string& key, const DerivedMaker& make);

 private:
  void DropDerived();
  void VerifyContent(size_t nbytes);

  // What a mutable access touches comes first, in one cache line.
  void* const data_;
  const size_t capacity_bytes_;
  std::atomic<uint64_t> version_{0};
  std::atomic<bool> read_only_{false};
  std::atomic<bool> has_derived_{false};
  std::atomic<bool> exposed_{false};
  const DeviceType device_;
  const MemoryDeleter deleter_;
  const TypeMeta meta_;
  const int64_t constructed_;
  std::atomic<uint64_t> content_sum_{0};
  std::mutex derived_mutex_;
  std::map<std::string, std::shared_ptr<const void>> derived_;
};

}  // namespace caffe2rt
