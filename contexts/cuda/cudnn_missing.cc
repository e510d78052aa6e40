// For builds without cuDNN's headers: no cuDNN engine, and the reason for people.

#include "caffe2_core/base/enforce.h"
#include "contexts/cuda/cuda_handles.h"

namespace caffe2rt {

bool CudnnIsInThisBuild() { return false; }
bool ShouldReportCudnnProblem() { return true; }
bool HasCudnn() { return false; }
const std::string& CudnnProblem() {
  static const std::string* const problem =
      new std::string("cuDNN is not available: this library was built without its headers");
  return *problem;
}
std::string CudnnOrigin() { return ""; }

namespace internal {

cudnnHandle_t NewCudnnHandle() { CAFFE_THROW(CudnnProblem()); }
void BindCudnnHandle(cudnnHandle_t, const CudaStream&) { CAFFE_THROW(CudnnProblem()); }

}  // namespace internal
}  // namespace caffe2rt
