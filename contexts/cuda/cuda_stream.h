#pragma once
// Streams: each thread has its own on each device, by small ids, and one of them is its current
// one.
//
//   CudaStream& stream = ThreadStream(device, 3);   // this thread's stream 3 on the device
//   StreamGuard guard(device, 3);                   // memory is now allocated for it
//
// Streams come from a stock of the process and go back when the thread ends, without a call of
// CUDA: they are never destroyed, because the driver may give a destroyed handle out again. Work
// that is left on a stream stays in front of what the next thread gives it.

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "caffe2_core/device/memory.h"
#include "contexts/cuda/cuda_device.h"
#include "contexts/cuda/cuda_handles.h"
#include "contexts/cuda/cuda_staging.h"

namespace caffe2rt {

struct KernelReport;

// A stream that does not wait for the default stream. Lives for ever, never moves.
struct CudaStream {
  int device = 0;
  cudaStream_t stream = nullptr;
  // The small number by which each upstream of memory knows this stream; -1: not yet. Owned by
  // cuda_upstream.cc. One slot a device, the last is the host's.
  std::array<std::atomic<int32_t>, kCompileTimeMaxGpus + 1> upstream_index;
  // Whether copies from or to pinned memory may be pending: set by a copy, cleared by a wait.
  std::atomic<bool> has_host_copies{false};
  // Set while work is recorded for a graph: events and waits then do not do what they say. The
  // mutex is held to begin and end that, and to record an event from another thread.
  struct Capture {
    mutable std::mutex mutex;
    std::atomic<bool> active{false};
    cudaEvent_t before = nullptr;  // behind what the stream was given before
  } capture;
  // Scratch memory: its user is whatever the stream does next (cuda_handles.h).
  DataPtr workspace, cublas_workspace;
  size_t workspace_bytes = 0, cublas_workspace_bytes = 0;
  bool workspace_is_recorded = false;        // a graph holds its address
  std::vector<DataPtr> recorded_workspaces;  // that have become too small
  CudaStaging staging;                       // for copies of pageable memory
  // What kernels found wrong (cuda_report.h); null until one may.
  KernelReport* report = nullptr;
};

// What a thread has of CUDA. Used by its thread alone.
class ThreadLocalCUDAObjects {
 public:
  ThreadLocalCUDAObjects() = default;
  ~ThreadLocalCUDAObjects();
  ThreadLocalCUDAObjects(const ThreadLocalCUDAObjects&) = delete;
  ThreadLocalCUDAObjects& operator=(const ThreadLocalCUDAObjects&) = delete;

  // Takes one from the stock on first use. THROWS for a device that is not there, a negative id,
  // and what CUDA says of a new stream.
  CudaStream& Stream(int device, int stream_id);
  // Null when this thread has not used it.
  CudaStream* FindStream(int device, int stream_id) const;

  // The id of the current stream, 0 at first.
  int CurrentId(int device) const { return current_[static_cast<size_t>(device)]; }
  void SetCurrentId(int device, int stream_id);
  // Whether the stream is this thread's current one on its device, by this id.
  bool IsCurrent(const CudaStream& stream, int stream_id) const {
    const auto device = static_cast<size_t>(stream.device);
    return current_stream_[device] == &stream && current_[device] == stream_id;
  }

  // REQUIRES: a device that is there.
  CudaHandles& Handles(int device) { return handles_[static_cast<size_t>(device)]; }

 private:
  std::array<std::map<int, CudaStream*>, kCompileTimeMaxGpus> streams_;
  std::array<int, kCompileTimeMaxGpus> current_{};
  // streams_[i][current_[i]], to have it by a load.
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
// The stream that the calling thread's memory is for: what SwitchToDevice or a StreamGuard set
// last, else the thread's stream 0. THROWS as Stream.
CudaStream& CurrentStream(int device);
// The same, or null when the thread has none on this device. For deleters: never throws, makes no
// call of CUDA, works while a thread ends.
CudaStream* FindCurrentStream(int device) noexcept;

// Whether all work of the calling thread's stream is over. THROWS when it failed.
bool IsStreamFree(int device, int stream_id);

// Records an event, or makes the stream wait for one; a stream that is recorded for a graph
// refuses.
cudaError_t RecordEvent(cudaEvent_t event, const CudaStream& stream);
cudaError_t WaitForEvent(const CudaStream& waiter, cudaEvent_t event);
// Makes the host wait for the stream; where it is recorded for a graph, for what came before.
cudaError_t WaitForWork(const CudaStream& stream);
// Puts what `waiter` does from now on behind what `other` was given so far; of any two devices. The
// host does not wait. THROWS what CUDA says.
void WaitForStream(const CudaStream& waiter, const CudaStream& other);

// Makes a stream the thread's current one on its device, until the end of the scope.
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

// Events without timing, used over and over: a stock for each device. THROWS when CUDA has no more.
cudaEvent_t TakeCudaEvent(int device);
void GiveCudaEvent(int device, cudaEvent_t event) noexcept;

}  // namespace caffe2rt
