#pragma once
// The CUDA kernels that search for a value that is not finite (finite_checks.cu).

#include <cstdint>

namespace caffe2rt {

class CUDAContext;

struct NotFinite {
  int64_t index;
  double value;
};

// *found = the first value that is not finite, or index n if all are finite. `found` and `scratch`
// are device memory; `scratch` has NotFiniteScratchBytes() bytes.
void FindNotFinite(CUDAContext& context, int64_t n, const float* x, NotFinite* found,
                   void* scratch);
void FindNotFinite(CUDAContext& context, int64_t n, const double* x, NotFinite* found,
                   void* scratch);
int64_t NotFiniteScratchBytes();

}  // namespace caffe2rt
