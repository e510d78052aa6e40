#pragma once
// CUDAContext for sources that are compiled without CUDA. It owns a CUDAContext that libcaffe2_cuda
// creates and forwards all calls to it. The constructor starts CUDA and THROWS, with the reason, if
// CUDA is not available.
//
// Sources that define CUDA operators (Operator<CUDAContext>) must be compiled with CUDA: link
// caffe2rt::cuda.
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "caffe2_core/compat/caffe2rt_cuda/host_functions.h"
#include "caffe2_core/compat/caffe2rt_cuda/with_cuda.h"
#include "caffe2_core/device/context.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2 {

class CUDAContext final : public ::caffe2rt::ContextWithResult<CUDAContext> {
 public:
  explicit CUDAContext(int gpu_id = -1) : CUDAContext(OptionOf(gpu_id)) {}
  explicit CUDAContext(const ::caffe2rt::DeviceOption& option)
      : cuda_(&::caffe2rt::EnforceCudaFunctions()),
        real_(::caffe2rt::GetStaticContext(::caffe2rt::CUDA)->CreateContext(option)) {}

  static constexpr ::caffe2rt::DeviceType GetDeviceType() { return ::caffe2rt::CUDA; }
  static std::pair<void*, ::caffe2rt::MemoryDeleter> New(size_t nbytes) {
    return ::caffe2rt::GetStaticContext(::caffe2rt::CUDA)->New(nbytes);
  }
  ::caffe2rt::BaseStaticContext* GetStaticContext() const override {
    return real_->GetStaticContext();
  }
  ::caffe2rt::DeviceType device_type() const override { return ::caffe2rt::CUDA; }

  void SwitchToDevice(int stream_id) override { real_->SwitchToDevice(stream_id); }
  using BaseContext::SwitchToDevice;
  void WaitEvent(const ::caffe2rt::Event& event) override { real_->WaitEvent(event); }
  void Record(::caffe2rt::Event* event, const char* error = nullptr) const override {
    real_->Record(event, error);
  }
  void Finish() { real_->FinishDeviceComputation(); }
  void CopyBytesSameDevice(size_t nbytes, const void* src, void* dst) override {
    real_->CopyBytesSameDevice(nbytes, src, dst);
  }
  void CopyBytesFromCPU(size_t nbytes, const void* src, void* dst) override {
    real_->CopyBytesFromCPU(nbytes, src, dst);
  }
  void CopyBytesToCPU(size_t nbytes, const void* src, void* dst) override {
    real_->CopyBytesToCPU(nbytes, src, dst);
  }
  template <class T, class Src, class Dst>
  void Copy(size_t n, const T* src, T* dst) {
    CopyItems<Src, Dst>(::caffe2rt::TypeMeta::Make<T>(), n, src, dst);
  }
  template <class Src, class Dst>
  void CopyBytes(size_t nbytes, const void* src, void* dst) {
    CopyItems<Src, Dst>(::caffe2rt::TypeMeta::Make<char>(), nbytes, src, dst);
  }
  template <class Src, class Dst>
  void CopyItems(::caffe2rt::TypeMeta meta, size_t n, const void* src, void* dst) {
    if constexpr (Src::GetDeviceType() == ::caffe2rt::CPU) {
      CopyItemsFromCPU(meta, n, src, dst);
    } else if constexpr (Dst::GetDeviceType() == ::caffe2rt::CPU) {
      CopyItemsToCPU(meta, n, src, dst);
    } else {
      CopyItemsSameDevice(meta, n, src, dst);
    }
  }

  int device_id() const { return cuda_->device_of(*real_); }
  int cuda_gpu_id() const { return device_id(); }
  cudaStream_t cuda_stream() const { return Handle<cudaStream_t>(::caffe2rt::CudaHandle::kStream); }
  static cudaStream_t cuda_stream(int gpu_id, int stream_id) {
    return static_cast<cudaStream_t>(
        ::caffe2rt::EnforceCudaFunctions().thread_stream(gpu_id, stream_id));
  }
  cublasHandle_t cublas_handle() { return Handle<cublasHandle_t>(::caffe2rt::CudaHandle::kCublas); }
  cudnnHandle_t cudnn_handle() { return Handle<cudnnHandle_t>(::caffe2rt::CudaHandle::kCudnn); }
  curandGenerator_t curand_generator() {
    return Handle<curandGenerator_t>(::caffe2rt::CudaHandle::kCurand);
  }

  static bool HasAsyncPartDefault() { return true; }
  static bool SupportsAsyncScheduling() { return true; }
  static bool IsStreamFree(const ::caffe2rt::DeviceOption& option, int stream_id) {
    return ::caffe2rt::EnforceCudaFunctions().is_stream_free(option, stream_id);
  }
  static std::vector<long> TotalMemoryByGpu() {
    const ::caffe2rt::CudaFunctions* const cuda = ::caffe2rt::FindCudaFunctions();
    return cuda != nullptr ? cuda->total_memory() : std::vector<long>();
  }
  static std::vector<long> MaxMemoryByGpu() {
    const ::caffe2rt::CudaFunctions* const cuda = ::caffe2rt::FindCudaFunctions();
    return cuda != nullptr ? cuda->max_memory() : std::vector<long>();
  }

 private:
  static ::caffe2rt::DeviceOption OptionOf(int gpu_id) {
    ::caffe2rt::DeviceOption option;
    option.set_device_type(::caffe2rt::CUDA);
    if (gpu_id >= 0) option.set_device_id(gpu_id);
    return option;
  }
  template <class T>
  T Handle(::caffe2rt::CudaHandle handle) const {
    return static_cast<T>(cuda_->handle_of(*real_, handle));
  }

  const ::caffe2rt::CudaFunctions* const cuda_;
  const std::unique_ptr<::caffe2rt::BaseContext> real_;
};

}  // namespace caffe2
