#pragma once
// The search for a value that is not finite, on CUDA (finite_checks.cu).

#include <cstdint>

namespace caffe2rt {

class CUDAContext;

struct NotFinite {
  int64_t index;
  double value;
};

// *found = the first value that is not finite; index n when all are. `found` and `scratch` are
// memory of the device; `scratch` has NotFiniteScratchBytes() of it.
void FindNotFinite(CUDAContext& context, int64_t n, const float* x, NotFinite* found,
                   void* scratch);
void FindNotFinite(CUDAContext& context, int64_t n, const double* x, NotFinite* found,
                   void* scratch);
int64_t NotFiniteScratchBytes();

}  // namespace caffe2rt
