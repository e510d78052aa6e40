#pragma once
// One buffer on the CPU and one of the same size on a device, allocated when first touched and
// copied when needed.
//
//   SyncedMemory memory(1024, {cpu_static_context, device_static_context});
//   float* host = static_cast<float*>(memory.mutable_cpu_data());   // allocates, zeroed; the CPU
//   has the newest data const void* device = memory.gpu_data();                         //
//   allocates and copies; both sides agree memory.cpu_data(); // nothing to do
//
// The side that was written last is the head; reading the other side copies, and waits for the
// copy:
//
//                   cpu_data           mutable_cpu_data         gpu_data           mutable_gpu_data
//   UNINITIALIZED   zeros -> AT_CPU    zeros -> AT_CPU          zeros -> AT_GPU    zeros -> AT_GPU
//   HEAD_AT_CPU     -                  -                        copy -> SYNCED     copy ->
//   HEAD_AT_GPU HEAD_AT_GPU     copy -> SYNCED     copy -> HEAD_AT_CPU      -                  -
//   SYNCED          -                  HEAD_AT_CPU              -                  HEAD_AT_GPU
//
// Names are Caffe's, which said "gpu" for the device.
//
// Ownership: a buffer that this object allocated goes with the object, or with set_*_data, or with
// the last cpu_buffer()/gpu_buffer() that was handed out; a caller's buffer stays the caller's.
// Copies run on the stream of a fresh context of the calling thread (on CUDA its current stream,
// else its stream 0). Work that the caller enqueued on other streams is the caller's to wait for.
// Used by one thread at a time. A call that throws leaves the state as it was.

#include <cstddef>
#include <memory>

#include "caffe2_core/device/context.h"
#include "caffe2_core/device/event.h"
#include "caffe2_core/device/memory.h"

namespace caffe2rt {

// The two sides. The static contexts are not owned; they live as long as the process.
struct SyncedContexts {
  BaseStaticContext* cpu = nullptr;
  // Null: there is no device, and every call that needs one THROWS.
  BaseStaticContext* device = nullptr;

  bool operator==(const SyncedContexts&) const = default;
};

// The CPU, and CUDA where it is available.
SyncedContexts DefaultSyncedContexts();

struct SyncedOptions {
  // Check in every call that the thread's current device is the one at construction, and that owned
  // device memory lies on it. Costs a question to the device per call, so that a debug build of the
  // library alone begins with true.
  bool check_device = false;
};
// Read by every call; set before memory is shared between threads.
SyncedOptions& GlobalSyncedOptions();

class SyncedMemory {
 public:
  enum SyncedHead { UNINITIALIZED = 0, HEAD_AT_CPU = 1, HEAD_AT_GPU = 2, SYNCED = 3 };

  // Touches no memory. THROWS without a CPU side.
  explicit SyncedMemory(size_t size_bytes = 0, SyncedContexts contexts = DefaultSyncedContexts());
  SyncedMemory(const SyncedMemory&) = delete;
  SyncedMemory& operator=(const SyncedMemory&) = delete;
  // Waits for an async_gpu_push that may still read the host's buffer. Logs what goes wrong.
  ~SyncedMemory();

  // The newest data, on one side. Not const: they may allocate and copy. The pointer stays the same
  // until set_*_data; it may be null when the size is 0. THROWS what allocation and copies throw.
  const void* cpu_data();
  const void* gpu_data();
  // The same, and that side is the head from now on.
  void* mutable_cpu_data();
  void* mutable_gpu_data();

  // Uses the caller's buffer of size() bytes, which must live as long; that side becomes the head.
  // An owned buffer of that side is let go; the other side's stays. THROWS for null.
  void set_cpu_data(void* data);
  void set_gpu_data(void* data);

  // Starts a copy to the device on that stream of the calling thread, or on a context's stream, and
  // calls it SYNCED at once: readers of the device side work on that stream or wait for it. Calls
  // that write or free what the copy reads wait, and THROW when the copy failed, with the head back
  // at the CPU. THROWS unless the head is at the CPU.
  void async_gpu_push(int stream_id);
  void async_gpu_push(BaseContext& context);

  SyncedHead head() const { return head_; }
  size_t size() const { return size_; }
  const SyncedContexts& contexts() const { return contexts_; }
  // The device that was current at construction; -1 where the device side does not tell.
  int device_id() const { return device_id_; }

  // The buffers themselves, null when they are not there yet. shared_ptr: tensors that look at a
  // buffer keep it alive when this object lets it go.
  const std::shared_ptr<const DataPtr>& cpu_buffer() const { return cpu_; }
  const std::shared_ptr<const DataPtr>& gpu_buffer() const { return gpu_; }

  // A fresh context of the device side, on the thread's current device. THROWS without a device
  // side.
  std::unique_ptr<BaseContext> NewDeviceContext() const;

 private:
  void ToCPU();
  void ToGPU();
  void CheckDevice() const;
  int CurrentDevice() const;
  BaseStaticContext& DeviceSide() const;
  std::shared_ptr<const DataPtr> NewBuffer(BaseStaticContext& context) const;
  // Memory of the device for the thread's current stream, handed over to the context's.
  std::shared_ptr<const DataPtr> NewBufferFor(BaseContext& context) const;
  bool HasEvents() const;
  // Waits for the last async_gpu_push.
  void FinishPush();

  const size_t size_;
  const SyncedContexts contexts_;
  const int device_id_;
  // Invariants: a buffer is there on each side that head_ names (SYNCED names both). own_gpu_
  // implies gpu_.
  SyncedHead head_ = UNINITIALIZED;
  std::shared_ptr<const DataPtr> cpu_;
  std::shared_ptr<const DataPtr> gpu_;
  bool own_gpu_ = false;
  std::unique_ptr<Event> push_;  // made by the first push, then used again
  bool push_pending_ = false;
};

}  // namespace caffe2rt
