#include "contexts/cuda/cuda_staging.h"

#include "contexts/cuda/cuda_error.h"
#include "contexts/cuda/cuda_query.h"
#include "contexts/cuda/cuda_stream.h"
#include "contexts/cuda/pinned_allocator.h"

namespace caffe2rt {
namespace {
constexpr size_t kAlignment = 64;

// Queries first: if the event is over, a profile then shows no synchronization.
void Wait(cudaEvent_t event, const CudaStream& stream) {
  AvoidNewCudaContext(stream.device);
  cudaError_t code = ForgetNotReady(cudaEventQuery(event));
  if (code == cudaErrorNotReady) code = cudaEventSynchronize(event);
  CUDA_ENFORCE(code, "staging of device ", stream.device);
}
}  // namespace

void CudaStaging::Allocate(const CudaStream& stream) {
  for (Buffer& buffer : buffers_) {
    if (buffer.passed == nullptr) buffer.passed = TakeCudaEvent(stream.device);
  }
  const PoolBlock block = PinnedPool().Allocate(buffers_.size() * kBytes, CudaUpstream::kHostIndex);
  char* data = static_cast<char*>(block.data);
  for (Buffer& buffer : buffers_) {
    buffer.data = data;
    data += kBytes;
  }
}

char* CudaStaging::Take(size_t nbytes, const CudaStream& stream) {
  if (buffers_[0].data == nullptr) Allocate(stream);
  const size_t rounded = (nbytes + kAlignment - 1) / kAlignment * kAlignment;
  if (buffers_[current_].used + rounded > kBytes) {
    Buffer& full = buffers_[current_];
    Buffer& next = buffers_[1 - current_];
    CUDA_ENFORCE(RecordEvent(full.passed, stream), "staging of device ", stream.device);
    full.is_full = true;
    if (next.is_full) Wait(next.passed, stream);
    next.is_full = false;
    next.used = 0;
    current_ = 1 - current_;
  }
  Buffer& buffer = buffers_[current_];
  char* const piece = buffer.data + buffer.used;
  buffer.used += rounded;
  return piece;
}

}  // namespace caffe2rt
