#include "contexts/cuda/cuda_handles.h"

#include <array>
#include <optional>
#include <vector>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/mutex.h"
#include "contexts/cuda/cublas_library.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_graph.h"

namespace caffe2rt {
namespace {

struct UsedGenerator {
  curandGenerator_t generator;
  const CudaStream* stream;  // stream of its last work; null: none
};

// Unused handles of one kind. Thread safe.
template <class Handle>
class UnusedHandles {
 public:
  std::optional<Handle> Take() {
    const MutexLock lock(mutex_);
    if (handles_.empty()) return std::nullopt;
    const Handle handle = handles_.back();
    handles_.pop_back();
    return handle;
  }
  void Give(Handle handle) noexcept {
    const MutexLock lock(mutex_);
    try {
      handles_.push_back(handle);
    } catch (...) {  // out of host memory: the handle is lost
    }
  }

 private:
  Mutex mutex_;
  std::vector<Handle> handles_ ABSL_GUARDED_BY(mutex_);
};

// Per device, never destroyed.
struct HandleStock {
  UnusedHandles<cublasHandle_t> cublas;
  UnusedHandles<cudnnHandle_t> cudnn;
  UnusedHandles<UsedGenerator> curand;
};
HandleStock& HandleStockOf(int device) {
  static auto* const stocks = new std::array<HandleStock, kCompileTimeMaxGpus>;
  return (*stocks)[static_cast<size_t>(device)];
}

// Calls make() on the device. The libraries allocate memory for a handle and report a lack of it by
// various codes. So after any failure the pool's cached memory is released, and make() is called
// once more if there was any.
template <class Make>
auto MakeOnDevice(int device, Make make) {
  const DeviceGuard guard(device);
  try {
    return make();
  } catch (const EnforceNotMet& e) {
    if (RecordingOfThread() != nullptr || CudaPool(device).ReleaseCached() == 0) throw;
    VLOG(1) << "cached memory of device " << device << " was released: " << e.message();
  }
  return make();
}

// Takes a handle from the stock, else creates one on the device.
template <class Handle, class Make>
Handle Take(int device, UnusedHandles<Handle> HandleStock::*kind, Make make) {
  const std::optional<Handle> unused = (HandleStockOf(device).*kind).Take();
  if (unused.has_value()) return *unused;
  return MakeOnDevice(device, make);
}

template <class Handle>
void Give(int device, UnusedHandles<Handle> HandleStock::*kind, Handle handle) noexcept {
  (HandleStockOf(device).*kind).Give(handle);
}

cublasHandle_t NewCublasHandle() {
  cublasHandle_t handle = nullptr;
  CUBLAS_ENFORCE(Cublas().Create(&handle));
  return handle;
}

// NVIDIA's recommendation: 32 MiB from Hopper on, 4 MiB before.
size_t CublasWorkspaceBytes(int device) {
  const size_t megabytes =
      GetDeviceAttribute(device, cudaDevAttrComputeCapabilityMajor) >= 9 ? 32 : 4;
  return megabytes << 20;
}

void BindCublas(CudaHandles& handles, CudaStream& stream) {
  handles.cublas_stream = nullptr;
  const DeviceGuard guard(stream.device);
  if (stream.cublas_workspace.get() == nullptr) {
    stream.cublas_workspace_bytes = CublasWorkspaceBytes(stream.device);
    stream.cublas_workspace = NewCudaMemory(stream.cublas_workspace_bytes, stream);
  }
  CUBLAS_ENFORCE(Cublas().SetStream(handles.cublas, stream.stream), "device ", stream.device);
  // SetStream resets the handle to cuBLAS's own workspace, which cuBLAS would allocate.
  CUBLAS_ENFORCE(Cublas().SetWorkspace(handles.cublas, stream.cublas_workspace.get(),
                                       stream.cublas_workspace_bytes),
                 ByteSizeText(stream.cublas_workspace_bytes), ", device ", stream.device);
  handles.cublas_stream = &stream;
}

// Binds a new generator. If that fails, the generator goes to the stock unbound.
void BindNew(const UsedGenerator& made, const CudaStream& stream) {
  try {
    internal::BindCurandGenerator(made.generator, stream);
  } catch (...) {
    Give(stream.device, &HandleStock::curand, made);
    throw;
  }
}

void SetCublasMathMode(CudaHandles& handles, bool allow_tf32) {
  CUBLAS_ENFORCE(Cublas().SetMathMode(
      handles.cublas, allow_tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH));
  handles.cublas_allows_tf32 = allow_tf32;
}

}  // namespace

cublasHandle_t CublasHandle(CudaHandles& handles, CudaStream& stream, bool allow_tf32) {
  if (__builtin_expect(handles.cublas == nullptr, 0)) {
    handles.cublas = Take(stream.device, &HandleStock::cublas, NewCublasHandle);
    handles.cublas_allows_tf32 = !allow_tf32;  // its mode is unknown: force SetCublasMathMode
  }
  if (handles.cublas_stream != &stream) BindCublas(handles, stream);
  if (handles.cublas_allows_tf32 != allow_tf32) SetCublasMathMode(handles, allow_tf32);
  return handles.cublas;
}

cudnnHandle_t CudnnHandle(CudaHandles& handles, const CudaStream& stream) {
  if (__builtin_expect(handles.cudnn == nullptr, 0)) {
    handles.cudnn = Take(stream.device, &HandleStock::cudnn, internal::NewCudnnHandle);
  }
  if (handles.cudnn_stream != &stream) {
    handles.cudnn_stream = nullptr;
    const DeviceGuard guard(stream.device);
    internal::BindCudnnHandle(handles.cudnn, stream);
    handles.cudnn_stream = &stream;
  }
  return handles.cudnn;
}

void GiveHandles(int device, const CudaHandles& handles) noexcept {
  if (handles.cublas != nullptr) Give(device, &HandleStock::cublas, handles.cublas);
  if (handles.cudnn != nullptr) Give(device, &HandleStock::cudnn, handles.cudnn);
}

CurandGenerator::~CurandGenerator() {
  if (generator_ != nullptr) {
    Give(stream_->device, &HandleStock::curand, UsedGenerator{generator_, stream_});
  }
}

curandGenerator_t CurandGenerator::Get(const CudaStream& stream, uint64_t seed) {
  if (__builtin_expect(generator_ == nullptr, 0)) {
    const UsedGenerator taken = Take(stream.device, &HandleStock::curand, [&] {
      return UsedGenerator{internal::NewCurandGenerator(), nullptr};
    });
    if (taken.stream == nullptr) BindNew(taken, stream);
    generator_ = taken.generator;
    stream_ = taken.stream != nullptr ? taken.stream : &stream;
  }
  if (stream_ != &stream) {
    WaitForStream(stream, *stream_);
    internal::BindCurandGenerator(generator_, stream);
    stream_ = &stream;
  }
  if (!seeded_) {
    internal::SeedCurandGenerator(generator_, seed);
    seeded_ = true;
  }
  return generator_;
}

void* CudnnWorkspace(CUDAContext& context, size_t nbytes) {
  constexpr size_t kGranule = size_t{1} << 20;
  if (nbytes == 0) return nullptr;
  CudaStream& stream = context.stream();
  if (__builtin_expect(nbytes > stream.workspace_bytes, 0)) {
    stream.workspace_bytes = 0;
    if (stream.workspace_is_recorded) {
      stream.recorded_workspaces.push_back(std::move(stream.workspace));
      stream.workspace_is_recorded = false;
    }
    stream.workspace.Reset();  // first, so that the two never exist at the same time
    const size_t rounded = (nbytes + kGranule - 1) / kGranule * kGranule;
    stream.workspace = NewCudaMemory(rounded, stream);
    stream.workspace_bytes = rounded;
  }
  if (RecordingOfThread() != nullptr) stream.workspace_is_recorded = true;
  return stream.workspace.get();
}

}  // namespace caffe2rt
