#pragma once
// Streams. Each thread has its own streams on each device, numbered by small ids; one of them is
// its current stream.
//
//   CudaStream& stream = ThreadStream(device, 3);   // this thread's stream 3 on the device
//   StreamGuard guard(device, 3);                   // memory is now allocated for it
//
// Streams come from a process-wide stock and return to it when the thread ends, without a CUDA
// call. They are never destroyed, because the driver may reuse the handle of a destroyed stream.
// Unfinished work on a returned stream runs before the work of the next thread that gets it.

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/device/memory.h"
#include "contexts/cuda/cuda_device.h"
#include "contexts/cuda/cuda_handles.h"
#include "contexts/cuda/cuda_staging.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct KernelReport;

// A stream that does not synchronize with the default stream. It is never destroyed or moved.
struct CudaStream {
  int device = 0;
  cudaStream_t stream = nullptr;
  // The number of this stream in each memory upstream; -1: none yet. Managed by cuda_upstream.cc.
  // One slot per device; the last slot is for pinned host memory.
  std::array<std::atomic<int32_t>, kCompileTimeMaxGpus + 1> upstream_index;
  // Whether copies of pinned memory may be pending: set by a copy, cleared by a wait.
  std::atomic<bool> has_host_copies{false};
  // `active` is set while the stream is captured for a graph; recording an event or waiting would
  // then become part of the graph. The mutex is held to begin and end a capture, and to record an
  // event or enqueue a wait.
  struct Capture {
    mutable Mutex mutex;
    std::atomic<bool> active{false};
    cudaEvent_t before = nullptr;  // behind the work enqueued before the capture
  } capture;
  // Scratch memory for the next work of the stream (cuda_handles.h).
  DataPtr workspace, cublas_workspace;
  size_t workspace_bytes = 0, cublas_workspace_bytes = 0;
  bool workspace_is_recorded = false;        // a graph holds its address
  std::vector<DataPtr> recorded_workspaces;  // outgrown workspaces whose addresses graphs hold
  CudaStaging staging;                       // for copies of pageable memory
  // Errors that kernels found (cuda_report.h); null until ReportOf is called.
  KernelReport* report = nullptr;
};

// The CUDA objects of a thread. Used only by that thread.
class ThreadLocalCUDAObjects {
 public:
  ThreadLocalCUDAObjects() = default;
  ~ThreadLocalCUDAObjects();
  ThreadLocalCUDAObjects(const ThreadLocalCUDAObjects&) = delete;
  ThreadLocalCUDAObjects& operator=(const ThreadLocalCUDAObjects&) = delete;

  // Takes a stream from the stock on first use. THROWS for an unknown device, a negative id, and on
  // CUDA's errors when it creates a stream.
  CudaStream& Stream(int device, int stream_id);
  // Returns null if this thread has not used the stream.
  CudaStream* FindStream(int device, int stream_id) const;

  // The id of the current stream, 0 at first.
  int CurrentId(int device) const { return current_[static_cast<size_t>(device)]; }
  void SetCurrentId(int device, int stream_id);
  // Whether `stream` is this thread's current stream on its device and has this id.
  bool IsCurrent(const CudaStream& stream, int stream_id) const {
    const auto device = static_cast<size_t>(stream.device);
    return current_stream_[device] == &stream && current_[device] == stream_id;
  }

  // REQUIRES: the device exists.
  CudaHandles& Handles(int device) { return handles_[static_cast<size_t>(device)]; }

 private:
  std::array<std::map<int, CudaStream*>, kCompileTimeMaxGpus> streams_;
  std::array<int, kCompileTimeMaxGpus> current_{};
  // Caches streams_[i][current_[i]].
  std::array<CudaStream*, kCompileTimeMaxGpus> current_stream_{};
  std::array<CudaHandles, kCompileTimeMaxGpus> handles_{};
  friend CudaStream& CurrentStream(int device);
  friend CudaStream* FindCurrentStream(int device) noexcept;
};

// The calling thread's objects.
ThreadLocalCUDAObjects& ThreadCudaObjects();

inline CudaStream& ThreadStream(int device, int stream_id) {
  return ThreadCudaObjects().Stream(device, stream_id);
}
// The stream for which the calling thread allocates memory: the stream that SwitchToDevice or a
// StreamGuard set last, else the thread's stream 0. THROWS as Stream.
CudaStream& CurrentStream(int device);
// The same, or null if the thread has none on this device. For deleters: never throws, makes no
// CUDA call, and works while a thread ends.
CudaStream* FindCurrentStream(int device) noexcept;

// Whether all work of the calling thread's stream has finished. THROWS if that work failed.
bool IsStreamFree(int device, int stream_id);

// Record an event on the stream, or make the stream wait for one. Return
// cudaErrorStreamCaptureUnsupported if the stream is being captured for a graph.
cudaError_t RecordEvent(cudaEvent_t event, const CudaStream& stream);
cudaError_t WaitForEvent(const CudaStream& waiter, cudaEvent_t event);
// Makes the host wait for the work of the stream. If the stream is being captured for a graph,
// waits for the work enqueued before the capture.
cudaError_t WaitForWork(const CudaStream& stream);
// Makes later work of `waiter` wait for the work enqueued on `other` so far. The streams may be on
// different devices. The host does not wait. THROWS CUDA's errors.
void WaitForStream(const CudaStream& waiter, const CudaStream& other);

// Sets the thread's current stream on a device until the end of the scope.
class StreamGuard {
 public:
  StreamGuard(int device, int stream_id);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  const int device_;
  int previous_id_;
};

// A stock of reusable events without timing for each device. TakeCudaEvent THROWS if CUDA cannot
// create an event.
cudaEvent_t TakeCudaEvent(int device);
void GiveCudaEvent(int device, cudaEvent_t event) noexcept;

}  // namespace caffe2rt
#pragma GCC visibility pop
