#pragma once
// CUDA as a device: CUDAStaticContext gives memory and contexts, a CUDAContext is one stream.
//
// All work is asynchronous on the context's stream: operators enqueue, and somebody waits by
// FinishDeviceComputation or an event. Copies from and to the CPU too: pinned memory of the host
// must stay until the copy is over, and pageable memory that is written, until then; pageable
// memory that is read may go when the call returns.
//
// CUDAStaticContext is thread safe; a CUDAContext is used by one thread at a time.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "caffe2_core/device/context.h"
#include "contexts/cuda/cuda_allocator.h"
#include "contexts/cuda/cuda_handles.h"
#include "contexts/cuda/cuda_stream.h"

namespace caffe2rt {

class CUDAStaticContext final : public BaseStaticContext {
 public:
  // See NewCudaMemory.
  std::pair<void*, MemoryDeleter> New(size_t nbytes) const override {
    return NewCudaMemory(nbytes);
  }
  // On the thread's current device and its current stream there, as memory from New.
  std::unique_ptr<BaseContext> CreateContext() override;
  std::unique_ptr<BaseContext> CreateContext(const DeviceOption& option) override;
  DeviceType GetDeviceType() override { return CUDA; }
  // The device id too: of the pointer, for null of the thread's current device.
  void ExtractDeviceOption(DeviceOption* option, const void* data) override;
  // See cuda_graph.h.
  std::unique_ptr<DeviceGraph> CreateGraph(const DeviceOption& option) override;
  // See RecordCudaUse; contexts of other devices do not use this memory.
  void RecordUse(const MemoryDeleter& memory, const BaseContext& user) const override;
};

// The process's one.
CUDAStaticContext* GetCUDAStaticContext();

// Makes CUDA known: static context, events. Does nothing the second time, and starts no device.
void RegisterCUDAContext();

class CUDAContext final : public BaseContext {
 public:
  // On a device (-1: the thread's current one), on the calling thread's stream 0. Starts CUDA.
  // THROWS the reason where there is none.
  explicit CUDAContext(int gpu_id = -1);
  // THROWS when the option asks for another device type or for a device that is not there. Its
  // random_seed, when set, is the seed.
  explicit CUDAContext(const DeviceOption& option);

  static constexpr DeviceType GetDeviceType() { return CUDA; }
  static std::pair<void*, MemoryDeleter> New(size_t nbytes) { return NewCudaMemory(nbytes); }
  BaseStaticContext* GetStaticContext() const override { return GetCUDAStaticContext(); }
  DeviceType device_type() const override { return CUDA; }

  // Goes on the calling thread's stream of that id, which becomes its current one for memory; the
  // device becomes the thread's current one.
  void SwitchToDevice(int stream_id) override;
  using BaseContext::SwitchToDevice;
  void WaitEvent(const Event& event) override { event.Wait(CUDA, this); }
  void Record(Event* event, const char* error = nullptr) const override {
    event->Record(CUDA, this, error);
  }
  // THROWS what failed on the stream, launches that failed on this thread, and what kernels found
  // wrong with their data (cuda_report.h).
  void FinishDeviceComputation() override;

  // To and from memory of any CUDA device, with or without peer access between the two.
  void CopyBytesSameDevice(size_t nbytes, const void* src, void* dst) override;
  void CopyBytesFromCPU(size_t nbytes, const void* src, void* dst) override;
  void CopyBytesToCPU(size_t nbytes, const void* src, void* dst) override;

  // Caffe2's typed copies; Src and Dst name contexts. The caller waits.
  template <class T, class Src, class Dst>
  void Copy(size_t n, const T* src, T* dst) {
    CopyItems<Src, Dst>(TypeMeta::Make<T>(), n, src, dst);
  }
  template <class Src, class Dst>
  void CopyBytes(size_t nbytes, const void* src, void* dst) {
    CopyItems<Src, Dst>(TypeMeta::Make<char>(), nbytes, src, dst);
  }
  template <class Src, class Dst>
  void CopyItems(TypeMeta meta, size_t n, const void* src, void* dst) {
    if constexpr (Src::GetDeviceType() == CPU) {
      CopyItemsFromCPU(meta, n, src, dst);
    } else if constexpr (Dst::GetDeviceType() == CPU) {
      CopyItemsToCPU(meta, n, src, dst);
    } else {
      CopyItemsSameDevice(meta, n, src, dst);
    }
  }

  int cuda_gpu_id() const { return device_; }
  int device_id() const { return device_; }
  cudaStream_t cuda_stream() const { return stream_->stream; }
  // The calling thread's.
  static cudaStream_t cuda_stream(int gpu_id, int stream_id) {
    return ThreadStream(gpu_id, stream_id).stream;
  }
  CudaStream& stream() const { return *stream_; }
  uint32_t random_seed() const { return random_seed_; }
  // The first of `count` blocks of the random sequence of this seed that nobody has taken.
  uint64_t TakeRandomBlocks(uint64_t count) {
    return std::exchange(random_blocks_, random_blocks_ + count);
  }

  // Handles of the calling thread, bound to the context's stream until another context of the
  // thread asks: ask for each use, and destroy none. The generator is the context's own. THROW
  // where the library is not here, and what it says.
  cublasHandle_t cublas_handle() {
    return CublasHandle(ThreadCudaObjects().Handles(device_), *stream_);
  }
  cudnnHandle_t cudnn_handle() {
    return CudnnHandle(ThreadCudaObjects().Handles(device_), *stream_);
  }
  curandGenerator_t curand_generator() { return generator_.Get(*stream_, random_seed_); }

  static bool HasAsyncPartDefault() { return true; }
  static bool SupportsAsyncScheduling() { return true; }
  static bool IsStreamFree(const DeviceOption& option, int stream_id);

  static std::vector<long> TotalMemoryByGpu() { return caffe2rt::TotalMemoryByGpu(); }
  static std::vector<long> MaxMemoryByGpu() { return caffe2rt::MaxMemoryByGpu(); }
  // Caffe2's lock around allocation. Ours has locks of its own: this one is for users alone.
  static std::mutex& mutex();

 private:
  const int device_;
  const uint32_t random_seed_;
  uint64_t random_blocks_ = 0;
  CudaStream* stream_;
  CurandGenerator generator_;
};

}  // namespace caffe2rt
