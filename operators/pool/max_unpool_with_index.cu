// MaxUnpoolWithIndex on CUDA. The memory of Y first holds, for each place, the largest index in X of the
// elements for it, or -1. These numbers do not depend on the order of the threads. Then a thread
// replaces each by its element.

#include <cstring>

#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/cuda/cuda_report.h"
#include "operators/pool/max_unpool_with_index_kernels.h"

namespace caffe2rt {

namespace {

// *at = max(*at, value), atomically. The host's loop needs no atomics.
CAFFE2RT_HOST_DEVICE void RaiseTo(int32_t value, float* at) {
#if defined(__CUDA_ARCH__)
  atomicMax(reinterpret_cast<int*>(at), value);
#else
  int32_t old = 0;
  std::memcpy(&old, at, sizeof(old));
  if (value > old) std::memcpy(at, &value, sizeof(value));
#endif
}

CAFFE2RT_HOST_DEVICE int32_t IndexIn(const float* at) {
  int32_t index = 0;
  memcpy(&index, at, sizeof(index));
  return index;
}

struct ClearIndex {
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int32_t none = -1;
    memcpy(y + i, &none, sizeof(none));
  }
};

// A thread enters one element of X.
struct EnterIndex {
  UnpoolSizes sizes;
  KernelReport* report;
  ReportText text;
  const int32_t* index;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t plane = i / sizes.in, place = index[i];
    if (place == -1) return;
    if (place < 0 || place >= sizes.out) {
      report->Raise(text, place, sizes.out - 1);
      return;
    }
    RaiseTo(static_cast<int32_t>(i - plane * sizes.in), y + plane * sizes.out + place);
  }
};

struct TakeElement {
  UnpoolSizes sizes;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int32_t index = IndexIn(y + i);
    y[i] = index < 0 ? 0 : x[i / sizes.out * sizes.in + index];
  }
};

}  // namespace

void UnpoolByIndex(CUDAContext& context, const UnpoolSizes& sizes, const float* x,
                   const int32_t* index, float* y) {
  const char* const text = "input 1 (Index) has value %, want -1 to %";
  ForEach(context, sizes.planes * sizes.out, ClearIndex{y}, "MaxUnpoolWithIndex");
  ForEach(context, sizes.planes * sizes.in, EnterIndex{sizes, ReportOf(context), text, index, y},
          "MaxUnpoolWithIndex");
  ForEach(context, sizes.planes * sizes.out, TakeElement{sizes, x, y}, "MaxUnpoolWithIndex");
}

}  // namespace caffe2rt
