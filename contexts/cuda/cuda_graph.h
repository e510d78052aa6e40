#pragma once
// Captures the work of a stream as a CUDA graph and replays it. CUDAStaticContext::CreateGraph
// creates a CudaGraph; operators need not know of it.
//
// A graph holds addresses. During a capture, device memory therefore must not be allocated or
// freed, and copies from or to the host must use pinned memory (pageable memory is copied through
// staging buffers, which are reused). A forbidden call throws, and EndCapture then fails with its
// reason. Other threads are not affected.
//
// The functions are for the rest of contexts/cuda. They are thread safe; a CudaGraph is not.

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "caffe2_core/device/device_graph.h"
#include "contexts/cuda/cuda_stream.h"

namespace caffe2rt {

class CudaGraph final : public DeviceGraph {
 public:
  // THROWS if the device does not exist.
  explicit CudaGraph(int device);
  ~CudaGraph() override;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  // THROWS if the thread or its stream is already being captured.
  void BeginCapture(int stream_id) override;
  // Must be called by the thread that called BeginCapture.
  bool EndCapture(std::string* reason) override;
  // May be called by any thread. If the stream is not the captured one, the graph waits for the
  // captured stream, which then waits for the graph, because both use the same scratch memory.
  void Launch(int stream_id) override;
  // Libraries choose their kernels by allow_tf32 while the work is captured.
  bool IsStale() const override { return allow_tf32_ != GlobalCudaLibraryOptions().allow_tf32; }

  // Makes the capture fail with this reason; the first reason is kept.
  void Refuse(const std::string& reason) noexcept;
  void NotePinnedCopy() { copies_host_memory_ = true; }

 private:
  // Makes `executable_` run the graph: updates it if the work has the same structure as before.
  bool Instantiate(cudaGraph_t graph, std::string* reason);
  void Forget() noexcept;

  const int device_;
  CudaStream* stream_ = nullptr;  // of the last capture
  cudaGraphExec_t executable_ = nullptr;
  bool recording_ = false;
  bool allow_tf32_ = false;  // at the last capture
  bool copies_host_memory_ = false;
  std::string refused_;
};

namespace internal {
[[noreturn]] void ThrowRecording(const char* what);
extern thread_local constinit CudaGraph* recording;
}  // namespace internal

// Returns the graph that the calling thread captures, or null.
inline CudaGraph* RecordingOfThread() noexcept { return internal::recording; }

// If the calling thread captures a graph: THROWS and makes the capture fail with the reason `what`,
// such as "memory is allocated".
inline void EnforceNotRecording(const char* what) {
  if (__builtin_expect(internal::recording != nullptr, 0)) internal::ThrowRecording(what);
}

}  // namespace caffe2rt
