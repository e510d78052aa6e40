#include "contexts/cuda/cuda_context.h"

#include "caffe2_core/base/random_seed.h"
#include "caffe2rt/caffe2.pb.h"
#include "contexts/cuda/cuda_copy.h"
#include "contexts/cuda/cuda_event.h"
#include "contexts/cuda/cuda_graph.h"
#include "contexts/cuda/cuda_report.h"

namespace caffe2rt {
namespace {

int DeviceOrCurrent(int device) {
  InitializeCuda();
  if (device == -1) device = CaffeCudaGetDevice();
  EnforceCudaDevice(device);
  return device;
}

int DeviceOf(const DeviceOption& option) {
  CAFFE_ENFORCE_EQ(option.device_type(), static_cast<int>(CUDA),
                   "device type of a CUDAContext's device option");
  return DeviceOrCurrent(option.has_device_id() ? option.device_id() : -1);
}

std::optional<bool> AllowsTf32(const DeviceOption& option) {
  std::optional<bool> allowed;
  for (const std::string& info : option.extra_info()) {  // the innermost net comes last
    if (info == "allow_tf32:0") allowed = false;
    if (info == "allow_tf32:1") allowed = true;
  }
  return allowed;
}

}  // namespace

std::unique_ptr<BaseContext> CUDAStaticContext::CreateContext() {
  auto context = std::make_unique<CUDAContext>();
  // New allocates for the thread's current stream, so the work that fills the memory belongs there.
  context->SwitchToDevice(ThreadCudaObjects().CurrentId(context->device_id()));
  return context;
}
std::unique_ptr<BaseContext> CUDAStaticContext::CreateContext(const DeviceOption& option) {
  return std::make_unique<CUDAContext>(option);
}

void CUDAStaticContext::ExtractDeviceOption(DeviceOption* option, const void* data) {
  option->set_device_type(CUDA);
  const int device = data != nullptr ? GetGPUIDForPointer(data) : CaffeCudaGetDevice();
  if (device >= 0) option->set_device_id(device);
}

std::unique_ptr<DeviceGraph> CUDAStaticContext::CreateGraph(const DeviceOption& option) {
  return std::make_unique<CudaGraph>(DeviceOf(option));
}

void CUDAStaticContext::RecordUse(const MemoryDeleter& memory, const BaseContext& user) const {
  if (user.device_type() != CUDA) return;
  RecordCudaUse(memory, static_cast<const CUDAContext&>(user).stream());
}

CUDAStaticContext* GetCUDAStaticContext() {
  static CUDAStaticContext* const context = new CUDAStaticContext;  // outlives every tensor
  return context;
}

void RegisterCUDAContext() {
  static const bool once = [] {
    RegisterCUDAEvents();
    RegisterStaticContext(CUDA, "CUDA", GetCUDAStaticContext());
    return true;
  }();
  (void)once;
}

CUDAContext::CUDAContext(int gpu_id)
    : device_(DeviceOrCurrent(gpu_id)),
      random_seed_(RandomNumberSeed()),
      stream_(&ThreadStream(device_, 0)) {}

CUDAContext::CUDAContext(const DeviceOption& option)
    : device_(DeviceOf(option)),
      random_seed_(option.has_random_seed() ? option.random_seed() : RandomNumberSeed()),
      has_own_seed_(option.has_random_seed()),
      allow_tf32_(AllowsTf32(option)),
      stream_(&ThreadStream(device_, 0)) {}

RandomBlocks CUDAContext::TakeRandomBlocks(uint64_t* used, uint64_t count) {
  const uint64_t begun = place_ != nullptr ? place_->begun() : 0;
  if (begun == 0) {
    uint64_t& taken = used != nullptr ? *used : random_blocks_;
    return {.seed = random_seed_, .first = std::exchange(taken, taken + count)};
  }
  if (std::exchange(blocks_begun_, begun) != begun) random_blocks_ = 0;
  const uint64_t key = place_->key();
  // The upper half of the key is that of the counter of the blocks.
  return {.seed = static_cast<uint32_t>(key),
          .first = (key >> 32 << 32) + std::exchange(random_blocks_, random_blocks_ + count)};
}

curandGenerator_t CUDAContext::curand_generator() {
  const uint64_t begun = place_ != nullptr ? place_->begun() : 0;
  if (std::exchange(generator_begun_, begun) != begun) generator_.StartAgain();
  return generator_.Get(*stream_, begun != 0 ? place_->key() : random_seed_);
}

void CUDAContext::SwitchToDevice(int stream_id) {
  ThreadLocalCUDAObjects& objects = ThreadCudaObjects();
  if (objects.IsCurrent(*stream_, stream_id)) {
    UseCudaDevice(device_);
    return;
  }
  CudaStream& stream = objects.Stream(device_, stream_id);
  CaffeCudaSetDevice(device_);
  objects.SetCurrentId(device_, stream_id);
  stream_ = &stream;
}

void CUDAContext::Finish() {
  EnforceCudaIsNotLostByFork();
  if (stream_->capture.active) EnforceNotRecording("the host waits for the device");
  AvoidNewCudaContext(device_);
  CUDA_ENFORCE(cudaStreamSynchronize(stream_->stream), "work on device ", device_);
  stream_->has_host_copies.store(false, std::memory_order_release);
  // A failed launch enqueued nothing, so the synchronization above does not report it.
  CUDA_ENFORCE(cudaGetLastError(), "work given to device ", device_);
  internal::CheckReport(*stream_);
}

void CUDAContext::CopyBytesSameDevice(size_t nbytes, const void* src, void* dst) {
  CopyBetweenDevices(nbytes, src, dst, *stream_);
}
void CUDAContext::CopyBytesFromCPU(size_t nbytes, const void* src, void* dst) {
  CopyFromHost(nbytes, src, dst, *stream_);
}
void CUDAContext::CopyBytesToCPU(size_t nbytes, const void* src, void* dst) {
  CopyToHost(nbytes, src, dst, *stream_);
}

std::mutex& CUDAContext::mutex() {
  static std::mutex* const mutex = new std::mutex;  // outlives every thread
  return *mutex;
}

bool CUDAContext::IsStreamFree(const DeviceOption& option, int stream_id) {
  return caffe2rt::IsStreamFree(DeviceOf(option), stream_id);
}

}  // namespace caffe2rt
