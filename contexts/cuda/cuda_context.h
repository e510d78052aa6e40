#pragma once
// The CUDA device: CUDAStaticContext allocates memory and creates contexts; a CUDAContext is one
// stream.
//
// All work is asynchronous on the context's stream: operators enqueue it, and callers wait by
// FinishDeviceComputation or an event. This includes copies from and to pinned memory of the CPU,
// which must stay valid until the copy has finished. Pageable memory that is copied from may be
// freed or changed as soon as the call returns. A copy to pageable memory waits until it is
// complete.
//
// CUDAStaticContext is thread safe; a CUDAContext is used by one thread at a time.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "caffe2_core/base/random_stream.h"
#include "caffe2_core/device/context.h"
#include "contexts/cuda/cuda_allocator.h"
#include "contexts/cuda/cuda_handles.h"
#include "contexts/cuda/cuda_stream.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class CUDAStaticContext final : public BaseStaticContext {
 public:
  // See NewCudaMemory.
  std::pair<void*, MemoryDeleter> New(size_t nbytes) const override {
    return NewCudaMemory(nbytes);
  }
  // Returns a context on the thread's current device and its current stream there, the stream for
  // which New allocates.
  std::unique_ptr<BaseContext> CreateContext() override;
  std::unique_ptr<BaseContext> CreateContext(const DeviceOption& option) override;
  DeviceType GetDeviceType() override { return CUDA; }
  // Sets type and device id: the device of the pointer or, for null, the thread's current device.
  void ExtractDeviceOption(DeviceOption* option, const void* data) override;
  // See cuda_graph.h.
  std::unique_ptr<DeviceGraph> CreateGraph(const DeviceOption& option) override;
  // See RecordCudaUse. Does nothing for contexts of other device types, which do not use this
  // memory.
  void RecordUse(const MemoryDeleter& memory, const BaseContext& user) const override;
};

// Returns the static context of the process.
CUDAStaticContext* GetCUDAStaticContext();

// Registers the static context and the events of CUDA. Starts no device. Later calls do nothing.
void RegisterCUDAContext();

class CUDAContext final : public ContextWithResult<CUDAContext> {
 public:
  // A context on a device (-1: the thread's current device) and the calling thread's stream 0.
  // Starts CUDA. THROWS with the reason if CUDA is not available.
  explicit CUDAContext(int gpu_id = -1);
  // The same, with the option's device_id, random_seed and allow_tf32 (see below), if set. THROWS if
  // the option has another device type, or the device does not exist.
  explicit CUDAContext(const DeviceOption& option);

  static constexpr DeviceType GetDeviceType() { return CUDA; }
  static std::pair<void*, MemoryDeleter> New(size_t nbytes) { return NewCudaMemory(nbytes); }
  BaseStaticContext* GetStaticContext() const override { return GetCUDAStaticContext(); }
  DeviceType device_type() const override { return CUDA; }

  // Switches to the calling thread's stream of that id, which becomes the thread's current stream
  // for memory. The context's device becomes the thread's current device.
  void SwitchToDevice(int stream_id) override;
  using BaseContext::SwitchToDevice;
  void WaitEvent(const Event& event) override { event.Wait(CUDA, this); }
  void Record(Event* event, const char* error = nullptr) const override {
    event->Record(CUDA, this, error);
  }
  // What FinishDeviceComputation does. THROWS errors of the stream's work, failed launches of this
  // thread, and errors that kernels reported (cuda_report.h).
  void Finish();

  // Copies between any two CUDA devices, with or without peer access.
  void CopyBytesSameDevice(size_t nbytes, const void* src, void* dst) override;
  void CopyBytesFromCPU(size_t nbytes, const void* src, void* dst) override;
  void CopyBytesToCPU(size_t nbytes, const void* src, void* dst) override;

  // Caffe2's typed copies; Src and Dst are context classes. The caller must wait for the copy.
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
  // The calling thread's stream of that id.
  static cudaStream_t cuda_stream(int gpu_id, int stream_id) {
    return ThreadStream(gpu_id, stream_id).stream;
  }
  CudaStream& stream() const { return *stream_; }
  uint32_t random_seed() const { return random_seed_; }
  // Has no effect if the device option has a random_seed. REQUIRES: `place` outlives this object.
  void SetRandomPlace(const RandomPlace* place) {
    if (!has_own_seed_) place_ = place;
  }
  // Reserves the next `count` blocks of random numbers. If a random place is set that has streams,
  // they are of the stream of the current run. Else they are of the context's seed, and follow the
  // `*used` blocks that the caller, or, for null, the context has taken so far.
  RandomBlocks TakeRandomBlocks(uint64_t* used, uint64_t count);
  // Whether libraries may compute with TF32: the net argument allow_tf32, which reaches the context
  // as `allow_tf32:0` or `allow_tf32:1` in the option's extra_info, else
  // CudaLibraryOptions::allow_tf32.
  bool allow_tf32() const { return allow_tf32_.value_or(GlobalCudaLibraryOptions().allow_tf32); }

  // The handles of the calling thread, bound to the context's stream. Another context of the thread
  // may rebind them, so get the handle for each use, and never destroy it. The generator belongs to
  // the context. THROW if the library is not available, and on its errors.
  cublasHandle_t cublas_handle() {
    return CublasHandle(ThreadCudaObjects().Handles(device_), *stream_, allow_tf32());
  }
  cudnnHandle_t cudnn_handle() {
    return CudnnHandle(ThreadCudaObjects().Handles(device_), *stream_);
  }
  curandGenerator_t curand_generator();

  static bool HasAsyncPartDefault() { return true; }
  static bool SupportsAsyncScheduling() { return true; }
  static bool IsStreamFree(const DeviceOption& option, int stream_id);

  static std::vector<long> TotalMemoryByGpu() { return caffe2rt::TotalMemoryByGpu(); }
  static std::vector<long> MaxMemoryByGpu() { return caffe2rt::MaxMemoryByGpu(); }
  // Caffe2's allocation lock, for users' code. The library does not use it.
  static std::mutex& mutex();

 private:
  const int device_;
  const uint32_t random_seed_;
  const bool has_own_seed_ = false;
  const std::optional<bool> allow_tf32_;
  const RandomPlace* place_ = nullptr;
  uint64_t blocks_begun_ = 0, generator_begun_ = 0;  // place_->begun() of their streams
  uint64_t random_blocks_ = 0;                       // taken so far, of the stream or of the seed
  CudaStream* stream_;
  CurandGenerator generator_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
