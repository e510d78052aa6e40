// GetGPUMemoryUsage: the memory that the process uses on each CUDA device. CUDA only.
//   no inputs  ->  int64 [2, devices]: bytes in use; the most bytes that were in use
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

void RegisterGetGpuMemoryUsage() {
  RegisterSchema("GetGPUMemoryUsage", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Output(0, "usage",
              "int64 [2, N] for N devices: in row 0 the bytes in use, in row 1 their maximum")
      .HasEffect(Effect::kEverything)
      .SetDoc("Returns the memory that the library uses on each CUDA device.");
}

}  // namespace caffe2rt
