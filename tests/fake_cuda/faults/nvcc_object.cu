// A kernel with and one without a host twin, for nvcc_test.cc.

#include <cuda_runtime.h>

extern "C" __attribute__((weak)) cudaError_t fakecuda_enqueue_host(cudaStream_t, const char*,
                                                                   void (*)(void*), void*,
                                                                   void (*)(void*));

__device__ float scale_of_the_device = 2;

__global__ void HandWritten(float* data) { data[threadIdx.x] *= scale_of_the_device; }

template <class Function>
__global__ void ForEach(long n, Function function) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) function(i);
}

template <class Function>
struct Twin {
  long n;
  Function function;
  static void Run(void* self) {
    auto* twin = static_cast<Twin*>(self);
    for (long i = 0; i < twin->n; ++i) twin->function(i);
  }
  static void Release(void* self) { delete static_cast<Twin*>(self); }
};

struct AddOne {
  float* data;
  __host__ __device__ void operator()(long i) const { data[i] += 1; }
};

cudaError_t LaunchWithoutTwin(float* data) {
  HandWritten<<<1, 32>>>(data);
  return cudaGetLastError();
}

cudaError_t LaunchWithWrongShape(float* data) {
  HandWritten<<<1, 2048>>>(data);
  return cudaGetLastError();
}

cudaError_t LaunchWithTwin(float* data, long n, cudaStream_t stream) {
  const AddOne add = {data};
  if (&fakecuda_enqueue_host != nullptr) {
    using AddTwin = Twin<AddOne>;
    return fakecuda_enqueue_host(stream, "AddOne", &AddTwin::Run, new AddTwin{n, add},
                                 &AddTwin::Release);
  }
  ForEach<<<(n + 255) / 256, 256, 0, stream>>>(n, add);
  return cudaGetLastError();
}
