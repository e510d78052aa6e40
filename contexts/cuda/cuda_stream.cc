#include "contexts/cuda/cuda_stream.h"

#include "contexts/cuda/cuda_query.h"

namespace caffe2rt {
namespace {

constexpr int kEventsAtOnce = 16;

// The unused streams and events of one device. Never destroyed.
struct Stock {
  Mutex mutex;
  std::vector<CudaStream*> streams ABSL_GUARDED_BY(mutex);
  std::vector<cudaEvent_t> events ABSL_GUARDED_BY(mutex);
};
Stock& StockOf(int device) {
  static auto* const stocks = new std::array<Stock, kCompileTimeMaxGpus>;
  return (*stocks)[static_cast<size_t>(device)];
}

CudaStream* TakeStream(int device) {
  EnforceCudaDevice(device);
  Stock& stock = StockOf(device);
  {
    const MutexLock lock(stock.mutex);
    if (!stock.streams.empty()) {
      CudaStream* const stream = stock.streams.back();
      stock.streams.pop_back();
      return stream;
    }
  }
  const DeviceGuard guard(device);
  auto stream = std::make_unique<CudaStream>();
  stream->device = device;
  for (std::atomic<int32_t>& index : stream->upstream_index) index.store(-1);
  CUDA_ENFORCE(cudaStreamCreateWithFlags(&stream->stream, cudaStreamNonBlocking), "device ",
               device);
  return stream.release();
}

// Trivially destructible, so that they can be read while a thread ends.
thread_local ThreadLocalCUDAObjects* thread_objects = nullptr;
thread_local bool thread_is_ending = false;

struct Owner {
  ThreadLocalCUDAObjects objects;
  Owner() { thread_objects = &objects; }
  ~Owner() {
    thread_objects = nullptr;
    thread_is_ending = true;
  }
};

}  // namespace

ThreadLocalCUDAObjects::~ThreadLocalCUDAObjects() {
  for (int device = 0; device < kCompileTimeMaxGpus; ++device) GiveHandles(device, Handles(device));
  for (const auto& by_id : streams_) {
    for (const auto& [id, stream] : by_id) {
      Stock& stock = StockOf(stream->device);
      const MutexLock lock(stock.mutex);
      stock.streams.push_back(stream);
    }
  }
}

CudaStream& ThreadLocalCUDAObjects::Stream(int device, int stream_id) {
  EnforceCudaDevice(device);
  CAFFE_ENFORCE_GE(stream_id, 0, "stream id on CUDA device ", device);
  auto& by_id = streams_[static_cast<size_t>(device)];
  const auto found = by_id.find(stream_id);
  if (found != by_id.end()) return *found->second;
  CudaStream* const stream = TakeStream(device);
  by_id.emplace(stream_id, stream);
  return *stream;
}

CudaStream* ThreadLocalCUDAObjects::FindStream(int device, int stream_id) const {
  const auto& by_id = streams_[static_cast<size_t>(device)];
  const auto found = by_id.find(stream_id);
  return found == by_id.end() ? nullptr : found->second;
}

void ThreadLocalCUDAObjects::SetCurrentId(int device, int stream_id) {
  CudaStream& stream = Stream(device, stream_id);
  current_[static_cast<size_t>(device)] = stream_id;
  current_stream_[static_cast<size_t>(device)] = &stream;
}

ThreadLocalCUDAObjects& ThreadCudaObjects() {
  if (__builtin_expect(thread_objects != nullptr, 1)) return *thread_objects;
  // The destructor of another thread-local object may run after Owner's and still use CUDA. Objects
  // created for it are leaked.
  if (thread_is_ending) return *(thread_objects = new ThreadLocalCUDAObjects);
  static thread_local Owner owner;
  return owner.objects;
}

CudaStream& CurrentStream(int device) {
  ThreadLocalCUDAObjects& objects = ThreadCudaObjects();
  EnforceCudaDevice(device);
  CudaStream*& current = objects.current_stream_[static_cast<size_t>(device)];
  if (__builtin_expect(current == nullptr, 0)) current = &objects.Stream(device, 0);
  return *current;
}

CudaStream* FindCurrentStream(int device) noexcept {
  if (thread_objects == nullptr) return nullptr;
  return thread_objects->current_stream_[static_cast<size_t>(device)];
}

bool IsStreamFree(int device, int stream_id) {
  EnforceCudaDevice(device);
  const CudaStream* const stream = ThreadCudaObjects().FindStream(device, stream_id);
  if (stream == nullptr) return true;
  AvoidNewCudaContext(device);
  const cudaError_t code = ForgetNotReady(cudaStreamQuery(stream->stream));
  if (code == cudaErrorNotReady) return false;
  CUDA_ENFORCE(code, "query of stream ", stream_id);
  return true;
}

cudaError_t RecordEvent(cudaEvent_t event, const CudaStream& stream) {
  AvoidNewCudaContext(stream.device);
  const MutexLock lock(stream.capture.mutex);
  if (stream.capture.active) return cudaErrorStreamCaptureUnsupported;
  return cudaEventRecord(event, stream.stream);
}

cudaError_t WaitForEvent(const CudaStream& waiter, cudaEvent_t event) {
  AvoidNewCudaContext(waiter.device);
  const MutexLock lock(waiter.capture.mutex);
  if (waiter.capture.active) return cudaErrorStreamCaptureUnsupported;
  return cudaStreamWaitEvent(waiter.stream, event, 0);
}

cudaError_t WaitForWork(const CudaStream& stream) {
  // Wait for an event, because a capture of the stream may begin during the wait.
  const cudaEvent_t event = TakeCudaEvent(stream.device);
  cudaError_t code = RecordEvent(event, stream);
  if (code == cudaSuccess) {
    code = cudaEventSynchronize(event);
  } else if (code == cudaErrorStreamCaptureUnsupported) {
    code = cudaEventSynchronize(stream.capture.before);
  }
  GiveCudaEvent(stream.device, event);
  return code;
}

void WaitForStream(const CudaStream& waiter, const CudaStream& other) {
  if (&waiter == &other) return;
  const cudaEvent_t event = TakeCudaEvent(other.device);
  cudaError_t code = RecordEvent(event, other);
  if (code == cudaSuccess) code = WaitForEvent(waiter, event);
  GiveCudaEvent(other.device, event);  // the wait is bound to this record, so reuse is safe
  CUDA_ENFORCE(code, "stream of device ", waiter.device, " behind one of device ", other.device);
}

StreamGuard::StreamGuard(int device, int stream_id) : device_(device), previous_id_(0) {
  EnforceCudaDevice(device);
  ThreadLocalCUDAObjects& objects = ThreadCudaObjects();
  previous_id_ = objects.CurrentId(device);
  objects.SetCurrentId(device, stream_id);
}

StreamGuard::~StreamGuard() {
  // Taking the previous stream can fail only if it is stream 0 and had not been used yet.
  try {
    ThreadCudaObjects().SetCurrentId(device_, previous_id_);
  } catch (const std::exception&) {
    LogCudaError(cudaErrorUnknown, "StreamGuard: stream 0 of the thread");
  }
}

cudaEvent_t TakeCudaEvent(int device) {
  EnforceCudaDevice(device);
  Stock& stock = StockOf(device);
  {
    const MutexLock lock(stock.mutex);
    if (!stock.events.empty()) {
      const cudaEvent_t event = stock.events.back();
      stock.events.pop_back();
      return event;
    }
  }
  const DeviceGuard guard(device);
  cudaEvent_t event = nullptr;
  CUDA_ENFORCE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "device ", device);
  // The number of events in use depends on how far the device lags behind the host. Create spare
  // events now, so that a warm program creates none.
  for (int i = 1; i < kEventsAtOnce; ++i) {
    cudaEvent_t spare = nullptr;
    if (cudaEventCreateWithFlags(&spare, cudaEventDisableTiming) != cudaSuccess) {
      cudaGetLastError();
      break;
    }
    GiveCudaEvent(device, spare);
  }
  return event;
}

void GiveCudaEvent(int device, cudaEvent_t event) noexcept {
  if (event == nullptr) return;
  Stock& stock = StockOf(device);
  const MutexLock lock(stock.mutex);
  try {
    stock.events.push_back(event);
  } catch (...) {  // out of host memory: the event is lost
  }
}

}  // namespace caffe2rt
