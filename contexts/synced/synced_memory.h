#pragma once
// A buffer on the CPU and one of the same size on a device. Each is allocated on first access and
// copied when needed.
//
//   SyncedMemory memory(1024, {cpu_static_context, device_static_context});
//   void* host = memory.mutable_cpu_data();    // allocates zeroed memory; the CPU is the head
//   const void* device = memory.gpu_data();    // allocates and copies; both sides are equal
//   memory.cpu_data();                         // does nothing
//
// The side that was written last is the head. Reading the other side copies from the head and waits
// for the copy. The table lists, for each state and each call, what the call does and the new
// state; "-" means that it does nothing:
//
//   state          cpu_data        mutable_cpu_data  gpu_data        mutable_gpu_data
//   UNINITIALIZED  zero -> AT_CPU  zero -> AT_CPU    zero -> AT_GPU  zero -> AT_GPU
//   HEAD_AT_CPU    -               -                 copy -> SYNCED  copy -> AT_GPU
//   HEAD_AT_GPU    copy -> SYNCED  copy -> AT_CPU    -               -
//   SYNCED         -               -> AT_CPU         -               -> AT_GPU
//
// AT_CPU and AT_GPU are short for HEAD_AT_CPU and HEAD_AT_GPU. The names are Caffe's, where the
// device was always a GPU.
//
// Ownership: a buffer that this object allocated is reference counted. The object releases its
// reference on destruction and in set_*_data; a copy of cpu_buffer() or gpu_buffer() keeps the
// buffer alive. The caller keeps ownership of a buffer passed to set_*_data.
//
// Copies run on the stream of a new context of the calling thread: on CUDA this is the thread's
// current stream, on other devices its stream 0. If the caller enqueued work on other streams, it
// must wait for that work itself. An object is used by one thread at a time. A call that throws
// leaves the state unchanged, unless it reports a failed async_gpu_push.

#include <cstddef>
#include <memory>

#include "caffe2_core/device/context.h"
#include "caffe2_core/device/event.h"
#include "caffe2_core/device/memory.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The two sides. The static contexts are not owned; they live as long as the process.
struct SyncedContexts {
  BaseStaticContext* cpu = nullptr;
  // Null: no device side; every call that needs one THROWS.
  BaseStaticContext* device = nullptr;

  bool operator==(const SyncedContexts&) const = default;
};

// The CPU, and CUDA where it is available.
SyncedContexts DefaultSyncedContexts();

struct SyncedOptions {
  // Check in every call that the thread's current device is still the one at construction, and that
  // owned device memory is on that device. The check queries the device in every call, so the
  // default is true only in debug builds of the library.
  bool check_device = false;
};
// Every call reads these options. Set them before other threads use synced memory.
SyncedOptions& GlobalSyncedOptions();

class SyncedMemory {
 public:
  enum SyncedHead { UNINITIALIZED = 0, HEAD_AT_CPU = 1, HEAD_AT_GPU = 2, SYNCED = 3 };

  // Allocates nothing. THROWS if `contexts` has no CPU side.
  explicit SyncedMemory(size_t size_bytes = 0, SyncedContexts contexts = DefaultSyncedContexts());
  SyncedMemory(const SyncedMemory&) = delete;
  SyncedMemory& operator=(const SyncedMemory&) = delete;
  // Waits for an async_gpu_push that may still read the CPU buffer. Logs errors.
  ~SyncedMemory();

  // Return the newest data on the given side. They are not const, because they may allocate and
  // copy. The pointer stays the same until set_*_data; it may be null when the size is 0. THROW any
  // error of allocation and copies.
  const void* cpu_data();
  const void* gpu_data();
  // The same, and make that side the head.
  void* mutable_cpu_data();
  void* mutable_gpu_data();

  // Use the caller's buffer of size() bytes, which must outlive its use here; that side becomes the
  // head. An owned buffer of that side is released; the other side keeps its buffer. THROW for
  // null.
  void set_cpu_data(void* data);
  void set_gpu_data(void* data);

  // Start a copy to the device, on the given stream of the calling thread or on the stream of
  // `context`, and set the state to SYNCED at once. Readers of the device side must therefore use
  // the same stream or wait for it. Later calls that write or free the memory that the copy reads
  // wait for the copy; if it failed, they THROW and the head is at the CPU again. THROW unless the
  // head is at the CPU.
  void async_gpu_push(int stream_id);
  void async_gpu_push(BaseContext& context);

  SyncedHead head() const { return head_; }
  size_t size() const { return size_; }
  const SyncedContexts& contexts() const { return contexts_; }
  // The id of the device that was current at construction, or -1 if the device side reports none.
  int device_id() const { return device_id_; }

  // The buffers themselves; null before they are allocated. They are shared_ptr so that tensors
  // over a buffer keep it alive after this object releases it.
  const std::shared_ptr<const DataPtr>& cpu_buffer() const { return cpu_; }
  const std::shared_ptr<const DataPtr>& gpu_buffer() const { return gpu_; }

  // Returns a new context of the device side, on the thread's current device. THROWS if there is no
  // device side.
  std::unique_ptr<BaseContext> NewDeviceContext() const;

 private:
  void ToCPU();
  void ToGPU();
  void CheckDevice() const;
  int CurrentDevice() const;
  BaseStaticContext& DeviceSide() const;
  std::shared_ptr<const DataPtr> NewBuffer(BaseStaticContext& context) const;
  // Allocates device memory on the thread's current stream and makes it safe to use on the stream
  // of `context`.
  std::shared_ptr<const DataPtr> NewBufferFor(BaseContext& context) const;
  bool HasEvents() const;
  // Waits for the last async_gpu_push.
  void FinishPush();

  const size_t size_;
  const SyncedContexts contexts_;
  const int device_id_;
  // Invariants: each side that head_ names has a buffer (SYNCED names both). own_gpu_ implies that
  // gpu_ is not null.
  SyncedHead head_ = UNINITIALIZED;
  std::shared_ptr<const DataPtr> cpu_;
  std::shared_ptr<const DataPtr> gpu_;
  bool own_gpu_ = false;
  std::unique_ptr<Event> push_;  // created by the first push, then reused
  bool push_pending_ = false;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
