// Fills the table of cuda_functions.h. Compiled into libcaffe2_cuda.

#include "caffe2_core/compat/caffe2rt_cuda/cuda_functions.h"

#include <dlfcn.h>

#include "contexts/cuda/cuda_allocator.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_device.h"
#include "contexts/cuda/cuda_libraries.h"

namespace caffe2rt {
namespace {

int RuntimeVersion() { return CUDART_VERSION; }

// Looks up the function by name, because not every build has cuDNN's headers.
uint64_t CudnnVersion() {
  if (!HasCudnn()) return 0;
  void* const library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  const auto version = reinterpret_cast<size_t (*)()>(dlsym(library, "cudnnGetVersion"));
  return version != nullptr ? version() : 0;
}

const CUDAContext& Cast(const BaseContext& context) {
  CAFFE_ENFORCE(context.device_type() == CUDA, "the context is one of ",
                DeviceTypeName(context.device_type()), ", want one of CUDA");
  return static_cast<const CUDAContext&>(context);
}

int DeviceOf(const BaseContext& context) { return Cast(context).device_id(); }

void* HandleOf(BaseContext& context, CudaHandle handle) {
  auto& cuda = const_cast<CUDAContext&>(Cast(context));
  switch (handle) {
    case CudaHandle::kStream:
      return cuda.cuda_stream();
    case CudaHandle::kCublas:
      return cuda.cublas_handle();
    case CudaHandle::kCudnn:
      return cuda.cudnn_handle();
    case CudaHandle::kCurand:
      return cuda.curand_generator();
  }
  return nullptr;
}

void* ThreadStreamHandle(int device, int stream_id) {
  return CUDAContext::cuda_stream(device, stream_id);
}

}  // namespace
}  // namespace caffe2rt

// The module's source declares this function and returns its result as the module's extension.
extern "C" const void* caffe2rt_cuda_compat_functions() {
  using namespace caffe2rt;
  static const CudaFunctions functions = {
      .num_devices = NumCudaDevices,
      .runtime_version = RuntimeVersion,
      .cudnn_version = CudnnVersion,
      .device_query = DeviceQuery,
      .tensor_cores = TensorCoreAvailable,
      .peer_access = GetCudaPeerAccessPattern,
      .total_memory = TotalMemoryByGpu,
      .max_memory = MaxMemoryByGpu,
      .current_device = CaffeCudaGetDevice,
      .set_current_device = CaffeCudaSetDevice,
      .restore_device = internal::RestoreCudaDevice,
      .device_of_pointer = GetGPUIDForPointer,
      .device_of = DeviceOf,
      .handle_of = HandleOf,
      .thread_stream = ThreadStreamHandle,
      .is_stream_free = CUDAContext::IsStreamFree,
  };
  return &functions;
}
