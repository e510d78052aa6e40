#include "contexts/cuda/cudnn_library.h"

#include <atomic>

#include "caffe2_core/base/logging.h"
#include "contexts/cuda/cuda_error.h"
#include "contexts/cuda/cuda_handles.h"
#include "contexts/cuda/cuda_stream.h"

namespace caffe2rt {
namespace {

struct Loaded {
  CudnnFunctions functions;
  std::string problem;
  std::string path;
};

const Loaded& TheLibrary() {
  static const Loaded* const loaded = [] {
    auto* made = new Loaded;
    VendorLibrary library("cuDNN", "libcudnn.so.9", {"libcublasLt.so.13", "libcublas.so.13"});
#define CAFFE2RT_FILL(name) \
  library.Fill(CAFFE2RT_VENDOR_SYMBOL(cudnn##name), &made->functions.name);
    CAFFE2RT_CUDNN_FUNCTIONS(CAFFE2RT_FILL)
#undef CAFFE2RT_FILL
#define CAFFE2RT_FILL(name) \
  library.FillIfPresent(CAFFE2RT_VENDOR_SYMBOL(cudnn##name), &made->functions.name);
    CAFFE2RT_CUDNN_BACKEND_FUNCTIONS(CAFFE2RT_FILL)
#undef CAFFE2RT_FILL
    made->problem = library.Problem();
    made->path = library.Path();
    if (!made->problem.empty()) return made;
    made->problem = internal::CudnnVersionProblem(
        {made->functions.GetVersion(), made->functions.GetCudartVersion()});
    if (!made->problem.empty() && ShouldReportCudnnProblem()) {
      LOG(WARNING) << made->problem << "; native kernels run";
    }
    return made;
  }();
  return *loaded;
}

}  // namespace

bool CudnnIsInThisBuild() { return true; }
bool ShouldReportCudnnProblem() {
  static std::atomic<bool> reported{false};
  return !reported.exchange(true);
}
bool HasCudnn() { return TheLibrary().problem.empty(); }
const std::string& CudnnProblem() { return TheLibrary().problem; }
std::string CudnnOrigin() {
  if (!HasCudnn()) return "";
  const int version = static_cast<int>(Cudnn().GetVersion());
  return internal::LibraryOrigin(TheLibrary().path, version / 10000, version % 10000 / 100,
                                 version % 100);
}

const CudnnFunctions& Cudnn() {
  const Loaded& library = TheLibrary();
  CAFFE_ENFORCE(library.problem.empty(), library.problem);
  return library.functions;
}

bool HasCudnnBackend() {
  const CudnnFunctions& functions = Cudnn();
#define CAFFE2RT_IS_PRESENT(name) functions.name != nullptr&&
  return CAFFE2RT_CUDNN_BACKEND_FUNCTIONS(CAFFE2RT_IS_PRESENT) true;
#undef CAFFE2RT_IS_PRESENT
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

void CheckCuDNNVersions() { (void)Cudnn(); }

namespace internal {

void ThrowCudnnError(const char* file, int line, const char* call, cudnnStatus_t status,
                     const std::string& message) {
  ThrowLibraryError(file, line, "cuDNN", call, CudnnStatusText(status), message);
}

cudnnHandle_t NewCudnnHandle() {
  cudnnHandle_t handle = nullptr;
  CUDNN_ENFORCE(Cudnn().Create(&handle));
  return handle;
}

void BindCudnnHandle(cudnnHandle_t handle, const CudaStream& stream) {
  CUDNN_ENFORCE(Cudnn().SetStream(handle, stream.stream), "device ", stream.device);
}

std::string CudnnVersionProblem(const CudnnVersions& found) {
  constexpr size_t kMajor = 10000;
  const auto text = [](size_t version) {
    return MakeString(version / kMajor, ".", version % kMajor / 100, ".", version % 100);
  };
  const size_t cuda_major = found.cudart / 1000;
  if (found.cudnn / kMajor != kOldestCudnn / kMajor || found.cudnn < kOldestCudnn) {
    return MakeString("cuDNN ", text(found.cudnn), " was found and cannot be used, want ",
                      text(kOldestCudnn), " or later of the same major version");
  }
  if (cuda_major != CUDART_VERSION / 1000) {
    return MakeString("cuDNN ", text(found.cudnn), " for CUDA ", cuda_major,
                      " was found and cannot be used, want one for CUDA ", CUDART_VERSION / 1000);
  }
  return "";
}

}  // namespace internal
}  // namespace caffe2rt
