#include "contexts/cuda/cuda_copy.h"

#include <algorithm>
#include <cstring>
#include <new>

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

// What the stream does after a piece has arrived on the host. It is stored in front of the piece,
// so that nothing needs to be freed if the device fails before the delivery.
struct Delivery {
  void* dst;
  size_t nbytes;
};
constexpr size_t kDeliveryBytes = 64;
static_assert(sizeof(Delivery) <= kDeliveryBytes, "a delivery lies in front of its piece");
// The size of the pieces of large copies; leaves room for a delivery in front.
constexpr size_t kPieceBytes = CudaStaging::kBytes - kDeliveryBytes;

void Deliver(void* state) {
  const auto& delivery = *static_cast<const Delivery*>(state);
  std::memcpy(delivery.dst, static_cast<const char*>(state) + kDeliveryBytes, delivery.nbytes);
}

void CopyAsync(size_t nbytes, const void* src, void* dst, cudaMemcpyKind kind, CudaStream& stream) {
  CUDA_ENFORCE(cudaMemcpyAsync(dst, src, nbytes, kind, stream.stream), ByteSizeText(nbytes),
               ", device ", stream.device);
}

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
  for (size_t done = 0; done < nbytes; done += kPieceBytes) {
    const size_t piece = std::min(kPieceBytes, nbytes - done);
    const MutexLock lock(stream.staging.mutex());
    char* const stage = stream.staging.Take(kDeliveryBytes + piece, stream);
    new (stage) Delivery{static_cast<char*>(dst) + done, piece};
    CopyAsync(piece, static_cast<const char*>(src) + done, stage + kDeliveryBytes,
              cudaMemcpyDefault, stream);
    CUDA_ENFORCE(cudaLaunchHostFunc(stream.stream, &Deliver, stage), "copy to the host");
  }
}

}  // namespace caffe2rt
