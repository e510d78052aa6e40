#include "contexts/cuda/cuda_launch.h"

#include <algorithm>

#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_error.h"

// Defined only by tests/fake_cuda; null in a program that runs on the real CUDA runtime.
extern "C" __attribute__((weak)) cudaError_t fakecuda_enqueue_host(cudaStream_t stream,
                                                                   const char* name,
                                                                   void (*run)(void*), void* arg,
                                                                   void (*release)(void*));

namespace caffe2rt {

cudaStream_t StreamOf(const CUDAContext& context) { return context.cuda_stream(); }

RandomBlocks TakeRandomBlocks(CUDAContext& context, uint64_t* used, uint64_t count) {
  return context.TakeRandomBlocks(used, count);
}

unsigned int GridSize(const CUDAContext& context, int64_t blocks) {
  const cudaDeviceProp& device = GetDeviceProperty(context.cuda_gpu_id());
  const int64_t at_a_time =
      int64_t{device.multiProcessorCount} * (device.maxThreadsPerMultiProcessor / kKernelThreads);
  return static_cast<unsigned int>(std::clamp<int64_t>(at_a_time, 1, blocks));
}

void CheckLaunch(const char* kernel) { CUDA_ENFORCE(cudaGetLastError(), "kernel ", kernel); }

bool IsFakeCuda() { return &fakecuda_enqueue_host != nullptr; }

void EnqueueOnFakeCuda(const CUDAContext& context, const char* kernel, void (*run)(void*),
                       void* arg, void (*release)(void*)) {
  CUDA_ENFORCE(fakecuda_enqueue_host(context.cuda_stream(), kernel, run, arg, release), "kernel ",
               kernel);
}

void ThrowCompiledForFakeCuda(const char* kernel) {
  CAFFE_THROW("kernel ", kernel, " was compiled only for the fake CUDA");
}

}  // namespace caffe2rt
