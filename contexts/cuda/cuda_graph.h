#pragma once
// Work of a stream that is recorded once and replayed: capture of CUDA graphs. CUDAStaticContext's
// CreateGraph makes a CudaGraph; operators know nothing of it.
//
// A graph holds addresses, so that nothing may be allocated or freed on the device while it is
// recorded, and only pinned memory copied from or to the host: pageable memory goes through pieces
// of a pool, which are used again. What is asked for all the same throws, and the recording ends
// with the reason. Other threads go on as usual.
//
// The functions are for the rest of contexts/cuda. Thread safe, but for CudaGraph.

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "caffe2_core/device/device_graph.h"
#include "contexts/cuda/cuda_stream.h"

namespace caffe2rt {

class CudaGraph final : public DeviceGraph {
 public:
  // THROWS when the device is not there.
  explicit CudaGraph(int device);
  ~CudaGraph() override;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  // THROWS when the thread, or its stream, records already.
  void BeginCapture(int stream_id) override;
  // By the thread that began.
  bool EndCapture(std::string* reason) override;
  // On another stream than the recorded one, both wait for each other: they share scratch memory.
  void Launch(int stream_id) override;

  // The first reason counts.
  void Refuse(const std::string& reason) noexcept;
  void NotePinnedCopy() { copies_host_memory_ = true; }

 private:
  bool Instantiate(cudaGraph_t graph, std::string* reason);
  void Forget() noexcept;

  const int device_;
  CudaStream* stream_ = nullptr;  // of the last recording
  cudaGraphExec_t executable_ = nullptr;
  bool recording_ = false;
  bool copies_host_memory_ = false;
  std::string refused_;
};

namespace internal {
[[noreturn]] void ThrowRecording(const char* what);
extern thread_local constinit CudaGraph* recording;
}  // namespace internal

// What the calling thread records; null when it does not.
inline CudaGraph* RecordingOfThread() noexcept { return internal::recording; }

// THROWS when the calling thread records, and notes as the reason why it cannot: "memory is
// allocated".
inline void EnforceNotRecording(const char* what) {
  if (__builtin_expect(internal::recording != nullptr, 0)) internal::ThrowRecording(what);
}

}  // namespace caffe2rt
