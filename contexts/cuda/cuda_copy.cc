#include "contexts/cuda/cuda_copy.h"

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/mutex.h"
#include "contexts/cuda/cuda_graph.h"
#include "contexts/cuda/pinned_allocator.h"

namespace caffe2rt {
namespace {

void CheckPointers(size_t nbytes, const void* src, const void* dst) {
  EnforceCudaIsNotLostByFork();
  CAFFE_ENFORCE(src != nullptr && dst != nullptr, "copy of ", ByteSizeText(nbytes),
                " from or to null");
}

bool IsPageable(const void* host) {
  cudaPointerAttributes attributes{};
  CUDA_ENFORCE(cudaPointerGetAttributes(&attributes, host));
  return attributes.type == cudaMemoryTypeUnregistered;
}

// The size of the pieces of large copies.
constexpr size_t kPieceBytes = CudaStaging::kBytes;

void CopyAsync(size_t nbytes, const void* src, void* dst, cudaMemcpyKind kind, CudaStream& stream) {
  CUDA_ENFORCE(cudaMemcpyAsync(dst, src, nbytes, kind, stream.stream), ByteSizeText(nbytes),
               ", device ", stream.device);
}

// A piece on its way from the device to its destination through a staging buffer.
class Arrival {
 public:
  Arrival() = default;
  ~Arrival() { GiveCudaEvent(device_, event_); }
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;

  // The copy to `stage` has just been enqueued. REQUIRES: the previous piece has been delivered.
  void Expect(const char* stage, char* dst, size_t nbytes, const CudaStream& stream) {
    if (event_ == nullptr) event_ = TakeCudaEvent(stream.device);
    device_ = stream.device;
    CUDA_ENFORCE(RecordEvent(event_, stream), "copy to the host");
    stage_ = stage;
    dst_ = dst;
    nbytes_ = nbytes;
  }
  // Waits for the piece and copies it to its destination. Does nothing if none is expected.
  void Deliver() {
    if (nbytes_ == 0) return;
    CUDA_ENFORCE(cudaEventSynchronize(event_), "copy to the host, device ", device_);
    std::memcpy(dst_, stage_, nbytes_);
    nbytes_ = 0;
  }

 private:
  int device_ = 0;
  cudaEvent_t event_ = nullptr;
  const char* stage_ = nullptr;
  char* dst_ = nullptr;
  size_t nbytes_ = 0;
};

}  // namespace

void NoteHostCopy(CudaStream& stream) {
  if (CudaGraph* const recording = RecordingOfThread(); recording != nullptr) {
    recording->NotePinnedCopy();
  }
  PinnedUpstream().IndexOf(stream);
  stream.has_host_copies.store(true, std::memory_order_release);
}

void CopyBetweenDevices(size_t nbytes, const void* src, void* dst, CudaStream& stream) {
  if (nbytes == 0) return;
  CheckPointers(nbytes, src, dst);
  AvoidNewCudaContext(stream.device);
  const int from = NumCudaDevices() > 1 ? GetGPUIDForPointer(src) : -1;
  const int to = from >= 0 ? GetGPUIDForPointer(dst) : -1;
  if (from == to || to < 0) {
    CopyAsync(nbytes, src, dst, cudaMemcpyDefault, stream);
    return;
  }
  EnableCudaPeerAccess(from, to);  // without peer access CUDA copies through the host
  CUDA_ENFORCE(cudaMemcpyPeerAsync(dst, to, src, from, nbytes, stream.stream), ByteSizeText(nbytes),
               " from device ", from, " to device ", to);
}

void CopyFromHost(size_t nbytes, const void* src, void* dst, CudaStream& stream) {
  if (nbytes == 0) return;
  CheckPointers(nbytes, src, dst);
  AvoidNewCudaContext(stream.device);
  if (!IsPageable(src)) {
    NoteHostCopy(stream);
    CopyAsync(nbytes, src, dst, cudaMemcpyDefault, stream);
    return;
  }
  EnforceNotRecording("pageable memory is copied");
  for (size_t done = 0; done < nbytes; done += kPieceBytes) {
    const size_t piece = std::min(kPieceBytes, nbytes - done);
    const MutexLock lock(stream.staging.mutex());
    char* const stage = stream.staging.Take(piece, stream);
    std::memcpy(stage, static_cast<const char*>(src) + done, piece);
    CopyAsync(piece, stage, static_cast<char*>(dst) + done, cudaMemcpyDefault, stream);
  }
}

void CopyToHost(size_t nbytes, const void* src, void* dst, CudaStream& stream) {
  if (nbytes == 0) return;
  CheckPointers(nbytes, src, dst);
  AvoidNewCudaContext(stream.device);
  if (!IsPageable(dst)) {
    NoteHostCopy(stream);
    CopyAsync(nbytes, src, dst, cudaMemcpyDefault, stream);
    return;
  }
  EnforceNotRecording("pageable memory is copied");
  // While the host copies a piece from one buffer, the device fills the other. The lock is kept,
  // because the buffers may be reused as soon as the stream has passed them.
  const MutexLock lock(stream.staging.mutex());
  Arrival arrivals[2];
  size_t piece = 0;
  for (size_t done = 0; done < nbytes; done += piece) {
    piece = std::min(kPieceBytes, nbytes - done);
    Arrival& next = arrivals[done / kPieceBytes % 2];
    char* const stage = stream.staging.Take(piece, stream);
    CopyAsync(piece, static_cast<const char*>(src) + done, stage, cudaMemcpyDefault, stream);
    next.Expect(stage, static_cast<char*>(dst) + done, piece, stream);
    arrivals[(done / kPieceBytes + 1) % 2].Deliver();
  }
  for (Arrival& arrival : arrivals) arrival.Deliver();
}

}  // namespace caffe2rt
