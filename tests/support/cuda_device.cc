// Registers the CUDA context and its operators in any program that links this file, and selects the
// pool of cuda_pool.h. At exit it
// stops the workers of the fake CUDA, because ThreadSanitizer requires that all threads are joined.
#include "contexts/cuda/cuda_device.h"

#include "contexts/cuda/cuda_context.h"
#include "operators/register_cuda.h"
#include "tests/support/cuda_pool.h"
#include "tests/support/device_run.h"

extern "C" __attribute__((weak)) void fakecuda_reset(const struct FakeCudaConfig* config);

namespace caffe2rt::test {
namespace {

struct CudaDevice {
  CudaDevice() {
    UsePoolOfEnvironment();
    RegisterCUDAContext();
    RegisterCudaOperators();
    AddTestDevice(CUDA, [] { return HasCudaGPU() ? std::string() : TheCudaMachine().message; });
  }
  ~CudaDevice() {
    if (&fakecuda_reset != nullptr) fakecuda_reset(nullptr);
  }
};
const CudaDevice device;

}  // namespace
}  // namespace caffe2rt::test
