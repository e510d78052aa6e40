#include "contexts/cuda/cuda_upstream.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <optional>

#include "caffe2_core/base/byte_size.h"
#include "contexts/cuda/cuda_graph.h"
#include "contexts/cuda/cuda_query.h"

namespace caffe2rt {
namespace {

// An event of the upstream. It takes a CUDA event from the stock of the device on which it is
// recorded. Invariant: without a CUDA event there is nothing to wait for.
struct Mark {
  int device = -1;
  cudaEvent_t event = nullptr;
};
Mark& MarkOf(Upstream::Event event) { return *static_cast<Mark*>(event); }

// Runs the action, unless the runtime is being unloaded. If it is unloaded meanwhile, the error is
// ignored.
template <class Action>
void UnlessUnloading(Action action) {
  if (CudaIsUnloading()) return;
  try {
    action();
  } catch (const CudaError& e) {
    if (e.code() != cudaErrorCudartUnloading) throw;
  }
}

// Returns the allocated memory, or null if CUDA is out of memory. THROWS on other errors of `call`.
void* OrNull(const char* call, cudaError_t code, void* data, size_t nbytes, const char* what) {
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  if (code == cudaSuccess) return data;
  internal::ThrowCudaError(__FILE__, __LINE__, call, code,
                           MakeString(ByteSizeText(nbytes), " of ", what));
}

}  // namespace

CudaUpstream::CudaUpstream(size_t slot, bool has_host_index) : slot_(slot) {
  if (has_host_index) streams_.push_back(nullptr);
}

StreamIndex CudaUpstream::NumberStream(CudaStream& stream) {
  const MutexLock lock(mutex_);
  std::atomic<int32_t>& index = stream.upstream_index[slot_];
  if (index.load(std::memory_order_relaxed) < 0) {
    streams_.push_back(&stream);
    index.store(static_cast<int32_t>(streams_.size()) - 1, std::memory_order_release);
  }
  return index.load(std::memory_order_relaxed);
}

CudaStream* CudaUpstream::StreamAt(StreamIndex index) {
  const MutexLock lock(mutex_);
  CAFFE_ENFORCE(index >= 0 && static_cast<size_t>(index) < streams_.size(), "stream number ", index,
                " is not known, want 0 to ", static_cast<int64_t>(streams_.size()) - 1);
  return streams_[static_cast<size_t>(index)];
}

std::vector<CudaStream*> CudaUpstream::Streams() {
  const MutexLock lock(mutex_);
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
  if (stream == nullptr) return;
  UnlessUnloading([&] {
    if (mark.event == nullptr) mark.event = TakeCudaEvent(device);
    CUDA_ENFORCE(RecordEvent(mark.event, *stream), "event of memory on device ", device);
  });
}

bool CudaUpstream::IsDone(Event event) {
  const Mark& mark = MarkOf(event);
  bool is_done = true;
  if (mark.event == nullptr) return is_done;
  UnlessUnloading([&] {
    AvoidNewCudaContext(mark.device);
    const cudaError_t code = ForgetNotReady(cudaEventQuery(mark.event));
    is_done = code != cudaErrorNotReady;
    if (is_done) CUDA_ENFORCE(code, "event of memory on device ", mark.device);
  });
  return is_done;
}

void CudaUpstream::Synchronize(StreamIndex index) {
  // Pools also wait for the host's number, because they wait for all numbers that they have seen.
  const CudaStream* const stream = StreamAt(index);
  if (stream == nullptr) return;
  UnlessUnloading([&] { CUDA_ENFORCE(WaitForWork(*stream), "stream of device ", stream->device); });
}

void* CudaDeviceUpstream::Allocate(size_t nbytes) {
  EnforceNotRecording("device memory is allocated");
  const DeviceGuard guard(device_);
  void* data = nullptr;
  const cudaError_t code = cudaMalloc(&data, nbytes);
  return OrNull("cudaMalloc", code, data, nbytes, "device memory");
}

void CudaDeviceUpstream::Free(void* data, size_t) {
  UnlessUnloading([&] {
    std::optional<DeviceGuard> guard;
    try {
      guard.emplace(device_);
    } catch (const CudaError&) {  // cudaFree works without the guard: it frees memory of any device
    }
    CUDA_ENFORCE(cudaFree(data), "memory of device ", device_);
  });
}

void* CudaPinnedUpstream::Allocate(size_t nbytes) {
  EnforceNotRecording("pinned memory is allocated");
  AvoidNewCudaContext(-1);
  if (on_node_) return AllocateOnNode(nbytes);
  void* data = nullptr;
  const cudaError_t code = cudaHostAlloc(&data, nbytes, cudaHostAllocPortable);
  return OrNull("cudaHostAlloc", code, data, nbytes, "pinned memory");
}

void* CudaPinnedUpstream::AllocateOnNode(size_t nbytes) {
  void* const pages =
      mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  // Set the policy before the first access to the pages. On a system without NUMA it has no effect.
  unsigned cpu = 0, node = 0;
  if (syscall(SYS_getcpu, &cpu, &node, nullptr) == 0 && node < 64) {
    constexpr int kPreferred = 1;  // set_mempolicy(2)
    const uint64_t mask = uint64_t{1} << node;
    syscall(SYS_mbind, pages, nbytes, kPreferred, &mask, 65, 0);
  }
  try {
    const cudaError_t code = cudaHostRegister(pages, nbytes, cudaHostRegisterPortable);
    if (void* const data = OrNull("cudaHostRegister", code, pages, nbytes, "pinned memory")) {
      return data;
    }
  } catch (...) {
    munmap(pages, nbytes);
    throw;
  }
  munmap(pages, nbytes);
  return nullptr;
}

void CudaPinnedUpstream::Free(void* data, size_t nbytes) {
  UnlessUnloading([&] {
    AvoidNewCudaContext(-1);
    if (on_node_) {
      CUDA_ENFORCE(cudaHostUnregister(data), "pinned memory");
      munmap(data, nbytes);
    } else {
      CUDA_ENFORCE(cudaFreeHost(data), "pinned memory");
    }
  });
}

}  // namespace caffe2rt
