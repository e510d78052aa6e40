#include "contexts/cuda/cuda_upstream.h"

#include "contexts/cuda/cuda_graph.h"

namespace caffe2rt {
namespace {

// An event of the upstream: it takes one of CUDA's from the stock of the device it is recorded on.
// Invariant: no event of CUDA means that there is nothing to wait for.
struct Mark {
  int device = -1;
  cudaEvent_t event = nullptr;
};
Mark& MarkOf(Upstream::Event event) { return *static_cast<Mark*>(event); }

// Whether a call was good, or the program ends and nobody minds.
bool Passes(cudaError_t code) {
  if (code == cudaErrorCudartUnloading) LogCudaError(code, "");
  return code == cudaSuccess || code == cudaErrorCudartUnloading;
}

// Memory that was allocated, or null when there is no more. THROWS other errors.
void* OrNull(cudaError_t code, void* data, size_t nbytes, const char* what) {
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  CUDA_ENFORCE(code, nbytes, " bytes of ", what);
  return data;
}

}  // namespace

CudaUpstream::CudaUpstream(size_t slot, bool has_host_index) : slot_(slot) {
  if (has_host_index) streams_.push_back(nullptr);
}

StreamIndex CudaUpstream::NumberStream(CudaStream& stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::atomic<int32_t>& index = stream.upstream_index[slot_];
  if (index.load(std::memory_order_relaxed) < 0) {
    streams_.push_back(&stream);
    index.store(static_cast<int32_t>(streams_.size()) - 1, std::memory_order_release);
  }
  return index.load(std::memory_order_relaxed);
}

CudaStream* CudaUpstream::StreamAt(StreamIndex index) {
  const std::lock_guard<std::mutex> lock(mutex_);
  CAFFE_ENFORCE(index >= 0 && static_cast<size_t>(index) < streams_.size(), "stream number ", index,
                " is not known, want 0 to ", static_cast<int64_t>(streams_.size()) - 1);
  return streams_[static_cast<size_t>(index)];
}

std::vector<CudaStream*> CudaUpstream::Streams() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {streams_.begin(), streams_.end()};
}

Upstream::Event CudaUpstream::CreateEvent() { return new Mark; }

void CudaUpstream::DestroyEvent(Event event) noexcept {
  const std::unique_ptr<Mark> mark(&MarkOf(event));
  if (mark->event != nullptr) GiveCudaEvent(mark->device, mark->event);
}

void CudaUpstream::Record(Event event, StreamIndex index) {
  Mark& mark = MarkOf(event);
  CudaStream* const stream = StreamAt(index);
  const int device = stream == nullptr ? -1 : stream->device;
  if (mark.device != device && mark.event != nullptr) {
    GiveCudaEvent(mark.device, std::exchange(mark.event, nullptr));
  }
  mark.device = device;
  if (stream == nullptr || CudaIsUnloading()) return;
  if (mark.event == nullptr) mark.event = TakeCudaEvent(device);
  const cudaError_t code = RecordEvent(mark.event, *stream);
  if (!Passes(code)) CUDA_ENFORCE(code, "event of memory on device ", device);
}

bool CudaUpstream::IsDone(Event event) {
  const Mark& mark = MarkOf(event);
  if (mark.event == nullptr || CudaIsUnloading()) return true;
  const cudaError_t code = cudaEventQuery(mark.event);
  if (code == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  if (!Passes(code)) CUDA_ENFORCE(code, "event of memory on device ", mark.device);
  return true;
}

void CudaUpstream::Synchronize(StreamIndex index) {
  // A pool waits for all numbers below the highest that it has seen.
  const CudaStream* const stream = StreamAt(index);
  if (stream == nullptr || CudaIsUnloading()) return;
  const cudaError_t code = WaitForWork(*stream);
  if (!Passes(code)) CUDA_ENFORCE(code, "stream of device ", stream->device);
}

void* CudaDeviceUpstream::Allocate(size_t nbytes) {
  EnforceNotRecording("device memory is allocated");
  const DeviceGuard guard(device_);
  void* data = nullptr;
  const cudaError_t code = cudaMalloc(&data, nbytes);
  return OrNull(code, data, nbytes, "device memory");
}

void CudaDeviceUpstream::Free(void* data, size_t) {
  if (CudaIsUnloading()) return;
  const DeviceGuard guard(device_);
  const cudaError_t code = cudaFree(data);
  if (!Passes(code)) CUDA_ENFORCE(code, "memory of device ", device_);
}

void* CudaPinnedUpstream::Allocate(size_t nbytes) {
  EnforceNotRecording("pinned memory is allocated");
  void* data = nullptr;
  const cudaError_t code = cudaHostAlloc(&data, nbytes, cudaHostAllocPortable);
  return OrNull(code, data, nbytes, "pinned memory");
}

void CudaPinnedUpstream::Free(void* data, size_t) {
  if (CudaIsUnloading()) return;
  const cudaError_t code = cudaFreeHost(data);
  if (!Passes(code)) CUDA_ENFORCE(code, "pinned memory");
}

}  // namespace caffe2rt
