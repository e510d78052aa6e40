#pragma once
// CUDAContext for sources without kernels: the type is there, making one is an error that says why.
#include "caffe2/core/common.h"
#include "caffe2/core/common_gpu.h"
#include "caffe2/core/context.h"
#include "caffe2/core/context_base.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/numa.h"
#include "caffe2/core/tensor.h"
#include "caffe2/core/types.h"
#include "caffe2/proto/caffe2_pb.h"

namespace caffe2 {

using TensorCUDA = ::caffe2rt::Tensor;

class CUDAContext final : public BaseContext {
 public:
  explicit CUDAContext(int /*gpu_id*/ = -1) { internal_gpu::ThrowNoCuda(); }
  explicit CUDAContext(const DeviceOption& /*option*/) { internal_gpu::ThrowNoCuda(); }
  static constexpr DeviceType GetDeviceType() { return CUDA; }

  cudaStream_t cuda_stream() const { return nullptr; }
  int device_id() const { return 0; }
  int cuda_gpu_id() const { return 0; }

  BaseStaticContext* GetStaticContext() const override { internal_gpu::ThrowNoCuda(); }
  DeviceType device_type() const override { return CUDA; }
  void SwitchToDevice(int) override { internal_gpu::ThrowNoCuda(); }
  using BaseContext::SwitchToDevice;
  void WaitEvent(const Event&) override { internal_gpu::ThrowNoCuda(); }
  void Record(Event*, const char* = nullptr) const override { internal_gpu::ThrowNoCuda(); }
  void FinishDeviceComputation() override { internal_gpu::ThrowNoCuda(); }
  void CopyBytesSameDevice(size_t, const void*, void*) override { internal_gpu::ThrowNoCuda(); }
  void CopyBytesFromCPU(size_t, const void*, void*) override { internal_gpu::ThrowNoCuda(); }
  void CopyBytesToCPU(size_t, const void*, void*) override { internal_gpu::ThrowNoCuda(); }
  template <class T, class Src, class Dst>
  void Copy(size_t, const T*, T*) {
    internal_gpu::ThrowNoCuda();
  }
  template <class Src, class Dst>
  void CopyBytes(size_t, const void*, void*) {
    internal_gpu::ThrowNoCuda();
  }
  template <class Src, class Dst>
  void CopyItems(TypeMeta, size_t, const void*, void*) {
    internal_gpu::ThrowNoCuda();
  }
  static bool HasAsyncPartDefault() { return true; }
  static bool SupportsAsyncScheduling() { return true; }
  static bool IsStreamFree(const DeviceOption&, int) { return true; }
};

}  // namespace caffe2
