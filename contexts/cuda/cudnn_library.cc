#include "contexts/cuda/cudnn_library.h"

#include "contexts/cuda/cuda_error.h"
#include "contexts/cuda/cuda_handles.h"
#include "contexts/cuda/cuda_stream.h"

namespace caffe2rt {
namespace {

struct Loaded {
  CudnnFunctions functions;
  std::string problem;
};

const Loaded& TheLibrary() {
  static const Loaded* const loaded = [] {
    auto* made = new Loaded;
    VendorLibrary library("cuDNN", "libcudnn.so.9");
#define CAFFE2RT_FILL(name) \
  library.Fill(CAFFE2RT_VENDOR_SYMBOL(cudnn##name), &made->functions.name);
    CAFFE2RT_CUDNN_FUNCTIONS(CAFFE2RT_FILL)
#undef CAFFE2RT_FILL
    made->problem = library.Problem();
    return made;
  }();
  return *loaded;
}

}  // namespace

bool CudnnIsInThisBuild() { return true; }
bool HasCudnn() { return TheLibrary().problem.empty(); }
const std::string& CudnnProblem() { return TheLibrary().problem; }

const CudnnFunctions& Cudnn() {
  const Loaded& library = TheLibrary();
  CAFFE_ENFORCE(library.problem.empty(), library.problem);
  return library.functions;
}

std::string CudnnStatusText(cudnnStatus_t status) {
  const int number = static_cast<int>(status);
  if (!HasCudnn()) return MakeString("status ", number);
  char detail[512] = "";
  Cudnn().GetLastErrorString(detail, sizeof(detail) - 1);
  return MakeString(Cudnn().GetErrorString(status), " (status ", number, ")",
                    detail[0] == '\0' ? "" : ": ", detail);
}

size_t cudnnRuntimeVersion() { return Cudnn().GetVersion(); }

void CheckCuDNNVersions() {
  internal::CheckCudnnVersions(cudnnCompileTimeVersion(), cudnnRuntimeVersion());
}

namespace internal {

void ThrowCudnnError(const char* file, int line, const char* call, cudnnStatus_t status,
                     const std::string& message) {
  ThrowLibraryError(file, line, "cuDNN", call, CudnnStatusText(status), message);
}

cudnnHandle_t NewCudnnHandle() {
  CheckCuDNNVersions();
  cudnnHandle_t handle = nullptr;
  CUDNN_ENFORCE(Cudnn().Create(&handle));
  return handle;
}

void BindCudnnHandle(cudnnHandle_t handle, const CudaStream& stream) {
  CUDNN_ENFORCE(Cudnn().SetStream(handle, stream.stream), "device ", stream.device);
}

void CheckCudnnVersions(size_t compiled, size_t running) {
  constexpr size_t kMajor = 10000;
  CAFFE_ENFORCE_EQ(running / kMajor, compiled / kMajor, "major version of cuDNN: found ", running,
                   ", built with ", compiled, "; install the one it was built with");
  CAFFE_ENFORCE_GE(running, compiled, "version of cuDNN: want the one of the build or later");
}

}  // namespace internal
}  // namespace caffe2rt
