// A source without kernels that uses the GPU headers as programs do. It compiles, links and starts
// without CUDA, and an error then reports what is missing.
#include <iostream>

#include "caffe2/core/common_cudnn.h"
#include "caffe2/core/common_gpu.h"
#include "caffe2/core/context_gpu.h"
#include "caffe2/core/cudnn_wrappers.h"
#include "caffe2/core/init.h"
#include "caffe2/core/operator.h"
#include "caffe2/operators/operator_fallback_gpu.h"

namespace {

int Fail(const char* what) {
  std::cerr << "gpu_host: " << what << "\n";
  return 1;
}

bool MakesAContext() {
  try {
    caffe2::DeviceOption option;
    option.set_device_type(caffe2::CUDA);
    caffe2::CUDAContext context(option);
    caffe2::Tensor cpu(std::vector<int>{2}, caffe2::CPU);
    cpu.mutable_data<float>()[1] = 3.f;
    caffe2::TensorCUDA there(caffe2::CUDA);
    there.CopyFrom(cpu, &context);
    caffe2::Tensor back(caffe2::CPU);
    back.CopyFrom(there, &context);
    context.FinishDeviceComputation();
    return back.data<float>()[1] == 3.f && context.cuda_stream() != nullptr &&
           caffe2::CUDAContext::IsStreamFree(option, 0);
  } catch (const caffe2::EnforceNotMet& error) {
    std::cout << error.what() << "\n";
    return false;
  }
}

// Never called; the functions only have to compile and link.
void Handles(caffe2::CUDAContext* context) {
  cudaStream_t stream = context->cuda_stream();
  cublasHandle_t cublas = context->cublas_handle();
  cudnnHandle_t cudnn = context->cudnn_handle();
  curandGenerator_t curand = context->curand_generator();
  std::cout << stream << cublas << cudnn << curand << caffe2::CAFFE_GET_BLOCKS(1000);
  CUBLAS_ENFORCE(0);
  CUDNN_ENFORCE(0, "text ", 1);
  CURAND_ENFORCE(0);
  CUDA_CHECK(0);
}

}  // namespace

int main(int argc, char** argv) {
  caffe2::GlobalInit(&argc, &argv);
  if (argc > 2) Handles(nullptr);
  static_assert(caffe2::CAFFE_CUDA_NUM_THREADS == 128);
  if (caffe2::CAFFE_GET_BLOCKS(0) != 1 || caffe2::CAFFE_GET_BLOCKS(1 << 30) != 4096)
    return Fail("blocks");
  if (caffe2::HasCudaGPU() != (caffe2::NumCudaDevices() > 0)) return Fail("devices");
  if (caffe2::GetGPUIDForPointer(&argc) != -1) return Fail("a pointer of the host");
  if (MakesAContext() != caffe2::HasCudaGPU()) return Fail("a context");
  try {
    CUDA_ENFORCE(2, "asked for ", 7);
    return Fail("an error that passes");
  } catch (const caffe2::EnforceNotMet& error) {
    if (std::string(error.what()).find("status 2 of CUDA: asked for 7") == std::string::npos)
      return Fail(error.what());
  }
  if (!caffe2::HasCudaGPU()) {
    try {
      caffe2::DeviceGuard guard(0);
      return Fail("a guard of no device");
    } catch (const caffe2::EnforceNotMet&) {
    }
  }
  std::cout << (caffe2::HasCudaGPU() ? "runs with CUDA" : "runs without CUDA") << "\n";
  return 0;
}
