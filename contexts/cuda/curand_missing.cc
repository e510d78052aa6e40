// For builds without cuRAND's header: no generators, and the reason for people.

#include "caffe2_core/base/enforce.h"
#include "contexts/cuda/cuda_handles.h"

namespace caffe2rt {

bool HasCurand() { return false; }
const std::string& CurandProblem() {
  static const std::string* const problem =
      new std::string("cuRAND is not available: this library was built without its header");
  return *problem;
}
std::string CurandOrigin() { return ""; }

namespace internal {

curandGenerator_t NewCurandGenerator() { CAFFE_THROW(CurandProblem()); }
void BindCurandGenerator(curandGenerator_t, const CudaStream&) { CAFFE_THROW(CurandProblem()); }
void SeedCurandGenerator(curandGenerator_t, uint64_t) { CAFFE_THROW(CurandProblem()); }

}  // namespace internal
}  // namespace caffe2rt
